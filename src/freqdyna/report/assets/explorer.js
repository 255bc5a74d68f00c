"use strict";
// The explorer: what agents believe, where they have been and where they plan from, over time.

const PIXELS = 300;
const ACTION_COLORS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];
const CLIMB_COLORS = { other: "#e000c0", value: "#0077ff" };
const ARROWS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0], "push left": [-1, 0], "push right": [1, 0] };
const PANELS = [
  ["value", "value V", "what the agent believes"],
  ["frequency", "local frequency g", "V changes"],
  ["queue", "queue over g", "plans from"],
  ["replay", "replay", "has been"],
  ["policy", "greedy policy", "would do"],
];

const decoded = new Map();

/** The bytes that a text stands for; kept, as each move of the pointer draws all panels anew. */
function bytes(text) {
  if (!decoded.has(text)) decoded.set(text, Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  return decoded.get(text);
}

/** Places as shares of the way from bound to bound, pair by pair. */
function places(text) {
  const raw = new Uint16Array(bytes(text).buffer);
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] / 65535, 1 - raw[2 * i + 1] / 65535]);
}

/** What a climb follows. */
function followed(rule, run) {
  return run.climbed[Math.min(rule, run.climbed.length - 1)];
}

const climbColor = (what) => (what === "V" ? CLIMB_COLORS.value : CLIMB_COLORS.other);

/** A number in a few signs. */
function short(value) {
  const size = Math.abs(value);
  if (size && (size < 1e-3 || size >= 1e5)) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

function drawSurface(context, surface, colors, size) {
  const [width, height] = surface.size;
  const levels = bytes(surface.data);
  const small = document.createElement("canvas");
  small.width = width;
  small.height = height;
  const image = new ImageData(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const level = levels[(height - 1 - y) * width + x];
      image.data.set([colors[3 * level], colors[3 * level + 1], colors[3 * level + 2], 255], 4 * (y * width + x));
    }
  }
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, size, size);
}

function drawDots(context, dots, color, size) {
  context.fillStyle = color;
  for (const [x, y] of dots) context.fillRect(x * size - size / 170, y * size - size / 170, size / 85, size / 85);
}

function drawClimbs(context, climbs, run, size) {
  for (const { rule, path } of climbs) {
    const way = places(path);
    const color = climbColor(followed(rule, run));
    context.strokeStyle = color;
    context.lineWidth = size / 220;
    context.beginPath();
    way.forEach(([x, y], i) => (i ? context.lineTo(x * size, y * size) : context.moveTo(x * size, y * size)));
    context.stroke();
    context.fillStyle = color;
    context.beginPath();
    const [x, y] = way[way.length - 1];
    context.arc(x * size, y * size, size / 110, 0, 7);
    context.fill();
  }
}

function drawPolicy(context, policy, side, names, size) {
  const cell = size / side;
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      context.fillStyle = ACTION_COLORS[policy[(side - 1 - y) * side + x] % ACTION_COLORS.length];
      context.globalAlpha = 0.55;
      context.fillRect(x * cell, y * cell, cell + 1, cell + 1);
    }
  }
  context.globalAlpha = 1;
  context.strokeStyle = "#111";
  context.lineWidth = size / 280;
  for (let y = 2; y < side; y += 4) {
    for (let x = 2; x < side; x += 4) {
      const way = ARROWS[names[policy[(side - 1 - y) * side + x]]];
      if (!way) continue;
      const [dx, dy] = way.map((v) => 1.4 * cell * v);
      const [cx, cy] = [(x + 0.5) * cell, (y + 0.5) * cell];
      context.beginPath();
      context.moveTo(cx - dx, cy - dy);
      context.lineTo(cx + dx, cy + dy);
      context.lineTo(cx + dx * 0.2 - dy * 0.5, cy + dy * 0.2 - dx * 0.5);
      context.moveTo(cx + dx, cy + dy);
      context.lineTo(cx + dx * 0.2 + dy * 0.5, cy + dy * 0.2 + dx * 0.5);
      context.stroke();
    }
  }
}

function drawLandmarks(context, given, size, filled) {
  const [w, h] = [0, 1].map((i) => given.high[i] - given.low[i]);
  for (const { kind, color, low, high } of given.landmarks) {
    const x = ((low[0] - given.low[0]) / w) * size;
    const y = (1 - (high[1] - given.low[1]) / h) * size;
    const box = [x, y, ((high[0] - low[0]) / w) * size, ((high[1] - low[1]) / h) * size];
    context.fillStyle = context.strokeStyle = color;
    context.lineWidth = size / 110;
    if (kind === "wall") context.globalAlpha = 0.92;
    if (kind === "wall" || filled) context.fillRect(...box);
    else context.strokeRect(...box);
    context.globalAlpha = 1;
  }
}

function legendOf(kind, given, run, frame) {
  const key = (color, text) => el("span", {}, el("span", { class: "swatch", style: `background:${color}` }), text);
  if (kind === "policy") return given.actions.map((name, i) => key(ACTION_COLORS[i % ACTION_COLORS.length], name));
  if (kind === "replay") return [key("#555", "visited states")];
  if (kind === "queue") {
    if (frame.queue === undefined) return [el("span", {}, "no queue: it does not plan")];
    const rules = new Set(frame.climbs.map((climb) => followed(climb.rule, run)));
    return [key("#d00", "queue"), ...[...rules].sort().map((rule) => key(climbColor(rule), `climbs of ${rule}`))];
  }
  const map = bytes(given.colormaps[kind]);
  const stops = [0, 64, 128, 192, 255].map((i) => `rgb(${map.slice(3 * i, 3 * i + 3).join(",")})`);
  const ends = frame[kind].ends.map((v) => short(kind === "frequency" ? 10 ** v : v));
  return [el("span", {}, ends[0]), el("span", { class: "bar", style: `background:linear-gradient(90deg,${stops})` }), el("span", {}, ends[1])];
}

/** The number that a surface has at a place. */
function valueAt(surface, [x, y]) {
  const [width, height] = surface.size;
  const level = bytes(surface.data)[Math.min(height - 1, Math.floor((1 - y) * height)) * width + Math.min(width - 1, Math.floor(x * width))];
  return surface.ends[0] + (level / 255) * (surface.ends[1] - surface.ends[0]);
}

/** The explorer of one environment, all of its runs beside each other. */
function explorer(given, id) {
  const steps = [...new Set(given.runs.flatMap((run) => run.steps))].sort((a, b) => a - b);
  const state = { at: steps.length - 1, seed: 0, cursor: null, playing: null };
  const readout = el("p", { class: "readout soft small" });
  const output = el("output");
  const slider = el("input", { type: "range", min: 0, max: steps.length - 1, step: 1, "aria-label": `training time, ${given.env}` });
  slider.value = state.at;
  const frameOf = (run) => {
    let last = 0;
    run.steps.forEach((step, i) => { if (step <= steps[state.at]) last = i; });
    return run.frames[Math.min(state.seed, run.frames.length - 1)][last];
  };
  const returnOf = (run) => {
    let last = -1;
    run.evaluations.forEach((step, i) => { if (step <= steps[state.at]) last = i; });
    return last < 0 ? "–" : run.returns[Math.min(state.seed, run.returns.length - 1)][last].toFixed(0);
  };
  const maps = [];
  const grid = el("div", { class: "maps", style: `--runs:${given.runs.length};grid-template-rows:repeat(${given.runs.length},auto);grid-template-columns:repeat(${PANELS.length},minmax(0,1fr))` });
  for (const [kind, title, meaning] of PANELS) {
    for (const run of given.runs) {
      const canvas = el("canvas", { width: PIXELS * 2, height: PIXELS * 2, role: "img", "aria-label": `${title} of ${run.label}` });
      const name = el("div", { class: "name" });
      const scale = el("div", { class: "scale" });
      canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        state.cursor = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
        draw();
      });
      canvas.addEventListener("pointerleave", () => { state.cursor = null; draw(); });
      maps.push({ kind, title, meaning, run, canvas, name, scale });
      grid.append(el("div", { class: "map" }, name, canvas, scale));
    }
  }
  function drawMap({ kind, title, run, canvas, name, scale, meaning }) {
    const frame = frameOf(run);
    const context = canvas.getContext("2d");
    const size = canvas.width;
    context.fillStyle = "#f5f5f5";
    context.fillRect(0, 0, size, size);
    const filled = kind === "queue" || kind === "replay";
    if (kind === "policy") drawPolicy(context, bytes(frame.policy), frame.value.size[0], given.actions, size);
    else if (!filled) drawSurface(context, frame[kind], bytes(given.colormaps[kind]), size);
    if (kind === "queue") {
      // g behind the queue: one sees whether planning goes where V is hard to learn.
      context.globalAlpha = 0.28;
      drawSurface(context, frame.frequency, bytes(given.colormaps.frequency), size);
      context.globalAlpha = 1;
    }
    drawLandmarks(context, given, size, filled);
    if (kind === "replay") drawDots(context, places(frame.replay), "rgba(60,60,60,.6)", size);
    if (kind === "queue" && frame.queue !== undefined) {
      drawDots(context, places(frame.queue), "rgba(221,0,0,.55)", size);
      drawClimbs(context, frame.climbs, run, size);
    }
    if (state.cursor) {
      const [x, y] = state.cursor;
      context.strokeStyle = "rgba(255,255,255,.9)";
      context.lineWidth = 3;
      context.strokeRect(x * size - 9, y * size - 9, 18, 18);
      context.strokeStyle = "#000";
      context.lineWidth = 1.5;
      context.strokeRect(x * size - 9, y * size - 9, 18, 18);
    }
    const about = kind === "value" ? [el("b", {}, run.label), el("span", {}, `seed ${run.seeds[Math.min(state.seed, run.seeds.length - 1)]}: ${returnOf(run)}`)] : [el("b", {}, title), el("span", { class: "soft" }, meaning)];
    if (kind === "value") about[0].title = `${title}: ${meaning}`;
    name.replaceChildren(...about);
    scale.replaceChildren(...(kind === "value" ? [el("span", {}, "V")] : []), ...legendOf(kind, given, run, frame));
  }
  function draw() {
    output.textContent = `step ${steps[state.at].toLocaleString("en")}`;
    maps.forEach(drawMap);
    readout.textContent = "Point at a state to read V and g there, in all panels.";
    if (state.cursor) {
      const [x, y] = state.cursor;
      const place = [x, 1 - y].map((share, i) => (given.low[i] + share * (given.high[i] - given.low[i])).toPrecision(3));
      const numbers = given.runs.map((run) => {
        const frame = frameOf(run);
        return `${run.label}: V = ${short(valueAt(frame.value, state.cursor))}, g = ${short(10 ** valueAt(frame.frequency, state.cursor))}`;
      });
      readout.textContent = `${given.coordinates.map((name, i) => `${name} ${place[i]}`).join(", ")}: ${numbers.join("; ")}`;
    }
  }
  slider.addEventListener("input", () => { state.at = Number(slider.value); draw(); });
  const play = el("button", { type: "button" }, "play");
  const stop = () => { clearInterval(state.playing); state.playing = null; play.textContent = "play"; };
  play.addEventListener("click", () => {
    if (state.playing) return stop();
    play.textContent = "stop";
    if (state.at === steps.length - 1) state.at = -1;
    state.playing = setInterval(() => {
      state.at += 1;
      slider.value = state.at;
      draw();
      if (state.at === steps.length - 1) stop();
    }, 450);
  });
  const seeds = given.runs.reduce((most, run) => (run.seeds.length > most.length ? run.seeds : most), []);
  const choice = el("select", { "aria-label": "seed", onchange: (event) => { state.seed = event.target.selectedIndex; draw(); } }, ...seeds.map((_, i) => el("option", {}, `seed ${i + 1} of ${seeds.length}`)));
  draw();
  return {
    root: el("section", { id, class: "explorer" }, el("h2", {}, `Where should an agent plan from? ${given.env}`),
      el("p", {}, "Each agent is shown after the same number of steps, with the return of its last evaluation. It plans from the states in its queue (red), found by hill climbing: Dyna-Value climbs the learned value V; Dyna-Frequency also climbs the local frequency g = ‖∇V‖² + ‖H‖², and so plans where V changes fast and is hard to learn. Move the slider through training."),
      el("div", { class: "time" }, play, slider, output, seeds.length > 1 ? choice : null), grid, readout),
    redraw: draw,
  };
}
