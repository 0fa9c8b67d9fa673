// A settlement in words: who gets what, the reasons of a payment, how a hand ended.

import { SEATS } from "./geometry.js";
import { minus, say, sayCode, seatName, tileName } from "./text.js";

/** `+12`, `−12`, `0`. */
export function signed(number) {
  return number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0";
}

/** Seats in words, one after another; the viewer is 您. */
export function seatNames(seats, viewer = null) {
  return seats.map((seat) => seatName(seat, viewer)).join(say("and"));
}

/** One reason of a payment: “花 2 水”. */
export function reasonWords(reason, viewer = null) {
  const { way, seat, ...rest } = reason.params ?? {};
  return sayCode("why", reason.code, {
    ...rest, number: minus(reason.number), way: way ? sayCode("way", way) : "", seat: seat ? seatName(seat, viewer) : "",
  });
}

/** A seat's payments, those that are alike together: [{seats, amount, bonus, why}], what it gets first. */
export function lineGroups(lines, viewer) {
  const groups = new Map();
  for (const line of lines ?? []) {
    const gets = line.receiver === viewer;
    const why = (line.why ?? []).map((reason) => reasonWords(reason, viewer)).join(" · ");
    const amount = gets ? line.amount : -line.amount;
    const key = `${amount}|${line.account}|${why}`;
    if (!groups.has(key)) groups.set(key, { seats: [], amount, bonus: line.account === "bonus", why });
    groups.get(key).seats.push(gets ? line.payer : line.receiver);
  }
  return [...groups.values()].sort((a, b) => b.amount - a.amount);
}

/** How the hand ended: “南家自摸”, “西家胡了：平胡，东家打的”, “流局”, “东家诈胡”. */
export function endWords({ kind, winners = [], foul = null }, viewer = null) {
  if (kind === "draw") return say("end.draw");
  if (kind === "foul" && foul) return say("end.foul", { seat: seatName(foul.seat, viewer), kind: sayCode("foul", foul.kind) });
  return winners.map(({ seat, way, source }) => say(source ? "end.win_from" : "end.win", {
    seat: seatName(seat, viewer), way: sayCode("way", way), source: seatName(source, viewer),
  })).join(say("and"));
}

/** Why a hand cannot be settled yet, in words; empty when it can. */
export function missingWords(missing) {
  if (!missing) return "";
  const { seat, tile, ...rest } = missing.params ?? {};
  const reason = sayCode("refused", missing.code, { ...rest, seat: seatName(seat), tile: tileName(tile) });
  return seat ? say("missing.of", { seat: seatName(seat), reason }) : say("missing", { reason });
}

/** The seats in play order, the viewer first. */
export function fromMe(viewer) {
  const at = Math.max(0, SEATS.indexOf(viewer));
  return SEATS.map((_, index) => SEATS[(at + index) % 4]);
}

/** Tiles of the whole set: 120, 136 or 144; 0 while the walls are not known. */
export function tilesInSet(view) {
  return 2 * Object.values(view.stacks ?? {}).reduce((sum, stacks) => sum + stacks, 0);
}
