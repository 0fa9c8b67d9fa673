// Tiles as pictures: one symbol per face laid into the page once, every tile on it a reference to one.

import { drawFace } from "./faces.js";
import { svg } from "./svg.js";

const SUITED = ["m", "p", "s"].flatMap((suit) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => number + suit));

export const HONOURS = [1, 2, 3, 4, 5, 6, 7].map((number) => `${number}z`);
export const FLOWERS = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `${number}f`);
export const FACES = [...SUITED, ...HONOURS, ...FLOWERS];
/** Width and height of a tile in its own units, thickness included. */
const SIZE = { width: 60, height: 85 };
/** Order of faces in a hand. */
const ORDER = new Map(FACES.map((face, index) => [face, index]));

/** Lays the symbols of all faces and both backs into the document, once. */
export function layTiles(document) {
  if (document.getElementById("tile-symbols")) return;
  const defs = svg("svg", { id: "tile-symbols", class: "symbols", width: 0, height: 0, "aria-hidden": "true" });
  for (const face of FACES) defs.append(symbol(`tile-${face}`, ...body("tile-edge"), ...drawFace(face)));
  for (const set of [1, 2]) defs.append(symbol(`back-${set}`, ...body(`back-edge-${set}`), ...drawBack(set)));
  document.body.append(defs);
}

/** A picture of a face, 60 × 84 units, ready to be sized by its class. */
export function tilePicture(face, label = "", extra = "") {
  const known = ORDER.has(face);
  const node = svg("svg", { viewBox: "-1 -1 62 87", class: `tile ${extra}`.trim(), role: "img", "aria-label": label || face, "data-face": face });
  node.append(svg("use", { href: known ? `#tile-${face}` : "#back-1", ...SIZE }));
  return node;
}

/** A picture of a back in the colour of set 1 or 2. */
export function backPicture(set, label = "", extra = "") {
  const node = svg("svg", { viewBox: "-1 -1 62 87", class: `tile ${extra}`.trim(), role: "img", "aria-label": label, "data-back": set });
  node.append(svg("use", { href: `#back-${set === 2 ? 2 : 1}`, ...SIZE }));
  return node;
}

/** A face as a group inside another drawing, `width` units wide, its top left corner at (x, y). */
export function tileAt(face, x, y, width) {
  const scale = width / 60;
  return svg("g", { transform: `translate(${x} ${y}) scale(${scale})`, "data-face": face }, svg("use", { href: `#tile-${face}`, ...SIZE }));
}

/** A back as a group inside another drawing, in the colour of set 1 or 2. */
export function backAt(set, x, y, width) {
  const scale = width / 60;
  return svg("g", { transform: `translate(${x} ${y}) scale(${scale})`, "data-back": set }, svg("use", { href: `#back-${set === 2 ? 2 : 1}`, ...SIZE }));
}

/** `123m5p` as a list of faces; what cannot be read is left out. */
export function parseTiles(run) {
  const tiles = [];
  let numbers = [];
  for (const character of run ?? "") {
    if (/[0-9]/.test(character)) numbers.push(character);
    else {
      for (const number of numbers) if (ORDER.has(number + character)) tiles.push(number + character);
      numbers = [];
    }
  }
  return tiles;
}

/** The tiles in the order of a hand, golds first as players hold them. */
export function sortTiles(tiles, gold = null) {
  const rank = (face) => (face === gold ? -1 : ORDER.get(face));
  return [...tiles].sort((a, b) => rank(a) - rank(b));
}

function symbol(id, ...children) {
  return svg("symbol", { id, viewBox: "0 0 60 85", overflow: "visible" }, ...children);
}

function body(edge) {
  return [
    svg("rect", { x: 0, y: 4, width: 60, height: 81, rx: 7, class: edge }),
    svg("rect", { x: 0.5, y: 0.5, width: 59, height: 80, rx: 7, class: "tile-face" }),
  ];
}

/** The two sets are told apart by what is drawn on their backs too: an open and a filled lozenge. */
function drawBack(set) {
  return [
    svg("rect", { x: 0, y: 0, width: 60, height: 81, rx: 7, class: `back-${set}` }),
    svg("rect", { x: 6, y: 6, width: 48, height: 69, rx: 4, class: "back-line", "stroke-width": 1.6 }),
    svg("path", { d: "M30 22 L42 40.5 L30 59 L18 40.5 Z", class: set === 2 ? "back-mark" : "back-line", "stroke-width": 1.6 }),
  ];
}
