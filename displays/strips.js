// The strips above and below the table: who I am, who deals, the gold, what is left; my tiles or my flowers.

import { html, keyed, set, show } from "./svg.js";
import { language, rulesName, say, tileName } from "./text.js";
import { parseTiles, sortTiles, tilePicture } from "./tiles.js";
import { whiteStands } from "./widgets.js";

/** The top strip inside `holder`; `onMenu` is called when the settings are asked for. */
export function createTop(holder, onMenu) {
  const parts = Object.fromEntries(["who", "dealer", "gold", "left", "hand"].map((name) => [name, html("div", { class: `top-${name}` })]));
  const menu = html("button", { type: "button", class: "menu-button" }, html("span", { text: "☰" }));
  menu.addEventListener("click", onMenu);
  holder.append(...Object.values(parts), menu);
  return {
    draw(view, viewer) {
      set(menu, { "aria-label": say("top.menu") });
      const words = language();
      keyed(parts.who, [words, viewer, view.dealer === viewer], (node) => who(node, viewer, view.dealer === viewer));
      keyed(parts.dealer, [words, viewer, view.dealer, view.streak, view.base], (node) => dealer(node, view, viewer));
      keyed(parts.gold, [words, view.gold?.face ?? null, view.gold?.white ?? null, view.gold?.state ?? null], (node) => gold(node, view.gold));
      keyed(parts.left, [words, view.left], (node) => left(node, view.left));
      keyed(parts.hand, [words, view.hand, view.hands, sorted(view)], (node) => hand(node, view));
    },
  };
}

function who(node, viewer, deals) {
  if (!viewer) {
    node.append(html("span", { class: "who-name", text: say("wall_view") }));
    return;
  }
  set(node, { class: `top-who seat-${viewer}` });
  node.append(html("span", { class: "who-glyph", text: say(`glyph.${viewer}`) }), html("span", { class: "who-name", text: say(`seat.${viewer}`) }));
  if (deals) node.append(html("span", { class: "dealer-mark", text: say("mark.dealer") }));
}

function dealer(node, view, viewer) {
  if (!view.dealer) {
    node.append(html("span", { class: "quiet", text: say("top.no_dealer") }));
    return;
  }
  const parts = [];
  if (view.streak > 0) parts.push(say("top.streak", { n: view.streak }));
  if (view.base !== null && view.base !== undefined) parts.push(say("top.base", { n: view.base }));
  if (view.dealer !== viewer) {
    const glyph = html("span", { class: `owner seat-${view.dealer}`, text: say(`glyph.${view.dealer}`) });
    node.append(html("span", { class: "dealer-mark", text: say("mark.dealer") }), glyph);
  }
  node.append(...parts.map((text) => html("span", { class: "quiet", text })));
}

function gold(node, state) {
  if (!state?.face) {
    node.append(html("span", { class: "quiet", text: say("top.no_gold") }));
    return;
  }
  node.append(html("span", { class: "gold-word", text: say("top.gold") }), tilePicture(state.face, tileName(state.face), "golden"));
  if (state.white) node.append(...whiteStands(state.white));
}

function left(node, count) {
  if (count === null || count === undefined) return;
  node.append(html("span", { class: "left-count", text: say("top.left", { n: count }) }));
}

function sorted(view) {
  const sorting = view.machine?.sorting;
  return sorting && view.wall ? Object.values(sorting.tiles).reduce((sum, count) => sum + count, 0) : null;
}

function hand(node, view) {
  if (view.hand > 0) node.append(html("span", { text: view.hands ? say("top.hand_of", { n: view.hand, of: view.hands }) : say("top.hand", { n: view.hand }) }));
  const tiles = sorted(view);
  if (tiles !== null) node.append(html("span", { class: "quiet small", text: say("top.sorting", { n: tiles }) }));
}

/** The bottom strip: my tiles where they are read, else my flowers; my points. */
export function createBottom(holder) {
  const tiles = html("div", { class: "my-tiles" });
  const flowers = html("div", { class: "my-flowers" });
  const points = html("div", { class: "my-points" });
  holder.append(tiles, flowers, points);
  return {
    draw(view, viewer) {
      const gold = view.gold?.face ?? null;
      const mine = view.me?.tiles ?? null;
      const laid = view.flowers?.[viewer] ?? [];
      const words = language();
      keyed(tiles, [words, mine, gold], (node) => node.append(...sortTiles(parseTiles(mine), gold).map((face) => tilePicture(face, tileName(face), face === gold ? "golden" : ""))));
      show(tiles, Boolean(mine));
      const rules = viewer && (view.wall || laid.length) ? "" : rulesLine(view);
      keyed(flowers, [words, laid, Boolean(mine), rules], (node) => {
        if (rules) node.append(html("span", { class: "strip-rules", text: rules }));
        else myFlowers(node, laid, Boolean(mine));
      });
      show(flowers, !mine || laid.length > 0);
      keyed(points, [words, view.me?.points ?? null], (node) => {
        if (typeof view.me?.points === "number") node.append(html("span", { text: say("bottom.points", { n: view.me.points }) }));
      });
      set(holder, { "data-tiles": mine ? "read" : "none" });
    },
  };
}

/** Between hands: which rules are played. */
function rulesLine(view) {
  return say("menu.known", { rules: rulesName(view.rules), layout: view.layout ? say(`layout.${view.layout}`) : "" });
}

function myFlowers(node, laid, small) {
  if (!small) node.append(html("span", { class: "strip-label", text: say("bottom.flowers") }));
  if (laid.length === 0) node.append(html("span", { class: "quiet", text: say("bottom.no_flowers") }));
  node.append(...laid.map((face) => tilePicture(face, tileName(face))));
}
