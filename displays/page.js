// A whole page: strips, table, column, cover and settings, drawn from one view. Knows nothing of the network.

import { createBoard } from "./board.js";
import { createCover } from "./cover.js";
import { createMenu } from "./menu.js";
import { createPanel } from "./panel.js";
import { applyTheme, recall, remember } from "./settings.js";
import { createResult, resultKind } from "./result.js";
import { createSheets } from "./sheets.js";
import { createStanding } from "./standing.js";
import { createBottom, createTop } from "./strips.js";
import { html, set } from "./svg.js";
import { LANGUAGES, language, loadCatalogue, say, setLanguage } from "./text.js";
import { layTiles } from "./tiles.js";

/**
 * Builds the page into its places in `document`. `presses` takes what is pressed (null: nothing can be), `unpair()` is
 * called when the display is to give its seat up, `paired()` says whether it has one; `guardMs` as in `panel.js`.
 */
export async function createPage({ presses = null, unpair = () => {}, paired = () => false, guardMs }) {
  await loadCatalogue();
  setLanguage(recall("language") ?? LANGUAGES[0]);
  let theme = recall("theme") ?? "dark";
  applyTheme(theme);
  layTiles(document);
  const place = (name) => document.getElementById(name);
  let shown = { view: null, viewer: null };
  const over = html("div", { class: "over" });
  place("cards").before(over);
  const result = createResult(over);
  const sheets = createSheets(over, presses);
  const asking = () => Boolean(presses && shown.viewer && shown.view?.match);
  const menu = createMenu(place("menu"), change, () => ({ view: shown.view, theme, paired: paired(), sheets: asking() }));
  const top = createTop(place("top"), () => menu.open(), () => sheets.open("history"));
  const board = createBoard(place("table"));
  const standing = place("standing") ? createStanding(place("standing")) : null;
  const panel = createPanel(place("panel"), place("cards"), presses, guardMs);
  const bottom = createBottom(place("bottom"));
  const cover = createCover(place("cover"));

  function change(name, value) {
    if (name === "unpair") {
      unpair();
      return;
    }
    if (name === "press") {
      presses?.press(value);
      return;
    }
    if (name === "sheet") {
      sheets.open(value);
      return;
    }
    remember(name, value);
    if (name === "language") setLanguage(value);
    if (name === "theme") applyTheme((theme = value));
    words();
    if (shown.view) draw(shown.view, shown.viewer);
  }

  function words() {
    document.documentElement.lang = language();
    document.title = say("title");
  }

  function draw(view, viewer) {
    shown = { view, viewer };
    const eye = viewer ?? "E";
    const between = resultKind(view);
    document.body.className = `seat-${eye} phase-${view.phase} back-set-${view.machine?.set_up ?? 0}${between ? " shows-result" : ""}`;
    set(document.body, { "data-eye": viewer ? "seat" : "view" });
    top.draw(view, viewer);
    board.draw(view, eye);
    const opened = sheets.draw(view);
    result.draw(view, viewer, opened);
    if (!viewer) standing?.draw(view);
    panel.draw(view, viewer);
    bottom.draw(view, viewer);
  }

  words();
  return { draw, sheets, cover: (face) => cover.draw(face), tick: () => shown.view && panel.tick(), task: () => panel.task(), openMenu: () => menu.open(), change };
}
