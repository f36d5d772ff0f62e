// Makes elements. What data says is only ever set as text, and no element gets a style attribute: the page forbids both.

"use strict";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

const LEVEL_WORDS = { good: "good", warning: "warning", bad: "bad", neutral: "" };

const LEVEL_SHAPES = {
  good: "M3.5 8.5l3 3 6-7",
  warning: "M8 2.5v7M8 12.6v.9",
  bad: "M4 4l8 8M12 4l-8 8",
  neutral: "M4 8h8",
};

/** An HTML element with attributes and children; a string becomes text. */
function el(name, attributes = {}, ...children) {
  return withParts(document.createElement(name), attributes, children);
}

/** The same for an element of SVG. */
function vec(name, attributes = {}, ...children) {
  return withParts(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

function withParts(made, attributes, children) {
  setAll(made, attributes);
  made.append(...children);
  return made;
}

/** Set attributes; a value of null takes one away. */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
  return element;
}

/** Change a text only if it differs: an unchanged node costs the browser nothing, and keeps a reader's selection. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return element;
}

/** Text that only screen readers get. */
function hiddenText(text) {
  return el("span", { class: "hidden" }, text);
}

/** The sign of a level, with its word for screen readers; colour never speaks alone. */
function levelSign(level) {
  const shape = LEVEL_SHAPES[level] ?? LEVEL_SHAPES.neutral;
  const drawing = vec("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, vec("path", { d: shape }));
  return el("span", { class: `sign level-${level}` }, drawing, hiddenText(LEVEL_WORDS[level] ?? ""));
}

/** A button with its words, or with a sign and its words for screen readers. */
function button(text, pressed, label = null) {
  const made = el("button", { type: "button", "aria-label": label }, text);
  made.addEventListener("click", pressed);
  return made;
}

/**
 * Bring the children of `parent` in line with `entries`, and keep the children that stay.
 *
 * `key(entry)` identifies an entry, `make(entry)` returns a new {element, update(entry), remove?()}; `kept` is the Map
 * in which the caller keeps them.
 */
function reconcile(parent, kept, entries, key, make) {
  const wanted = new Set(entries.map(key));
  for (const [name, part] of kept) {
    if (wanted.has(name)) continue;
    part.remove?.();
    part.element.remove();
    kept.delete(name);
  }
  let place = parent.firstElementChild;
  for (const entry of entries) {
    const name = key(entry);
    if (!kept.has(name)) kept.set(name, make(entry));
    const part = kept.get(name);
    if (part.element === place) place = place.nextElementSibling;
    else parent.insertBefore(part.element, place);
    part.update(entry);
  }
}

/** Say something to users of screen readers. */
function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/** Whether the user wants no motion that is not needed. */
function wantsLittleMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
