// The strips above and below the table: who I am, who deals, the gold, what is left; my tiles or my flowers.

import { chipsNodes } from "./chips.js";
import { nameOf, seatBadge } from "./people.js";
import { fromMe, signed } from "./settling.js";
import { html, keyed, set, show } from "./svg.js";
import { language, minus, rulesName, say, tileName } from "./text.js";
import { parseTiles, sortTiles, tilePicture } from "./tiles.js";
import { whiteStands } from "./widgets.js";

/** The top strip inside `holder`; `onMenu` and `onHistory` are called when settings or history are asked for. */
export function createTop(holder, onMenu, onHistory) {
  const parts = Object.fromEntries(["who", "dealer", "gold", "left", "hand"].map((name) => [name, html("div", { class: `top-${name}` })]));
  const menu = html("button", { type: "button", class: "menu-button" }, html("span", { text: "☰" }));
  menu.addEventListener("click", onMenu);
  holder.append(...Object.values(parts), menu);
  return {
    draw(view, viewer) {
      set(menu, { "aria-label": say("top.menu") });
      const words = language();
      const name = viewer ? nameOf(view, viewer) : "";
      keyed(parts.who, [words, viewer, name, view.dealer === viewer], (node) => who(node, viewer, name, view.dealer === viewer));
      keyed(parts.dealer, [words, viewer, view.dealer, view.streak, view.base, view.bids], (node) => dealer(node, view, viewer));
      keyed(parts.gold, [words, view.gold?.face ?? null, view.gold?.white ?? null, view.gold?.state ?? null], (node) => gold(node, view.gold));
      const count = view.play?.to_draw ?? view.left;
      keyed(parts.left, [words, count], (node) => left(node, count));
      const counted = view.match ? { hand: view.match.hand, hands: view.match.hands } : { hand: view.hand, hands: view.hands };
      const opens = viewer && view.match ? onHistory : null;
      keyed(parts.hand, [words, counted, view.match?.left_min ?? null, view.match?.pausing ?? false, view.use, Boolean(view.wall), sorted(view), Boolean(opens)], (node) => hand(node, view, counted, opens));
    },
  };
}

function who(node, viewer, name, deals) {
  if (!viewer) {
    node.append(html("span", { class: "who-name", text: say("wall_view") }));
    return;
  }
  set(node, { class: `top-who seat-${viewer}` });
  node.append(html("span", { class: "who-glyph", text: say(`glyph.${viewer}`) }), html("span", { class: "who-name", text: name }));
  if (deals) node.append(html("span", { class: "dealer-mark", text: say("mark.dealer") }));
}

function dealer(node, view, viewer) {
  if (!view.dealer) {
    node.append(html("span", { class: "quiet", text: say("top.no_dealer") }));
    return;
  }
  const parts = [];
  if (view.streak > 0) parts.push(say("top.streak", { n: view.streak }));
  if (view.base !== null && view.base !== undefined) parts.push(say("top.base", { n: [view.base, ...bidsOf(view, viewer)].join("+") }));
  if (view.dealer !== viewer) {
    const glyph = html("span", { class: `owner seat-${view.dealer}`, text: say(`glyph.${view.dealer}`) });
    node.append(html("span", { class: "dealer-mark", text: say("mark.dealer") }), glyph);
  }
  node.append(...parts.map((text) => html("span", { class: "quiet", text })), ...tops(view, viewer));
}

/** What goes on top of the base between the dealer and me: his 买底, my 顶底. */
function bidsOf({ bids, dealer }, viewer) {
  const own = viewer && viewer !== dealer ? [viewer] : [];
  return [dealer, ...own].map((seat) => bids?.[seat] ?? 0).filter(Boolean);
}

/** 顶底 of the others, for the dealer, who pays and gets it: where there is room. */
function tops({ bids, dealer }, viewer) {
  const found = Object.entries(bids ?? {}).filter(([seat, points]) => points && seat !== dealer);
  if (viewer !== dealer || !found.length) return [];
  const sums = found.flatMap(([seat, n]) => [html("span", { class: `owner seat-${seat}`, text: say(`glyph.${seat}`) }), html("span", { text: String(n) })]);
  return [html("span", { class: "quiet top-bids" }, html("span", { text: say("top.bids") }), ...sums)];
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

/** Which hand of how many, how long the table is booked for; a touch opens the history. */
function hand(node, view, { hand: n, hands: of }, opens) {
  const lines = [];
  if (n > 0) lines.push(html("span", { text: of ? say("top.hand_of", { n, of }) : say("top.hand", { n }) }));
  const minutes = view.match?.left_min;
  const tiles = sorted(view);
  const soon = view.match?.pausing && view.use !== "paused" ? "top.pausing" : view.use === "closing" && view.wall ? "top.closing" : "";
  if (soon) lines.push(html("span", { class: "quiet small", text: say(soon) }));
  else if (typeof minutes === "number") lines.push(html("span", { class: "quiet small", text: say("top.minutes", { n: minutes }) }));
  else if (tiles !== null) lines.push(html("span", { class: "quiet small", text: say("top.sorting", { n: tiles }) }));
  if (!opens) {
    node.append(...lines);
    return;
  }
  const button = html("button", { type: "button", class: "history-button", "aria-label": say("sheet.history") }, html("span", { class: "history-lines" }, ...lines), html("span", { class: "history-mark", "aria-hidden": "true", text: "☷" }));
  button.addEventListener("click", opens);
  node.append(button);
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
      const drawn = drawnTile(view);
      keyed(tiles, [words, mine, gold, drawn], (node) => myTiles(node, mine, gold, drawn));
      show(tiles, Boolean(mine));
      const rules = viewer && (view.wall || laid.length) ? "" : rulesLine(view);
      keyed(flowers, [words, laid, Boolean(mine), rules], (node) => {
        if (rules) node.append(html("span", { class: "strip-rules", text: rules }));
        else myFlowers(node, laid, Boolean(mine));
      });
      show(flowers, !mine || laid.length > 0);
      keyed(points, [words, viewer, view.me?.points ?? null, view.match?.points, view.match?.chips, view.match?.deck], (node) => myPoints(node, view, viewer));
      set(holder, { "data-tiles": mine ? "read" : "none" });
    },
  };
}

/** The tile that I have drawn and not yet answered for, or "". */
function drawnTile(view) {
  const asked = view.me?.wants?.find((want) => ["turn", "lap"].includes(want.verb));
  return asked?.params.drawn ?? "";
}

/** My tiles in order, golds first, the drawn one set apart. */
function myTiles(node, mine, gold, drawn) {
  const sorted = sortTiles(parseTiles(mine), gold);
  const at = drawn ? sorted.lastIndexOf(drawn) : -1;
  const last = at >= 0 ? sorted.splice(at, 1) : [];
  const picture = (face, extra) => tilePicture(face, tileName(face), `${extra}${face === gold ? " golden" : ""}`.trim());
  node.append(...sorted.map((face) => picture(face, "")), ...last.map((face) => picture(face, "drawn")));
}

/** My points, what I hold in chips, and how far each of the others is ahead or behind. */
function myPoints(node, view, viewer) {
  const { match } = view;
  const mine = view.me?.points ?? match?.points?.[viewer];
  if (!viewer || typeof mine !== "number") return;
  node.append(html("div", { class: "points-mine" }, html("span", { class: "points-sum", text: say("bottom.points", { n: minus(mine) }) }), ...chipsNodes(match, viewer)));
  if (!match?.points) return;
  const others = fromMe(viewer).slice(1).map((seat) => {
    const ahead = mine - (match.points[seat] ?? 0);
    return html("span", { class: "gap", "data-seat": seat }, seatBadge(seat), html("span", { class: ahead < 0 ? "behind" : "ahead", text: signed(ahead) }));
  });
  node.append(html("div", { class: "points-others" }, html("span", { class: "quiet", text: say("bottom.against") }), ...others));
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
