// A whole page: strips, table, column, cover and settings, drawn from one view. Knows nothing of the network.

import { createBoard } from "./board.js";
import { createCover } from "./cover.js";
import { createMenu } from "./menu.js";
import { createPanel } from "./panel.js";
import { applyTheme, recall, remember } from "./settings.js";
import { createBottom, createTop } from "./strips.js";
import { LANGUAGES, language, loadCatalogue, say, setLanguage } from "./text.js";
import { layTiles } from "./tiles.js";

/**
 * Builds the page into its places in `document`. `presses` takes what is pressed (null: nothing can be), `unpair()` is
 * called when the display is to give its seat up, `paired()` says whether it has one.
 */
export async function createPage({ presses = null, unpair = () => {}, paired = () => false }) {
  await loadCatalogue();
  setLanguage(recall("language") ?? LANGUAGES[0]);
  let theme = recall("theme") ?? "dark";
  applyTheme(theme);
  layTiles(document);
  const place = (name) => document.getElementById(name);
  let shown = { view: null, viewer: null };
  const menu = createMenu(place("menu"), change, () => ({ view: shown.view, theme, paired: paired() }));
  const top = createTop(place("top"), () => menu.open());
  const board = createBoard(place("table"));
  const panel = createPanel(place("panel"), place("cards"), presses);
  const bottom = createBottom(place("bottom"));
  const cover = createCover(place("cover"));

  function change(name, value) {
    if (name === "unpair") {
      unpair();
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
    document.body.className = `seat-${eye} phase-${view.phase} back-set-${view.machine?.set_up ?? 0}`;
    top.draw(view, viewer);
    board.draw(view, eye);
    panel.draw(view, viewer);
    bottom.draw(view, viewer);
  }

  words();
  return { draw, cover: (face) => cover.draw(face), tick: () => shown.view && panel.tick(), task: () => panel.task(), openMenu: () => menu.open(), change };
}
