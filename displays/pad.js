// A hand entered tile by tile: every touch is a step, the last one can be taken back, and the whole goes out as one.

import { choose, clean, may, press } from "./prompt_parts.js";
import { say, tileName } from "./text.js";
import { FLOWERS, HONOURS, sortTiles } from "./tiles.js";

/**
 * What a touch of a face may mean: a tile in hand, the winning tile, or a meld that begins with the face. The winning
 * tile comes into the hand as long as one is missing; in a full hand it is marked among the others (`mark`).
 */
export const MODES = ["chi", "pong", "kong_open", "kong_added", "kong_concealed", "won"];
const COPIES = 4;

/** The hand that steps come to: {concealed, melds: [{kind, tiles}], tile}. */
export function handOf(steps) {
  const hand = { concealed: [], melds: [], tile: null };
  for (const { mode, face } of steps) {
    if (mode === "won" || mode === "mark") {
      if (mode === "won" && face[1] !== "f") hand.concealed.push(face);
      hand.tile = face;
    } else if (mode === "tile") hand.concealed.push(face);
    else hand.melds.push({ kind: mode, tiles: meldOf(mode, face) });
  }
  return { ...hand, concealed: sortTiles(hand.concealed) };
}

/** Steps that come to a hand which the table knows already. */
export function stepsOf(tiles, won = null) {
  const melds = (tiles?.melds ?? []).map(({ kind, tiles: faces }) => ({ mode: kind, face: listed(faces)[0] }));
  const concealed = listed(tiles?.concealed).map((face) => ({ mode: "tile", face }));
  return [...melds, ...concealed, ...(won ? [{ mode: "mark", face: won }] : [])];
}

/** Tiles as a list, whether they came as a list or as a run such as `123m`. */
export function listed(tiles) {
  if (Array.isArray(tiles)) return tiles;
  const faces = [];
  for (const [, numbers, suit] of (tiles ?? "").matchAll(/(\d+)([mpszf])/g)) for (const number of numbers) faces.push(number + suit);
  return faces;
}

/** How many tiles a hand still lacks; null where the table does not say how many there are. */
function missing(hand, told, winner) {
  if (typeof told.hand !== "number") return null;
  return told.hand + (winner && hand.tile?.[1] !== "f" ? 1 : 0) - hand.concealed.length - 3 * hand.melds.length;
}

function meldOf(kind, face) {
  if (kind === "chi") return [0, 1, 2].map((step) => `${Number(face[0]) + step}${face[1]}`);
  return Array(kind === "pong" ? 3 : COPIES).fill(face);
}

/** Whether what was entered is what the table knows by now: then the pad has done its work. */
export function padTold(choice, told) {
  return Boolean(choice.steps && told.tiles?.concealed) && wordsOf(handOf(choice.steps)) === wordsOf(handOf(stepsOf(told.tiles, told.tiles.tile ?? null)));
}

const wordsOf = ({ concealed, melds, tile }) => JSON.stringify([concealed, melds.map(({ kind, tiles }) => `${kind} ${tiles.join("")}`).sort(), tile]);

/** The pad of a hand as far as it is entered. */
export function padBody(choice, told, winner) {
  const steps = choice.steps ?? stepsOf(told.tiles, told.tiles?.tile ?? null);
  const hand = handOf(steps);
  const mode = choice.mode ?? "tile";
  const left = missing(hand, told, winner);
  const held = [...new Set(hand.concealed)];
  const choosing = mode === "won" && left !== null && left <= 0 && held.length > 0;
  const used = (face) => [...hand.concealed, ...hand.melds.flatMap((meld) => meld.tiles)].filter((one) => one === face).length;
  const fits = (face) => choosing || face[1] === "f" || meldOf(mode === "tile" || mode === "won" ? "" : mode, face).every((one, index, all) => {
    const needs = mode === "tile" || mode === "won" ? 1 : all.filter((other) => other === one).length;
    return used(one) + needs <= COPIES;
  });
  const key = (face) => {
    const chi = mode !== "chi" || (face[1] !== "z" && Number(face[0]) <= 7);
    return { face, name: tileName(face), off: !chi || !fits(face), choose: { steps: [...steps, { mode: choosing || mode === "flower" ? "mark" : mode, face }], mode: null } };
  };
  // Only where a flower may be the last tile of a 游金 (R22).
  const blooms = mode === "won" && told.last_tile?.length ? [{ label: say("suit.f"), name: say("suit.f"), choose: { mode: "flower" } }] : [];
  const suits = ["m", "p", "s"].map((suit) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `${number}${suit}`));
  const rows = mode === "flower" ? [FLOWERS] : choosing ? [held.slice(0, 9), held.slice(9)] : suits;
  const honours = choosing || mode === "flower" ? [] : (told.whole === 120 ? ["5z"] : HONOURS).map(key);
  return {
    kind: "pad",
    hand,
    left: left === null ? say("pad.count", { n: hand.concealed.length }) : left > 0 ? say("pad.left", { n: left }) : left < 0 ? say("pad.over", { n: -left }) : say("pad.full"),
    complete: left === null ? null : left === 0,
    suits: rows.filter((row) => row.length).map((row) => row.map(key)),
    honours: [...honours, ...blooms],
    modes: MODES.filter((one) => one !== "won" || winner).map((one) => modeKey(one, mode === one || (one === "won" && mode === "flower"))),
  };
}

const modeKey = (one, on) => ({ label: say(`mode.${one}`), on, choose: { mode: on ? null : one } });

/** Done, one step back, and out again without having said anything. */
export function padButtons(want, choice, told, more, winner) {
  const steps = choice.steps ?? stepsOf(told.tiles, told.tiles?.tile ?? null);
  const hand = handOf(steps);
  const { concealed, melds, tile } = hand;
  const left = missing(hand, told, winner);
  // Who has been caught with a wrong number of tiles holds it still; a false win may have been laid open after a draw.
  const whole = left === null || left === 0 || (left === -1 && !winner) || (told.covered ?? []).includes(told.seat);
  const ready = concealed.length > 0 && whole && may(want, "tiles");
  return [
    press(want, "tiles", say("press.tiles"), clean({ concealed, melds, tile: winner ? tile : null, ...more }), "primary", ready),
    { ...choose({ steps: steps.slice(0, -1), mode: null }, say("press.last_back")), ready: steps.length > 0 },
    choose({ tab: null, steps: null, mode: null }, say("press.back"), "third"),
  ];
}
