// What the page carries: JSON, compressed, and its numbers as whole steps from the least of them.

export async function carried() {
  const text = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

export function unpacked(numbers) {
  return numbers.v.map((steps) => (steps === null ? null : numbers.o + steps * numbers.s));
}
