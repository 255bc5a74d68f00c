"use strict";
// The explorer: values, visited states and queues of agents over training time.

const PANELS = [
  ["value", "value V"],
  ["frequency", "local frequency g"],
  ["queue", "queue"],
  ["replay", "visited states"],
  ["policy", "greedy policy"],
];
const PAUSE = 450; // milliseconds between two steps of the animation

/** The mean percentile of g over the states of the queue or the replay buffer. */
function measured(frame, store) {
  const percentile = frame.percentiles[store];
  return percentile === undefined ? [] : [el("span", { "data-percentile": store }, "mean percentile of g ", el("b", {}, percentile.toFixed(2)), " (0.5: uniform over the space)")];
}

function legendOf(kind, data, run, frame) {
  const key = (color, text) => el("span", {}, el("span", { class: "swatch", style: `background:${color}` }), text);
  if (kind === "policy" && typeof frame.policy === "string") return data.actions.map((name, i) => key(data.colors.actions[i % data.colors.actions.length], name));
  if (kind === "replay") return [key(data.colors.replay, "visited"), ...measured(frame, "replay")];
  if (kind === "queue") {
    if (frame.queue === undefined) return [el("span", {}, "no queue: this agent does not search")];
    if (!frame.queue) return [el("span", {}, "the queue is empty: no search yet")];
    const rules = new Set(frame.climbs.map((climb) => followed(climb.rule, run)));
    return [key(data.colors.queue, "queue, over g"), ...[...rules].sort().map((rule) => key(climbColor(rule, data.colors), `climbs of ${rule}`)), ...measured(frame, "queue")];
  }
  const map = integers(data.colormaps[kind === "policy" ? "value" : kind], 3);
  const stops = [0, 64, 128, 192, 255].map((i) => `rgb(${map.slice(3 * i, 3 * i + 3).join(",")})`);
  const ends = frame[kind].ends.map((v) => numberText(kind === "frequency" ? 10 ** v : v, 3));
  const what = kind === "policy" ? [el("span", {}, "first action")] : [];
  return [...what, el("span", {}, ends[0]), el("span", { class: "bar", style: `background:linear-gradient(90deg,${stops})` }), el("span", {}, ends[1])];
}

/** An explanation of what is shown. */
function caption({ runs, landmarks, rule }) {
  const searches = runs.filter((run) => run.finds).map((run) => `${run.label} (${run.finds})`).join(", ");
  const space = landmarks.some(({ kind }) => kind === "wall") ? "space without its walls" : "space";
  return [
    "Each agent is shown at the step selected by the slider, with the return of its most recent evaluation.",
    "The local frequency g = ‖∇V‖² + ‖H‖² is large where the learned value V changes quickly; its numbers depend on the units of the coordinates.",
    searches && `An agent that searches plans from the states in its queue (red), which it has found so far: ${searches}.`,
    `The mean percentile of g is shown for ${searches ? "these and the visited" : "the visited"} states; it is 0.5 for states that are uniform over the ${space}.`,
    rule,
  ].filter(Boolean).join(" ");
}

/** The explorer of one environment, with its runs side by side. */
function explorer(data, id) {
  const steps = [...new Set(data.runs.flatMap((run) => run.steps))].sort((a, b) => a - b);
  const state = { at: steps.indexOf(data.opens), seed: 0, cursor: null, playing: null };
  const readout = el("p", { class: "readout soft small" });
  const output = el("output");
  const slider = el("input", { type: "range", min: 0, max: steps.length - 1, step: 1, "aria-label": `training time, ${data.env}` });
  const rowOf = (run) => Math.min(state.seed, run.seeds.length - 1);
  /** The snapshot of a run at the selected step; null if there is none. */
  const frameOf = (run) => run.frames[rowOf(run)][run.steps.indexOf(steps[state.at])] || null;
  const returnOf = (run) => {
    const last = run.evaluations.findLastIndex((step) => step <= steps[state.at]);
    const value = last < 0 ? null : run.returns[rowOf(run)][last];
    return value === null ? "not evaluated yet" : `return ${numberText(value)}`;
  };
  const maps = [];
  const grid = el("div", { class: "maps", style: `--runs:${data.runs.length};--panels:${PANELS.length}` });
  for (const [kind, title] of PANELS) {
    for (const run of data.runs) {
      const canvas = el("canvas", { width: PIXELS * 2, height: PIXELS * 2, role: "img", "aria-label": `${title} of ${run.label}` });
      const agent = el("div", { class: "agent" });
      const scale = el("div", { class: "scale" });
      canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        state.cursor = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
        draw();
      });
      canvas.addEventListener("pointerleave", () => { state.cursor = null; draw(); });
      const axes = ["x", "y"].map((name, i) => el("div", { class: `axis ${name}` }, el("span", {}, numberText(data.low[i], 3)), el("span", {}, data.coordinates[i]), el("span", {}, numberText(data.high[i], 3))));
      maps.push({ kind, run, canvas, agent, scale });
      grid.append(el("div", { class: kind === "value" ? "map first" : "map" }, agent, el("div", { class: "name" }, title), el("div", { class: "plot" }, axes[1], canvas, axes[0]), scale));
    }
  }
  function drawMap({ kind, run, canvas, agent, scale }) {
    const frame = frameOf(run);
    agent.replaceChildren(el("b", {}, run.label), el("span", {}, `seed ${run.seeds[rowOf(run)]}${frame ? `, ${returnOf(run)}` : ""}`));
    drawEmpty(canvas);
    if (!frame) return scale.replaceChildren(el("span", {}, "no snapshot at this step"));
    scale.replaceChildren(...legendOf(kind, data, run, frame));
    drawFrame(canvas, kind, frame, run, data);
    if (state.cursor) drawCursor(canvas, state.cursor);
  }
  function draw() {
    slider.value = state.at;
    output.textContent = `step ${steps[state.at].toLocaleString("en")}`;
    maps.forEach(drawMap);
    readout.textContent = "Hover over a state to see V and g there, in all panels.";
    if (state.cursor) {
      const [x, y] = state.cursor;
      const place = [x, 1 - y].map((share, i) => numberText(data.low[i] + share * (data.high[i] - data.low[i]), 3));
      const numbers = data.runs.filter(frameOf).map((run) => {
        const frame = frameOf(run);
        return `${run.label}: V = ${numberText(valueAt(frame.value, state.cursor), 3)}, g = ${numberText(10 ** valueAt(frame.frequency, state.cursor), 3)}`;
      });
      readout.textContent = `${data.coordinates.map((name, i) => `${name} ${place[i]}`).join(", ")}: ${numbers.join("; ")}`;
    }
  }
  slider.addEventListener("input", () => { state.at = Number(slider.value); draw(); });
  const play = el("button", { type: "button" }, "play");
  const stop = () => { clearInterval(state.playing); state.playing = null; play.textContent = "play"; };
  play.addEventListener("click", () => {
    if (state.playing) return stop();
    play.textContent = "stop";
    if (state.at === steps.length - 1) { state.at = 0; draw(); }
    state.playing = setInterval(() => {
      if (state.at < steps.length - 1) { state.at += 1; draw(); }
      if (state.at === steps.length - 1) stop();
    }, PAUSE);
  });
  const seeds = data.runs.reduce((most, run) => (run.seeds.length > most.length ? run.seeds : most), []);
  const choice = el("select", { "aria-label": "seed", onchange: (event) => { state.seed = event.target.selectedIndex; draw(); } }, ...seeds.map((_, i) => el("option", {}, `seed ${i + 1} of ${seeds.length}`)));
  draw();
  return {
    root: el("section", { id, class: "explorer" }, el("h2", {}, `Which states should an agent plan from? ${data.env}`),
      el("p", { class: "caption" }, caption(data)),
      el("div", { class: "time" }, play, slider, output, seeds.length > 1 ? choice : null), grid, readout),
  };
}
