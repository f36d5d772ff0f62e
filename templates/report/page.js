// Shows a document, and what changes in it. A live page calls `updateItem` and `updatePage`; nothing here knows Kubernetes.
//
// The document is described in kwokctl/measure/pages/page_data.py. Each type of item has a function that makes its parts
// and returns {parts, update(item), remove(), behind?()}; `behind` returns the table behind a chart.

"use strict";

const page = { data: null, items: new Map(), sections: new Map() };

/** The function that makes an item of a type. */
function makerOf(type) {
  const makers = {
    table: makeTable, lines: makeLines, bars: makeBars, waterfall: makeWaterfall,
    fleet: makeFleet, intervals: makeIntervals, text: makeText,
  };
  return Object.hasOwn(makers, type) ? makers[type] : makeUnknown;
}

/** Say that this page cannot show an item, rather than show nothing. */
function makeUnknown() {
  const said = el("p", { class: "unknown" });
  return { parts: [said], update: (item) => setText(said, `This page cannot show items of type '${item.type}'.`), remove() {} };
}

/** The card of an item: its title, its note, its picture, and the table behind it. */
function makeCard(first) {
  const title = el("h3", { id: `item-${first.id}-title` });
  const note = el("p", { class: "note" });
  const made = makerOf(first.type)(page, first);
  const behind = made.behind ? makeBehind(first.title, () => made.behind()) : null;
  const element = el("article", { class: `card ${first.type}`, id: `item-${first.id}`, "aria-labelledby": `item-${first.id}-title` }, title, note, ...made.parts, ...(behind ? [behind.element] : []));
  made.whenBehindChanges?.(() => behind.refresh());
  return {
    element,
    type: first.type,
    update(item) {
      page.items.set(item.id, { item, card: this });
      setText(title, item.unit && ["lines", "bars"].includes(item.type) ? `${item.title} (${item.unit})` : item.title);
      setText(note, item.note ?? "");
      note.hidden = !item.note;
      made.update(item);
      behind?.refresh();
    },
    remove() {
      page.items.delete(first.id);
      made.remove();
    },
  };
}

function makeSection(section) {
  const [title, lead, items] = [el("h2"), el("p", { class: "lead" }), el("div", { class: "items" })];
  const cards = new Map();
  return {
    element: el("section", { id: `section-${section.id}`, class: "section" }, title, lead, items),
    update(next) {
      setText(title, next.title);
      setText(lead, next.lead ?? "");
      lead.hidden = !next.lead;
      reconcile(items, cards, next.items, (item) => `${item.type} ${item.id}`, makeCard);
    },
    remove() {
      for (const card of cards.values()) card.remove();
    },
  };
}

function showSections(sections) {
  reconcile(document.getElementById("sections"), page.sections, sections, (section) => section.id, makeSection);
  const links = sections.map((section) => el("li", {}, el("a", { href: `#section-${section.id}` }, section.title)));
  document.getElementById("bar-sections").replaceChildren(...links);
}

/** Show the parts of the page that `changes` names; sections that keep their ids keep their elements. */
function updatePage(changes) {
  page.data = { ...page.data, ...changes };
  if ("title" in changes || "subtitle" in changes || "kind" in changes) showTitle(page.data);
  if ("verdict" in changes) showVerdict(changes.verdict);
  if ("headline" in changes) showHeadline(changes.headline);
  if ("conditions" in changes) showConditions(changes.conditions);
  if ("bands" in changes) page.showFaults(changes.bands);
  if ("sections" in changes) showSections(changes.sections);
  if ("downloads" in changes) showDownloads(changes.downloads);
}

/** Show a new state of one item; fields that `item` does not have stay as they are. Returns false if there is no such item. */
function updateItem(item) {
  const known = page.items.get(item.id);
  if (!known) return false;
  known.card.update({ ...known.item, ...item });
  return true;
}

/** Show a whole document. */
function renderPage(data) {
  updatePage({ bands: [], downloads: [], ...data });
}

function startPage() {
  page.timeline = new Timeline();
  page.scheduler = new Scheduler();
  page.tooltip = new Tooltip(document.getElementById("tooltip"));
  page.showFaults = makeFaults(page.timeline);
  connectTheme(page);
  connectTimeBar(page.timeline);
  renderPage(JSON.parse(document.getElementById("page-data").textContent));
}

startPage();
