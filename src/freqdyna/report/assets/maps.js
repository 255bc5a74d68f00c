"use strict";
// Maps of a two-dimensional state space on canvases: surfaces, states, climbs, policies.

const PIXELS = 300;
const ARROWS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0], "push left": [-1, 0], "push right": [1, 0] };
const decoded = new Map();

/**
 * The integers of a table, row by row, from a text of their differences from the number above.
 * Cached, because each move of the pointer redraws all panels.
 */
function integers(text, columns) {
  const key = `${columns} ${text}`;
  if (!decoded.has(key)) {
    const table = new Int16Array(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i) - "#".charCodeAt(0);
      table[i] = (i < columns ? 0 : table[i - columns]) + (code % 2 ? -(code + 1) / 2 : code / 2);
    }
    decoded.set(key, table);
  }
  return decoded.get(key);
}

/** Pairs of coordinates, scaled to [0, 1] between the bounds. */
function places(text, { positions }) {
  const raw = integers(text, 2);
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] / (positions - 1), 1 - raw[2 * i + 1] / (positions - 1)]);
}

/** The objective that a climb follows. */
function followed(rule, run) {
  return run.climbed[Math.min(rule, run.climbed.length - 1)];
}

const climbColor = (what, { climbs }) => (what === "V" ? climbs.value : climbs.other);

function drawSurface(context, surface, colors, size) {
  const [width, height] = surface.size;
  const levels = integers(surface.data, width);
  const small = document.createElement("canvas");
  small.width = width;
  small.height = height;
  const image = new ImageData(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const level = Math.round((levels[(height - 1 - y) * width + x] / (surface.levels - 1)) * 255);
      image.data.set([colors[3 * level], colors[3 * level + 1], colors[3 * level + 2], 255], 4 * (y * width + x));
    }
  }
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, size, size);
}

function drawDots(context, dots, color, size) {
  context.fillStyle = color;
  context.globalAlpha = 0.6;
  for (const [x, y] of dots) context.fillRect(x * size - size / 170, y * size - size / 170, size / 85, size / 85);
  context.globalAlpha = 1;
}

function drawClimbs(context, climbs, run, data, size) {
  for (const { rule, path } of climbs) {
    const way = places(path, data);
    const color = climbColor(followed(rule, run), data.colors);
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

function drawPolicy(context, policy, side, names, colors, size) {
  const cell = size / side;
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      context.fillStyle = colors[policy[(side - 1 - y) * side + x] % colors.length];
      context.globalAlpha = 0.55;
      const [left, top, right, bottom] = [x, y, x + 1, y + 1].map((v) => Math.round(v * cell));
      context.fillRect(left, top, right - left, bottom - top);
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

function drawLandmarks(context, data, size, filled) {
  const [w, h] = [0, 1].map((i) => data.high[i] - data.low[i]);
  for (const { kind, color, outline } of data.landmarks) {
    const shape = new Path2D();
    for (const [x, y] of outline) shape.lineTo(((x - data.low[0]) / w) * size, (1 - (y - data.low[1]) / h) * size);
    shape.closePath();
    context.fillStyle = context.strokeStyle = color;
    context.lineWidth = size / 110;
    if (kind === "wall") context.globalAlpha = 0.92;
    if (kind === "wall" || filled) context.fill(shape);
    else context.stroke(shape);
    context.globalAlpha = 1;
  }
}

/** The value of a surface at a position. */
function valueAt(surface, [x, y]) {
  const [width, height] = surface.size;
  const level = integers(surface.data, width)[Math.min(height - 1, Math.floor((1 - y) * height)) * width + Math.min(width - 1, Math.floor(x * width))];
  return surface.ends[0] + (level / (surface.levels - 1)) * (surface.ends[1] - surface.ends[0]);
}

function drawEmpty(canvas) {
  const context = canvas.getContext("2d");
  context.fillStyle = "#f5f5f5";
  context.fillRect(0, 0, canvas.width, canvas.height);
}

/** One panel of a snapshot. */
function drawFrame(canvas, kind, frame, run, data) {
  const context = canvas.getContext("2d");
  const size = canvas.width;
  const colors = (name) => integers(data.colormaps[name], 3);
  if (kind === "value" || kind === "frequency") drawSurface(context, frame[kind], colors(kind), size);
  if (kind === "policy") {
    if (typeof frame.policy === "string") drawPolicy(context, integers(frame.policy, frame.value.size[0]), frame.value.size[0], data.actions, data.colors.actions, size);
    else drawSurface(context, frame.policy, colors("value"), size);
  }
  if (kind === "queue") {
    // g behind the queue shows whether the agent plans where g is large.
    context.globalAlpha = 0.28;
    drawSurface(context, frame.frequency, colors("frequency"), size);
    context.globalAlpha = 1;
  }
  drawLandmarks(context, data, size, kind === "queue" || kind === "replay");
  if (kind === "replay") drawDots(context, places(frame.replay, data), data.colors.replay, size);
  if (kind === "queue" && frame.queue) {
    drawDots(context, places(frame.queue, data), data.colors.queue, size);
    drawClimbs(context, frame.climbs, run, data, size);
  }
}

function drawCursor(canvas, [x, y]) {
  const context = canvas.getContext("2d");
  const size = canvas.width;
  for (const [color, width] of [["rgba(255,255,255,.9)", 3], ["#000", 1.5]]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(x * size - 9, y * size - 9, 18, 18);
  }
}
