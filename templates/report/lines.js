// Values over time: lines, or areas that stand on each other.

"use strict";

const SERIES_CLASSES = 8;

/** A chart of an item of type `lines`. */
function makeLines(page, first) {
  let item = first;
  const legend = el("ul", { class: "legend" });
  const binStart = (index) => item.start + index * item.step;

  const chart = {
    timed: true,
    height: () => 190,
    left: axisRoom,
    domain: () => page.timeline.view,
    xTicks: (area, x) => clockTicks(page, area, x),
    yTicks: (area) => valueTicks(area, valueRange(item)),
    draw: (layer, area, x) => drawSeries(layer, area, x, item),
    count: () => item.count,
    indexAt: (x) => nearestBin(x),
    placeOf: (index) => ({ x: plot.x(binStart(index) + item.step / 2), y: plot.area.top + plot.area.height / 2 }),
    describe: (index) => describe(index),
    step: (key, index) => stepInRow(key, index, item.count),
    reached: (index) => page.timeline.mark(index === null ? null : binStart(index) + item.step / 2),
  };
  const plot = makePlot(page, item.title, chart);

  function nearestBin(x) {
    const { left, width } = plot.area;
    if (x < left || x > left + width || !item.count) return null;
    const time = linear([left, left + width], page.timeline.view)(x);
    return clamp(Math.floor((time - item.start) / item.step + 1e-9), 0, item.count - 1);
  }

  function describe(index) {
    const [start, end] = [binStart(index), binStart(index + 1)];
    const rows = item.series.map((series, i) => ({
      name: series.name,
      value: withUnit(series.values[index], item.unit),
      swatch: `${item.stacked ? "stacked " : ""}${seriesClass(i)}`,
    }));
    return { title: spanOf(tidy(start), tidy(end)), rows: [...rows, ...bandRows(page, start, end)] };
  }

  return {
    parts: [legend, plot.frame],
    update(next) {
      item = next;
      fillLegend(legend, item.series.map((series, i) => ({ name: series.name, swatch: `${item.stacked ? "stacked " : ""}${seriesClass(i)}` })));
      page.timeline.extend(item.id, item.start, item.start + Math.max(1, item.count) * item.step);
      plot.refresh();
    },
    remove() {
      page.timeline.forget(item.id);
      plot.remove();
    },
    behind: () => ({
      columns: ["From (s)", "To (s)", ...item.series.map((series) => withUnitInTitle(series.name, item.unit))],
      rows: Array.from({ length: item.count }, (_, i) => [
        exact(tidy(binStart(i))), exact(tidy(binStart(i + 1))), ...item.series.map((series) => exact(series.values[i])),
      ]),
    }),
  };
}

/** Without the digits that the sum of binary fractions adds. */
function tidy(number) {
  return Number(number.toPrecision(12));
}

function seriesClass(index) {
  return `s${index % SERIES_CLASSES}`;
}

function withUnitInTitle(name, unit) {
  return unit ? `${name} (${unit})` : name;
}

/** The sums of all series up to each, for series that stand on each other. */
function stackedValues(item) {
  const sums = new Array(item.count).fill(0);
  return item.series.map((series) => series.values.map((value, i) => (sums[i] += value ?? 0)));
}

/** The lowest and highest value on the y axis; a share in percent keeps the whole in sight. */
function valueRange(item) {
  const lines = item.stacked ? stackedValues(item) : item.series.map((series) => series.values);
  let [low, high] = [0, 0];
  for (const line of lines) for (const value of line) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (item.unit === "%" && high > 40 && high <= 100) high = 100;
  if (high === low) high = low + 1;
  const { step } = roundTicks(low, high, 4);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

function valueTicks(area, range) {
  const { step, values } = roundTicks(...range, 4);
  const y = linear(range, [area.top + area.height, area.top]);
  return values.map((value) => [y(value), short(value, step)]);
}

function drawSeries(layer, area, x, item) {
  const y = linear(valueRange(item), [area.top + area.height, area.top]);
  const drawn = item.stacked ? drawAreas(item, x, y) : item.series.map((series, i) => {
    return vec("path", { class: `line ${seriesClass(i)}`, d: linePath(item, series.values, x, y) });
  });
  // The first series lies above the others: it is the one that the title speaks of.
  layer.replaceChildren(...drawn.reverse());
}

/** A path through the middles of the bins, with a gap where there is no value. */
function linePath(item, values, x, y) {
  const steps = [];
  for (let i = 0; i < item.count; i += 1) {
    if (values[i] === null || values[i] === undefined) continue;
    const begins = i === 0 || values[i - 1] === null || values[i - 1] === undefined;
    const alone = begins && (values[i + 1] === null || values[i + 1] === undefined);
    steps.push(`${begins ? "M" : "L"}${point(x(item.start + (i + 0.5) * item.step))} ${point(y(values[i]))}${alone ? "h.01" : ""}`);
  }
  return steps.join("");
}

function point(number) {
  return Math.round(number * 10) / 10;
}

/** Areas with an edge, the uppermost last. */
function drawAreas(item, x, y) {
  const tops = stackedValues(item);
  return tops.flatMap((top, i) => {
    const below = i ? tops[i - 1] : new Array(item.count).fill(0);
    const area = `${edge(item, top, x, y, false)}${edge(item, below, x, y, true)}Z`;
    return [vec("path", { class: `area ${seriesClass(i)}`, d: area }), vec("path", { class: `line stacked ${seriesClass(i)}`, d: edge(item, top, x, y, false) })];
  });
}

function edge(item, values, x, y, backwards) {
  const points = values.map((value, i) => `${point(x(item.start + (i + 0.5) * item.step))} ${point(y(value))}`);
  if (!points.length) return "";
  const first = `${point(x(item.start))} ${point(y(values[0]))}`;
  const last = `${point(x(item.start + item.count * item.step))} ${point(y(values.at(-1)))}`;
  const way = [first, ...points, last];
  return (backwards ? "L" : "M") + (backwards ? way.reverse() : way).join("L");
}
