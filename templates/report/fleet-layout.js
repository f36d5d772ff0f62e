// Where the cell of each node stands: racks of equal size in rows, as large as the width allows.

"use strict";

const CELL_SIZES = [22, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const FLEET_HEIGHT = 460;
const BLOCK_GAP = 10;
const RACK_NAME_HEIGHT = 15;
const RACK_NAME_LETTERS = 8;
const RACK_LETTER = 7.2;

/** The layout of `groups` in `width` pixels: {cell, cellAt(index), indexAt(x, y), names, height}. */
function fleetLayout(groups, width) {
  const largest = Math.max(1, ...groups.map((group) => group.nodes.length));
  const longest = Math.max(0, ...rackNames(groups).map((name) => name.length));
  const named = Math.min(longest, RACK_NAME_LETTERS);
  const tries = CELL_SIZES.map((cell) => measured(groups, width, cell, largest, named));
  const chosen = tries.find((each) => each.height <= FLEET_HEIGHT) ?? tries.at(-1);
  return withPlaces(groups, chosen);
}

/** How racks of cells of this size would fill the width; they are named if there is room for so many letters. */
function measured(groups, width, cell, largest, namedLetters) {
  const alone = groups.length === 1;
  const most = Math.max(1, Math.floor(width / cell));
  const columns = alone ? most : Math.min(blockColumns(largest), most);
  const blockWidth = columns * cell;
  const letters = Math.floor((blockWidth + BLOCK_GAP - 4) / RACK_LETTER);
  const top = !alone && letters >= namedLetters ? RACK_NAME_HEIGHT : 0;
  const gap = top ? BLOCK_GAP : clamp(Math.round(cell * 0.7), 2, BLOCK_GAP);
  const blockHeight = top + Math.ceil(largest / columns) * cell;
  const across = Math.max(1, Math.floor((width + gap) / (blockWidth + gap)));
  const height = Math.ceil(groups.length / across) * (blockHeight + gap) - gap;
  return { cell, columns, blockWidth, blockHeight, across, top, letters, gap, height: Math.max(cell, height) };
}

/** The names of racks without what all begin with, such as `rack-`: there is little room above a rack. */
function rackNames(groups) {
  const names = groups.map((group) => group.name);
  if (names.length < 2) return names;
  let shared = 0;
  while (names.every((name) => shared < name.length && name[shared] === names[0][shared])) shared += 1;
  const cut = names[0].slice(0, shared).search(/[^-_./ ]*$/);
  return names.map((name) => name.slice(cut));
}

/** Columns of a block that is about a square, or somewhat wider if that leaves no gap in its last row. */
function blockColumns(count) {
  const least = Math.ceil(Math.sqrt(count));
  for (let columns = least; columns <= least * 1.7; columns += 1) if (count % columns === 0) return columns;
  return least;
}

function withPlaces(groups, chosen) {
  const { cell, columns, blockWidth, blockHeight, across, top, letters, gap } = chosen;
  const starts = [];
  let count = 0;
  for (const group of groups) {
    starts.push(count);
    count += group.nodes.length;
  }
  const corner = (block) => [(block % across) * (blockWidth + gap), Math.floor(block / across) * (blockHeight + gap)];
  const xs = new Float32Array(count);
  const ys = new Float32Array(count);
  groups.forEach((group, block) => {
    const [left, high] = corner(block);
    for (let i = 0; i < group.nodes.length; i += 1) {
      xs[starts[block] + i] = left + (i % columns) * cell;
      ys[starts[block] + i] = high + top + Math.floor(i / columns) * cell;
    }
  });
  const indexAt = (x, y) => {
    const [column, row] = [Math.floor(x / (blockWidth + gap)), Math.floor(y / (blockHeight + gap))];
    const block = row * across + column;
    if (x < 0 || y < 0 || column >= across || block >= groups.length) return null;
    const [left, high] = corner(block);
    const [inX, inY] = [Math.floor((x - left) / cell), Math.floor((y - high - top) / cell)];
    const index = inY * columns + inX;
    return inX < columns && inY >= 0 && index < groups[block].nodes.length ? starts[block] + index : null;
  };
  const names = top ? rackNames(groups).map((name, block) => [shortened(name, letters), ...corner(block)]) : [];
  return { ...chosen, xs, ys, starts, count, indexAt, names };
}

/** The group of a node by its number, found by halving. */
function groupOfNode(starts, index) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle] <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The key steps from node to node: sideways by one, up and down to the cell that lies there. */
function stepInFleet(layout, key, index) {
  if (index < 0) index = 0;
  const across = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: layout.count - 1 };
  if (key in across) return clamp(across[key], 0, layout.count - 1);
  const down = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
  if (!down) return undefined;
  for (let jump = down; Math.abs(jump) <= Math.abs(down) + 4; jump += Math.sign(down)) {
    const middle = layout.cell / 2;
    const x = layout.xs[index] + middle;
    const found = layout.indexAt(x, layout.ys[index] + middle + jump * layout.cell);
    if (found !== null) return found;
  }
  return index;
}
