// Writes numbers and times as people read them, and finds round numbers for axes.

"use strict";

const NUMBER_FORMAT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });

const TIME_STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
  60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
];

const NO_VALUE = "–";

/** All digits of a number, with separators of thousands; a dash where there is none. */
function exact(value) {
  return typeof value === "number" ? NUMBER_FORMAT.format(value).replace("-", "−") : NO_VALUE;
}

/** A number with its unit. */
function withUnit(value, unit) {
  if (typeof value !== "number" || !unit) return exact(value);
  return `${exact(value)} ${unit}`;
}

/** A number on an axis: 1500000 is 1.5M, and no digits beyond those of the step. */
function short(value, step) {
  const size = Math.abs(value);
  const [divisor, letter] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.abs(step / divisor) || 1) - 1e-9)));
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return (value / divisor).toLocaleString("en-US", options).replace("-", "−") + letter;
}

/** A number of at most four digits, for places where the step between two is not known. */
function brief(value) {
  return exact(Number(value.toPrecision(4)));
}

/** A point of time as a clock shows it, to the second, or with parts of one if `step` is less. */
function clock(seconds, step = 1) {
  const sign = seconds < 0 ? "−" : "";
  const digits = step < 1 ? Math.min(3, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  const whole = Number(Math.abs(seconds).toFixed(digits));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const rest = (whole % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
  return hours ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${sign}${minutes}:${rest}`;
}

/** A point of time: in seconds in a short run, else as a clock shows it. */
function moment(seconds, span, step = 1) {
  if (span > 120) return clock(seconds, step);
  const digits = step < 1 ? Math.min(3, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  return `${seconds.toFixed(digits).replace("-", "−")} s`;
}

/** The time from `start` to `end` in exact seconds; an end of null has not come yet. */
function spanOf(start, end) {
  return end === null ? `${exact(start)} s, not ended` : `${exact(start)} – ${exact(end)} s`;
}

/** Round numbers from `low` to `high`, about `count` of them: {step, values}. */
function roundTicks(low, high, count) {
  const raw = (high - low) / Math.max(1, count) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw * 0.999999);
  return { step, values: multiples(low, high, step) };
}

/** Round numbers of all sizes from `low` to `high`, for an axis on which each size has as much room as the next. */
function ticksOfAllSizes(low, high) {
  const powers = Array.from({ length: 25 }, (_, i) => 10 ** (i - 12));
  // Whole powers first: where there is not room for all, the others give way.
  const all = [1, 5, 2].flatMap((each) => powers.map((power) => Number((each * power).toPrecision(1))));
  return all.filter((value) => value >= low && value <= high);
}

/** Round times from `low` to `high`, at most about `count` of them: {step, values}. */
function timeTicks(low, high, count) {
  const raw = (high - low) / Math.max(1, count) || 1;
  const step = TIME_STEPS.find((each) => each >= raw) ?? Math.ceil(raw / 86400) * 86400;
  return { step, values: multiples(low, high, step) };
}

function multiples(low, high, step) {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
