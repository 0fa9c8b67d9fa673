// Chips as numbers or as playing cards: each player begins with one suit, as many of the dearest as go in.

import { html } from "./svg.js";
import { minus, say } from "./text.js";

const SUITS = 4;
const FACE = { K: 50, Q: 50, J: 50, 10: 10, 9: 9, 8: 8, 7: 7, 6: 6, 4: 4, 3: 3, 2: 2, A: 1 };
const ORDER = ["K", "Q", "J", "10", "9", "8", "7", "6", "4", "3", "2", "A"];
/** Deck → its cards and what they are worth, dearest first; in the larger one the 5 is 100. */
const DECKS = {
  200: ORDER.map((card) => [card, FACE[card]]),
  300: [["5", 100], ...ORDER.map((card) => [card, FACE[card]])],
};

/** A sum as [card, how many]; null where no cards make it (no such deck, less than nothing, more than there are). */
export function asCards(points, deck) {
  const worth = DECKS[deck];
  if (!worth || !Number.isInteger(points) || points < 0 || points > SUITS * deck) return null;
  const found = [];
  let left = points;
  for (const [card, value] of worth) {
    const count = Math.min(Math.floor(left / value), SUITS);
    if (count) found.push([card, count]);
    left -= count * value;
  }
  return found;
}

/** What a seat holds, as a number and as cards where the match is played with them; nothing without chips. */
export function chipsNodes(match, seat, bare = false) {
  const held = match?.chips?.[seat];
  if (held === null || held === undefined) return [];
  const cards = asCards(held, match.deck);
  const pile = (cards ?? []).map(([card, count]) =>
    html("span", { class: "pile" }, html("span", { class: "playing-card", text: card }), ...(count > 1 ? [html("span", { class: "times", text: `×${count}` })] : [])),
  );
  return [html("span", { class: "chips", "data-chips": held }, html("span", { class: "chips-sum", text: bare ? minus(held) : say("chips.held", { n: minus(held) }) }), ...pile)];
}
