// The fleet map: a cell for each node on a canvas, which plays over time.

"use strict";

const PLAY_SECONDS = 14;
const SIGNS_FROM = 9;
const NODES_LISTED = 200;

/** A map of an item of type `fleet`. */
function makeFleet(page, first) {
  let item = first;
  let layout = null;
  let colours = [];
  let width = 0;
  const states = new FleetStates();
  const legend = el("ul", { class: "legend" });
  const canvas = el("canvas", { "aria-hidden": "true" });
  const ring = el("div", { class: "ring", hidden: "" });
  const frame = el("div", { class: "plot fleet", "aria-label": item.title }, canvas, ring);
  const film = makeFilm(page, (to, moved) => goTo(to, moved));
  let behindChanged = () => {};

  states.take(item);
  states.seek(lastFrame());
  const surface = connectSurface(page, frame, {
    count: () => states.codes.length,
    indexAt: (x, y) => layout?.indexAt(x, y) ?? null,
    placeOf: (index) => (layout ? { x: layout.xs[index] + layout.cell / 2, y: layout.ys[index] + layout.cell / 2 } : { x: 0, y: 0 }),
    describe: (index) => describeNode(index),
    step: (key, index) => (layout ? stepInFleet(layout, key, index) : undefined),
    reached: (index) => showRing(index),
  });
  page.scheduler.add(frame, drawAll);

  function lastFrame() {
    return Math.max(0, Math.min(item.count, item.frames.length) - 1);
  }

  function describeNode(index) {
    const starts = layout?.starts ?? [0];
    const block = groupOfNode(starts, index);
    const group = item.groups[block];
    const state = states.of(index);
    return {
      title: group.nodes[index - starts[block]],
      rows: [{ name: state.name, level: state.level, value: "" }, { name: "Group", value: group.name }, { name: "Time", value: `${exact(timeOfFrame(states.frame))} s` }],
    };
  }

  function timeOfFrame(at) {
    return tidy(item.start + Math.max(0, at) * item.step);
  }

  function goTo(to, moved) {
    const changed = states.seek(clamp(to, 0, lastFrame()));
    drawSome(changed);
    showFrame(moved);
  }

  function showFrame(moved) {
    const counts = states.counts();
    countLegend(legend, counts);
    const words = item.states.map((state, i) => (counts[i] ? `${state.name} ${exact(counts[i])}` : "")).filter(Boolean).join(", ");
    film.show(states.frame, `${exact(timeOfFrame(states.frame))} s`, words);
    if (moved) page.timeline.mark(timeOfFrame(states.frame));
    if (!film.playing()) behindChanged();
  }

  function showRing(index) {
    ring.hidden = index === null || !layout;
    if (ring.hidden) return;
    ring.style.left = `${layout.xs[index] - 2}px`;
    ring.style.top = `${layout.ys[index] - 2}px`;
    ring.style.width = ring.style.height = `${layout.cell + 3}px`;
  }

  function drawAll() {
    width = Math.floor(frame.clientWidth);
    if (width < 40) return;
    layout = fleetLayout(item.groups, width);
    colours = paints(item.states, frame);
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = layout.height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${layout.height}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colours.text;
    for (const [name, x, y] of layout.names) context.fillText(name, x, y + 10);
    for (let i = 0; i < states.codes.length; i += 1) drawCell(context, i);
  }

  function drawSome(changed) {
    if (!layout || layout.count !== states.codes.length) return page.scheduler.request(frame);
    const context = canvas.getContext("2d");
    for (const index of changed) drawCell(context, index);
    return undefined;
  }

  function drawCell(context, index) {
    paintCell(context, layout.xs[index], layout.ys[index], layout.cell, colours.of(states.codes[index]));
  }

  return {
    parts: [el("div", { class: "tools" }, legend), frame, film.element],
    update(next) {
      const atEnd = states.frame < 0 || states.frame >= lastFrame() || item === next;
      item = next;
      const same = states.take(item);
      if (!same || !legend.childElementCount) fillLegend(legend, item.states.map((state, i) => ({ name: state.name, swatch: stateClass(item.states, i) })));
      film.update(Math.min(item.count, item.frames.length));
      const changed = states.seek(atEnd && !film.playing() ? lastFrame() : clamp(film.at(), 0, lastFrame()));
      if (same) drawSome(changed);
      else page.scheduler.request(frame);
      page.timeline.extend(item.id, item.start, item.start + Math.max(1, item.count - 1) * item.step);
      surface.refresh();
      showFrame(false);
    },
    remove() {
      film.stop();
      page.timeline.forget(item.id);
      page.scheduler.remove(frame);
    },
    behind: () => fleetTable(item, states, timeOfFrame(states.frame)),
    whenBehindChanges: (heard) => { behindChanged = heard; },
  };
}

/** The numbers of nodes by rack and state at a time, and the nodes that are not well. */
function fleetTable(item, states, time) {
  let from = 0;
  const rows = item.groups.map((group) => {
    const counts = states.counts(from, (from += group.nodes.length));
    return [group.name, exact(group.nodes.length), ...counts.map(exact)];
  });
  const ill = [];
  let index = 0;
  for (const group of item.groups) for (const name of group.nodes) {
    const state = states.of(index);
    if (state.level === "bad" || state.level === "warning") ill.push([name, `${state.name} (${group.name})`]);
    index += 1;
  }
  const more = ill.length > NODES_LISTED ? [["…", `and ${exact(ill.length - NODES_LISTED)} more nodes`]] : [];
  return { caption: `At ${exact(time)} s`, columns: ["Group", "Nodes", ...item.states.map((state) => state.name)], rows, after: [...ill.slice(0, NODES_LISTED), ...more] };
}

/** The numbers in the legend: how many nodes are in each state now. */
function countLegend(legend, counts) {
  [...legend.children].forEach((entry, i) => {
    if (entry.children.length < 3) entry.append(el("span", { class: "count" }));
    setText(entry.lastElementChild, exact(counts[i] ?? 0));
    entry.classList.toggle("none", !counts[i]);
  });
}

/** The colours of the states as the theme has them now: a canvas does not know the names of the style sheet. */
function paints(states, frame) {
  const probe = el("span", { class: "probe" });
  frame.append(probe);
  const colourOf = (className) => {
    probe.setAttribute("class", `probe ${className}`);
    return getComputedStyle(probe).color;
  };
  const own = states.map((state, i) => ({ fill: colourOf(stateClass(states, i)), sign: colourOf("cell-sign"), level: state.level }));
  const found = { text: colourOf("rack-name"), unknown: { fill: colourOf("state level-neutral shade-3"), sign: "", level: "neutral" } };
  probe.remove();
  return { ...found, of: (code) => own[code] ?? found.unknown };
}

/** One cell; large ones have the sign of a bad state or a warning, so that colour is not all that tells. */
function paintCell(context, x, y, cell, paint) {
  const size = cell > 3 ? cell - 1 : cell - 0.4;
  context.clearRect(x, y, cell, cell);
  context.fillStyle = paint.fill;
  context.fillRect(x, y, size, size);
  if (cell < SIGNS_FROM || (paint.level !== "bad" && paint.level !== "warning")) return;
  const inset = size * 0.28;
  context.strokeStyle = paint.sign;
  context.lineWidth = Math.max(1.2, size / 9);
  context.beginPath();
  context.moveTo(x + inset, y + size - inset);
  context.lineTo(x + size - inset, y + inset);
  if (paint.level === "bad") {
    context.moveTo(x + inset, y + inset);
    context.lineTo(x + size - inset, y + size - inset);
  }
  context.stroke();
}
