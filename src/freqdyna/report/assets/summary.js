"use strict";
// Summaries of learning curves: an average over the selected seeds, and its bootstrap interval.

const RESAMPLES = 300;

const ones = (values) => new Uint8Array(values.length).fill(1);
/** The indices of values in ascending order. */
const ordered = (values) => Uint16Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);

/** The mean of values that occur with the given counts. */
function mean(values, counts = ones(values)) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += counts[i] * values[i];
  return sum / values.length;
}

/** The mean of the middle half; values at its ends count partially. */
function interquartileMean(values, counts = ones(values), order = ordered(values)) {
  const n = values.length;
  let sum = 0;
  let before = 0;
  for (const i of order) {
    const inside = Math.min(before + counts[i], 0.75 * n) - Math.max(before, 0.25 * n);
    if (inside > 0) sum += inside * values[i];
    before += counts[i];
  }
  return sum / (n / 2);
}

const drawsOf = new Map();

/** How often each seed occurs in each resample; the same at every call. */
function resamples(seeds) {
  if (!drawsOf.has(seeds)) {
    let state = 1;
    const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    drawsOf.set(seeds, Array.from({ length: RESAMPLES }, () => {
      const counts = new Uint16Array(seeds);
      for (let i = 0; i < seeds; i++) counts[Math.floor(next() * seeds)] += 1;
      return counts;
    }));
  }
  return drawsOf.get(seeds);
}

/** The statistic over seeds at each evaluation, and optionally its 95% interval. */
function summarised(rows, statistic, interval) {
  const middle = [], low = [], high = [];
  const draws = interval && rows.length > 1 ? resamples(rows.length) : [];
  const again = new Float64Array(draws.length);
  for (let i = 0; i < rows[0].length; i++) {
    const column = Float64Array.from(rows, (row) => row[i]);
    const order = ordered(column);
    middle.push(statistic(column, undefined, order));
    if (!draws.length) continue;
    draws.forEach((counts, k) => (again[k] = statistic(column, counts, order)));
    again.sort();
    low.push(again[Math.floor(0.025 * RESAMPLES)]);
    high.push(again[Math.ceil(0.975 * RESAMPLES) - 1]);
  }
  return { middle, low, high };
}

const kept = new WeakMap();

/** Like `summarised`, for the selected seeds of a mark; cached for each selection. */
function summary(mark, { off, statistic, interval }) {
  if (!kept.has(mark)) kept.set(mark, new Map());
  const choices = kept.get(mark);
  const seeds = mark.numbers.filter((seed) => !off.has(seed));
  const key = [statistic.name, interval, ...seeds].join(" ");
  if (!choices.has(key)) choices.set(key, summarised(mark.seeds.filter((_, i) => !off.has(mark.numbers[i])), statistic, interval));
  return choices.get(key);
}
