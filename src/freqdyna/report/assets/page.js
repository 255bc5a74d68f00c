"use strict";
// The page, section by section.

const VERDICTS = ["holds", "does not hold", "depends", "undecided"];

/** A sentence in which `code` is formatted as code. */
function sentence(tag, text) {
  return el(tag, {}, ...text.split("`").map((piece, i) => (i % 2 ? el("code", {}, piece) : piece)));
}

function verdict(text) {
  return el("span", { class: `verdict ${text.replace(/[^a-z]+/g, "-")}` }, text);
}

const HEADER = ["verdict", "what", "paper", "ours", "95% interval or accuracy"];
const cells = (claim) => [claim.verdict, claim.what, claim.paper, claim.ours, claim.interval];
const COUNTED = { holds: "hold", "does not hold": "do not hold", depends: "depend on the interpretation", undecided: "are undecided" };

function claimTable(claims, parts) {
  const rows = claims.map((claim) => (parts ? [claim.part, ...cells(claim)] : cells(claim)));
  const header = parts ? ["part", ...HEADER] : HEADER;
  return table([header, ...rows], (text, i) => {
    if (i === header.indexOf("verdict")) return verdict(text);
    return parts && i === 0 ? el("a", { href: `#${text}` }, text) : text;
  });
}

/** All claims of all parts, which can be filtered by verdict. */
function claimsSection(claims) {
  const place = el("div", { class: "tall" });
  const off = new Set();
  let withOurs = false;
  const asked = () => claims.filter((claim) => withOurs || !claim.own);
  const counts = VERDICTS.map((text) => toggle("", true, (on) => { on ? off.delete(text) : off.add(text); draw(); }, { class: "chip", "data-verdict": text }));
  const draw = () => {
    place.replaceChildren(claimTable(asked().filter((claim) => !off.has(claim.verdict)), true));
    VERDICTS.forEach((text, i) => (counts[i].textContent = `${asked().filter((claim) => claim.verdict === text).length} ${COUNTED[text]}`));
  };
  draw();
  return el("section", { id: "claims" }, el("h2", {}, "The paper’s claims and our results"),
    el("p", { class: "soft" }, "Each verdict follows a rule that is stated below its figure. Select which to show:"),
    el("div", { class: "counts" }, ...counts, toggle(`plus ${claims.filter((claim) => claim.own).length} questions of our own`, false, (on) => { withOurs = on; draw(); }, { id: "ours" })), place);
}

function part(section, figures) {
  const root = el("section", { id: section.name }, el("h2", {}, section.claims.length ? `${section.name}: ${section.title}` : section.title));
  if (section.chart) {
    const drawn = figure(section.chart);
    figures.push(drawn);
    if (section.chart.title) root.append(el("p", { class: "soft" }, section.chart.title));
    root.append(drawn.root);
  }
  if (section.claims.length) root.append(el("h3", {}, "Claims"), claimTable(section.claims, false));
  section.tables.forEach((rows) => root.append(el("h3", {}, "Statistics"), table(rows)));
  if (section.notes.length) root.append(el("details", {}, el("summary", {}, "Rules and notes"), el("ul", {}, ...section.notes.map((note) => sentence("li", note)))));
  const made = section.command ? [sentence("p", `\`${section.command}\``)] : [];
  if (section.origins.length) root.append(el("details", {}, el("summary", {}, "Provenance of these numbers"), ...made, el("ul", {}, ...section.origins.map((origin) => sentence("li", origin)))));
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
  const claims = report.sections.flatMap((section) => section.claims);
  const papers = claims.filter((claim) => !claim.own);
  const add = (label, node) => parts.push([label, node]);
  report.explorers.forEach((given, i) => {
    const made = explorer(given, `explorer-${i}`);
    add(`explore ${given.env}`, made.root);
  });
  if (claims.length) add("claims", claimsSection(claims));
  report.sections.forEach((section) => add(section.claims.length ? section.name : section.title, part(section, figures)));
  const header = document.getElementById("top");
  header.append(el("h1", {}, report.title), themeButton(() => figures.forEach((drawn) => drawn.redraw())));
  if (claims.length) {
    header.append(el("p", {}, `“Frequency-based Search-control in Dyna” (Pan, Mei and Farahmand, ICLR 2020), reproduced: of ${papers.length} claims of the paper that were tested, ` +
      VERDICTS.map((text) => `${papers.filter((claim) => claim.verdict === text).length} ${COUNTED[text]}`).join(", ") + "."));
  }
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
