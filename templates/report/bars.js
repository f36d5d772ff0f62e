// A distribution: bars between edges, for several series as steps above each other, and marks such as a p99.

"use strict";

const UNEVEN = 1.02;
const MARK_LETTERS = 12;
const MARK_LANES = 3;

/** A chart of an item of type `bars`. */
function makeBars(page, first) {
  let item = first;
  const legend = el("ul", { class: "legend" });
  const bins = () => item.edges.length - 1;
  const values = () => ({ unit: "", stacked: false, series: item.series });

  const chart = {
    timed: false,
    above: () => 14 + 13 * Math.min(MARK_LANES - 1, item.marks.length),
    height: () => 170,
    left: axisRoom,
    domain: () => [0, item.edges.at(-1) === undefined ? 1 : placeOfEdge(item.edges, item.edges.at(-1))],
    xTicks: (area) => edgeTicks(item, area),
    yTicks: (area) => valueTicks(area, valueRange(values())),
    draw: (layer, area, x) => drawDistribution(plot, layer, area, x, item),
    count: bins,
    indexAt: (x) => binAt(x),
    placeOf: (index) => ({ x: plot.x(middleOf(item.edges, index)), y: plot.area.top + plot.area.height / 2 }),
    describe: (index) => describeBin(item, index),
    step: (key, index) => stepInRow(key, index, bins()),
    reached: (index) => markBin(plot, item, index),
  };
  const plot = makePlot(page, item.title, chart);

  function binAt(x) {
    const { left, width } = plot.area;
    if (x < left || x > left + width) return null;
    const found = item.edges.findIndex((edge) => plot.x(placeOfEdge(item.edges, edge)) > x);
    return found < 0 ? bins() - 1 : Math.max(0, found - 1);
  }

  return {
    parts: [legend, plot.frame],
    update(next) {
      item = next;
      fillLegend(legend, legendOfBars(item));
      plot.refresh();
    },
    remove: plot.remove,
    behind: () => ({
      columns: [withUnitInTitle("From", item.unit), withUnitInTitle("To", item.unit), ...item.series.map((series) => series.name)],
      rows: Array.from({ length: bins() }, (_, i) => [
        exact(item.edges[i]), exact(item.edges[i + 1]), ...item.series.map((series) => exact(series.values[i])),
      ]),
      after: item.marks.map((mark) => [mark.name, withUnit(mark.at, item.unit)]),
    }),
  };
}

/** Whether all bins are about equally wide: only then is the axis linear; else each bin gets the same width. */
function isEven(edges) {
  const widths = edges.slice(1).map((edge, i) => edge - edges[i]);
  return Math.max(...widths) <= Math.min(...widths) * UNEVEN;
}

/** Where a value stands on the x axis, counted in bins. */
function placeOfEdge(edges, value) {
  const count = edges.length - 1;
  if (isEven(edges)) return ((value - edges[0]) / (edges[count] - edges[0] || 1)) * count;
  const above = edges.findIndex((edge) => edge > value);
  if (above <= 0) return above < 0 ? count : 0;
  const [low, high] = [edges[above - 1], edges[above]];
  const share = low > 0 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return above - 1 + share;
}

function middleOf(edges, index) {
  return (placeOfEdge(edges, edges[index]) + placeOfEdge(edges, edges[index + 1])) / 2;
}

function edgeTicks(item, area) {
  const { edges } = item;
  if (edges.length < 2) return [];
  const wanted = Math.max(2, Math.floor(area.width / 70));
  if (isEven(edges)) {
    const { step, values } = roundTicks(edges[0], edges.at(-1), wanted);
    return values.map((value) => [placeOfEdge(edges, value), short(value, step)]);
  }
  const taken = [];
  const room = (edges.length - 1) * (44 / area.width);
  for (const value of [edges[0], ...ticksOfAllSizes(edges[0], edges.at(-1))]) {
    const place = placeOfEdge(edges, value);
    if (taken.every(([other]) => Math.abs(other - place) >= room)) taken.push([place, brief(value)]);
  }
  return taken;
}

function drawDistribution(plot, layer, area, x, item) {
  const bottom = area.top + area.height;
  const y = linear(valueRange({ unit: "", series: item.series }), [bottom, area.top]);
  const alone = item.series.length === 1;
  const drawn = item.series.flatMap((series, i) => {
    const d = alone ? barPath(item.edges, series.values, x, y, bottom) : stepPath(item.edges, series.values, x, y, bottom);
    const area = vec("path", { class: `area ${alone ? "full " : ""}${seriesClass(i)}`, d });
    return alone ? [area] : [area, vec("path", { class: `line stacked ${seriesClass(i)}`, d })];
  });
  layer.replaceChildren(...drawn, ...drawMarks(item, area, x));
}

function barPath(edges, values, x, y, bottom) {
  return values.map((value, i) => {
    const left = x(placeOfEdge(edges, edges[i]));
    const right = x(placeOfEdge(edges, edges[i + 1]));
    const gap = right - left > 4 ? 1 : 0;
    return value ? `M${point(left)} ${bottom}V${point(Math.min(y(value), bottom - 1))}H${point(right - gap)}V${bottom}Z` : "";
  }).join("");
}

function stepPath(edges, values, x, y, bottom) {
  const steps = values.map((value, i) => `V${point(y(value))}H${point(x(placeOfEdge(edges, edges[i + 1])))}`);
  return `M${point(x(placeOfEdge(edges, edges[0])))} ${bottom}${steps.join("")}V${bottom}Z`;
}

/** A line for each mark with its name; names that would cover each other stand below each other. Values are in the legend. */
function drawMarks(item, area, x) {
  const ends = [];
  const marks = [...item.marks].sort((one, other) => one.at - other.at);
  return marks.flatMap((mark) => {
    const at = x(placeOfEdge(item.edges, mark.at));
    const name = shortened(mark.name, MARK_LETTERS);
    const half = (name.length * LETTER) / 2 + 2;
    const middle = clamp(at, area.left + half, area.left + area.width - half);
    const free = ends.findIndex((end) => end <= middle - half);
    const lane = free >= 0 ? free : ends.length;
    ends[lane] = middle + half;
    const y = area.top - 4 - lane * 13;
    const line = vec("line", { class: "mark", x1: at, x2: at, y1: area.top, y2: area.top + area.height });
    if (lane >= MARK_LANES) return [line];
    return [line, vec("text", { class: "mark-name", x: middle, y, "text-anchor": "middle" }, name)];
  });
}

/** The entries of the legend: series if there are several, and the marks with their values. */
function legendOfBars(item) {
  const series = item.series.length > 1 ? item.series.map((each, i) => ({ name: each.name, swatch: `stacked ${seriesClass(i)}` })) : [];
  const marks = item.marks.map((mark) => ({ name: mark.name, value: withUnit(Number(mark.at.toPrecision(4)), item.unit), swatch: "mark" }));
  return [...series, ...marks];
}

function describeBin(item, index) {
  const [low, high] = [item.edges[index], item.edges[index + 1]];
  const last = index === item.edges.length - 2;
  const marks = item.marks.filter((mark) => mark.at >= low && (mark.at < high || (last && mark.at <= high)));
  return {
    title: `${exact(low)} – ${withUnit(high, item.unit)}`,
    rows: [
      ...item.series.map((series, i) => ({ name: series.name, value: exact(series.values[index]), swatch: `stacked ${seriesClass(i)}` })),
      ...marks.map((mark) => ({ name: mark.name, value: withUnit(mark.at, item.unit) })),
    ],
  };
}

function markBin(plot, item, index) {
  if (index === null) return plot.layers.over.replaceChildren();
  const left = plot.x(placeOfEdge(item.edges, item.edges[index]));
  const right = plot.x(placeOfEdge(item.edges, item.edges[index + 1]));
  const { top, height } = plot.area;
  plot.layers.over.replaceChildren(vec("rect", { class: "chosen", x: left, width: Math.max(1, right - left), y: top, height }));
}
