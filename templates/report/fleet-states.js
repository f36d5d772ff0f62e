// The state of each node at each frame of a fleet map, kept as the numbers of the states.

"use strict";

class FleetStates {
  constructor() {
    this.codes = new Uint8Array(0);
    this.frame = -1;
    this.item = null;
  }

  /** Take another item; returns true if its nodes are those of the item before. */
  take(item) {
    const before = this.item;
    this.item = item;
    this.numbers = new Map(item.states.map((state, i) => [state.code, i]));
    const same = before !== null && sameGroups(before.groups, item.groups);
    const statesKept = before !== null && before.states.length === item.states.length && before.states.every((each, i) => each.code === item.states[i].code);
    if (!same || !statesKept) this.codes = new Uint8Array(nodeCount(item.groups)).fill(UNKNOWN_STATE);
    this.frame = -1;
    return same && statesKept;
  }

  /** Go to a frame; returns the numbers of the nodes whose state differs from what was there before. */
  seek(frame) {
    const before = this.codes;
    const after = frame >= this.frame && this.frame >= 0 ? before.slice() : new Uint8Array(before.length).fill(UNKNOWN_STATE);
    const from = frame >= this.frame ? this.frame + 1 : 0;
    for (let i = from; i <= frame; i += 1) {
      for (const [node, code] of this.item.frames[i]?.changes ?? []) {
        if (node >= 0 && node < after.length) after[node] = this.numbers.get(code) ?? UNKNOWN_STATE;
      }
    }
    const changed = [];
    for (let i = 0; i < after.length; i += 1) if (after[i] !== before[i]) changed.push(i);
    this.codes = after;
    this.frame = frame;
    return changed;
  }

  /** How many nodes are in each state, those of `from` up to `to`. */
  counts(from = 0, to = this.codes.length) {
    const counted = this.item.states.map(() => 0);
    for (let i = from; i < to; i += 1) if (this.codes[i] !== UNKNOWN_STATE) counted[this.codes[i]] += 1;
    return counted;
  }

  /** The state of a node: {name, level}. */
  of(node) {
    return this.item.states[this.codes[node]] ?? { name: "unknown", level: "neutral" };
  }
}

const UNKNOWN_STATE = 255;

function nodeCount(groups) {
  return groups.reduce((sum, group) => sum + group.nodes.length, 0);
}

function sameGroups(one, other) {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  return one.every((group, i) => {
    const twin = other[i];
    return group.name === twin.name && group.nodes.length === twin.nodes.length && group.nodes.every((name, n) => name === twin.nodes[n]);
  });
}

/** The class of a state: a shade of its level. */
function stateClass(states, index) {
  const state = states[index];
  const earlier = states.slice(0, index).filter((each) => each.level === state.level).length;
  return `state level-${state.level} shade-${earlier % 4}`;
}
