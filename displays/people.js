// The four at the table: badge, name, who sits where.

import { SEATS } from "./geometry.js";
import { html } from "./svg.js";
import { say } from "./text.js";

/** The name of who sits there, else the seat's. */
export function nameOf(view, seat) {
  return view.match?.players?.[seat]?.name || say(`seat.${seat}`);
}

/** The glyph of a seat in its colour. */
export function seatBadge(seat) {
  return html("span", { class: `owner seat-${seat}`, role: "img", "aria-label": say(`seat.${seat}`), text: say(`glyph.${seat}`) });
}

/** Where a player sits now, or null. */
export function seatOfPlayer(view, player) {
  return SEATS.find((seat) => view.match?.players?.[seat]?.id === player) ?? null;
}
