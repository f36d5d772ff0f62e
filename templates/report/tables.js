// Tables: those of the document, which can be sorted, and those behind charts, which are made when they are opened.

"use strict";

const ROWS_SHOWN = 20;
const ROWS_MORE = 20;

let tablesMade = 0;

/** A table of an item of type `table`; rows and cells that stay the same are kept. */
function makeTable(page, first) {
  let item = first;
  let order = null;
  let whole = false;
  const head = el("tr");
  const body = el("tbody");
  const table = el("table", {}, el("thead", {}, head), body);
  const region = scrolling(table, item.title);
  const showAll = () => {
    whole = true;
    show();
    region.classList.toggle("whole", body.children.length > ROWS_SHOWN + ROWS_MORE);
  };
  const more = button("", showAll);
  // A reader cannot press a button on paper.
  addEventListener("beforeprint", showAll);
  more.classList.add("more");
  let columns = null;

  function show() {
    const rows = order ? sortedRows(item.rows, order) : item.rows;
    const count = whole || rows.length <= ROWS_SHOWN + ROWS_MORE ? rows.length : ROWS_SHOWN;
    while (body.children.length > count) body.lastElementChild.remove();
    for (let i = 0; i < count; i += 1) fillRow(body.children[i] ?? body.appendChild(el("tr")), rows[i], item.columns);
    more.hidden = count === rows.length;
    setText(more, `Show all ${exact(rows.length)} rows`);
  }

  function sortBy(index) {
    const falls = order?.index === index && !order.falls;
    order = { index, falls };
    [...head.children].forEach((cell, i) => setAll(cell, { "aria-sort": i === index ? (falls ? "descending" : "ascending") : null }));
    show();
  }

  function showHead() {
    const titles = JSON.stringify(item.columns);
    if (titles === columns) return;
    columns = titles;
    head.replaceChildren(...item.columns.map((column, i) => {
      const inside = item.rows.length > 1 && column.title ? button(column.title, () => sortBy(i)) : column.title;
      return el("th", { scope: "col", class: column.align }, inside);
    }));
  }

  return {
    parts: [region, more],
    update(next) {
      item = next;
      showHead();
      show();
    },
    remove: () => removeEventListener("beforeprint", showAll),
  };
}

/** Put the cells of a row in place: the first one names the row. */
function fillRow(row, cells, columns) {
  cells.forEach((cell, i) => {
    const { text, level } = typeof cell === "string" ? { text: cell, level: null } : cell;
    let place = row.children[i];
    if (!place) {
      place = row.appendChild(i === 0 ? el("th", { scope: "row" }) : el("td"));
      place.className = columns[i]?.align ?? "left";
    }
    if (place.dataset.level === (level ?? "") && place.dataset.text === text) return;
    place.dataset.level = level ?? "";
    place.dataset.text = text;
    if (level && level !== "neutral") place.replaceChildren(levelSign(level), " ", el("span", { class: `level-${level} level-text` }, text));
    else place.textContent = text;
  });
  while (row.children.length > cells.length) row.lastElementChild.remove();
}

/** The rows in the order of a column: by number where both are numbers, else by letters. */
function sortedRows(rows, { index, falls }) {
  const key = (row) => (typeof row[index] === "string" ? row[index] : row[index]?.text) ?? "";
  const ordered = rows.map((row) => [row, key(row), leadingNumber(key(row))]).sort(([, one, oneNumber], [, other, otherNumber]) => {
    const numbers = !Number.isNaN(oneNumber) && !Number.isNaN(otherNumber);
    return numbers ? oneNumber - otherNumber : one.localeCompare(other, "en", { numeric: true });
  });
  return (falls ? ordered.reverse() : ordered).map(([row]) => row);
}

function leadingNumber(text) {
  return Number.parseFloat(text.replaceAll(",", "").replace("−", "-"));
}

/** A box in which a wide table scrolls; it can have the focus, so that the keyboard scrolls it. */
function scrolling(table, name) {
  return el("div", { class: "scrolling", role: "region", tabindex: "0", "aria-label": `Table: ${name}` }, table);
}

/**
 * The table behind a chart, closed at first and made when it is opened.
 *
 * `build()` returns {columns, rows, caption?, after?}: all as text; `after` are pairs of names and values below the table.
 */
function makeBehind(title, build) {
  const summary = el("summary", {}, "Table", hiddenText(` of ${title}`));
  const place = el("div");
  const details = el("details", { class: "behind" }, summary, place);
  const fill = () => details.open && place.replaceChildren(...plainTable(build(), title));
  details.addEventListener("toggle", fill);
  return { element: details, refresh: fill };
}

function plainTable({ columns, rows, caption, after }, title) {
  tablesMade += 1;
  const head = el("tr", {}, ...columns.map((name, i) => el("th", { scope: "col", class: i ? "right" : "left" }, name)));
  const lines = rows.map((row) => el("tr", {}, ...row.map((text, i) => el("td", { class: i ? "right" : "left" }, text))));
  const table = el("table", {}, ...(caption ? [el("caption", {}, caption)] : []), el("thead", {}, head), el("tbody", {}, ...lines));
  return [scrolling(table, `${title} (${tablesMade})`), ...(after?.length ? [pairs(after)] : [])];
}

/** Names and values as a list of descriptions. */
function pairs(entries) {
  return el("dl", { class: "pairs" }, ...entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** Lines of an item of type `text`, such as commands that can be copied. */
function makeText(page, first) {
  const list = el("ul", { class: "lines-of-text" });
  const kept = new Map();
  const copy = (text, pressed) => {
    const done = () => { setText(pressed, "Copied"); announce("Copied"); setTimeout(() => setText(pressed, "Copy"), 2000); };
    navigator.clipboard?.writeText(text).then(done, () => announce("The browser does not allow copying here: select the text"));
  };
  const makeLine = (copyable) => {
    const code = el("code");
    const copies = copyable ? [button("Copy", (event) => copy(code.textContent, event.target))] : [];
    return { element: el("li", {}, code, ...copies), update: ({ text }) => {
      setText(code, text);
      copies.forEach((each) => each.setAttribute("aria-label", `Copy: ${text}`));
    } };
  };
  return {
    parts: [list],
    update(next) {
      const entries = next.lines.map((text, i) => ({ text, key: `${i} ${next.copyable}` }));
      reconcile(list, kept, entries, (entry) => entry.key, () => makeLine(next.copyable));
    },
    remove() {},
  };
}
