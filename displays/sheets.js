// History of the evening, statistics and records of hands and matches: asked of the table, shown over the drawing until they are closed.

import { SEATS } from "./geometry.js";
import { fillSheet, sheetTitle } from "./history.js";
import { html, keyed, set, show, write } from "./svg.js";
import { language, say } from "./text.js";

const KINDS = ["history", "statistics", "record", "match"];

/** The sheet inside `holder`; `presses` carries what is asked for. */
export function createSheets(holder, presses) {
  const parts = {
    title: html("h2", { class: "sheet-title" }),
    body: html("div", { class: "sheet-body", tabindex: "0" }),
    page: html("span", { class: "sheet-page" }),
  };
  const button = (name, label, act) => {
    const node = html("button", { type: "button", class: "sheet-button", "data-sheet": name }, html("span", { text: label }));
    node.addEventListener("click", act);
    return node;
  };
  const tabs = html("div", { class: "sheet-tabs" });
  const foot = html("div", { class: "sheet-foot" });
  const box = html("section", { class: "sheet", role: "dialog" }, html("div", { class: "sheet-head" }, parts.title, tabs), parts.body, foot);
  holder.append(box);
  const sheets = { wanted: null, dismissed: false, view: null, saving: null };
  show(box, false);

  /** Asks the table for a sheet; `at` says which page, match and hand. */
  function look(what, at = {}) {
    const params = { what, ...at };
    sheets.wanted = what === "none" ? null : { what, page: at.page ?? 0, before: JSON.stringify(sheets.view?.me?.sheet ?? null), press: { want: "", action: "look", params } };
    presses?.press({ want: "", action: "look", params });
  }

  function open(what, at = {}) {
    sheets.dismissed = false;
    look(what, at);
    paint();
  }

  function close() {
    sheets.dismissed = true;
    sheets.saving = null;
    look("none");
    paint();
  }

  /** The sheet that lies open: what the table sent, unless it was closed here a moment ago. */
  function current() {
    return sheets.dismissed ? null : sheets.view?.me?.sheet ?? null;
  }

  /** Whether what was asked for has come, or will not. The table may turn to another page than was asked. */
  function answered({ what, page, before, press }, sheet) {
    if (presses?.stateOf(press) === "refused") return true;
    return sheet?.what === what && (sheet.page === page || JSON.stringify(sheet) !== before);
  }

  function draw(view) {
    sheets.view = view;
    if (!view.me?.sheet && !sheets.wanted) sheets.dismissed = false;
    const sheet = current();
    if (sheets.wanted && answered(sheets.wanted, sheet)) sheets.wanted = null;
    collect(sheet);
    paint();
    return isOpen();
  }

  function isOpen() {
    return Boolean(sheets.wanted || current());
  }

  function paint() {
    const opened = isOpen();
    show(box, opened);
    if (!opened) return;
    const sheet = current();
    const what = sheets.wanted?.what ?? sheet.what;
    const waiting = Boolean(sheets.wanted);
    set(box, { "aria-label": sheetTitle(what, sheet), "data-what": what, "aria-busy": String(waiting) });
    write(parts.title, sheetTitle(what, sheet));
    keyed(tabs, [language(), what], (node) => node.append(...KINDS.map((kind) => {
      const tab = button(kind, say(`sheet.${kind}`), () => open(kind));
      set(tab, { class: "sheet-button sheet-tab", "aria-pressed": String(kind === what || (kind === "record" && what === "hand")) });
      return tab;
    })));
    const shown = waiting && sheet?.what !== what ? null : sheet;
    const players = SEATS.map((seat) => sheets.view.match?.players?.[seat] ?? null);
    keyed(parts.body, [language(), shown, players], (node) => {
      if (shown) fillSheet(node, shown, sheets.view, (kind, at) => open(kind, at));
      else node.append(html("span", { class: "busy", "aria-hidden": "true" }), html("p", { class: "quiet", text: say("sheet.asking") }));
      node.scrollTop = 0;
    });
    const pages = shown?.pages ?? 1;
    const page = shown?.page ?? 0;
    keyed(foot, [language(), pages, page, shown?.what, waiting], (node) => {
      const back = button("back", say("sheet.back"), () => turn(-1));
      const on = button("on", say("sheet.on"), () => turn(1));
      node.append(back, html("span", { class: "sheet-page", text: pages > 1 ? say("sheet.page", { n: page + 1, of: pages }) : "" }), on);
      if (shown?.text) node.append(button("save", say("sheet.save"), save));
      const shut = button("close", say("press.close"), close);
      shut.classList.add("sheet-close");
      node.append(shut);
    });
  }

  /** On by one screen of what is shown, then by a page of the table. */
  function turn(by) {
    const { body } = parts;
    const step = Math.max(48, body.clientHeight - 40);
    const room = by > 0 ? body.scrollHeight - body.clientHeight - body.scrollTop : body.scrollTop;
    if (room > 2) {
      body.scrollTop += by * step;
      return;
    }
    const sheet = current();
    const page = (sheet?.page ?? 0) + by;
    if (sheet && page >= 0 && page < sheet.pages) look(sheet.what, { page, ...whichHand(sheet) });
    paint();
  }

  /** Saves a record as a text file; one of several pages is first fetched whole. */
  function save() {
    const sheet = current();
    if (!sheet?.text) return;
    sheets.saving = { what: sheet.what, at: whichHand(sheet), pages: sheet.pages, texts: new Map() };
    collect(sheet);
  }

  function collect(sheet) {
    const { saving } = sheets;
    if (!saving) return;
    if (sheet?.what !== saving.what || JSON.stringify(whichHand(sheet)) !== JSON.stringify(saving.at)) {
      if (!sheets.wanted) sheets.saving = null;
      return;
    }
    if (!sheets.wanted) saving.texts.set(sheet.page, sheet.text);
    const pages = Array.from({ length: saving.pages }, (_, page) => page);
    const missing = pages.find((page) => !saving.texts.has(page));
    if (missing === undefined) {
      sheets.saving = null;
      const { match, hand } = saving.at;
      download(`kaijin-${match ?? 0}${saving.what === "match" ? "" : `-${hand ?? 0}`}.txt`, pages.map((page) => saving.texts.get(page)).join(""));
    } else if (!sheets.wanted) look(saving.what, { page: missing, ...saving.at });
  }

  return { draw, open, close, isOpen };
}

/** The match and hand of a sheet, as the table is asked for them; a match's record has no hand. */
function whichHand({ match, hand }) {
  return { ...(match ? { match } : {}), ...(hand ? { hand } : {}) };
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text.endsWith("\n") ? text : `${text}\n`], { type: "text/plain;charset=utf-8" }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
