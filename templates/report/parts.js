// The parts of the page above its sections: verdict, main figures, conditions, faults and downloads.

"use strict";

const KIND_WORDS = { run: "Run", repeated: "Repeated runs", comparison: "Comparison", live: "Live" };

function showTitle({ kind, title, subtitle }) {
  setText(document.getElementById("page-kind"), KIND_WORDS[kind] ?? kind);
  setText(document.getElementById("page-title"), title);
  setText(document.getElementById("page-subtitle"), subtitle ?? "");
  document.getElementById("page-subtitle").hidden = !subtitle;
  document.title = title;
  document.body.dataset.kind = kind;
}

function showVerdict(verdict) {
  const place = document.getElementById("verdict");
  place.hidden = !verdict?.text;
  if (place.hidden) return;
  place.className = `verdict level-${verdict.level}`;
  const notes = (verdict.notes ?? []).map((note) => el("li", {}, note));
  place.replaceChildren(levelSign(verdict.level), el("div", {}, el("p", { class: "verdict-text" }, verdict.text), ...(notes.length ? [el("ul", {}, ...notes)] : [])));
}

const headlineTiles = new Map();

function showHeadline(figures) {
  const place = document.getElementById("headline");
  place.hidden = !figures?.length;
  place.dataset.columns = tileColumns(figures?.length ?? 0);
  const entries = (figures ?? []).map((figure, i) => ({ ...figure, key: `${i} ${figure.name}` }));
  reconcile(place, headlineTiles, entries, (entry) => entry.key, makeTile);
}

/** So many columns that the last row has the fewest gaps; narrow windows have two. */
function tileColumns(count) {
  if (count <= 6) return count;
  const gaps = (columns) => (columns - (count % columns)) % columns;
  return [4, 5, 6].reduce((best, columns) => (gaps(columns) < gaps(best) ? columns : best));
}

function makeTile() {
  const [name, value, unit, sign] = ["tile-name", "tile-value", "tile-unit", "tile-sign"].map((each) => el("span", { class: each }));
  const element = el("div", { class: "tile" }, name, el("span", { class: "tile-figure" }, value, " ", unit), sign);
  let shown = null;
  return {
    element,
    update(figure) {
      setText(name, figure.name);
      setText(value, figure.value);
      setText(unit, figure.unit ?? "");
      if (figure.level === shown) return;
      shown = figure.level;
      element.className = `tile level-${shown}`;
      sign.replaceChildren(...(shown === "neutral" ? [] : [levelSign(shown)]));
    },
  };
}

function showConditions(conditions) {
  const place = document.getElementById("conditions");
  place.hidden = !conditions?.length;
  place.replaceChildren(el("h2", {}, "Conditions"), pairs(conditions ?? []));
}

/** All faults as a table: charts have room for some of their names only. */
function makeFaults(timeline) {
  const behind = makeBehind("faults and moments", () => ({
    columns: ["Name", "Start (s)", "End (s)"],
    rows: timeline.bands.map((band) => [band.name, exact(band.start), band.end === null ? "not ended" : exact(band.end)]),
  }));
  const count = el("span");
  document.getElementById("faults").append(behind.element);
  behind.element.firstElementChild.replaceChildren(count);
  printedOpen(behind);
  return (bands) => {
    document.getElementById("faults").hidden = !bands?.length;
    setText(count, countBands(bands ?? []));
    timeline.setBands(bands ?? []);
    behind.refresh();
  };
}

/** What is marked in the charts: bands without a judgement are moments, such as marks of a cluster. */
function countBands(bands) {
  const moments = bands.filter((band) => band.level === "neutral").length;
  const counted = [[bands.length - moments, "fault"], [moments, "moment"]].filter(([number]) => number);
  const words = counted.map(([number, noun]) => `${exact(number)} ${noun}${number === 1 ? "" : "s"}`);
  return `${words.join(" and ")} ${bands.length === 1 ? "is" : "are"} marked in the charts of time`;
}

/** Have a table open on paper, where a reader cannot open it, and as it was afterwards. */
function printedOpen(behind) {
  let open = false;
  addEventListener("beforeprint", () => {
    open = behind.element.open;
    behind.element.open = true;
    behind.refresh();
  });
  addEventListener("afterprint", () => (behind.element.open = open));
}

/** Files inside the page, which are inflated when they are wanted. */
function showDownloads(downloads) {
  document.getElementById("downloads")?.remove();
  if (!downloads?.length) return;
  const links = downloads.map((file) => el("li", {}, button(`${file.title} (${file.name}, ${sizeInWords(file.size)})`, () => save(file))));
  const list = el("section", { id: "downloads", class: "downloads", "aria-label": "Files in this page" }, el("h2", {}, "Files in this page"), el("ul", {}, ...links));
  document.getElementById("content").append(list);
}

async function save(file) {
  const bytes = Uint8Array.from(atob(file.data), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const blob = new Blob([await new Response(inflated).arrayBuffer()], { type: file.media });
  const link = el("a", { href: URL.createObjectURL(blob), download: file.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function sizeInWords(bytes) {
  return bytes < 1e6 ? `${exact(Math.max(1, Math.round(bytes / 1e3)))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Light, dark, or as the system has it; remembered where the browser allows that. */
function connectTheme(page) {
  const group = document.getElementById("theme");
  const choose = (choice) => {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    for (const each of group.querySelectorAll("button")) each.setAttribute("aria-pressed", each.dataset.choice === choice);
    page.scheduler.drawAll();
  };
  group.addEventListener("click", (event) => {
    const { choice } = event.target.dataset;
    if (!choice) return;
    choose(choice);
    inStore((store) => store.setItem("kwokctl-theme", choice));
  });
  choose(inStore((store) => store.getItem("kwokctl-theme")) ?? "auto");
}

/** Use the browser's store, which it may forbid to files. */
function inStore(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
