// The frame of a chart: its axes and grid, the bands of faults, the marked time, and zooming by pointer and keys.

"use strict";

const BAND_LANES = 3;
const LETTER = 6.3;
const SMALL_LETTER = 5.9;
const DRAG_BEGINS = 5;

let plotsMade = 0;

/**
 * A chart in SVG below `label`.
 *
 * `chart` has timed (its x is the shared time), height(), left() the width of what stands left of the plot, domain() of
 * x as [low, high], perhaps above() the height over the plot, xTicks(area, x) as [[at, text], ...] and yTicks(area) as [[pixel, text], ...], draw(layer, area, x),
 * and all that `connectSurface` wants. Its y grows downwards in pixels.
 */
function makePlot(page, label, chart) {
  const name = `plot-${(plotsMade += 1)}`;
  const clip = vec("rect", {});
  const layers = Object.fromEntries(["bands", "grid", "content", "axis", "over"].map((each) => [each, vec("g", { class: each })]));
  const root = vec("svg", { class: "chart", "aria-hidden": "true" });
  root.append(vec("defs", {}, vec("clipPath", { id: name }, clip), ...hatches(name)), ...Object.values(layers));
  layers.content.setAttribute("clip-path", `url(#${name})`);
  const frame = el("div", { class: "plot", "aria-label": label }, root);
  const plot = { frame, root, layers, name, area: { left: 0, top: 0, width: 1, height: 1 }, x: (value) => value };

  plot.draw = () => {
    const width = Math.floor(frame.clientWidth);
    if (width < 40) return;
    const bands = chart.timed ? placeBands(page.timeline, width) : [];
    const lanes = Math.min(BAND_LANES, Math.max(0, ...bands.map((each) => each.lane + 1)));
    const top = chart.above?.() ?? 10 + lanes * 15;
    const area = { left: chart.left(width), top, height: chart.height() };
    area.width = Math.max(20, width - area.left - 16);
    plot.area = area;
    plot.x = linear(chart.domain(), [area.left, area.left + area.width]);
    const height = top + area.height + 26;
    setAll(root, { viewBox: `0 0 ${width} ${height}`, width, height });
    setAll(clip, { x: area.left, y: 0, width: area.width, height: height });
    drawGrid(plot, chart);
    layers.bands.replaceChildren(...bands.flatMap((band) => drawBand(plot, band)));
    chart.draw(layers.content, area, plot.x);
    drawCursor();
  };

  const drawCursor = () => {
    const time = page.timeline.cursor;
    const at = time === null ? -1 : plot.x(time);
    const { left, top, width, height } = plot.area;
    const shown = at >= left - 0.5 && at <= left + width + 0.5;
    layers.over.replaceChildren(...(shown ? [vec("line", { class: "cursor", x1: at, x2: at, y1: top, y2: top + height })] : []));
  };
  const unlisten = chart.timed ? page.timeline.listen((what) => (what === "range" ? page.scheduler.request(frame) : drawCursor())) : null;
  const surface = connectSurface(page, frame, { ...chart, keyPressed: (event) => chart.timed && zoomByKey(page.timeline, event) });
  if (chart.timed) connectDragging(page, plot, surface);
  page.scheduler.add(frame, plot.draw);
  plot.refresh = () => {
    page.scheduler.request(frame);
    surface.refresh();
  };
  plot.remove = () => {
    unlisten?.();
    page.scheduler.remove(frame);
  };
  return plot;
}

/** The room for the numbers of a y axis. */
function axisRoom(width) {
  return width < 480 ? 46 : 56;
}

function linear([low, high], [first, last]) {
  const scale = (last - first) / (high - low || 1);
  return (value) => first + (value - low) * scale;
}

function drawGrid(plot, chart) {
  const { left, top, width, height } = plot.area;
  const bottom = top + height;
  const lines = [];
  const words = [];
  for (const [y, text] of chart.yTicks(plot.area)) {
    lines.push(vec("line", { x1: left, x2: left + width, y1: y, y2: y }));
    words.push(vec("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, text));
  }
  for (const [at, text] of chart.xTicks(plot.area, plot.x)) {
    const x = plot.x(at);
    words.push(vec("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
    words.push(vec("text", { x, y: bottom + 18, "text-anchor": "middle" }, text));
  }
  words.push(vec("line", { class: "base", x1: left, x2: left + width, y1: bottom, y2: bottom }));
  plot.layers.grid.replaceChildren(...lines);
  plot.layers.axis.replaceChildren(...words);
}

/** The times that a time chart writes below itself. */
function clockTicks(page, area, x) {
  const [low, high] = page.timeline.view;
  const { step, values } = timeTicks(low, high, Math.max(2, area.width / 84));
  return values.map((at) => [at, moment(at, page.timeline.whole[1], step)]).filter(([at]) => x(at) <= area.left + area.width + 1);
}

/** Stripes in the colour of each level: bands are told from areas of data by more than their colour. */
function hatches(name) {
  return Object.keys(LEVEL_SHAPES).map((level) =>
    vec("pattern", { id: `${name}-${level}`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      vec("rect", { width: 8, height: 8, class: `hatch-ground level-${level}` }),
      vec("rect", { width: 1.5, height: 8, class: `hatch level-${level}` })));
}

/** Give each band that is in sight a lane in which no other stands at that time. */
function placeBands(timeline, width) {
  const [low, high] = timeline.view;
  const pixels = (high - low) / Math.max(1, width - 80);
  const ends = [];
  const seen = timeline.drawnBands.filter((band) => band.start < high && (band.end ?? Infinity) > low);
  return [...seen].sort((one, other) => one.start - other.start).map((band) => {
    const end = Math.min(band.end ?? Infinity, high);
    const free = ends.findIndex((each) => each <= band.start);
    const lane = free >= 0 ? free : ends.length;
    ends[lane] = Math.max(end, band.start + pixels * 4);
    return { ...band, start: Math.max(band.start, low), end, lane };
  });
}

function drawBand(plot, band) {
  const { top, height } = plot.area;
  const x = plot.x(band.start);
  const width = Math.max(1.5, plot.x(band.end) - x);
  const drawn = [vec("rect", { x, y: top, width, height, fill: `url(#${plot.name}-${band.level})` })];
  if (band.lane >= BAND_LANES) return drawn;
  const y = 4 + band.lane * 15;
  drawn.push(vec("rect", { x, y, width, height: 13, rx: 2, class: `band-flag level-${band.level}` }));
  const letters = Math.floor((width - 6) / SMALL_LETTER);
  if (letters >= 6) drawn.push(vec("text", { x: x + 4, y: y + 10, class: "band-name" }, shortened(band.name, letters)));
  return drawn;
}

/** The beginning and the end of a name that is too long: names of pods differ at their ends. */
function shortened(name, letters) {
  if (name.length <= letters) return name;
  const tail = Math.floor((letters - 1) / 2);
  return `${name.slice(0, letters - 1 - tail)}…${tail ? name.slice(-tail) : ""}`;
}

/** Rows of a tooltip that name the faults at that time. */
function bandRows(page, start, end) {
  const found = page.timeline.bandsBetween(start, end);
  const rows = found.slice(0, 4).map((band) => ({ name: band.name, level: band.level, value: spanOf(band.start, band.end) }));
  return found.length > 4 ? [...rows, { name: `and ${found.length - 4} more`, value: "" }] : rows;
}

function zoomByKey(timeline, event) {
  const keys = {
    "+": () => timeline.zoom(0.5, timeline.cursor), "=": () => timeline.zoom(0.5, timeline.cursor),
    "-": () => timeline.zoom(2, timeline.cursor), 0: () => timeline.showWhole(),
  };
  const moves = { ArrowLeft: () => timeline.move(-0.25), ArrowRight: () => timeline.move(0.25) };
  const act = (event.shiftKey ? moves[event.key] : null) ?? keys[event.key];
  if (!act) return false;
  act();
  announce(`Shown: ${moment(timeline.view[0], timeline.whole[1])} to ${moment(timeline.view[1], timeline.whole[1])}`);
  return true;
}

/** Dragging over a chart shows the time that was dragged over; a double click shows the whole time again. */
function connectDragging(page, plot, surface) {
  const { frame } = plot;
  const chosen = vec("rect", { class: "chosen" });
  let from = null;
  const inside = (event) => clamp(event.clientX - frame.getBoundingClientRect().left, plot.area.left, plot.area.left + plot.area.width);
  const end = () => {
    from = null;
    chosen.remove();
  };
  frame.addEventListener("pointerdown", (event) => {
    if (event.button === 0) from = inside(event);
  });
  frame.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = inside(event);
    if (Math.abs(to - from) < DRAG_BEGINS) return chosen.remove();
    if (!frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId);
    setAll(chosen, { x: Math.min(from, to), width: Math.abs(to - from), y: plot.area.top, height: plot.area.height });
    plot.root.append(chosen);
  });
  frame.addEventListener("pointerup", (event) => {
    const to = inside(event);
    if (from !== null && Math.abs(to - from) >= DRAG_BEGINS) {
      const time = linear([plot.area.left, plot.area.left + plot.area.width], page.timeline.view);
      surface.leave();
      page.timeline.show(time(Math.min(from, to)), time(Math.max(from, to)));
    }
    end();
  });
  frame.addEventListener("pointercancel", end);
  frame.addEventListener("dblclick", () => page.timeline.showWhole());
}
