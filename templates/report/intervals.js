// Differences of two sides: a row for each figure, with its interval drawn on a common scale around zero.

"use strict";

const INTERVAL_COLUMNS = ["Figure", "A", "B", "Change", "Interval", "Verdict"];

/** A table of an item of type `intervals`. */
function makeIntervals(page, first) {
  const head = el("div", { role: "row", class: "interval-row interval-head" }, ...INTERVAL_COLUMNS.map((name) => el("span", { role: "columnheader" }, name)));
  const body = el("div", { role: "rowgroup" });
  const axis = el("div", { class: "interval-axis", "aria-hidden": "true" });
  const table = el("div", { role: "table", class: "intervals", "aria-label": first.title }, el("div", { role: "rowgroup" }, head), body);
  return {
    parts: [table, axis],
    update(item) {
      const scale = intervalScale(item.rows);
      body.replaceChildren(...item.rows.map((row) => intervalRow(row, item.unit, scale)));
      axis.replaceChildren(axisOf(scale, item.unit));
    },
    remove() {},
  };
}

/** A common scale in percent of the width: zero is always in sight. */
function intervalScale(rows) {
  const ends = rows.flatMap((row) => [row.low, row.middle, row.high]).filter((end) => end !== null && end !== undefined);
  const size = Math.max(...ends.map(Math.abs), 1);
  const { step } = roundTicks(-size, size, 4);
  const reach = Math.ceil(size / step - 1e-9) * step;
  const ticks = roundTicks(-reach, reach, 4);
  return { at: linear([-reach, reach], [4, 96]), ticks };
}

function intervalRow(row, unit, scale) {
  const has = row.low !== null && row.high !== null;
  const change = row.middle === null ? NO_VALUE : signed(row.middle, unit);
  const range = has ? `${signed(row.low, "")} … ${signed(row.high, unit)}` : "no interval";
  const cell = (name, className, ...inside) => el("span", { role: "cell", class: className, "data-name": name }, ...inside);
  return el("div", { role: "row", class: "interval-row" },
    el("span", { role: "rowheader", class: "interval-name" }, row.name),
    cell("A", "right", row.a), cell("B", "right", row.b),
    cell("Change", "right", el("strong", {}, change), " ", el("span", { class: "range" }, range)),
    cell("Interval", "interval-picture", intervalPicture(row, scale, has)),
    cell("Verdict", "interval-verdict", ...(row.level === "neutral" ? [] : [levelSign(row.level), " "]), row.verdict));
}

function intervalPicture(row, { at, ticks }, has) {
  const share = (value) => `${point(at(value))}%`;
  const drawn = ticks.values.map((value) => vec("line", { class: value === 0 ? "zero" : "tick", x1: share(value), x2: share(value), y1: 0, y2: 28 }));
  if (has) {
    const [low, high] = [at(row.low), at(row.high)];
    drawn.push(vec("rect", { class: `interval level-${row.level}`, x: `${point(low)}%`, width: `${point(Math.max(0.5, high - low))}%`, y: 10, height: 8, rx: 4 }));
  }
  if (row.middle !== null) drawn.push(vec("circle", { class: `middle level-${row.level}`, cx: share(row.middle), cy: 14, r: 5 }));
  return vec("svg", { class: "interval-svg", height: 28, "aria-hidden": "true" }, ...drawn);
}

function axisOf({ at, ticks }, unit) {
  const words = ticks.values.map((value) => vec("text", { x: `${point(at(value))}%`, y: 12, "text-anchor": "middle" }, signed(value, unit)));
  return vec("svg", { class: "interval-svg", height: 16 }, ...words);
}

/** A number of at most four digits with its sign: the interval beside it is wider than what is left out. */
function signed(value, unit) {
  return `${value > 0 ? "+" : ""}${brief(value)}${unit ? ` ${unit}` : ""}`;
}
