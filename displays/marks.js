// Marks on the walls: the break, the door, the tail and its direction, and the count towards the gold.

import { DEEP, WIDE, parsePosition, wallIndex } from "./geometry.js";
import { svg } from "./svg.js";
import { say } from "./text.js";

const STEP_MS = 350; // one tile of the count
const BREAK_PHASES = new Set(["deal_roll", "taking"]);

/** Redraws the marks when what they show has changed; a count that is new runs 1, 2, 3 …. */
export function drawMarks(layer, plan, view, memory) {
  // The count has done its work when the gold lies open, which would lie over it.
  const path = view.play || view.gold?.state === "shown" ? [] : view.gold?.path ?? [];
  const door = view.play ? null : view.door;
  const shown = [
    BREAK_PHASES.has(view.phase) ? view.break : null, door, view.tail?.next?.[0] ?? null,
    path, view.gold?.position ?? null, view.gold?.state ?? null, plan.key, say("mark.door"),
  ];
  const key = JSON.stringify(shown);
  if (layer.filledFor === key) return;
  layer.filledFor = key;
  const runs = isNewCount(path, view, memory);
  const nodes = [];
  if (shown[0]) nodes.push(...breakMark(plan, view.break));
  if (door) nodes.push(...doorMark(plan, door));
  if (shown[2] && path.length === 0) nodes.push(...tailMark(plan, shown[2]));
  nodes.push(...countMarks(plan, path, runs));
  layer.replaceChildren(...nodes);
}

/** A count runs only when this page has seen it begin: not after a reload, not at a redraw. */
function isNewCount(path, view, memory) {
  const now = JSON.stringify([view.hand, path, view.gold?.roll ?? null]);
  const runs = memory.path !== undefined && memory.path !== now && path.length > 0 && view.gold?.state !== "shown";
  if (memory.path !== now) memory.startedAt = runs ? performance.now() : null;
  memory.path = now;
  return memory.startedAt;
}

function unitOf(plan) {
  return plan.edge / 180;
}

function spot(plan, position) {
  const at = parsePosition(position);
  const index = wallIndex(position);
  if (!at || index < 0 || index >= plan.tiles(at.side)) return null;
  return plan.tile(at.side, index);
}

function breakMark(plan, { side, left }) {
  const offset = ((plan.stacks[side] ?? 0) / 2 - left) * WIDE;
  const [x1, y1] = plan.along(side, offset, -8);
  const [x2, y2] = plan.along(side, offset, DEEP + 8);
  const [x, y] = plan.along(side, offset + (left * WIDE) / 2, -13 * unitOf(plan));
  return [
    svg("line", { class: "break-line", x1, y1, x2, y2 }),
    label(x, y, say("mark.left", { n: left }), 12 * unitOf(plan), "mark-text"),
  ];
}

function doorMark(plan, position) {
  const at = spot(plan, position);
  if (!at) return [];
  const [x, y] = plan.along(at.side, at.offset, -12 * unitOf(plan));
  return [
    svg("rect", { class: "door-frame", x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height, rx: 3 }),
    disc(x, y, 9.5 * unitOf(plan), say("mark.door"), "mark-door", 12 * unitOf(plan)),
  ];
}

function tailMark(plan, position) {
  const at = spot(plan, position);
  if (!at) return [];
  const unit = unitOf(plan);
  const [x, y] = plan.along(at.side, at.offset, DEEP + 11);
  const arrow = [[13, -6], [22, 0], [13, 6]].map(([along, across]) => plan.along(at.side, at.offset + along * unit, DEEP + 11 + across * unit).join());
  return [
    svg("polygon", { class: "tail-arrow", points: arrow.join(" ") }),
    disc(x, y, 9.5 * unit, say("mark.tail"), "mark-tail", 12 * unit),
  ];
}

function countMarks(plan, path, startedAt) {
  const unit = unitOf(plan);
  const placed = [];
  const late = startedAt === null ? 0 : performance.now() - startedAt;
  return path.flatMap((position, index) => {
    const at = spot(plan, position);
    if (!at) return [];
    const last = index === path.length - 1;
    const [x, y] = at.inRow ? [at.x, at.y] : freeSpot(plan, at, placed);
    const kind = last ? "count-last" : at.inRow || unit > 1.2 ? "count-plain" : "count-mark";
    const node = disc(x, y, last ? 9.4 * unit : 9.5, String(index + 1), kind, 12 * unit);
    if (startedAt !== null) {
      node.classList.add("count-runs");
      node.style.animationDelay = `${Math.round(index * STEP_MS - late)}ms`;
    }
    return [node];
  });
}

/** A place for a number before its stack, farther in where another number stands already (as in a corner). */
function freeSpot(plan, at, placed) {
  const unit = unitOf(plan);
  for (let height = 0; ; height += 1) {
    const spot = plan.along(at.side, at.offset, -(12 + 20 * height) * unit);
    if (placed.every(([x, y]) => Math.hypot(spot[0] - x, spot[1] - y) > WIDE * 0.9)) {
      placed.push(spot);
      return spot;
    }
  }
}

function disc(x, y, radius, text, kind, size) {
  return svg("g", { class: `disc ${kind}` }, svg("circle", { cx: x, cy: y, r: radius }), label(x, y, text, size, "disc-text"));
}

function label(x, y, text, size, kind) {
  const node = svg("text", { x, y, class: kind, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" });
  node.textContent = text;
  return node;
}
