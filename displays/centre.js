// The middle of the table drawing: the four seats, who deals, how many tiles each holds, and the dice as thrown.

import { SEATS, isCrowded, placeOf, roomOf, turn } from "./geometry.js";
import { dieAt } from "./dice.js";
import { svg } from "./svg.js";
import { say } from "./text.js";
import { tileAt } from "./tiles.js";

/** Phases in which it matters whom the last throw points at. */
const POINTING = new Set(["dealer_roll", "deal_roll", "taking", "door_roll", "door"]);

/** Redraws the centre when what it shows has changed. */
export function drawCentre(layer, plan, view) {
  const shown = {
    play: view.play && [view.play.turn, view.play.to_draw, view.play.covered, refereed(view), isCrowded(view)], gold: view.gold?.face, dice: view.dice, dealer: view.dealer, counts: view.counts, active: activeSeat(view), points: pointedSeat(view), plan: plan.key, words: say("glyph.E") + say("mark.dealer"),
  };
  const key = JSON.stringify(shown);
  if (layer.filledFor === key) return;
  layer.filledFor = key;
  const unit = plan.edge / 180;
  if (refereed(view)) {
    layer.replaceChildren(...smallConsole(plan, view));
    return;
  }
  layer.replaceChildren(
    svg("rect", { class: "console", x: -47 * unit, y: -47 * unit, width: 94 * unit, height: 94 * unit, rx: 12 * unit }),
    ...SEATS.flatMap((seat) => badge(seat, plan, view, unit)),
    ...(view.play ? goldNodes(view, unit) : throwNodes(plan, view, unit)),
  );
}

/** Whether discards lie around the console, which then is small. */
export function refereed(view) {
  return Boolean(view.play && view.sensing === "full");
}

/** Where nothing is read, the gold is what everybody looks for while the hand is played. */
function goldNodes(view, unit) {
  if (!view.gold?.face) return [];
  const width = 34 * unit;
  const height = (width * 85) / 60;
  return [
    svg("g", { class: "console-gold" },
      svg("rect", { class: "gold-ring", x: -width / 2 - 3 * unit, y: -height / 2 - 3 * unit, width: width + 6 * unit, height: height + 6 * unit, rx: 6 * unit }),
      tileAt(view.gold.face, -width / 2, -height / 2, width)),
  ];
}

/** Four seats, whose turn it is, who deals, and how many tiles are left to draw. */
function smallConsole(plan, view) {
  const unit = roomOf(plan, isCrowded(view)).unit;
  const half = 32 * unit;
  const nodes = [svg("rect", { class: "console", x: -half, y: -half, width: 2 * half, height: 2 * half, rx: 7 * unit })];
  for (const seat of SEATS) nodes.push(smallBadge(seat, plan, view, unit));
  const left = view.play.to_draw;
  if (left !== null && left !== undefined) nodes.push(text(0, 0, String(left), 13 * unit, "console-left"));
  return nodes;
}

function smallBadge(seat, plan, view, unit) {
  const place = placeOf(seat, plan.viewer);
  const at = (along, depth) => turn(along * unit, depth * unit, place);
  const [x, y] = at(0, 20);
  const active = view.play.turn === seat;
  const covered = Boolean(view.play.covered?.[seat]);
  const nodes = [];
  if (active) {
    const [[x1, y1], [x2, y2]] = [at(-27, 32.5), at(27, 32.5)];
    nodes.push(svg("line", { class: "turn-bar", x1, y1, x2, y2, "stroke-width": 5 * unit }));
  }
  nodes.push(
    svg("circle", { class: "badge-disc", cx: x, cy: y, r: 10.6 * unit }),
    text(x, y, say(`glyph.${seat}`), 13.5 * unit, "badge-glyph"),
  );
  if (view.dealer === seat) {
    const [dx, dy] = at(21, 24);
    nodes.push(
      svg("rect", { class: "dealer-tag", x: dx - 7 * unit, y: dy - 7 * unit, width: 14 * unit, height: 14 * unit, rx: 3 * unit }),
      text(dx, dy, say("mark.dealer"), 11 * unit, "dealer-text"),
    );
  }
  return svg("g", { class: `badge seat-${seat}${active ? " active" : ""}${covered ? " covered" : ""}`, "data-seat": seat }, ...nodes);
}

/** The seat whose turn everybody may know. */
function activeSeat(view) {
  if (view.play) return view.play.turn ?? "";
  if (view.take) return view.take.seat;
  if (view.flower_turn) return view.flower_turn.seat;
  if (["wanted", "rolling", "entering"].includes(view.dice?.state)) return view.dice.by;
  if (["counting", "entering", "checking"].includes(view.gold?.state)) return view.gold.by;
  return "";
}

/** Whom the dice point at, as long as it matters. */
function pointedSeat(view) {
  return POINTING.has(view.phase) && view.dice?.values ? view.dice.points : null;
}

function badge(seat, plan, view, unit) {
  const place = placeOf(seat, plan.viewer);
  const [x, y] = turn(0, 50 * unit, place);
  const pointed = pointedSeat(view) === seat;
  const active = activeSeat(view) === seat;
  const nodes = [
    svg("circle", { class: "badge-halo", cx: x, cy: y, r: 19.5 * unit }),
    svg("circle", { class: "badge-disc", cx: x, cy: y, r: 16 * unit }),
    text(x, y, say(`glyph.${seat}`), 20 * unit, "badge-glyph"),
  ];
  if (view.dealer === seat) {
    const [dx, dy] = turn(place % 2 ? 27 * unit : 29 * unit, 50 * unit, place);
    nodes.push(
      svg("rect", { class: "dealer-tag", x: dx - 10 * unit, y: dy - 9 * unit, width: 20 * unit, height: 18 * unit, rx: 4 * unit }),
      text(dx, dy, say("mark.dealer"), 13.5 * unit, "dealer-text"),
    );
  }
  if (view.counts) {
    const [cx, cy] = turn(-28 * unit, 52 * unit, place);
    nodes.push(text(cx, cy, String(view.counts[seat] ?? ""), 13 * unit, "count-text"));
  }
  return [svg("g", { class: `badge seat-${seat}${active ? " active" : ""}${pointed ? " pointed" : ""}`, "data-seat": seat }, ...nodes)];
}

function throwNodes(plan, view, unit) {
  const dice = view.dice;
  if (!dice || (!dice.values && dice.state !== "rolling")) return [];
  const [first, second] = dice.values ?? [null, null];
  const rolling = dice.state === "rolling" ? "die-rolling" : "";
  const nodes = [
    dieAt(first, -14.5 * unit, -7 * unit, 25 * unit, rolling),
    dieAt(second, 14.5 * unit, -7 * unit, 25 * unit, rolling),
  ];
  if (dice.values) {
    const by = dice.by ? `${say(`glyph.${dice.by}`)} ` : "";
    nodes.push(text(0, 17 * unit, `${by}${first}+${second}=${first + second}`, 12.5 * unit, "throw-text"));
  }
  const points = pointedSeat(view);
  if (points) nodes.push(pointer(points, plan, unit));
  return [svg("g", { class: "throw", "data-by": dice.by, "data-points": dice.points ?? "" }, ...nodes)];
}

function pointer(seat, plan, unit) {
  const place = placeOf(seat, plan.viewer);
  const points = [[-7, 26.5], [7, 26.5], [0, 33.5]].map(([x, y]) => turn(x * unit, y * unit, place).join());
  return svg("polygon", { class: `pointer seat-${seat}`, points: points.join(" ") });
}

function text(x, y, words, size, kind) {
  const node = svg("text", { x, y, class: kind, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" });
  node.textContent = words;
  return node;
}
