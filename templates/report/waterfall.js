// Rows over time, each with its phases. Only the rows in sight are drawn; they scroll, and their height can be changed.

"use strict";

const ROWS_AT_ONCE = 400;
const ROW_HEIGHTS = [1.2, 2, 3, 5, 8, 14, 20];
const WATERFALL_HEIGHT = ROWS_AT_ONCE * ROW_HEIGHTS[0];
const NAMED_FROM = 14;

/** A chart of an item of type `waterfall`. */
function makeWaterfall(page, first) {
  let item = first;
  let size = 0;
  let chosenSize = false;
  let reached = null;
  const legend = el("ul", { class: "legend" });
  const spacer = el("div", { class: "spacer" });
  const scroller = el("div", { class: "scroller", tabindex: "-1" });
  const rowHeight = () => ROW_HEIGHTS[size];
  const height = () => Math.min(WATERFALL_HEIGHT, Math.max(40, item.rows.length * rowHeight()));
  const rowY = (index, scrolled = scroller.scrollTop) => plot.area.top + index * rowHeight() - scrolled;

  const chart = {
    timed: true,
    height,
    left: (width) => (rowHeight() >= NAMED_FROM ? Math.min(180, Math.max(90, Math.floor(width * 0.28))) : axisRoom(width)),
    domain: () => page.timeline.view,
    xTicks: (area, x) => clockTicks(page, area, x),
    yTicks: () => [],
    draw: (layer, area, x) => drawRows(layer, area, x),
    count: () => item.rows.length,
    indexAt: (x, y) => {
      const index = Math.floor((y - plot.area.top + scroller.scrollTop) / rowHeight());
      return y >= plot.area.top && y < plot.area.top + plot.area.height && index < item.rows.length ? index : null;
    },
    placeOf: (index) => ({ x: plot.area.left + plot.area.width / 2, y: rowY(index) + rowHeight() / 2 }),
    describe: (index) => describeRow(item, index),
    step: (key, index) => stepInRow(key, index, item.rows.length),
    reached: reachRow,
  };
  const plot = makePlot(page, item.title, chart);
  const smaller = button("−", () => resize(size - 1), "Lower rows");
  const larger = button("+", () => resize(size + 1), "Higher rows");
  const controls = el("div", { class: "controls", role: "group", "aria-label": "Height of rows" }, el("span", { "aria-hidden": "true" }, "Rows"), smaller, larger);
  plot.frame.classList.add("waterfall");
  plot.frame.append(scroller);
  scroller.append(spacer);
  scroller.addEventListener("scroll", () => page.scheduler.request(plot.frame), { passive: true });

  function resize(next) {
    const middle = (scroller.scrollTop + height() / 2) / rowHeight();
    size = clamp(next, 0, ROW_HEIGHTS.length - 1);
    chosenSize = true;
    layOut();
    scroller.scrollTop = middle * rowHeight() - height() / 2;
    page.scheduler.request(plot.frame);
  }

  /** The largest rows that are all in sight, or the lowest. */
  function fittingSize() {
    const fits = ROW_HEIGHTS.filter((each) => each * item.rows.length <= WATERFALL_HEIGHT);
    return Math.max(0, fits.length - 1);
  }

  function layOut() {
    if (!chosenSize) size = fittingSize();
    smaller.disabled = size === 0;
    larger.disabled = size === ROW_HEIGHTS.length - 1;
    spacer.style.height = `${item.rows.length * rowHeight()}px`;
    scroller.hidden = item.rows.length * rowHeight() <= height();
  }

  function drawRows(layer, area, x) {
    scroller.style.top = `${area.top}px`;
    scroller.style.height = `${area.height}px`;
    const scrolled = scroller.scrollTop;
    const begin = Math.floor(scrolled / rowHeight());
    const end = Math.min(item.rows.length, begin + ROWS_AT_ONCE + 1, begin + Math.ceil(area.height / rowHeight()) + 1);
    const drawn = [];
    const names = [];
    for (let i = begin; i < end; i += 1) {
      const y = rowY(i, scrolled);
      drawn.push(...drawSpans(item, item.rows[i], x, y, rowHeight(), area));
      if (rowHeight() < NAMED_FROM || y < area.top - 1 || y + rowHeight() > area.top + area.height + 1) continue;
      const name = shortened(item.rows[i].name, Math.floor((area.left - 12) / LETTER));
      names.push(vec("text", { class: "row-name", x: area.left - 8, y: y + rowHeight() / 2 + 4, "text-anchor": "end" }, name));
    }
    setAll(plot.root.querySelector("clipPath rect"), { y: area.top, height: area.height });
    layer.replaceChildren(...drawn);
    plot.layers.grid.replaceChildren(...names);
    markRow();
  }

  function reachRow(index, byPointer) {
    reached = index;
    if (index !== null && !byPointer) {
      const top = index * rowHeight();
      scroller.scrollTop = clamp(scroller.scrollTop, top + rowHeight() - plot.area.height, top);
    }
    markRow();
  }

  function markRow() {
    plot.root.querySelector(".row-mark")?.remove();
    if (reached === null) return;
    const { left, width } = plot.area;
    const mark = vec("rect", { class: "row-mark", x: left, width, y: rowY(reached) - 0.5, height: Math.max(2, rowHeight()) + 1 });
    plot.root.append(mark);
  }

  return {
    parts: [el("div", { class: "tools" }, legend, controls), plot.frame],
    update(next) {
      item = next;
      fillLegend(legend, item.phases.map((phase, i) => ({ name: phase.name, swatch: phaseClass(item, i) })));
      page.timeline.extend(item.id, 0, item.end);
      layOut();
      plot.refresh();
    },
    remove() {
      page.timeline.forget(item.id);
      plot.remove();
    },
    behind: () => ({
      columns: [item.aggregated ? "Group" : "Name", ...item.phases.map((phase) => withUnitInTitle(phase.name, "s"))],
      rows: item.rows.map((row) => [row.name, ...item.phases.map((_, phase) => spansOfPhase(row, phase))]),
    }),
  };
}

/** Phases have shades of their level, and get thicker from the first to the last: they differ without colour, too. */
function phaseClass(item, phase) {
  const level = item.phases[phase].level;
  const earlier = item.phases.slice(0, phase).filter((each) => each.level === level).length;
  return `phase level-${level} shade-${earlier % 4}`;
}

function drawSpans(item, row, x, y, rowHeight, area) {
  const count = item.phases.length;
  return row.spans.flatMap(([phase, start, end]) => {
    const left = Math.max(area.left, x(start));
    const right = Math.min(area.left + area.width, x(end ?? item.end));
    if (right < area.left || left > area.left + area.width || right < left) return [];
    const full = rowHeight < 3 ? rowHeight + 0.1 : rowHeight * 0.8;
    const height = rowHeight < 5 ? full : full * (count > 1 ? 0.4 + (0.6 * phase) / (count - 1) : 1);
    return [vec("rect", {
      class: `span ${phaseClass(item, phase)}`, x: point(left), y: y + (rowHeight - height) / 2,
      width: Math.max(0.8, point(right - left)), height, rx: rowHeight >= 8 ? 1.5 : 0,
    })];
  });
}

function spansOfPhase(row, phase) {
  return row.spans.filter((span) => span[0] === phase).map((span) => spanOf(span[1], span[2]).replace(/ s$/, "")).join("; ") || NO_VALUE;
}

function describeRow(item, index) {
  const row = item.rows[index];
  const rows = row.spans.map(([phase, start, end]) => ({
    name: item.phases[phase].name,
    swatch: phaseClass(item, phase),
    value: end === null ? spanOf(start, end) : `${spanOf(start, end)} (${exact(tidy(end - start))} s)`,
  }));
  return { title: row.name, rows };
}
