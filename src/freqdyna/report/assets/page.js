"use strict";
// The page, section by section.

/** A sentence in which `code` is formatted as code. */
function sentence(tag, text) {
  return el(tag, {}, ...text.split("`").map((piece, i) => (i % 2 ? el("code", {}, piece) : piece)));
}

function part(section, figures) {
  const root = el("section", { id: section.name }, el("h2", {}, section.title), ...section.lead.map((text) => sentence("p", text)));
  if (section.chart) {
    const drawn = figure(section.chart);
    figures.push(drawn);
    if (section.chart.title) root.append(el("p", { class: "soft" }, section.chart.title));
    root.append(drawn.root);
  }
  Object.entries(section.tables).forEach(([heading, rows]) => root.append(el("h3", {}, heading), table(rows)));
  if (section.notes.length) root.append(el("details", {}, el("summary", {}, "Rules and notes"), el("ul", {}, ...section.notes.map((note) => sentence("li", note)))));
  const command = section.command ? [sentence("p", `\`${section.command}\``)] : [];
  if (section.origins.length) root.append(el("details", {}, el("summary", {}, "Provenance of these numbers"), ...command, el("ul", {}, ...section.origins.map((origin) => sentence("li", origin)))));
  return root;
}

function themeButton(redraw) {
  const night = matchMedia("(prefers-color-scheme: dark)");
  const button = el("button", { id: "theme", type: "button", "aria-label": "Switch between light and dark" });
  const set = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "light" : "dark";
    redraw();
  };
  button.addEventListener("click", () => set(!isDark()));
  night.addEventListener("change", (event) => set(event.matches));
  set(night.matches);
  return button;
}

/** Draws all charts as wide as paper and in the light theme while the page is printed. */
function printable(redraw) {
  const root = document.documentElement;
  let theme = null;
  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    root.classList.add("paper");
    redraw(true);
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    root.classList.remove("paper");
    redraw(true);
  });
}

/** Highlights the current section in the table of contents. */
function follow(links) {
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) links.forEach((link) => link.classList.toggle("here", link.hash === `#${entry.target.id}`));
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  document.querySelectorAll("section").forEach((section) => observer.observe(section));
}

function build(report) {
  const figures = [];
  const parts = [];
  const add = (label, node) => parts.push([label, node]);
  for (const section of report.sections) {
    if (section.name === "runs") report.explorers.forEach((data, i) => add(`explore ${data.env}`, explorer(data, `explorer-${i}`).root));
    add(section.title, part(section, figures));
  }
  const redraw = (all) => figures.forEach((drawn) => drawn.redraw(all));
  printable(redraw);
  const header = document.getElementById("top");
  header.append(el("h1", {}, report.title), themeButton(redraw));
  header.append(sentence("p", `Written ${report.written}: \`${report.command}\`. Drag in a chart to zoom in, double-click to reset.`));
  header.lastChild.className = "soft small";
  document.getElementById("main").replaceChildren(...parts.map(([, node]) => node));
  const links = parts.map(([label, node]) => el("a", { href: `#${node.id}` }, label));
  document.getElementById("contents").append(...links);
  follow(links);
}

/** Decompresses a text that is stored in the page. */
async function unpacked(id) {
  const stored = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([stored]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

async function start() {
  const [data, library] = await Promise.all(["data", "library"].map(unpacked));
  document.head.append(el("script", {}, library));
  build(JSON.parse(data));
}

start().catch((error) => {
  document.getElementById("main").replaceChildren(el("p", {}, "This page could not be displayed; it needs a browser from 2023 or later."));
  throw error;
});
