"use strict";
// Elements, texts and colours.

/** An element with attributes and children; text is never interpreted as markup. */
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

/** Escapes text for Plotly, which interprets some markup. */
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** A number for readers: a few digits, and a minus sign rather than a hyphen. */
function numberText(value, digits = 4) {
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  const text = size && (size < 1e-4 || size >= 1e6) ? rounded.toExponential() : String(rounded);
  return text.replace("e+", "e").replace(/-/g, "−");
}

/** Wraps a long label. */
function wrapped(text, width = 26) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length > width) lines.push(word);
    else lines[last] += (lines[last] ? " " : "") + word;
  }
  return lines.map(escaped).join("<br>");
}

const isDark = () => document.documentElement.dataset.theme === "dark";
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function channels(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/** A colour that is visible on the background: in dark mode, dark colours are made lighter. */
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
