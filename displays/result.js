// The last hand between hands, and the table of the evening at its end: scores, the winner's tiles, reasons.

import { chipsNodes } from "./chips.js";
import { SEATS } from "./geometry.js";
import { nameOf, seatBadge } from "./people.js";
import { endWords, lineGroups, seatNames, signed } from "./settling.js";
import { html, keyed, show } from "./svg.js";
import { language, minus, say, sayCode, seatName, tileName } from "./text.js";
import { backPicture, parseTiles, sortTiles, tilePicture } from "./tiles.js";

/** Phases in which the table has nothing to draw that matters more than the last hand. */
const BETWEEN = new Set(["idle", "sorting", "lift", "push_in", "walls", "paused", "parked", "seating"]);

/** Whether a view shows the last hand, the table of the evening, or neither: "hand", "evening" or "". */
export function resultKind(view) {
  if (view.phase === "ended" && view.match) return "evening";
  const settled = Object.keys(view.result?.net ?? {}).length > 0;
  return settled && BETWEEN.has(view.phase) ? "hand" : "";
}

/** The sheet inside `holder`; `draw(view, viewer, hidden)` shows it where there is something to show. */
export function createResult(holder) {
  const sheet = html("section", { class: "result", "aria-live": "polite" });
  holder.append(sheet);
  return {
    draw(view, viewer, hidden) {
      const kind = resultKind(view);
      show(sheet, Boolean(kind) && !hidden);
      if (!kind) return;
      const shown = [language(), kind, viewer, view.result, view.match, view.streak, view.base, view.me?.lines, view.gold?.face, view.machine?.set_up];
      keyed(sheet, shown, (node) => (kind === "evening" ? evening(node, view, viewer) : hand(node, view, viewer)));
    },
  };
}

// -- the last hand -----------------------------------------------------------------------------------------------------

function hand(node, view, viewer) {
  const { result } = view;
  const lines = viewer ? lineGroups(view.me?.lines, viewer) : [];
  node.append(html("header", { class: "result-head" }, html("span", { class: "result-hand", text: say("top.hand", { n: result.hand }) }), html("h2", { class: "result-end", text: endOf(result, viewer) })));
  const hands = shownHands(view);
  if (hands.length) node.append(html("div", { class: `result-tiles${lines.length > 3 || (lines.length > 1 && view.match?.deck) ? " low" : ""}` }, ...hands.map((seat) => handRow(view, seat))));
  node.append(scores(view, viewer));
  if (lines.length) node.append(html("ul", { class: "result-lines", "data-lines": lines.length }, ...lines.map((line) => lineRow(line, viewer))));
  if (viewer && view.match?.deck && view.match.chips) node.append(html("p", { class: "result-mine" }, ...chipsNodes(view.match, viewer)));
  node.append(nextHand(view));
}

/** How a hand ended, in one sentence. */
export function endOf(result, viewer = null) {
  if (result.kind === "foul") return say("result.foul", { seat: seatName(result.foul, viewer) });
  const winners = result.wins?.length ? result.wins : result.winner ? [{ seat: result.winner, way: result.way }] : [];
  const same = winners.length > 1 && winners.every((win) => win.way === winners[0].way && win.source === winners[0].source);
  if (same) {
    const seat = seatNames(winners.map((win) => win.seat), viewer);
    const source = winners[0].source ? seatNames([winners[0].source], viewer) : "";
    return say(source ? "end.win_from" : "end.win", { seat, way: sayCode("way", winners[0].way), source });
  }
  return endWords({ kind: result.kind, winners }, viewer);
}

/** Whose tiles are shown: the winners', else the offender's; on a large screen the others' follow. */
function shownHands({ result }) {
  const laid = (seat) => result.tiles?.[seat] || result.melds?.[seat]?.some((meld) => meld.tiles);
  const first = result.wins?.length ? result.wins.map((win) => win.seat) : result.foul ? [result.foul] : [];
  return [...first, ...SEATS.filter((seat) => !first.includes(seat))].filter((seat) => laid(seat));
}

function handRow(view, seat) {
  const { result } = view;
  const gold = view.gold?.face ?? null;
  const win = result.wins?.find((one) => one.seat === seat);
  const first = win || result.foul === seat;
  const back = view.machine?.set_up === 2 ? 2 : 1;
  const melds = (result.melds?.[seat] ?? []).map((meld) => {
    const faces = parseTiles(meld.tiles);
    const open = faces.map((face, index) => (meld.kind === "kong_concealed" && index % 3 === 0 ? backPicture(back) : tilePicture(face, tileName(face))));
    return html("span", { class: `result-meld meld-${meld.kind}` }, ...open);
  });
  const concealed = sortTiles(parseTiles(result.tiles?.[seat]), gold);
  const at = win?.tile ? concealed.indexOf(win.tile) : -1;
  // A flower that won, and a tile that stayed where it lay, are not among the tiles in hand.
  const last = at >= 0 ? concealed.splice(at, 1) : win?.tile ? [win.tile] : [];
  const picture = (face, extra = "") => tilePicture(face, tileName(face), `${extra} ${face === gold ? "golden" : ""}`.trim());
  const tiles = [...concealed.map((face) => picture(face)), ...last.map((face) => picture(face, "winning"))];
  const row = html("div", { class: `result-row${first ? " first" : " other"}`, "data-seat": seat }, seatBadge(seat), html("div", { class: "result-hand-tiles" }, ...melds, html("span", { class: "result-concealed" }, ...tiles)));
  const count = melds.reduce((sum, meld) => sum + meld.childElementCount, 0) + tiles.length;
  row.style.setProperty("--tiles", String(count + melds.length * 0.3 + 0.3));
  return row;
}

/** Net and new points of every seat; 课外 and chips where they are played for. */
function scores(view, viewer) {
  const { result, match } = view;
  const bonus = SEATS.some((seat) => result.bonus?.[seat]);
  const rows = SEATS.map((seat) => {
    const cells = [
      whoCell(view, seat),
      html("td", { class: `net ${sign(result.net[seat])}`, text: signed(result.net[seat] ?? 0) }),
    ];
    if (bonus) cells.push(html("td", { class: "extra", text: signed(result.bonus[seat] ?? 0) }));
    cells.push(html("td", { class: "points", text: match ? String(minus(match.points?.[seat] ?? 0)) : "" }));
    if (match?.chips) cells.push(html("td", { class: "held" }, ...chipsNodes(match, seat, true)));
    const won = result.wins?.some((win) => win.seat === seat);
    return html("tr", { class: `seat-${seat}${seat === viewer ? " mine" : ""}${won ? " won" : ""}`, "data-seat": seat }, ...cells);
  });
  const head = ["", say("result.net"), ...(bonus ? [say("result.bonus")] : []), match ? say("result.points") : "", ...(match?.chips ? [say("result.chips")] : [])];
  return html("table", { class: "scores" }, html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { text })))), html("tbody", {}, ...rows));
}

/** A payment with its reasons, as a row of a list. */
export function lineRow({ seats, amount, bonus, why }, viewer) {
  const others = seatNames(seats, viewer);
  const words = say(amount >= 0 ? "result.from" : "result.to", { seat: others });
  const total = bonus ? `${say("result.bonus")} ${signed(amount)}` : signed(amount);
  return html("li", {}, html("span", { class: `line-amount ${sign(amount)}`, text: total }), html("span", { class: "line-who", role: "img", "aria-label": words }, ...seats.map(seatBadge)), html("span", { class: "line-why", text: why }));
}

function nextHand(view) {
  const { result } = view;
  const dealer = result.next_dealer;
  if (!dealer || view.match?.stage === "ended") return html("p", { class: "result-next" });
  const facts = [];
  if (view.streak > 0 && view.dealer === dealer) facts.push(say("top.streak", { n: view.streak }));
  if (view.dealer === dealer && view.base !== null && view.base !== undefined) facts.push(say("top.base", { n: view.base }));
  return html(
    "p", { class: "result-next" },
    html("span", { class: "quiet", text: say("result.next") }), html("span", { class: "dealer-mark", text: say("mark.dealer") }), seatBadge(dealer),
    html("span", { class: "next-name", text: nameOf(view, dealer) }), ...facts.map((text) => html("span", { class: "next-fact", text })),
  );
}

// -- the evening -------------------------------------------------------------------------------------------------------

function evening(node, view, viewer) {
  const { match } = view;
  const player = (seat) => match.players?.[seat]?.id;
  const several = SEATS.some((seat) => player(seat) in (match.evening ?? {}));
  const total = (seat) => (several ? match.evening[player(seat)] : match.points[seat]) ?? 0;
  const order = [...SEATS].sort((a, b) => total(b) - total(a));
  const bonus = SEATS.some((seat) => match.bonus?.[seat]);
  const extra = several && SEATS.some((seat) => match.evening_bonus?.[player(seat)]);
  const besides = (shown, amount) => (shown ? [html("small", { class: "extra", text: say("sheet.bonus", { n: signed(amount ?? 0) }) })] : []);
  node.append(html("header", { class: "result-head" }, html("h2", { class: "result-end", text: say("evening.title") }), html("span", { class: "result-hand", text: match.ended ? sayCode("ended", match.ended) : "" })));
  const head = [
    "", "", ...(several ? [say("evening.all"), say("evening.match", { n: match.number })] : [say("result.points")]),
    ...(bonus && !several ? [say("result.bonus")] : []), ...(match.chips ? [say("result.chips")] : []),
  ];
  const rows = order.map((seat) => {
    const place = 1 + order.filter((other) => total(other) > total(seat)).length;
    const cells = [
      html("td", { class: "place", text: String(place) }),
      whoCell(view, seat),
      html("td", { class: `net ${sign(total(seat))}` }, html("span", { text: signed(total(seat)) }), ...besides(extra, match.evening_bonus?.[player(seat)])),
    ];
    if (several) cells.push(html("td", { class: "points" }, html("span", { text: signed(match.points[seat] ?? 0) }), ...besides(bonus, match.bonus?.[seat])));
    else if (bonus) cells.push(html("td", { class: "extra", text: signed(match.bonus[seat] ?? 0) }));
    if (match.chips) cells.push(html("td", { class: "held" }, ...chipsNodes(match, seat, true)));
    return html("tr", { class: `seat-${seat}${seat === viewer ? " mine" : ""}`, "data-seat": seat }, ...cells);
  });
  node.append(html("table", { class: "scores evening" }, html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { text })))), html("tbody", {}, ...rows)));
  if (view.result?.kind) node.append(html("p", { class: "result-next" }, html("span", { class: "quiet", text: say("result.last") }), html("span", { text: endOf(view.result, viewer) })));
}

function whoCell(view, seat) {
  return html("td", {}, html("div", { class: "who" }, seatBadge(seat), html("span", { class: "name", text: nameOf(view, seat) })));
}

function sign(number) {
  return number > 0 ? "gain" : number < 0 ? "loss" : "even";
}
