"use strict";
// Panels of charts, drawn with Plotly.

/** The texts at the points of a trace: Plotly's own have more digits, and hyphens. */
function hover(values, intervals = []) {
  return { customdata: values.map((v, i) => (v === null ? "" : numberText(v) + (intervals[i] || ""))), hovertemplate: "%{customdata}" };
}

/** Plotly's traces for one mark. */
function traces(mark, state) {
  const color = mark.color ? visible(mark.color) : null;
  const name = escaped(mark.label || "");
  const line = { color, dash: mark.dash, width: Math.max(mark.width || 1, 1) };
  const common = { name, showlegend: false, x: mark.x, type: "scatter" };
  if (mark.kind === "mesh") {
    const [zmin, zmax] = mark.ends;
    return [{ type: "heatmap", x: mark.x, y: mark.y, z: mark.values, zmin, zmax, colorscale: "Viridis", hovertemplate: "%{z}<extra></extra>" }];
  }
  if (mark.kind === "area") {
    return [{ ...common, y: mark.y, fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: faded(color, 0.2), hoverinfo: "skip" }];
  }
  if (mark.kind === "line") {
    return [{ ...common, y: mark.y, mode: mark.mode, line, marker: { color, size: 7, symbol: mark.symbol } }];
  }
  const chosen = mark.seeds.map((row, i) => [mark.numbers[i], row]).filter(([seed]) => !state.off.has(seed));
  if (!chosen.length) return [];
  const curves = [];
  if (state.single) {
    for (const [seed, row] of chosen) {
      curves.push({ ...common, ...hover(row), name: `${name}, seed ${seed}`, y: row, mode: "lines", line: { ...line, width: 0.7 }, opacity: 0.5 });
    }
  }
  const { middle, low, high } = summary(mark, state);
  if (low.length) {
    curves.push({ ...common, x: [...mark.x, ...[...mark.x].reverse()], y: [...high, ...[...low].reverse()], fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: faded(color, 0.18), hoverinfo: "skip" });
  }
  const intervals = low.map((v, i) => ` [${numberText(v)}, ${numberText(high[i])}]`);
  curves.push({ ...common, ...hover(middle, intervals), y: middle, mode: mark.mode, line: { ...line, width: 2 }, marker: { color, size: 6 } });
  return curves;
}

function axis({ label, log, range, ticks }, grid) {
  return {
    title: { text: wrapped(label), standoff: 8 }, gridcolor: grid, exponentformat: log ? "power" : "SI", zeroline: false, automargin: true,
    type: log ? "log" : "linear",
    ...(range ? { range: range.map((v) => (v !== null && log ? Math.log10(v) : v)) } : {}),
    ...(ticks ? { tickvals: ticks.at, ticktext: ticks.texts.map(escaped) } : {}),
  };
}

/** Draw or redraw one panel. */
function drawPanel(node, panel, state) {
  const marks = panel.marks.filter(({ label }) => !state.hidden.has(label));
  const curves = panel.marks.some((mark) => mark.kind === "seeds");
  const grid = style("--grid");
  const drawn = marks.flatMap((mark) => traces(mark, state));
  const layout = {
    margin: { l: 55, r: 12, t: 12, b: 45 }, width: node.clientWidth, height: node.clientHeight,
    paper_bgcolor: style("--plot"), plot_bgcolor: style("--plot"), font: { color: style("--text"), size: 12 },
    xaxis: axis(panel.x, grid), yaxis: axis(panel.y, grid), hovermode: curves && !state.single ? "x unified" : "closest",
    hoverlabel: { namelength: -1, bgcolor: style("--card"), font: { color: style("--text") } },
  };
  const options = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  return Plotly.react(node, drawn, layout, options);
}
