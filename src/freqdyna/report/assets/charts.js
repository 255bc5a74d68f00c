"use strict";
// Charts: panels drawn by Plotly; curves of seeds summarised here, for the seeds that are on.

const RESAMPLES = 300;

/** An element with attributes and children; text is always text, never markup. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** A button that is on or off. */
function toggle(text, on, change, attributes = {}) {
  const button = el("button", { type: "button", "aria-pressed": String(on), ...attributes }, text);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    change(now);
  });
  return button;
}

/** Plotly reads some markup in its texts: show names as they are. */
function shown(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** A long label on several lines. */
function wrapped(text, width = 26) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length > width) lines.push(word);
    else lines[last] += (lines[last] ? " " : "") + word;
  }
  return lines.map(shown).join("<br>");
}

const isDark = () => document.documentElement.dataset.theme === "dark";
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function channels(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/** A colour that can be seen on the page's ground: dark ones are made lighter at night. */
function visible(color) {
  const [r, g, b] = channels(color);
  const light = (0.3 * r + 0.59 * g + 0.11 * b) / 255;
  if (!isDark() || light > 0.45) return color;
  const share = 0.9 - 1.2 * light;
  const mixed = [r, g, b].map((v) => Math.round(v + (255 - v) * share));
  return "#" + mixed.map((v) => v.toString(16).padStart(2, "0")).join("");
}

function faded(color, alpha) {
  return `rgba(${channels(color).join(",")},${alpha})`;
}

function mean(values) {
  return values.reduce((sum, v) => sum + v, 0) / values.length;
}

/** The mean of the middle half; a quarter of a value counts as a quarter. */
function interquartileMean(values) {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const inside = Math.min(i + 1, 0.75 * n) - Math.max(i, 0.25 * n);
    if (inside > 0) sum += inside * sorted[i];
  }
  return sum / (n / 2);
}

/** Which seeds each resample holds; the same at every call. */
function resamples(seeds) {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return Array.from({ length: RESAMPLES }, () =>
    Array.from({ length: seeds }, () => Math.floor(next() * seeds)),
  );
}

/** The statistic over seeds at each evaluation, and its 95% interval by bootstrap. */
function summary(rows, statistic) {
  const middle = [], low = [], high = [];
  const draws = rows.length > 1 ? resamples(rows.length) : [];
  for (let i = 0; i < rows[0].length; i++) {
    const column = rows.map((row) => row[i]);
    middle.push(statistic(column));
    const again = draws.map((draw) => statistic(draw.map((k) => column[k]))).sort((a, b) => a - b);
    if (again.length) {
      low.push(again[Math.floor(0.025 * RESAMPLES)]);
      high.push(again[Math.ceil(0.975 * RESAMPLES) - 1]);
    }
  }
  return { middle, low, high };
}

/** Plotly's traces of one mark. */
function traces(mark, state) {
  const color = mark.color ? visible(mark.color) : null;
  const name = shown(mark.label || "");
  const line = { color, dash: mark.dash, width: Math.max(mark.width || 1, 1) };
  const common = { name, showlegend: false, x: mark.x, type: "scatter" };
  if (mark.kind === "mesh") {
    const z = mark.log ? mark.z.map((row) => row.map((v) => Math.log10(Math.max(v, mark.ends[0])))) : mark.z;
    const ends = mark.log ? mark.ends.map(Math.log10) : mark.ends;
    const bar = { thickness: 10, title: { text: mark.log ? "log₁₀" : "" } };
    return [{ type: "heatmap", x: mark.x, y: mark.y, z, zmin: ends[0], zmax: ends[1], colorscale: "Viridis", colorbar: bar }];
  }
  if (mark.kind === "area") {
    return [{ ...common, y: mark.y, fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: faded(color, 0.2), hoverinfo: "skip" }];
  }
  if (mark.kind === "points") {
    return [{ ...common, y: mark.y, mode: "markers", marker: { color, size: 4, opacity: 0.7 } }];
  }
  if (mark.kind === "line") {
    return [{ ...common, y: mark.y, mode: mark.mode, line, marker: { color, size: 6 } }];
  }
  const chosen = mark.seeds.map((row, i) => [mark.numbers[i], row]).filter(([seed]) => !state.off.has(seed));
  if (!chosen.length) return [];
  const found = [];
  if (state.single) {
    for (const [seed, row] of chosen) {
      found.push({ ...common, name: `${name}, seed ${seed}`, y: row, mode: "lines", line: { ...line, width: 0.7 }, opacity: 0.5 });
    }
  }
  const { middle, low, high } = summary(chosen.map(([, row]) => row), state.statistic);
  if (state.interval && low.length) {
    found.push({ ...common, x: [...mark.x, ...[...mark.x].reverse()], y: [...high, ...[...low].reverse()], fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: faded(color, 0.18), hoverinfo: "skip" });
  }
  const range = low.map((v, i) => `[${v.toPrecision(4)}, ${high[i].toPrecision(4)}]`);
  found.push({ ...common, y: middle, mode: "lines", line: { ...line, width: 2 }, customdata: range, hovertemplate: range.length ? "%{y:.4~g} %{customdata}" : "%{y:.4~g}" });
  return found;
}

function axis(given, grid, showgrid) {
  const made = {
    title: { text: wrapped(given.label), standoff: 8 }, gridcolor: grid, showgrid, exponentformat: given.log ? "power" : "SI", zeroline: false, automargin: true,
    type: given.log ? "log" : "linear", range: given.log ? given.range.map(Math.log10) : given.range,
  };
  if (given.ticks) Object.assign(made, { tickvals: given.ticks.at, ticktext: given.ticks.texts.map(shown) });
  return made;
}

/** Draw one panel, or draw it again. */
function drawPanel(node, panel, state) {
  const marks = panel.marks.filter((mark) => !state.hidden.has(mark.label));
  const rules = panel.rules.filter((rule) => !state.hidden.has(rule.label));
  const boxes = panel.boxes.map(({ corners: [x0, y0, x1, y1], fill, edge, above }) => ({
    type: "rect", x0, y0, x1, y1, fillcolor: fill || "rgba(0,0,0,0)", line: { color: edge || fill, width: edge ? 1.5 : 0 },
    layer: above ? "above" : "below",
  }));
  const lines = rules.map(({ at, upright, color, dash }) => ({
    type: "line", line: { color: visible(color), dash, width: 1.2 },
    ...(upright ? { x0: at, x1: at, yref: "y domain", y0: 0, y1: 1 } : { y0: at, y1: at, xref: "x domain", x0: 0, x1: 1 }),
  }));
  const curves = panel.marks.some((mark) => mark.kind === "seeds");
  const grid = style("--grid");
  const layout = {
    title: { text: shown(panel.title), font: { size: 15 } }, margin: { l: 55, r: 12, t: 40, b: 45 }, height: 330,
    paper_bgcolor: style("--plot"), plot_bgcolor: style("--plot"), font: { color: style("--text"), size: 12 },
    xaxis: axis(panel.x, grid, !boxes.length), yaxis: axis(panel.y, grid, !boxes.length), shapes: [...boxes, ...lines], hovermode: curves && !state.single ? "x unified" : "closest",
    hoverlabel: { bgcolor: style("--card"), font: { color: style("--text") } },
    annotations: panel.texts.map(({ x, y, text }) => ({ x: panel.x.log ? Math.log10(x) : x, y: panel.y.log ? Math.log10(y) : y, text: shown(text), showarrow: false })),
  };
  if (panel.equal) Object.assign(layout.yaxis, { scaleanchor: "x", constrain: "domain" });
  const options = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  return Plotly.react(node, marks.flatMap((mark) => traces(mark, state)), layout, options);
}

/** The controls and panels of a figure. Drawn when first seen; `redraw` draws it anew. */
function figure(chart) {
  const state = { hidden: new Set(), off: new Set(), statistic: mean, interval: true, single: false };
  const nodes = chart.panels.map(() => el("div", { class: "panel" }));
  let seen = false;
  const redraw = () => seen && nodes.forEach((node, i) => drawPanel(node, chart.panels[i], state));
  const labels = new Map();
  for (const panel of chart.panels) {
    for (const { label, color, dash } of [...panel.marks, ...panel.rules]) {
      if (label && !labels.has(label)) labels.set(label, { color, dash });
    }
  }
  const change = (set, member) => (on) => {
    on ? set.delete(member) : set.add(member);
    redraw();
  };
  const chips = [...labels].map(([label, { color, dash }]) => {
    const key = el("i", { style: `border-top-color:${color};border-top-style:${!dash || dash === "solid" ? "solid" : "dashed"}` });
    key.dataset.color = color;
    const chip = toggle("", true, change(state.hidden, label), { class: "chip", "data-series": label });
    chip.append(key, label);
    return chip;
  });
  const numbers = [...new Set(chart.panels.flatMap((p) => p.marks.flatMap((m) => m.numbers || [])))].sort((a, b) => a - b);
  const root = el("div", { class: "figure" });
  if (chips.length) root.append(el("div", { class: "controls" }, ...chips));
  if (numbers.length > 1) {
    const pick = (statistic) => () => { state.statistic = statistic; redraw(); };
    const averages = [["mean", mean], ["interquartile mean", interquartileMean]].map(([text, statistic]) =>
      el("button", { type: "button", "aria-pressed": String(statistic === mean), onclick: (event) => {
        averages.forEach((b) => b.setAttribute("aria-pressed", String(b === event.currentTarget)));
        pick(statistic)();
      } }, text));
    root.append(el("div", { class: "controls" }, ...averages, el("span", { class: "gap" }),
      toggle("95% interval", true, (on) => { state.interval = on; redraw(); }),
      toggle("single seeds", false, (on) => { state.single = on; redraw(); })));
    const seeds = numbers.map((seed) =>
      toggle(String(seed), true, change(state.off, seed), { "aria-label": `seed ${seed}` }));
    const all = (on) => () => {
      seeds.forEach((button) => button.setAttribute("aria-pressed", String(on)));
      numbers.forEach((seed) => (on ? state.off.delete(seed) : state.off.add(seed)));
      redraw();
    };
    root.append(el("details", {}, el("summary", {}, `Choose among the ${numbers.length} seeds`),
      el("div", { class: "controls" }, el("button", { type: "button", onclick: all(true) }, "all"), el("button", { type: "button", onclick: all(false) }, "none")),
      el("div", { class: "seeds" }, ...seeds)));
  }
  const every = Math.max(1, ...chart.panels.flatMap((p) => p.marks.map((m) => m.every || 1)));
  if (every > 1) root.append(el("p", { class: "soft small" }, `Of every ${every} evaluations one is drawn.`));
  root.append(el("div", { class: nodes.length % 3 === 1 ? "panels even" : "panels" }, ...nodes));
  new IntersectionObserver((entries, observer) => {
    if (entries.some((entry) => entry.isIntersecting)) { observer.disconnect(); seen = true; redraw(); }
  }, { rootMargin: "300px" }).observe(root);
  const recolor = () => root.querySelectorAll(".chip i").forEach((key) => (key.style.borderTopColor = visible(key.dataset.color)));
  recolor();
  return { root, redraw: () => { recolor(); redraw(); } };
}
