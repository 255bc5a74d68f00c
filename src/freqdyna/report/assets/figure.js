"use strict";
// A figure: its panels and controls.

const MANY = 8; // series that need a wide panel

const DASHES = { dash: "7 4", dot: "2 3", dashdot: "8 3 2 3" };
const SIGNS = { circle: "●", square: "■", diamond: "◆", "triangle-up": "▲", "triangle-down": "▼", cross: "✚" };

/** The legend key of a series: a short line with its colour, dashes and markers. */
function keyOf({ color, dash, mode, symbol }) {
  const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
    node.append(...children);
    return node;
  };
  const parts = [svg("line", { x1: 0, x2: 24, y1: 6, y2: 6, "stroke-width": 3, "stroke-dasharray": DASHES[dash] || "none" })];
  if (mode && mode.includes("markers")) parts.push(svg("text", { x: 12, y: 10, "text-anchor": "middle", "font-size": 12 }, SIGNS[symbol]));
  const key = svg("svg", { width: 24, height: 12, "aria-hidden": true }, ...parts);
  key.dataset.color = color;
  return key;
}

/** A panel with many rows needs room for their names. */
function heightOf({ y }) {
  const rows = y.ticks ? y.ticks.at.length : 0;
  return rows > 15 ? `height:${60 + 16 * rows}px` : null;
}

/** The panels of a chart; drawn when they come into view, and redrawn when their content changes. */
function panelsOf(chart, state) {
  const panels = chart.panels.map((panel) => ({ panel, node: el("div", { class: "panel", style: heightOf(panel) }), near: false, fresh: false }));
  const draw = (one) => {
    if (!one.near || one.fresh) return;
    one.fresh = true;
    drawPanel(one.node, one.panel, state);
  };
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const one = panels.find(({ node }) => node === entry.target);
      one.near = entry.isIntersecting;
      draw(one);
    }
  }, { rootMargin: "200px" });
  panels.forEach(({ node }) => observer.observe(node));
  const redraw = (all = false) => panels.forEach((one) => { one.fresh = false; one.near ||= all; draw(one); });
  const nodes = panels.map(({ panel, node }) => el("figure", {}, el("figcaption", {}, panel.title), node));
  return { nodes, redraw };
}

/** Toggles for all series. */
function seriesChips(chart, state, redraw) {
  const labels = new Map();
  for (const panel of chart.panels) {
    for (const mark of panel.marks) {
      if (mark.label && !labels.has(mark.label)) labels.set(mark.label, mark);
    }
  }
  const chips = [...labels].map(([label, mark]) => {
    const change = (on) => { on ? state.hidden.delete(label) : state.hidden.add(label); redraw(); };
    const chip = toggle("", true, change, { class: "chip", "data-series": label });
    chip.append(keyOf(mark), label);
    return chip;
  });
  const all = (on) => () => {
    chips.forEach((chip) => chip.setAttribute("aria-pressed", String(on)));
    state.hidden = new Set(on ? [] : labels.keys());
    redraw();
  };
  const both = chips.length > 3 ? [el("button", { type: "button", onclick: all(true) }, "all"), el("button", { type: "button", onclick: all(false) }, "none")] : [];
  return [...both, ...chips];
}

/** The controls and panels of a figure, and a function that redraws it. */
function figure(chart) {
  const state = { hidden: new Set(), off: new Set(), statistic: mean, interval: true, single: false };
  const { nodes, redraw } = panelsOf(chart, state);
  const change = (set, member) => (on) => {
    on ? set.delete(member) : set.add(member);
    redraw();
  };
  const chips = seriesChips(chart, state, redraw);
  const numbers = [...new Set(chart.panels.flatMap((p) => p.marks.flatMap((m) => m.numbers || [])))].sort((a, b) => a - b);
  const root = el("div", { class: "figure" });
  if (chips.length) root.append(el("div", { class: "controls series" }, ...chips));
  if (numbers.length > 1) {
    const pick = (statistic) => () => { state.statistic = statistic; redraw(); };
    const averages = [["mean", mean], ["interquartile mean", interquartileMean]].map(([text, statistic]) =>
      el("button", { type: "button", "aria-pressed": String(statistic === mean), onclick: (event) => {
        averages.forEach((b) => b.setAttribute("aria-pressed", String(b === event.currentTarget)));
        pick(statistic)();
      } }, text));
    root.append(el("div", { class: "controls" }, ...averages, el("span", { class: "gap" }),
      toggle("95% interval", true, (on) => { state.interval = on; redraw(); }),
      toggle("individual seeds", false, (on) => { state.single = on; redraw(); })));
    const seeds = numbers.map((seed) =>
      toggle(String(seed), true, change(state.off, seed), { "aria-label": `seed ${seed}` }));
    const all = (on) => () => {
      seeds.forEach((button) => button.setAttribute("aria-pressed", String(on)));
      numbers.forEach((seed) => (on ? state.off.delete(seed) : state.off.add(seed)));
      redraw();
    };
    root.append(el("details", {}, el("summary", {}, `Select from ${numbers.length} seeds`),
      el("div", { class: "controls" }, el("button", { type: "button", onclick: all(true) }, "all"), el("button", { type: "button", onclick: all(false) }, "none")),
      el("div", { class: "seeds" }, ...seeds)));
  }
  const every = Math.max(1, ...chart.panels.flatMap((p) => p.marks.map((m) => m.every || 1)));
  if (every > 1) root.append(el("p", { class: "soft small" }, `Only one of every ${every} evaluations is drawn.`));
  const shape = chips.length > MANY || nodes.length === 1 ? " wide" : nodes.length % 3 === 1 ? " even" : "";
  root.append(el("div", { class: `panels${shape}` }, ...nodes));
  const recolor = () => root.querySelectorAll(".chip svg").forEach((key) => (key.style.color = visible(key.dataset.color)));
  recolor();
  return { root, redraw: (all) => { recolor(); redraw(all); } };
}
