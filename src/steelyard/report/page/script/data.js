// The page's data: compressed JSON, its numbers as whole steps from the smallest; on a log axis, their logarithms.

export async function carried() {
  const text = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

export function unpacked(numbers) {
  const value = numbers.log ? Math.exp : (number) => number;
  return numbers.v.map((steps) => (steps === null ? null : value(numbers.o + steps * numbers.s)));
}
