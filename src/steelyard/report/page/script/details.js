// The detail behind a row: its article is moved below the row, and its charts are drawn when they are first seen.

import { make } from "./dom.js";
import { digitsOf, drawPanel } from "./draw.js";

const TALL = 260;
const LOW = 140;
const drawn = [];

export function drawFigures(within, figures) {
  for (const figure of within.querySelectorAll("figure[data-figure]:not(.drawn)")) {
    figure.classList.add("drawn");
    const panels = figures[Number(figure.dataset.figure)];
    const into = make("div", { class: `panels of-${panels.length}` });
    figure.querySelector("figcaption").after(into);
    const shared = { digits: digitsOf(panels) };
    if (panels.some((panel) => panel.follows)) shared.key = `figure-${figure.dataset.figure}`;
    for (const panel of panels) drawn.push(drawPanel(panel, into, panel.follows ? LOW : TALL, shared));
  }
}

export function redraw() {
  for (const panel of drawn) panel.redraw();
}

export function lieOnPaper(printed) {
  document.documentElement.classList.toggle("paper", printed);
  for (const panel of drawn) panel.fit();
  redraw();
}

export function toggle(row, figures, open = row.nextElementSibling?.className !== "open") {
  const button = row.querySelector("button[aria-controls]");
  if (!button) return;
  button.setAttribute("aria-expanded", String(open));
  const below = row.nextElementSibling;
  if (!open) {
    if (below?.className === "open") below.hidden = true, (below.className = "closed");
    return;
  }
  if (below?.className === "closed") {
    below.hidden = false;
    below.className = "open";
    return;
  }
  if (below?.className === "open") return;
  const article = document.getElementById(button.getAttribute("aria-controls"));
  row.after(make("tr", { class: "open" }, make("td", { colSpan: row.cells.length }, article)));
  drawFigures(article, figures);
}

export function prepare(table, figures) {
  for (const link of table.querySelectorAll("tbody th a")) {
    const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": link.hash.slice(1) });
    button.append(...link.childNodes);
    link.replaceWith(button);
  }
  table.addEventListener("click", (event) => {
    const button = event.target.closest("button[aria-controls]");
    if (button && table.contains(button)) toggle(button.closest("tr"), figures);
  });
}
