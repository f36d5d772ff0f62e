// The time that all charts of time share: its whole extent, the part that is shown, the point that is marked, and the faults.

"use strict";

const BANDS_DRAWN = 40;

class Timeline {
  constructor() {
    this.extents = new Map();
    this.range = null;
    this.cursor = null;
    this.bands = [];
    this.listeners = new Set();
  }

  /** Call `heard("range" | "cursor")` at each change; returns a function that ends this. */
  listen(heard) {
    this.listeners.add(heard);
    return () => this.listeners.delete(heard);
  }

  /** Note from when to when the chart `id` has data. */
  extend(id, start, end) {
    const before = this.whole;
    this.extents.set(id, [start, end]);
    const now = this.whole;
    // A live page forgets the oldest time: what is no longer there cannot be shown.
    if (this.range && this.range[1] <= now[0]) this.range = null;
    if (before[0] !== now[0] || before[1] !== now[1]) this.tell("range");
  }

  forget(id) {
    if (this.extents.delete(id)) this.tell("range");
  }

  get used() {
    return this.extents.size > 0;
  }

  get whole() {
    const all = [...this.extents.values()];
    const low = Math.min(...all.map((each) => each[0]));
    const high = Math.max(...all.map((each) => each[1]));
    return all.length && high > low ? [low, high] : [0, 1];
  }

  /** What is shown: from when to when. */
  get view() {
    return this.range ?? this.whole;
  }

  /** Show from `low` to `high` in all charts. */
  show(low, high) {
    const [first, last] = this.whole;
    const least = (last - first) / 2000;
    const width = clamp(high - low, least, last - first);
    const from = clamp(low, first, last - width);
    this.range = width >= (last - first) * 0.9999 ? null : [from, from + width];
    this.tell("range");
  }

  showWhole() {
    this.range = null;
    this.tell("range");
  }

  /** Zoom by a factor (less than 1: nearer) around a time, or around the middle. */
  zoom(factor, around = null) {
    const [low, high] = this.view;
    const at = around !== null && around >= low && around <= high ? around : (low + high) / 2;
    this.show(at - (at - low) * factor, at + (high - at) * factor);
  }

  /** Move what is shown by a share of its width. */
  move(share) {
    const [low, high] = this.view;
    this.show(low + (high - low) * share, high + (high - low) * share);
  }

  /** Mark a time in all charts, or none. */
  mark(time) {
    if (this.cursor === time) return;
    this.cursor = time;
    this.tell("cursor");
  }

  setBands(bands) {
    this.bands = bands;
    this.tell("range");
  }

  /** The bands that hold at some time from `start` to `end`. */
  bandsBetween(start, end) {
    return this.bands.filter((band) => band.start < end && (band.end === null || band.end > start));
  }

  /** What charts draw: the bands, or where there are too many of them the times in which any of a level holds. */
  get drawnBands() {
    if (this.bands.length <= BANDS_DRAWN) return this.bands;
    return ["neutral", "good", "warning", "bad"].flatMap((level) => unions(this.bands, level));
  }

  tell(what) {
    for (const heard of this.listeners) heard(what);
  }
}

/** Join the overlapping bands of a level, and count those in each. */
function unions(bands, level) {
  const joined = [];
  const own = bands.filter((band) => band.level === level).sort((one, other) => one.start - other.start);
  for (const band of own) {
    const last = joined.at(-1);
    const end = band.end ?? Infinity;
    if (last && band.start <= last.end) Object.assign(last, { end: Math.max(last.end, end), count: last.count + 1 });
    else joined.push({ start: band.start, end, count: 1, name: band.name, level });
  }
  return joined.map((each) => ({
    ...each,
    end: each.end === Infinity ? null : each.end,
    name: each.count > 1 ? `${each.count} ${each.level === "neutral" ? "moments" : "faults"}` : each.name,
  }));
}

/** Connect the buttons of the bar with the timeline, and show there what part of the time is shown. */
function connectTimeBar(timeline) {
  const bar = document.getElementById("bar-time");
  const output = document.getElementById("bar-range");
  const pressed = { in: () => timeline.zoom(0.5), out: () => timeline.zoom(2), whole: () => timeline.showWhole() };
  bar.addEventListener("click", (event) => pressed[event.target.dataset.zoom]?.());
  const show = () => {
    const [low, high] = timeline.view;
    const step = (high - low) / 100;
    bar.hidden = !timeline.used;
    bar.classList.toggle("zoomed", timeline.range !== null);
    bar.querySelector("[data-zoom=whole]").disabled = timeline.range === null;
    setText(output, `${moment(low, timeline.whole[1], step)} – ${moment(high, timeline.whole[1], step)}`);
  };
  timeline.listen((what) => what === "range" && show());
  show();
}
