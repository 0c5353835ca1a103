// A table that can be sorted by its headings, filtered by text, verdict, metric and tag, and grouped.

import { make, many, say } from "./dom.js";

// Prefix for a parameter's name, which may be the same as another way to group.
const PARAMETER = "parameter ";
const ORDER = ["trouble", "slower", "undecided", "untried", "faster", "same", "sound"];

function compared(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

export class Table {
  constructor(told) {
    this.told = told;
    this.element = document.getElementById(told.table);
    this.body = this.element.tBodies[0];
    this.rows = [...this.body.rows].map((row, index) => ({ row, index, text: [row.cells[0].textContent, ...told.tags[index]].join(" ").toLowerCase() }));
    this.chosen = { text: "", verdicts: new Set(), metric: "", tag: "", group: "" };
    this.sorted = null;
    this.names = new Set(told.columns[0]).size;
    this.headings();
    this.labels();
    if (this.names > 1) this.controls();
  }

  headings() {
    [...this.element.tHead.rows[0].cells].forEach((cell, column) => {
      if (this.rows.length < 2) return;
      const button = make("button", { type: "button" }, ...cell.childNodes);
      cell.append(button);
      cell.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => this.sort(column));
    });
  }

  // On a phone each row is a card, whose cells need labels.
  labels() {
    const titles = [...this.element.tHead.rows[0].cells].map((cell) => cell.textContent);
    const said = titles.map((title) => !/^(benchmark|verdict|change|metric|rule)$/.test(title));
    for (const { row } of this.rows) {
      titles.forEach((title, column) => said[column] && row.cells[column].setAttribute("data-label", title));
    }
  }

  sort(column) {
    const cells = [...this.element.tHead.rows[0].cells];
    const down = cells[column].getAttribute("aria-sort") === "ascending";
    for (const cell of cells) cell.setAttribute("aria-sort", "none");
    cells[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    this.sorted = { column, sign: down ? -1 : 1 };
    this.show();
    say(`sorted by ${cells[column].textContent}, ${down ? "falling" : "rising"}`);
  }

  inOrder() {
    if (!this.sorted) return [...this.rows];
    const { column, sign } = this.sorted;
    const keys = this.told.columns[column];
    // Only verdicts: a benchmark may be called like one.
    const isRanked = this.told.ranked.includes(column);
    const of = (one) => (isRanked && ORDER.includes(keys[one.index]) ? ORDER.indexOf(keys[one.index]) : keys[one.index]);
    return [...this.rows].sort((one, other) => {
      const [a, b] = [of(one), of(other)];
      const last = a === null || b === null ? 1 : sign;
      return last * compared(a, b) || one.index - other.index;
    });
  }

  isShown({ index, text }) {
    const { verdicts, metric, tag } = this.chosen;
    return (
      this.chosen.text.split(/\s+/).every((word) => text.includes(word)) &&
      (!verdicts.size || verdicts.has(this.told.verdicts[index])) &&
      (!metric || this.told.metrics[index] === metric) &&
      (!tag || this.told.tags[index].includes(tag))
    );
  }

  groupsOf(index) {
    const { group } = this.chosen;
    if (group === "verdict") return [this.told.verdicts[index]];
    // A row is in a single group: with several tags, in that of all of them, as none matters more than the others.
    if (group === "tag") return [[...this.told.tags[index]].sort().join(", ") || "no tag"];
    const name = group.slice(PARAMETER.length);
    const params = this.told.params[index];
    return [`${name} = ${Object.hasOwn(params, name) ? params[name] : "not set"}`];
  }

  // A row moves together with the detail opened below it.
  withOpen(row) {
    const below = row.nextElementSibling;
    return below && /^(open|closed)$/.test(below.className) ? [row, below] : [row];
  }

  show() {
    const whole = new Map(this.rows.map((one) => [one, this.withOpen(one.row)]));
    const groups = new Map();
    let shown = 0;
    for (const one of this.inOrder()) {
      const visible = this.isShown(one);
      shown += visible;
      one.row.hidden = !visible;
      if (whole.get(one)[1]) whole.get(one)[1].hidden = !visible || whole.get(one)[1].className === "closed";
      const name = this.chosen.group ? this.groupsOf(one.index)[0] : "";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(one);
    }
    const names = [...groups.keys()].sort((a, b) => compared(a, b));
    const bodies = names.map((name) => {
      const members = groups.get(name);
      const body = make("tbody");
      const seen = members.filter((one) => !one.row.hidden).length;
      if (this.chosen.group && seen) {
        const columns = this.element.tHead.rows[0].cells.length;
        body.append(make("tr", { class: "group" }, make("th", { scope: "rowgroup", colSpan: columns }, `${name} `, make("small", {}, many(seen, "row")))));
      }
      body.append(...members.flatMap((one) => whole.get(one)));
      return body;
    });
    for (const body of [...this.element.tBodies]) body.remove();
    this.element.append(...bodies);
    if (this.count) this.count.textContent = `${many(shown, "row")} of ${this.rows.length.toLocaleString("en")}`;
  }

  controls() {
    const bar = make("div", { class: "controls", role: "group", "aria-label": "Filter and group the results" });
    const text = make("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter by name", autocomplete: "off" });
    text.addEventListener("input", () => this.choose("text", text.value.trim().toLowerCase()));
    bar.append(text, this.verdictChips(), this.select("metric", "All metrics", this.told.metrics, this.told.metric));
    bar.append(this.select("tag", "All tags", this.told.tags.flat()), this.grouping());
    this.count = make("p", { class: "count", role: "status" });
    bar.append(this.count);
    this.element.closest(".scroll").before(bar);
    this.show();
  }

  choose(what, value) {
    this.chosen[what] = value;
    this.show();
  }

  verdictChips() {
    const there = ORDER.filter((verdict) => this.told.verdicts.includes(verdict));
    if (there.length < 2) return "";
    const chips = there.map((verdict) => {
      const number = this.told.verdicts.filter((one) => one === verdict).length;
      const chip = make("button", { type: "button", class: `chip v ${verdict}`, "aria-pressed": "false" }, verdict, " ", make("small", {}, number.toLocaleString("en")));
      chip.addEventListener("click", () => {
        const pressed = chip.getAttribute("aria-pressed") !== "true";
        chip.setAttribute("aria-pressed", String(pressed));
        this.chosen.verdicts[pressed ? "add" : "delete"](verdict);
        this.show();
      });
      return chip;
    });
    return make("div", { class: "chips", role: "group", "aria-label": "Verdicts" }, ...chips);
  }

  select(what, all, values, chosen = "") {
    const there = [...new Set(values)].filter(Boolean);
    if (there.length < (what === "tag" ? 1 : 2)) return "";
    const options = [make("option", { value: "" }, all), ...there.map((one) => make("option", { value: one }, one))];
    const select = make("select", { "aria-label": `Show ${all.toLowerCase()} or one` }, ...options);
    select.addEventListener("change", () => this.choose(what, select.value));
    if (chosen && there.includes(chosen) && this.rows.length > 2 * there.length) {
      select.value = chosen;
      this.chosen[what] = chosen;
    }
    return select;
  }

  grouping() {
    const names = [...new Set(this.told.params.flatMap((params) => Object.keys(params)))];
    const ways = [
      ...(new Set(this.told.verdicts).size > 1 ? [["verdict", "verdict"]] : []),
      ...(this.told.tags.some((tags) => tags.length) ? [["tag", "tag"]] : []),
      ...names.map((name) => [PARAMETER + name, PARAMETER + name]),
    ];
    if (!ways.length) return "";
    const options = ways.map(([value, label]) => make("option", { value }, `Group by ${label}`));
    const select = make("select", { "aria-label": "Group the rows" }, make("option", { value: "" }, "No groups"), ...options);
    select.addEventListener("change", () => this.choose("group", select.value));
    return select;
  }
}
