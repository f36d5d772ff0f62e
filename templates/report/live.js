// Follows the server of a live page, which sends events: the whole page first, then what changes of it.
//
//   page     a whole document (kwokctl/measure/pages/page_data.py)
//   head     the parts of the head that change: verdict, headline, bands
//   item     an item, which replaces that of the same id
//   section  a section whose items may be other ones than before
//   patch    {id, start, changes}: the cells of a fleet map that have changed, and when
//
// The browser connects again by itself when the connection is lost, and gets a whole page then.

"use strict";

const ENDED = "The view has ended, or does not answer. What follows is as it was then.";
const REFUSED = "This page is no longer served: start 'kwokctl view' again, and open the address that it prints.";

function followServer() {
  const source = new EventSource("events");
  const heard = {
    page: renderPage,
    head: updatePage,
    item: updateItem,
    section: updateSection,
    patch: updateMap,
  };
  for (const [name, take] of Object.entries(heard)) {
    source.addEventListener(name, (event) => take(JSON.parse(event.data)));
  }
  source.addEventListener("error", () => {
    const text = source.readyState === EventSource.CLOSED ? REFUSED : ENDED;
    updatePage({ verdict: { level: "bad", text, notes: [] } });
  });
}

/** Show a section anew, and leave the items of the others as they are now. */
function updateSection(section) {
  const others = (each) => ({ ...each, items: each.items.map((item) => page.items.get(item.id)?.item ?? item) });
  updatePage({ sections: page.data.sections.map((each) => (each.id === section.id ? section : others(each))) });
}

/** Change cells of a fleet map, which has one frame: the present. */
function updateMap({ id, start, changes }) {
  const known = page.items.get(id)?.item;
  if (!known) return;
  const states = known.frames[0].changes.slice();
  for (const [node, code] of changes) states[node] = [node, code];
  updateItem({ id, start, frames: [{ changes: states }] });
}

followServer();
