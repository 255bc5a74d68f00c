"use strict";
// Tables that can be sorted by clicking on a column header.

const NUMBER = /^[-−+]?[\d.,]+(e[-−]?\d+)?( [[(].*)?$/; // perhaps with an interval or a count

/** The number that a cell begins with, or NaN. */
function leading(text) {
  return /^[-−+]?[\d.,]/.test(text) ? parseFloat(text.replace(/,/g, "").replace("−", "-")) : NaN;
}

/** Compares numbers by value and other texts by name; numbers come first. */
function compared(a, b) {
  const [x, y] = [leading(a), leading(b)];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return x - y || a.localeCompare(b, "en", { numeric: true });
}

/** A table from rows of texts, the header first. */
function table([header, ...body]) {
  const place = el("tbody");
  const fill = (rows) => place.replaceChildren(...rows.map((row) => el("tr", {}, ...row.map((text) => el("td", { class: NUMBER.test(text) ? "number" : null }, text)))));
  const heads = header.map((text, column) => {
    const head = el("th", { scope: "col" });
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      fill([...body].sort((a, b) => compared(a[column], b[column]) * (down ? -1 : 1)));
    };
    head.append(body.length > 1 ? el("button", { type: "button", onclick: sort }, text) : text);
    return head;
  });
  fill(body);
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), place));
}
