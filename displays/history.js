// What the sheets show: the hands of the evening, each player's figures, the record of a hand or a match as text.

import { SEATS } from "./geometry.js";
import { seatBadge, seatOfPlayer } from "./people.js";
import { lineRow } from "./result.js";
import { lineGroups, signed } from "./settling.js";
import { html } from "./svg.js";
import { minus, say, sayCode } from "./text.js";

/** The title of a sheet. */
export function sheetTitle(what, sheet) {
  if (what === "hand" && sheet?.hand) return say("sheet.hand", { n: sheet.hand });
  if (what === "match" && sheet?.match) return say("sheet.match_of", { n: sheet.match });
  return say(`sheet.${what === "hand" ? "record" : what}`);
}

/** Fills a node with a sheet of the table; `open(kind, {match, hand})` is called when a hand is to be looked at. */
export function fillSheet(node, sheet, view, open) {
  if (sheet.missing || (sheet.what === "history" && sheet.rows.length === 0)) node.append(html("p", { class: "quiet", text: say(sheet.missing === "no_room" ? "sheet.no_room" : "sheet.empty") }));
  else if (sheet.what === "history") history(node, sheet.rows, view, open);
  else if (sheet.what === "statistics") statistics(node, sheet.players, view);
  else if (sheet.what === "hand") oneHand(node, sheet, view, open);
  else if (sheet.text) node.append(html("pre", { class: "record", text: sheet.text }));
}

/** The players of a sheet in the order of the seats they have now; those who left come last. */
function columns(ids, view) {
  const place = (id) => {
    const seat = seatOfPlayer(view, id);
    return seat ? SEATS.indexOf(seat) : SEATS.length;
  };
  return [...ids].sort((a, b) => place(a) - place(b) || a.localeCompare(b));
}

function playerHead(id, view) {
  const seat = seatOfPlayer(view, id);
  const name = seat ? view.match.players[seat].name : "";
  const words = name || (seat ? say(`seat.${seat}`) : say("sheet.player", { n: id }));
  return html("th", { scope: "col", "data-player": id }, html("div", { class: "player-head" }, ...(seat ? [seatBadge(seat)] : []), html("span", { class: "name", text: words })));
}

function badgeOf(id, view) {
  const seat = seatOfPlayer(view, id);
  return seat ? seatBadge(seat) : html("span", { text: say("sheet.player", { n: id }) });
}

function history(node, rows, view, open) {
  const players = playersOf(rows, view);
  const body = rows.map((row) => {
    const opener = html("button", { type: "button", class: "hand-button", "aria-label": say("sheet.hand", { n: row.hand }) }, html("span", { text: String(row.hand) }));
    opener.addEventListener("click", () => open("hand", { match: row.match, hand: row.hand }));
    return html(
      "tr", { class: row.voided ? "voided" : "", "data-hand": row.hand },
      html("td", {}, opener), html("td", {}, row.dealer ? badgeOf(row.dealer, view) : ""), html("td", { class: "how" }, ...end(row, view)), ...netCells(row, players),
    );
  });
  const head = html("tr", {}, html("th", { text: say("sheet.column.hand") }), html("th", { text: say("mark.dealer") }), html("th", { class: "how", text: say("sheet.column.end") }), ...players.map((id) => playerHead(id, view)));
  node.append(html("table", { class: "history" }, html("thead", {}, head), html("tbody", {}, ...body)));
}

function playersOf(rows, view) {
  return columns(new Set(rows.flatMap((row) => Object.keys(row.net ?? {}))), view);
}

function netCells(row, players) {
  return players.map((id) => {
    const [net, bonus] = [row.net?.[id] ?? 0, row.bonus?.[id] ?? 0];
    const extra = bonus ? [html("span", { class: "extra", text: say("sheet.bonus", { n: signed(bonus) }) })] : [];
    return html("td", { class: `net ${net > 0 ? "gain" : net < 0 ? "loss" : "even"}` }, html("span", { text: signed(net) }), ...extra);
  });
}

/** One hand: how it ended, what it brought to each, and my own payments with their reasons. */
function oneHand(node, sheet, view, open) {
  const row = sheet.rows[0];
  const players = playersOf([row], view);
  const then = seatThen(sheet.lines, row.net?.[view.match?.players?.[view.me.seat]?.id] ?? 0);
  const record = recordButton("record", () => open("record", { match: sheet.match, hand: sheet.hand }));
  const whole = recordButton("match", () => open("match", { match: sheet.match }));
  node.append(
    html("p", { class: `one-end${row.voided ? " voided" : ""}` }, html("span", { class: "result-hand", text: say("top.hand", { n: sheet.hand }) }), ...end(row, view)),
    html("table", { class: "history" }, html("thead", {}, html("tr", {}, ...players.map((id) => playerHead(id, view)))), html("tbody", {}, html("tr", { class: row.voided ? "voided" : "" }, ...netCells(row, players)))),
    html("ul", { class: "result-lines" }, ...lineGroups(sheet.lines, then).map((line) => lineRow(line, then))),
    html("div", { class: "record-buttons" }, record, whole),
  );
}

function recordButton(what, act) {
  const node = html("button", { type: "button", class: "sheet-button", "data-sheet": `${what}-of` }, html("span", { text: say(`sheet.${what}`) }));
  node.addEventListener("click", act);
  return node;
}

/** The seat that all these payments concern: mine of that hand, which need not be mine of now. */
function seatThen(lines, net) {
  const mine = SEATS.filter((seat) => lines.every((line) => line.payer === seat || line.receiver === seat));
  if (mine.length < 2 || !lines.length) return mine[0];
  return net > 0 ? lines[0].receiver : lines[0].payer;
}

function end(row, view) {
  const words = row.wins?.length
    ? row.wins.map((win) => html("span", { class: "how-win" }, badgeOf(win.player, view), html("span", { text: sayCode("way", win.way) })))
    : [html("span", { text: say(row.kind === "foul" ? "sheet.foul" : "sheet.draw") })];
  return row.voided ? [html("span", { class: "voided-mark", text: say("sheet.voided") }), ...words] : words;
}

function statistics(node, players, view) {
  const ids = columns(Object.keys(players), view);
  const of = (id) => players[id];
  const ways = new Map();
  for (const id of ids) for (const [way, count] of Object.entries(of(id).ways ?? {})) ways.set(way, (ways.get(way) ?? 0) + count);
  const line = (label, value, extra = "") => html("tr", { class: extra }, html("th", { scope: "row", text: label }), ...ids.map((id) => html("td", { text: value(of(id)) })));
  const rows = [
    line(say("figures.points"), (one) => minus(one.points), "great"),
    ...(ids.some((id) => of(id).bonus) ? [line(say("result.bonus"), (one) => minus(one.bonus))] : []),
    line(say("figures.hands"), (one) => String(one.hands)),
    line(say("figures.wins"), (one) => String(one.wins), "great"),
    ...[...ways].sort((a, b) => b[1] - a[1]).map(([way]) => line(sayCode("way", way), (one) => (one.ways?.[way] ? String(one.ways[way]) : "·"), "way")),
    line(say("figures.golds"), (one) => String(one.golds)),
    line(say("figures.paid_for"), (one) => String(one.paid_for)),
    line(say("figures.fouls"), (one) => String(one.fouls)),
    line(say("figures.best"), (one) => (one.best ? say("figures.best_of", { n: one.best.points, match: one.best.match, hand: one.best.hand }) : "·")),
  ];
  node.append(html("table", { class: "figures" }, html("thead", {}, html("tr", {}, html("th", {}), ...ids.map((id) => playerHead(id, view)))), html("tbody", {}, ...rows)));
}
