// The drawings on the tiles' faces, our own: 42 faces on a field of 60 × 80 units.

import { svg } from "./svg.js";

const NUMERALS = ["一", "二", "三", "四", "伍", "六", "七", "八", "九"];
const HONOURS = ["東", "南", "西", "北", "", "發", "中"];
const HONOUR_INK = ["ink", "ink", "ink", "ink", "", "green", "red"];
const FLOWERS = ["春", "夏", "秋", "冬", "梅", "蘭", "竹", "菊"];

/** The nodes that draw a face such as `3p`; an unknown face is drawn as a question mark, never as nothing. */
export function drawFace(face) {
  const number = Number(face[0]);
  switch (face[1]) {
    case "m": return characters(number);
    case "p": return dots(number);
    case "s": return bamboo(number);
    case "z": return honour(number);
    case "f": return flower(number);
    default: return [glyph("?", 30, 42, 40, "ink")];
  }
}

function glyph(text, x, y, size, ink) {
  const node = svg("text", { x, y, "font-size": size, class: `ink-${ink}`, "text-anchor": "middle", "dominant-baseline": "central" });
  node.textContent = text;
  return node;
}

function characters(number) {
  return [glyph(NUMERALS[number - 1], 30, 22.5, 33, "ink"), glyph("萬", 30, 56.5, 34, "red")];
}

// Places of the pips as [x, y, ink]; rows as at a real table.
const DOTS = {
  2: [[30, 21.5, "green"], [30, 58.5, "blue"]],
  3: [[16, 18, "blue"], [30, 40, "red"], [44, 62, "green"]],
  4: [[17, 22, "blue"], [43, 22, "green"], [17, 58, "green"], [43, 58, "blue"]],
  5: [[16, 19, "blue"], [44, 19, "green"], [30, 40, "red"], [16, 61, "green"], [44, 61, "blue"]],
  6: [[18, 17, "green"], [42, 17, "green"], [18, 42, "red"], [42, 42, "red"], [18, 63, "red"], [42, 63, "red"]],
  7: [[13, 14, "green"], [30, 21, "green"], [47, 28, "green"], [19, 47, "red"], [41, 47, "red"], [19, 66, "red"], [41, 66, "red"]],
  8: [13, 31, 49, 67].flatMap((y) => [[19, y, "blue"], [41, y, "blue"]]),
  9: [[15, "green"], [40, "red"], [65, "blue"]].flatMap(([y, ink]) => [[12.5, y, ink], [30, y, ink], [47.5, y, ink]]),
};
const DOT_RADIUS = { 2: 15.5, 3: 13, 4: 12.6, 5: 11.4, 6: 10.4, 7: 8.8, 8: 8.6, 9: 8.6 };

function dots(number) {
  if (number === 1) return greatDot();
  return DOTS[number].flatMap(([x, y, ink]) => pip(x, y, DOT_RADIUS[number], ink));
}

function pip(x, y, radius, ink) {
  return [
    svg("circle", { cx: x, cy: y, r: radius, class: `fill-${ink}` }),
    svg("circle", { cx: x, cy: y, r: radius * 0.62, class: "ring-ivory", "stroke-width": radius * 0.17 }),
    svg("circle", { cx: x, cy: y, r: radius * 0.2, class: "fill-ivory" }),
  ];
}

function greatDot() {
  const petals = [];
  for (let turn = 0; turn < 12; turn += 1) {
    const angle = (turn * Math.PI) / 6;
    petals.push(svg("circle", { cx: 30 + 15.4 * Math.cos(angle), cy: 40 + 15.4 * Math.sin(angle), r: 3.1, class: turn % 2 ? "fill-green" : "fill-blue" }));
  }
  return [
    svg("circle", { cx: 30, cy: 40, r: 22.5, class: "ring-green", "stroke-width": 4 }),
    ...petals,
    svg("circle", { cx: 30, cy: 40, r: 9.6, class: "fill-red" }),
    svg("circle", { cx: 30, cy: 40, r: 5.6, class: "ring-ivory", "stroke-width": 1.8 }),
    svg("circle", { cx: 30, cy: 40, r: 1.8, class: "fill-ivory" }),
  ];
}

// Sticks as [x, y, ink] of their middle; the row count gives their length.
const STICKS = {
  2: [[30, 22, "green"], [30, 58, "blue"]],
  3: [[30, 22, "green"], [17, 58, "blue"], [43, 58, "blue"]],
  4: [[17, 22, "blue"], [43, 22, "green"], [17, 58, "green"], [43, 58, "blue"]],
  5: [[14, 22, "green"], [46, 22, "blue"], [30, 40, "red"], [14, 58, "blue"], [46, 58, "green"]],
  6: [22, 58].flatMap((y, row) => [12, 30, 48].map((x) => [x, y, row ? "blue" : "green"])),
  7: [[30, 14, "red"], ...[40, 66].flatMap((y) => [12, 30, 48].map((x) => [x, y, x === 30 ? "blue" : "green"]))],
  9: [14, 40, 66].flatMap((y) => [12, 30, 48].map((x) => [x, y, x === 30 ? "red" : y === 40 ? "blue" : "green"])),
};

function bamboo(number) {
  if (number === 1) return bird();
  if (number === 8) return eightSticks();
  const [length, wide] = number === 7 || number === 9 ? [22, 1.12] : number <= 4 ? [32, 1.5] : [31, 1.25];
  return STICKS[number].flatMap(([x, y, ink]) => stick(x, y, length, ink, 0, wide));
}

function stick(x, y, length, ink, lean = 0, wide = 1) {
  const group = svg("g", { transform: `translate(${x} ${y}) rotate(${lean}) scale(${wide} 1)`, class: `fill-${ink}` });
  const half = length / 2;
  group.append(
    svg("rect", { x: -4.6, y: -half, width: 9.2, height: half - 1, rx: 3 }),
    svg("rect", { x: -4.6, y: 1, width: 9.2, height: half - 1, rx: 3 }),
    svg("rect", { x: -5.5, y: -1.6, width: 11, height: 3.2, rx: 1.6 }),
    svg("rect", { x: -0.9, y: -half + 3, width: 1.8, height: half - 6, rx: 0.9, class: "fill-ivory" }),
    svg("rect", { x: -0.9, y: 3.4, width: 1.8, height: half - 6, rx: 0.9, class: "fill-ivory" }),
  );
  return [group];
}

function eightSticks() {
  const half = (y, lean, ink) => [
    ...stick(10, y, 29, ink), ...stick(50, y, 29, ink), ...stick(23, y, 29, ink, lean), ...stick(37, y, 29, ink, -lean),
  ];
  return [...half(22, 32, "green"), ...half(58, -32, "blue")];
}

function bird() {
  return [
    svg("path", { d: "M33 44 Q38 62 54 70 Q42 72 33 62 Q36 72 44 77 Q31 76 27 62 Q24 70 27 77 Q18 70 22 52 Z", class: "fill-green" }),
    svg("path", { d: "M18 24 Q12 44 24 55 Q40 58 43 40 Q36 36 33 28 Q30 20 25 18 Z", class: "fill-blue" }),
    svg("path", { d: "M25 34 Q31 50 48 46 Q57 42 55 30 Q50 40 42 38 Q34 37 31 30 Z", class: "fill-red" }),
    svg("circle", { cx: 23.5, cy: 18, r: 8.6, class: "fill-blue" }),
    svg("path", { d: "M16 15 L5 19 L16 22 Z", class: "fill-red" }),
    svg("path", { d: "M23 10 Q22 4 27 2 M27 10.5 Q29 5 34 5", class: "ring-red", "stroke-width": 2.2, "stroke-linecap": "round" }),
    svg("circle", { cx: 21.5, cy: 16.6, r: 3, class: "fill-ivory" }),
    svg("circle", { cx: 21, cy: 16.6, r: 1.5, class: "fill-ink" }),
  ];
}

function honour(number) {
  if (number !== 5) return [glyph(HONOURS[number - 1], 30, 40, number === 7 ? 50 : 47, HONOUR_INK[number - 1])];
  return [
    svg("rect", { x: 8, y: 9, width: 44, height: 62, rx: 4, class: "ring-blue", "stroke-width": 4.4 }),
    svg("rect", { x: 15, y: 16, width: 30, height: 48, rx: 2, class: "ring-blue", "stroke-width": 1.8 }),
  ];
}

function flower(number) {
  const season = number <= 4;
  const ink = season ? "red" : "green";
  const order = season ? number : number - 4;
  return [
    glyph(FLOWERS[number - 1], 30, 52, 43, ink),
    glyph(String(order), 13, 16, 23, "ink"),
    ...blossom(45, 16, season ? "blue" : "red"),
  ];
}

function blossom(x, y, ink) {
  const petals = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const angle = (turn * 2 * Math.PI) / 5 - Math.PI / 2;
    petals.push(svg("circle", { cx: x + 5.4 * Math.cos(angle), cy: y + 5.4 * Math.sin(angle), r: 4.1, class: `fill-${ink}` }));
  }
  return [...petals, svg("circle", { cx: x, cy: y, r: 3, class: "fill-ivory" })];
}
