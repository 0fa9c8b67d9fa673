// Bodies of entry and agreement: tabs of what is said, the growing settlement, own payments with reasons, two versions.

import { fromMe, lineGroups, missingWords, seatNames, signed } from "./settling.js";
import { html } from "./svg.js";
import { say, sayCode, seatName, tileName } from "./text.js";
import { HAND_BODIES } from "./widgets_hand.js";
import { badge, seatTouch, touch } from "./widget_parts.js";

/** Own payments shown at once; alike ones count as one. */
const LINES = 4;

/** kind → fills a node with a body. */
export const SETTLING_BODIES = { entry, settlement: settlementBody, versions };

/** What is said of a hand: whose, which part, and what it comes to. */
function entry(node, { seats, tabs, part, water, settlement, missing, viewer, first }, view) {
  const bar = [
    ...(seats ? [html("div", { class: "entry-seats" }, ...seats.map((seat) => seatTouch(seat, viewer)))] : []),
    ...(tabs.length > 1 ? [html("div", { class: "entry-tabs" }, ...tabs.map((tab) => touch(tab, "tab", tab.label, html("span", { class: "label", text: tab.label }))))] : []),
  ];
  const left = html("div", { class: "entry-part" });
  if (part) HAND_BODIES[part.kind](left, part, view);
  const total = water === null ? [] : [html("p", { class: "water", text: say("entry.water", { n: water }) })];
  node.append(
    html("div", { class: "entry" },
      ...(bar.length ? [html("div", { class: "entry-bar" }, ...bar)] : []),
      html("div", { class: "entry-main" }, left, html("div", { class: "entry-sum" }, ...total, sums({ settlement, missing, viewer, first })))),
  );
}

function settlementBody(node, { settlement, missing, viewer, lines, agreed }) {
  node.append(html("div", { class: "settling" }, sums({ settlement, missing, viewer, agreed }), ...payments(lines, viewer)));
}

/** What the four seats get and pay; beside an earlier version, both. */
function sums({ settlement, missing, viewer, first = null, agreed = null }) {
  if (!settlement) return html("p", { class: "missing", text: missing ? missingWords(missing) : say("missing.nothing") });
  const rows = fromMe(viewer).map((seat) => html("li", { class: `seat-${seat}${seat === viewer ? " mine" : ""}` },
    badge(seat),
    html("span", { class: "name", text: seat === viewer ? say("me") : seatName(seat) }),
    ...(first ? [html("span", { class: "was", text: signed(first.net[seat] ?? 0) }), html("span", { class: "arrow", text: "→" })] : []),
    amount(settlement.net[seat] ?? 0),
    ...extra(settlement, seat),
    ...(agreed ? [html("span", { class: "agreed", "aria-label": agreed[seat] ? say("press.agree") : "", text: agreed[seat] ? "✓" : "" })] : []),
  ));
  return html("div", { class: "sums" }, html("ul", {}, ...rows), html("p", { class: "next", text: nextWords(settlement.next) }));
}

const amount = (number) => html("b", { class: number > 0 ? "gets" : number < 0 ? "pays" : "even", text: signed(number) });

function extra(settlement, seat) {
  const bonus = settlement.bonus?.[seat] ?? 0;
  return bonus ? [html("span", { class: "bonus", text: say("entry.bonus", { n: signed(bonus) }) })] : [];
}

function nextWords(next) {
  return next?.dealer ? say("entry.next", { seat: seatName(next.dealer) }) : "";
}

/** Own payments and why. */
function payments(lines, viewer) {
  const groups = lineGroups(lines, viewer);
  if (groups.length === 0) return [];
  const shown = groups.length > LINES ? groups.slice(0, LINES - 1) : groups;
  const rows = shown.map(({ seats, amount: each, bonus, why }) => html("li", {},
    html("span", { class: "who" }, ...seats.map(badge)),
    html("b", { class: each > 0 ? "gets" : "pays", text: seats.length > 1 ? say("entry.each", { n: signed(each) }) : signed(each) }),
    html("span", { class: "why", text: bonus ? `${say("entry.bonus", { n: "" }).trim()} · ${why}` : why })));
  const rest = groups.slice(shown.length);
  if (rest.length) rows.push(html("li", { class: "rest", text: say("entry.rest", { n: rest.length, sum: signed(rest.reduce((sum, one) => sum + one.amount * one.seats.length, 0)) }) }));
  return [html("ul", { class: "payments" }, ...rows)];
}

/** Two settlements side by side, who stands for which, and what they differ in. */
function versions(node, { first, second, viewer, by, votes, order, differs, more }) {
  const column = (number, settlement, title) => {
    const voters = order.filter((seat) => votes[seat] === number);
    return html("section", { class: `version version-${number}${votes[viewer] === number ? " mine" : ""}` },
      html("h2", {}, html("span", { class: "number", text: String(number) }), html("span", { text: title }), html("span", { class: "voters" }, ...(voters.length ? voters.map(badge) : [html("small", { text: say("vote.count", { n: 0 }) })]))),
      html("ul", {}, ...order.map((seat) => html("li", {}, badge(seat), amount(settlement?.net?.[seat] ?? 0), ...(settlement ? extra(settlement, seat) : [])))),
      html("p", { class: "next", text: nextWords(settlement?.next) }));
  };
  const rows = differs.map((one) => html("li", {}, ...(one.seat ? [badge(one.seat)] : []),
    html("span", { class: "what", text: sayCode("differs", one.what) }), html("span", { text: valueWords(one.what, one.first) }), html("span", { class: "arrow", text: "→" }), html("b", { text: valueWords(one.what, one.second) })));
  node.append(html("div", { class: "versions" },
    column(1, first, say("vote.first")), column(2, second, say("vote.second", { seat: seatName(by, viewer) })),
    html("div", { class: "differs" }, html("ul", {}, ...rows), ...(more ? [touch(more, "turn-page", more.label, html("span", { class: "label", text: more.label }))] : []))));
}

/** A value of what was said, in words: numbers, tiles, seats, ways. */
export function valueWords(what, value) {
  if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) return say("value.none");
  if (typeof value === "boolean") return say(value ? "press.yes" : "press.no");
  if (Array.isArray(value)) return value.map((one) => valueWords(what, one)).join(say("and"));
  if (typeof value === "object") return objectWords(value);
  if (/^[1-9][mpszf]$/.test(value)) return tileName(value);
  if (/^[ESWN]$/.test(value)) return seatName(value);
  const group = { way: "way", foul: "foul", patterns: "pattern", hardness: "hardness", kind: "end", outcome: "end", last_tile: "last_tile" }[what];
  return group ? sayCode(group, value) : String(value);
}

function objectWords({ seat, way, kind, source, honour, tiles }) {
  const parts = [];
  if (seat) parts.push(seatNames([seat]));
  if (way) parts.push(sayCode("way", way));
  if (source) parts.push(say("vote.from", { seat: seatName(source) }));
  if (kind) parts.push(sayCode(seat ? "foul" : ["open", "added", "concealed"].includes(kind) ? "kong" : "meld", kind) + (honour ? ` ${say("kong.honour")}` : ""));
  if (tiles) parts.push((Array.isArray(tiles) ? tiles : [tiles]).map((face) => tileName(face) || face).join(" "));
  return parts.join(" ");
}

