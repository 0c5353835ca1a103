// Opening the page: tables become interactive, and charts are drawn once they are looked at.

import { carried } from "./data.js";
import { drawFigures, lieOnPaper, prepare, redraw, toggle } from "./details.js";
import { Table } from "./tables.js";

function openLinked(figures) {
  const article = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const button = article && document.querySelector(`button[aria-controls="${CSS.escape(article.id)}"]`);
  if (!button) return;
  toggle(button.closest("tr"), figures, true);
  article.scrollIntoView();
}

async function start() {
  const { figures, tables } = await carried();
  for (const told of tables) {
    const table = new Table(told);
    prepare(table.element, figures);
    if (table.names === 1) toggle(table.rows[0].row, figures, true);
  }
  for (const whole of document.querySelectorAll(".whole")) drawFigures(whole, figures);
  openLinked(figures);
  addEventListener("hashchange", () => openLinked(figures));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => lieOnPaper(true));
  addEventListener("afterprint", () => lieOnPaper(false));
  document.documentElement.classList.add("ready");
}

start().catch((error) => {
  document.documentElement.classList.remove("scripted");
  throw error;
});
