// Positions in words: "stacks 2–3", "the upper tile of stack 4", and where they lie.

import { SEATS, parsePosition } from "./geometry.js";
import { say } from "./text.js";

/** {place, hint} for a list of positions: the words of a sentence and of the line below it. */
export function placeWords(positions, viewer) {
  const sides = bySide(positions);
  if (sides.length === 0) return { place: "", hint: "" };
  const words = sides.map(([, list]) => sideWords(list));
  if (sides.length === 4 && words.every((word) => word === words[0])) {
    return { place: say("place.every", { place: words[0] }), hint: say("place.where_count") };
  }
  if (sides.length === 1) {
    const side = sides[0][0];
    const hint = side === viewer ? say("place.where_mine") : say("place.where", { side: say(`side.${side}`) });
    return { place: words[0], hint };
  }
  const place = sides.map(([side], index) => say("place.of", { side: say(`side.${side}`), place: words[index] })).join(say("and"));
  return { place, hint: say("place.where_count") };
}

/** The same with the side always named: for a sentence without a hint. */
export function fullPlace(positions) {
  const sides = bySide(positions);
  const words = sides.map(([, list]) => sideWords(list));
  if (sides.length === 4 && words.every((word) => word === words[0])) return say("place.every", { place: words[0] });
  return sides
    .map(([side], index) => say("place.of", { side: say(`side.${side}`), place: words[index] }))
    .join(say("and"));
}

function bySide(positions) {
  const sides = new Map();
  for (const position of positions ?? []) {
    const at = parsePosition(position);
    if (!at) continue;
    if (!sides.has(at.side)) sides.set(at.side, []);
    sides.get(at.side).push(at);
  }
  return [...sides].sort((a, b) => (sides.size === 4 ? SEATS.indexOf(a[0]) - SEATS.indexOf(b[0]) : 0));
}

function sideWords(list) {
  const row = list.filter((at) => !at.tier).map((at) => at.number);
  const tiers = new Map();
  for (const at of list) if (at.tier) tiers.set(at.number, (tiers.get(at.number) ?? "") + at.tier);
  const whole = [...tiers].filter(([, tier]) => tier.length === 2).map(([number]) => number);
  const single = [...tiers].filter(([, tier]) => tier.length === 1);
  const words = [];
  if (whole.length) words.push(say(whole.length > 1 ? "place.stacks" : "place.stack", { range: ranges(whole) }));
  for (const [number, tier] of single) words.push(say(tier === "t" ? "place.upper" : "place.lower", { n: number }));
  if (row.length) words.push(say("place.row", { range: ranges(row) }));
  return words.join(say("and"));
}

function ranges(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts = [];
  for (let index = 0; index < sorted.length; ) {
    let end = index;
    while (sorted[end + 1] === sorted[end] + 1) end += 1;
    parts.push(end > index ? `${sorted[index]}–${sorted[end]}` : `${sorted[index]}`);
    index = end + 1;
  }
  return parts.join(say("and"));
}
