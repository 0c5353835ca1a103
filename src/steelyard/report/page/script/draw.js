// One panel of a figure on a canvas: uPlot does the axes, the scales and the zoom; everything between the axes is drawn
// here, so that each side has its own shape, too, not just its own colour.

import { make } from "./dom.js";
import { unpacked } from "./data.js";

const FONT = fontOf(12);
const WHOLE = [1, 2, 5].flatMap((one) => [0, 1, 2, 3, 4, 5, 6, 7].map((power) => one * 10 ** power)).sort((a, b) => a - b);
const DASHES = { candidate: [7, 4], steal: [6, 4], pressure: [2, 3], beside: [10, 3], fit: [6, 5] };
const BAND_FROM = 30;
const CLOSE_BELOW = 200;
// uPlot's gap between the plot and the right edge of its canvas.
const ASIDE = 15;
const LABEL = 22;
// Charts narrower than this are on a phone.
const NARROW = 320;

function fontOf(size) {
  return `${size}px system-ui, sans-serif`;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function readable(series) {
  const told = { ...series, x: unpacked(series.x), y: unpacked(series.y) };
  if (series.low) Object.assign(told, { low: unpacked(series.low), high: unpacked(series.high) });
  return told;
}

function shortest(value) {
  if (value === null || !Number.isFinite(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: 5 });
}

// A value with its unit, with as many digits as can be read off.
function withUnit(value, { unit, signed, whole }) {
  const digits = whole || Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
  const text = signed ? value.toLocaleString("en", { signDisplay: "exceptZero", minimumFractionDigits: 2, maximumFractionDigits: 2 }) : value.toLocaleString("en", digits);
  return unit ? `${text}\u00a0${unit}` : text;
}

// The ends of an axis: those of its values (and marks), with a little room.
function ends(all, log, fromZero) {
  const known = all.filter((value) => value !== null && Number.isFinite(value) && (!log || value > 0));
  if (!known.length) return log ? [1, 10] : [0, 1];
  let low = known[0];
  let high = known[0];
  for (const value of known) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (log) {
    const room = Math.max(1.15, (high / low) ** 0.05);
    return [low / room, high * room];
  }
  const size = Math.max(Math.abs(low), Math.abs(high));
  // Equal values, as of a curve that does not rise, differ by what is lost in rounding.
  const room = (high - low > 1e-12 * size ? high - low : size || 1) * 0.05;
  return [fromZero && low >= 0 ? 0 : low - room, high + room];
}

function edges({ x }) {
  const half = x.length > 1 ? (x[1] - x[0]) / 2 : 0;
  return [x[0] - half, x.at(-1) + half];
}

function limits(panel, series) {
  const along = series.flatMap((one) => (one.draw === "bars" ? edges(one) : one.x));
  const up = series.flatMap((one) => (one.low ? [...one.low, ...one.high] : one.y));
  const [left, right] = ends(along, panel.x.log, false);
  for (const mark of panel.marks ?? []) {
    if (mark.axis === "y") up.push(mark.at);
  }
  // A panel that follows another shows shares of its time.
  const fromZero = panel.follows || series.some((one) => one.draw === "bars" || one.draw === "steps");
  return { x: panel.x.ends ?? [left, right], y: panel.y.ends ?? ends(up, panel.y.log, fromZero) };
}

const SHAPES = {
  points(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  },
  rings(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius * 1.15, 0, 2 * Math.PI);
    context.stroke();
  },
  crosses(context, x, y, radius) {
    context.beginPath();
    context.moveTo(x - radius, y - radius);
    context.lineTo(x + radius, y + radius);
    context.moveTo(x + radius, y - radius);
    context.lineTo(x - radius, y + radius);
    context.stroke();
  },
};

function drawPoints(context, one, place, ratio) {
  const few = one.x.length < 400;
  context.globalAlpha = few ? 0.85 : 0.6;
  const shape = one.draw === "points" && one.role === "candidate" ? square : SHAPES[one.draw];
  one.x.forEach((x, index) => {
    if (one.y[index] !== null) shape(context, ...place(x, one.y[index]), (few ? 3.2 : 2.2) * ratio);
  });
}

function square(context, x, y, radius) {
  context.fillRect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
}

function drawLine(context, one, place, stepped) {
  const known = one.x.flatMap((x, index) => (one.y[index] === null ? [] : [place(x, one.y[index])]));
  // A line through a single value would be invisible.
  if (known.length === 1) return SHAPES.points(context, ...known[0], 2 * context.lineWidth);
  context.beginPath();
  known.forEach(([left, top], index) => {
    if (index && stepped) context.lineTo(left, known[index - 1][1]);
    context[index ? "lineTo" : "moveTo"](left, top);
  });
  context.stroke();
}

function drawBars(context, one, place, ground) {
  const step = one.x.length > 1 ? one.x[1] - one.x[0] : 1;
  context.beginPath();
  one.x.forEach((x, index) => {
    const [left, top] = place(x - step / 2, one.y[index]);
    const right = place(x + step / 2, one.y[index])[0];
    const width = one.x.length > 1 ? right - left : 40;
    context.rect(one.x.length > 1 ? left : (left + right) / 2 - 20, top, width, ground - top);
  });
  context.globalAlpha = one.role === "candidate" ? 0.12 : 0.4;
  context.fill();
  context.globalAlpha = 0.9;
  context.stroke();
}

function drawRange(context, one, place, ratio) {
  const upper = one.x.map((x, index) => place(x, one.high[index]));
  const lower = one.x.map((x, index) => place(x, one.low[index]));
  if (one.x.length >= BAND_FROM) {
    context.beginPath();
    upper.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
    lower.reverse().forEach(([x, y]) => context.lineTo(x, y));
    context.globalAlpha = 0.18;
    context.fill();
    context.globalAlpha = 1;
    drawLine(context, one, place, false);
    return;
  }
  const cap = 4 * ratio;
  context.setLineDash([]);
  context.beginPath();
  const shift = one.role === "candidate" ? cap : 0;
  upper.forEach(([x, top], index) => {
    const bottom = lower[index][1];
    context.moveTo(x + shift, top);
    context.lineTo(x + shift, bottom);
    for (const y of [top, bottom]) {
      context.moveTo(x + shift - cap, y);
      context.lineTo(x + shift + cap, y);
    }
  });
  context.stroke();
  const mark = one.role === "candidate" ? square : SHAPES.points;
  one.x.forEach((x, index) => mark(context, upper[index][0] + shift, place(x, one.y[index])[1], 3.2 * ratio));
}

function drawSeries(context, one, place, ground, ratio) {
  context.save();
  context.strokeStyle = context.fillStyle = colour(one.role);
  context.lineWidth = 1.6 * ratio;
  const dashes = one.draw === "dashes" ? DASHES.fit : ["line", "steps", "range"].includes(one.draw) ? DASHES[one.role] : null;
  context.setLineDash((dashes ?? []).map((length) => length * ratio));
  if (one.draw in SHAPES) drawPoints(context, one, place, ratio);
  else if (one.draw === "bars") drawBars(context, one, place, ground);
  else if (one.draw === "range") drawRange(context, one, place, ratio);
  else drawLine(context, one, place, one.draw === "steps");
  context.restore();
}

function drawMarks(context, plot, panel, ratio) {
  const { left, top, width, height } = plot.bbox;
  for (const mark of panel.marks ?? []) {
    const at = plot.valToPos(mark.at, mark.axis, true);
    context.save();
    context.strokeStyle = colour(mark.role);
    context.lineWidth = (mark.solid && mark.role === "change" ? 2 : 1) * ratio;
    context.setLineDash(mark.solid ? [] : [3 * ratio, 3 * ratio]);
    context.beginPath();
    if (mark.axis === "y") {
      context.moveTo(left, at);
      context.lineTo(left + width, at);
    } else {
      context.moveTo(at, top);
      context.lineTo(at, top + height);
    }
    context.stroke();
    context.restore();
  }
}

function painter(panel, series) {
  return (plot) => {
    const context = plot.ctx;
    const ratio = devicePixelRatio || 1;
    const place = (x, y) => [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
    const { left, top, width, height } = plot.bbox;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    drawMarks(context, plot, panel, ratio);
    for (const one of series) drawSeries(context, one, place, top + height, ratio);
    context.restore();
  };
}

// The values at a log axis: 1, 2 and 5 times each power of ten, or if these are too many, only some of the powers.
function factors(low, high, most) {
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) powers.push(power);
  const within = (steps, every) =>
    powers
      .filter((power, index) => index % every === 0)
      .flatMap((power) => steps.map((step) => step * 10 ** power))
      .filter((one) => one >= low && one <= high);
  const all = within([1, 2, 5], 1);
  const found = all.length <= most ? all : within([1], Math.ceil(powers.length / most));
  return found.length > 1 ? found : [low, Math.sqrt(low * high), high].map((one) => Number(one.toPrecision(2)));
}

// The most characters that a value at an axis with this end takes.
function widest(end) {
  const text = shortest(Math.abs(end) < 1000 ? end : Number(end.toPrecision(2)));
  return Math.abs(end) < 1000 ? Math.min(text.length, 6) : text.length;
}

// The panels of a figure lie below each other, with their axes equally far from the edge.
export function digitsOf(panels) {
  const least = panels.some((panel) => panel.follows) ? 5 : 3;
  return Math.max(least, ...panels.flatMap((panel) => limits(panel, panel.series.map(readable)).y.map(widest)));
}

// The largest font in which the axis's name, which is centred, is not cut off.
function fitting(name, room) {
  const context = make("canvas").getContext("2d");
  context.font = FONT;
  const width = context.measureText(name).width;
  // uPlot only reads whole font sizes.
  return width <= room ? FONT : fontOf(Math.max(8, Math.floor((12 * room) / width)));
}

// The distance of values at an axis on a phone: as small as their digits allow, as one value alone shows no scale.
function closest(low, high, room) {
  const step = ((high - low) * 40) / room;
  const decimals = Math.min(20, Math.max(0, Math.ceil(-Math.log10(step))));
  return 8 + 7 * Math.max(low.toFixed(decimals).length, high.toFixed(decimals).length);
}

function axis(told, vertical, digits, { width, height }) {
  const across = 14 + 8 * digits;
  return {
    ...(told.log ? { splits: (plot, index, low, high) => factors(low, high, vertical ? 10 : plot.width < NARROW ? 5 : 14), filter: (plot, splits) => splits } : {}),
    label: told.label,
    labelFont: vertical ? FONT : fitting(told.label, width - across - LABEL + ASIDE),
    labelSize: LABEL,
    ...(told.whole ? { incrs: WHOLE } : {}),
    font: FONT,
    stroke: () => colour("quiet"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { stroke: () => colour("line"), width: 1, size: 4 },
    values: (plot, values) => values.map(shortest),
    size: vertical ? across : 34,
    space: (plot, index, low, high, room) => {
      if (vertical) return height < CLOSE_BELOW ? 20 : 36;
      return plot.width < NARROW ? closest(low, high, room) : 64;
    },
  };
}

// The point nearest to the pointer, or null.
function nearest(plot, series) {
  let best = null;
  let least = 24 * 24;
  for (const one of series) {
    one.x.forEach((x, index) => {
      if (one.y[index] === null) return;
      const away = (plot.valToPos(x, "x") - plot.cursor.left) ** 2 + (plot.valToPos(one.y[index], "y") - plot.cursor.top) ** 2;
      if (away < least) {
        least = away;
        best = { label: one.label, x, y: one.y[index], low: one.low?.[index], high: one.high?.[index] };
      }
    });
  }
  return best;
}

function toldOf(panel, { label, x, y, low, high }) {
  const text = `${label} at ${withUnit(x, panel.x)}: ${withUnit(y, panel.y)}`;
  return low === undefined ? text : `${text}, from ${withUnit(low, panel.y)} to ${withUnit(high, panel.y)}`;
}

function legend(panel, series) {
  const items = series.map((one) => make("li", { class: `key ${one.draw} ${one.role}` }, one.label));
  const told = new Set();
  for (const mark of panel.marks ?? []) {
    if (!told.has(mark.label)) items.push(make("li", { class: `key mark ${mark.role}${mark.solid ? " solid" : ""}` }, mark.label));
    told.add(mark.label);
  }
  return items.length > 1 || panel.follows ? make("ul", { class: "legend" }, ...items) : "";
}

// Panels of a figure that share an axis share its ends.
export function drawPanel(panel, into, height, shared) {
  const series = panel.series.map(readable);
  const about = `${panel.title}. Across: ${panel.x.label}. Up: ${panel.y.label}.`;
  const canvas = make("div", { class: "plot", role: "img", "aria-label": about });
  const shown = make("output", { class: "nearest", "aria-hidden": "true" });
  into.append(make("div", { class: "panel" }, make("p", { class: "panel-title" }, panel.title), canvas, legend(panel, series)));
  const found = limits(panel, series);
  const { y } = found;
  const x = panel.follows ? shared.x : found.x;
  shared.x = x;
  const every = [...new Set(series.flatMap((one) => one.x))].filter((value) => value !== null).sort((a, b) => a - b);
  const size = { width: Math.max(200, canvas.clientWidth), height };
  const plot = new uPlot(
    {
      ...size,
      legend: { show: false },
      cursor: { points: { show: false }, y: false, drag: { x: true, y: false }, ...(shared.key ? { sync: { key: shared.key } } : {}) },
      scales: {
        x: { time: false, distr: panel.x.log ? 3 : 1, range: (one, low, high) => (low <= every[0] && high >= every.at(-1) ? x : [low, high]) },
        y: { distr: panel.y.log ? 3 : 1, range: () => y },
      },
      axes: [axis(panel.x, false, shared.digits, size), axis(panel.y, true, shared.digits, size)],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: {
        draw: [painter(panel, series)],
        setCursor: [
          (one) => {
            const point = one.cursor.left >= 0 && one.cursor.top >= 0 ? nearest(one, series) : null;
            shown.textContent = point ? toldOf(panel, point) : "";
            // In the corner opposite the pointer.
            shown.classList.toggle("left", one.cursor.left > one.over.clientWidth / 2);
            shown.classList.toggle("low", one.cursor.top < one.over.clientHeight / 2);
          },
        ],
      },
    },
    [every, every.map(() => y[0])],
    canvas,
  );
  plot.over.append(shown);
  const fit = () => {
    const width = Math.floor(canvas.clientWidth);
    if (width > 0 && width !== plot.width) plot.setSize({ width, height });
  };
  new ResizeObserver(fit).observe(canvas);
  return { fit, redraw: () => plot.redraw() };
}
