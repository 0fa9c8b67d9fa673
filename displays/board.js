// The table drawing: felt, the four walls tile by tile, and over them marks, counts, flowers and the centre.

import { drawCentre } from "./centre.js";
import { DEEP, SEATS, WIDE, parsePosition, placeOf, planOf, turn, wallIndex } from "./geometry.js";
import { drawFelt } from "./felt.js";
import { drawMarks } from "./marks.js";
import { set, svg } from "./svg.js";
import { say } from "./text.js";
import { tileAt } from "./tiles.js";

const LIFT = 5.5; // how far the upper tile of a stack is drawn above the lower one
const PHASES_WITHOUT_WALLS = new Set(["idle", "sorting", "lift", "push_in", "walls", "reading", "ended"]);

/** A table drawing inside `holder`; `draw(view, viewer)` brings it up to date, touching only what changed. */
export function createBoard(holder) {
  const root = svg("svg", { class: "board", role: "img" });
  const layers = Object.fromEntries(
    ["felt", "walls", "marks", "flowers", "play", "centre", "open"].map((name) => [name, svg("g", { class: `layer-${name}` })]),
  );
  root.append(...Object.values(layers));
  holder.append(root);
  const board = { root, layers, plan: null, bricks: new Map(), memory: {} };
  return { root, draw: (view, viewer) => draw(board, view, viewer) };
}

function draw(board, view, viewer) {
  const plan = planOf(view, viewer);
  if (board.plan?.key !== plan.key) layOut(board, plan);
  board.plan = plan;
  set(board.root, { "aria-label": say(`phase.${view.phase}`), "data-phase": view.phase });
  drawWalls(board, view);
  drawMarks(board.layers.marks, plan, view, board.memory);
  drawOpen(board, view);
  drawFlowers(board, view);
  drawFelt(board.layers.play, plan, view);
  drawCentre(board.layers.centre, plan, view);
}

function layOut(board, plan) {
  const { edge, outer } = plan;
  set(board.root, { viewBox: `${-edge} ${-edge} ${2 * edge} ${2 * edge}` });
  board.layers.felt.replaceChildren(
    svg("rect", { class: "felt", x: -edge, y: -edge, width: 2 * edge, height: 2 * edge, rx: 16 }),
    ...SEATS.map((side) => rail(side, edge - 5, outer, placeOf(side, plan.viewer))),
  );
  board.bricks.clear();
  const bricks = SEATS.flatMap((side) => Array.from({ length: plan.tiles(side) }, (_, index) => brick(plan, side, index)));
  // Nearer rows and upper tiles cover what lies behind and below them.
  bricks.sort((a, b) => a.at.y - b.at.y || (a.at.tier === "b" ? 0 : 1) - (b.at.tier === "b" ? 0 : 1));
  for (const one of bricks) board.bricks.set(one.position, one.node);
  board.layers.walls.replaceChildren(...bricks.map((one) => one.node));
  for (const name of ["marks", "flowers", "play", "centre", "open"]) {
    board.layers[name].replaceChildren();
    board.layers[name].filledFor = undefined;
  }
}

function rail(side, far, half, place) {
  const [x1, y1] = turn(-half, far, place);
  const [x2, y2] = turn(half, far, place);
  return svg("line", { class: `rail seat-${side}`, x1, y1, x2, y2 });
}

function brick(plan, side, index) {
  const at = plan.tile(side, index);
  const position = at.inRow ? `${side}${at.number}` : `${side}${at.number}${at.tier}`;
  const x = at.x - at.width / 2;
  const y = at.y - at.height / 2 - (at.tier === "t" ? LIFT : 0);
  const edge = at.width > at.height ? 4 : 1; // tiles side by side up the picture show their edges too
  const node = svg(
    "g",
    { class: "brick gone", "data-position": position },
    svg("rect", { class: "brick-body", x: x + 0.5, y: y + 1, width: at.width - 1, height: at.height + 3 - edge, rx: 3 }),
    svg("rect", { class: "brick-back", x: x + 0.5, y: y + 0.5, width: at.width - 1, height: at.height - edge, rx: 3 }),
  );
  return { position, node, at };
}

function drawWalls(board, view) {
  const wanted = wantedTiles(view);
  const next = view.play?.position ?? null;
  const sorting = view.machine?.sorting;
  const rising = !view.wall && sorting && PHASES_WITHOUT_WALLS.has(view.phase) ? sorting : null;
  const backs = rising ? rising.set : view.machine?.set_up || 1;
  for (const [position, node] of board.bricks) {
    const side = position[0];
    const index = wallIndex(position);
    let state = "gone";
    if (view.wall) state = view.wall[side]?.[index] === "1" ? "stands" : "gone";
    else if (rising && index < (rising.tiles?.[side] ?? 0)) state = "rising";
    const seat = state === "stands" ? wanted.get(position) : undefined;
    set(node, { class: `brick set-${backs} ${state}${seat ? ` wanted seat-${seat}` : position === next && state === "stands" ? " next" : ""}` });
  }
}

/** Which tiles are to be taken now, and by whom. */
function wantedTiles(view) {
  const wanted = new Map();
  for (const position of view.take?.positions ?? []) wanted.set(position, view.take.seat);
  const flowers = view.flower_turn;
  const drawn = flowers?.positions.length ? flowers.positions : (view.tail?.next ?? []).slice(0, 1);
  for (const position of flowers ? drawn : []) wanted.set(position, flowers.seat);
  const mine = view.me?.wants?.find((want) => want.verb === "flowers");
  for (const position of mine?.params.positions ?? []) wanted.set(position, view.me.seat);
  const openTail = view.phase === "flowers" && view.sensing === "none" ? view.tail?.next?.[0] : null;
  if (openTail) wanted.set(openTail, "any");
  const { stage, position, turn: drawer } = view.play ?? {};
  if (stage === "draw" && position) wanted.set(position, drawer ?? "any");
  return wanted;
}

/** Tiles that lie open on the walls: the gold, or what was flipped on the way to it. */
function drawOpen(board, view) {
  const gold = view.gold;
  const laidOut = new Set(Object.values(view.flowers ?? {}).flat());
  const passed = gold?.state === "shown" || view.play ? [] : (gold?.passed ?? []).filter(([, face]) => !laidOut.has(face));
  const open = passed.map(([position, face]) => ({ position, face, gold: false }));
  if (gold?.position && gold.face) open.push({ position: gold.position, face: gold.indicator ?? gold.face, gold: true });
  const key = JSON.stringify(open);
  const layer = board.layers.open;
  if (layer.filledFor === key) return;
  layer.filledFor = key;
  layer.replaceChildren(...open.flatMap((one) => openTile(board.plan, one)));
}

function openTile(plan, { position, face, gold }) {
  const at = parsePosition(position);
  if (!at || wallIndex(position) >= plan.tiles(at.side)) return [];
  const place = plan.tile(at.side, wallIndex(position));
  const width = WIDE * 1.75;
  const height = (width * 85) / 60;
  const [dx, dy] = turn(0, (height - DEEP) / 2 - 4, place.place);
  const x = clamp(place.x + dx - width / 2, plan.edge - width - 2);
  const y = clamp(place.y + dy - height / 2, plan.edge - height - 2);
  const nodes = [tileAt(face, x, y, width)];
  if (gold) nodes.unshift(svg("rect", { class: "gold-ring", x: x - 3, y: y - 3, width: width + 6, height: height + 5, rx: 7 }));
  return [svg("g", { class: gold ? "open-gold" : "open-passed", "data-position": position }, ...nodes)];
}

function clamp(value, most) {
  return Math.max(-most - WIDE * 2, Math.min(most, value));
}

function drawFlowers(board, view) {
  const { plan } = board;
  const layer = board.layers.flowers;
  const laid = view.play ? {} : view.flowers; // while a hand is played they lie with the melds
  const key = JSON.stringify([laid, plan.key]);
  if (layer.filledFor === key) return;
  layer.filledFor = key;
  layer.replaceChildren(...SEATS.flatMap((side) => flowersOf(plan, side, laid?.[side] ?? [])));
}

function flowersOf(plan, side, flowers) {
  const unit = plan.edge / 180;
  const width = 21 * unit;
  const height = (width * 85) / 60;
  const gap = 2 * unit;
  const place = placeOf(side, plan.viewer);
  const columns = place % 2 === 0 ? flowers.length : Math.min(2, flowers.length);
  const rows = Math.ceil(flowers.length / Math.max(1, columns));
  const [wide, high] = [columns * (width + gap), rows * (height + gap)];
  const near = 70 * unit;
  const centre = {
    0: [0, near + high / 2], 1: [near + wide / 2, 0], 2: [0, -near - high / 2], 3: [-near - wide / 2, 0],
  }[place];
  return flowers.map((face, index) => {
    const x = centre[0] - wide / 2 + (index % columns) * (width + gap) + gap / 2;
    const y = centre[1] - high / 2 + Math.floor(index / columns) * (height + gap);
    const tile = tileAt(face, x, y, width);
    tile.setAttribute("data-owner", side);
    return tile;
  });
}
