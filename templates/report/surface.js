// What all pictures share: a place that has the focus and the pointer, moves from figure to figure, and shows the exact ones.

"use strict";

const KEYS = "Arrow keys move";
const TIME_KEYS = `${KEYS}, + and − zoom, 0 shows the whole time`;

/**
 * Draws when the browser is about to paint, each picture at most once, and only those near the window.
 *
 * A live page gets hundreds of changes a second: what is out of sight is drawn when it comes into sight.
 */
class Scheduler {
  constructor() {
    this.pictures = new Map();
    this.waiting = false;
    this.sizes = new ResizeObserver((entries) => entries.forEach((entry) => this.request(entry.target)));
    this.sights = new IntersectionObserver((entries) => entries.forEach((entry) => this.seen(entry)), {
      rootMargin: "400px",
    });
    const redraw = () => this.drawAll();
    addEventListener("beforeprint", redraw);
    matchMedia("print").addEventListener("change", redraw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  /** Have `draw` called for `element` whenever it is new, has another size, or `request` asks for it. */
  add(element, draw) {
    this.pictures.set(element, { draw, stale: true, near: true });
    this.sizes.observe(element);
    this.sights.observe(element);
  }

  remove(element) {
    this.pictures.delete(element);
    this.sizes.unobserve(element);
    this.sights.unobserve(element);
  }

  request(element) {
    const picture = this.pictures.get(element);
    if (!picture) return;
    picture.stale = true;
    if (this.waiting || !picture.near) return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawStale());
  }

  seen(entry) {
    const picture = this.pictures.get(entry.target);
    if (!picture) return;
    picture.near = entry.isIntersecting;
    if (picture.near && picture.stale) this.request(entry.target);
  }

  drawStale() {
    this.waiting = false;
    for (const picture of this.pictures.values()) if (picture.stale && picture.near) drawNow(picture);
  }

  drawAll() {
    for (const picture of this.pictures.values()) drawNow(picture);
  }
}

function drawNow(picture) {
  picture.stale = false;
  picture.draw();
}

/** The box beside the pointer, or beside the figure that the keyboard has reached. */
class Tooltip {
  constructor(element) {
    this.element = element;
    this.point = null;
    addEventListener("scroll", () => this.element.hidden || this.place(), { passive: true });
  }

  /**
   * Show `told` = {title, rows: [{name, value, swatch?, level?}]} beside `point()`, the x and y of a point of the window;
   * `hint` is a line below it.
   */
  show(told, point, hint) {
    const rows = told.rows.map((row) => el("div", { class: "tooltip-row" }, ...tooltipParts(row)));
    const hints = hint ? [el("div", { class: "tooltip-hint" }, hint)] : [];
    this.element.replaceChildren(el("div", { class: "tooltip-title" }, told.title), ...rows, ...hints);
    this.element.hidden = false;
    this.point = point;
    this.place();
  }

  place() {
    const [x, y] = this.point();
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 14 + width > innerWidth - 8 ? x - 14 - width : x + 14;
    this.element.style.left = `${clamp(left, 8, Math.max(8, innerWidth - width - 8))}px`;
    this.element.style.top = `${clamp(y - height / 2, 8, Math.max(8, innerHeight - height - 8))}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}

function tooltipParts(row) {
  const sign = row.swatch ? swatch(row.swatch) : row.level ? levelSign(row.level) : "";
  return [sign, el("span", { class: "tooltip-name" }, row.name), el("span", { class: "tooltip-value" }, row.value ?? "")];
}

/** A sample of a series: its class has the colour and the dashes. */
function swatch(className) {
  const line = vec("line", { x1: 1, x2: 19, y1: 6, y2: 6, class: `line ${className}` });
  const area = vec("rect", { x: 1, y: 1, width: 18, height: 10, rx: 2, class: `area ${className}` });
  return vec("svg", { viewBox: "0 0 20 12", class: "swatch", "aria-hidden": "true" }, area, line);
}

/** A legend of {name, swatch, value?} entries, as a list. */
function fillLegend(list, entries) {
  const value = (entry) => (entry.value ? [" ", el("span", { class: "count" }, entry.value)] : []);
  const made = entries.map((entry) => el("li", {}, swatch(entry.swatch), el("span", {}, entry.name), ...value(entry)));
  list.hidden = entries.length === 0;
  list.replaceChildren(...made);
}

/** The words that say a figure to a screen reader. */
function sentence(told) {
  return [told.title, ...told.rows.map((row) => (row.value ? `${row.name}: ${row.value}` : row.name))].join("; ");
}

/**
 * Let the pointer and the keyboard move through the figures of `frame`, a focusable element.
 *
 * `parts` has count() of the figures, indexAt(x, y) of a point within the frame (null: none), placeOf(index) in the
 * frame as {x, y}, describe(index) for the tooltip, step(key, index) the index that a key leads to (undefined: the key
 * is not used here), reached(index, byPointer) which marks it (null: none), and keyPressed(event), true if that used the key.
 * For screen readers the frame is a slider over its figures: its value in words is the figure.
 */
function connectSurface(page, frame, parts) {
  let index = null;
  let pointed = false;
  setAll(frame, { tabindex: "0", role: "slider", "aria-describedby": "plot-keys", "aria-valuemin": 0 });

  const say = () => {
    const last = Math.max(0, parts.count() - 1);
    const text = parts.count() ? sentence(parts.describe(index ?? 0)) : "no figures";
    setAll(frame, { "aria-valuemax": last, "aria-valuenow": index ?? 0, "aria-valuetext": text });
  };
  const leave = () => {
    index = null;
    page.tooltip.hide();
    parts.reached(null, pointed);
  };
  const reach = (next, byPointer) => {
    if (next === null || !parts.count()) return leave();
    pointed = byPointer;
    index = clamp(next, 0, parts.count() - 1);
    parts.reached(index, byPointer);
    const at = index;
    const point = () => {
      const box = frame.getBoundingClientRect();
      const place = parts.placeOf(at);
      return [box.left + place.x, box.top + place.y];
    };
    page.tooltip.show(parts.describe(at), point, byPointer ? "" : parts.timed ? TIME_KEYS : KEYS);
    if (!byPointer) say();
  };
  const reachPointed = (event) => {
    const box = frame.getBoundingClientRect();
    reach(parts.indexAt(event.clientX - box.left, event.clientY - box.top), true);
  };
  frame.addEventListener("pointermove", reachPointed);
  frame.addEventListener("pointerdown", reachPointed);
  // A finger that is lifted leaves, too: what it has touched stays readable until something else is touched.
  frame.addEventListener("pointerleave", (event) => pointed && event.pointerType !== "touch" && leave());
  frame.addEventListener("focus", () => frame.matches(":focus-visible") && reach(index ?? 0, false));
  frame.addEventListener("blur", leave);
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") return leave();
    const next = event.shiftKey ? undefined : parts.step(event.key, index ?? -1);
    if (next !== undefined) reach(next, false);
    else if (!parts.keyPressed?.(event)) return;
    event.preventDefault();
  });
  say();
  return { refresh: say, leave };
}

/** The index to which a key leads in a row of figures; `undefined` if it is no such key. */
function stepInRow(key, index, count, page = Math.max(1, Math.round(count / 10))) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: page, PageUp: -page };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return key in steps ? clamp(index + steps[key], 0, count - 1) : undefined;
}
