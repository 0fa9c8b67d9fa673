// What lies on the felt while a hand is played: each seat's discards in rows before it, its melds and flowers.

import { SEATS, isCrowded, placeOf, roomOf, turn } from "./geometry.js";
import { set, svg } from "./svg.js";
import { say, tileName } from "./text.js";
import { backAt, parseTiles, tileAt } from "./tiles.js";

const TALL = 85 / 60; // height of a tile drawn one wide
const PITCH = 1.38; // from one row of tiles to the next: the lower edge is covered
const GAP = 0.35; // between two melds, in tiles
const LARGEST = 25;
/** How many discards of one seat the rows are made for; the fullest seat decides for all four. */
const CAPACITIES = [12, 14, 24, 30, 40];

/** Redraws the felt when what lies on it has changed; empty while no hand is played. */
export function drawFelt(layer, plan, view) {
  const { play, flowers } = view;
  const gold = view.gold?.state === "shown" ? view.gold.face : null;
  const back = view.machine?.set_up === 2 ? 2 : 1;
  const key = JSON.stringify(play && [
    play.discards, play.last, play.tile, play.source, play.stage, play.melds, play.aside, play.covered, play.tour, flowers, gold, back,
    isCrowded(view), plan.key, say("mark.covered"),
  ]);
  if (layer.filledFor === key) return;
  layer.filledFor = key;
  if (!play) {
    layer.replaceChildren();
    return;
  }
  const room = roomOf(plan, isCrowded(view));
  const most = Math.max(0, ...SEATS.map((seat) => play.discards?.[seat]?.length ?? 0));
  const capacity = CAPACITIES.find((one) => one >= most) ?? most;
  const scene = { plan, room, play, gold, back, flowers: flowers ?? {}, capacity };
  const groups = SEATS.map((seat) => seatGroup(seat, scene));
  // What is new lies above its neighbours.
  groups.sort((a, b) => Number(a.querySelector(".last") !== null) - Number(b.querySelector(".last") !== null));
  layer.replaceChildren(...groups);
}

function seatGroup(seat, scene) {
  const covered = Boolean(scene.play.covered?.[seat]);
  const group = svg("g", { class: `felt-seat seat-${seat}${covered ? " covered" : ""}`, "data-seat": seat });
  group.append(...discards(seat, scene), ...strip(seat, scene, covered));
  return group;
}

// -- discards ----------------------------------------------------------------------------------------------------------

function discards(seat, { plan, room, play, gold, back, capacity }) {
  const place = placeOf(seat, plan.viewer);
  const faces = play.discards?.[seat] ?? [];
  const { columns, width } = rowsFor(capacity, room.block, place % 2 === 0);
  const [along, across] = steps(width, place);
  const newest = play.last?.seat === seat ? faces.length - 1 : -1;
  return faces.map((face, index) => {
    const row = Math.floor(index / columns);
    const offset = room.block.from + ((index % columns) + 0.5) * along;
    const [x, y] = turn(offset, room.block.near + (row + 0.5) * across, place);
    const last = index === newest;
    const claimable = last && play.source === seat && Boolean(play.tile);
    return tile(face, x, y, width, { owner: seat, gold, back, kind: "discard", last, claimable });
  });
}

/** How many tiles a row has, and how wide one is, so that `count` of them fill a block best. */
function rowsFor(count, block, upright) {
  let best = { columns: 1, width: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const [along, across] = [block.length / columns, block.depth / rows];
    const width = upright ? Math.min(along, across / PITCH) : Math.min(along / PITCH, across);
    if (width > best.width) best = { columns, width };
  }
  return { columns: best.columns, width: Math.min(best.width, (LARGEST * block.depth) / 77) };
}

/** The steps from tile to tile along a row and from row to row: all tiles stand upright, whoever they belong to. */
function steps(width, place) {
  return place % 2 === 0 ? [width, width * PITCH] : [width * PITCH, width];
}

function tile(face, x, y, width, { owner, gold, back, kind, last = false, claimable = false }) {
  const size = width * (claimable ? 1.12 : last ? 1.04 : 0.95);
  const [left, top] = [x - size / 2, y - (size * TALL) / 2];
  const golden = Boolean(face) && face === gold;
  const node = svg("g", { class: `${kind}${last ? " last" : ""}${claimable ? " claimable" : ""}${golden ? " of-gold" : ""}`, "data-owner": owner, "data-face": face || "down" });
  const ring = (name, rim) => svg("rect", {
    class: name, x: left - rim * size, y: top - rim * size, width: size * (1 + 2 * rim), height: size * (TALL + 2 * rim), rx: size * (0.12 + rim),
  });
  if (last) node.append(ring("last-ring", 0.15));
  if (golden) node.append(ring("gold-ring", 0.07));
  const picture = face ? tileAt(face, left, top, size) : backAt(back, left, top, size);
  set(picture, { "data-face": null, role: "img", "aria-label": face ? tileName(face) : say("play.face_down") });
  node.append(picture);
  return node;
}

// -- melds, tiles put away, flowers ------------------------------------------------------------------------------------

function strip(seat, scene, covered) {
  const { plan, room, play, flowers } = scene;
  const place = placeOf(seat, plan.viewer);
  const label = covered ? say("mark.covered") : play.tour?.owner === seat ? say(`mark.tour.${play.tour.level}`) : "";
  const pill = label ? 46 * room.unit : 0;
  const groups = [
    ...(play.melds?.[seat] ?? []).map((meld) => meldGroup(meld, scene)),
    ...aside(play.aside?.[seat] ?? 0),
    ...(flowers[seat] ?? []).map((face, index) => ({ kind: "flower", tiles: [face], size: 1, gap: index ? 0 : GAP })),
  ];
  const packed = pack(groups, { length: room.strip.length - pill, depth: room.strip.depth }, place % 2 === 0, LARGEST * room.unit);
  const nodes = packed.groups.flatMap((group) => groupNodes(group, packed, seat, scene));
  if (label) nodes.push(pillAt(label, covered, room, place));
  return nodes;
}

function meldGroup({ kind, tiles }, { play }) {
  const faces = parseTiles(tiles);
  const kong = kind.startsWith("kong");
  const shown = faces.length ? faces : Array(kong ? 4 : 3).fill("");
  const robbed = play.stage === "rob" && kind === "kong_added" && faces[0] === play.tile;
  return { kind, tiles: shown, size: 3, gap: GAP, label: faces.length ? "" : say(`mark.${kind}`), claimable: robbed };
}

function aside(count) {
  return count ? [{ kind: "aside", tiles: Array(count).fill(""), size: Math.min(count, 3), gap: GAP, label: String(count) }] : [];
}

/** Lays groups into lines of a strip, as large as they fit; each group gets its line and its place in it. */
function pack(groups, { length, depth }, upright, largest) {
  for (let width = largest; ; width *= 0.97) {
    const step = upright ? width : width * PITCH;
    const line = upright ? width * TALL : width;
    const lines = [[]];
    let used = 0;
    for (const group of groups) {
      const at = lines[lines.length - 1];
      const needed = (group.size + (at.length ? group.gap : 0)) * step;
      if (at.length && used + needed > length) {
        lines.push([group]);
        used = group.size * step;
      } else {
        at.push(group);
        used += needed;
      }
    }
    const high = lines.length * (upright ? width * PITCH : width) + (upright ? width * (TALL - PITCH) : 0);
    const longest = Math.max(...lines.map((one) => lineLength(one) * step));
    if ((high <= depth && longest <= length) || width < 1) return { width, step, line, lines: lines.length, groups: placed(lines, step) };
  }
}

function lineLength(groups) {
  return groups.reduce((sum, group, index) => sum + group.size + (index ? group.gap : 0), 0);
}

/** Where every group begins: lines end at the owner's right hand. */
function placed(lines, step) {
  return lines.flatMap((groups, line) => {
    let at = -lineLength(groups) * step;
    return groups.map((group, index) => {
      at += index ? group.gap * step : 0;
      const begins = at;
      at += group.size * step;
      return { ...group, line, begins };
    });
  });
}

function groupNodes(group, { width, step, lines }, seat, scene) {
  const { plan, room, gold, back } = scene;
  const place = placeOf(seat, plan.viewer);
  const upright = place % 2 === 0;
  const rowStep = upright ? width * PITCH : width;
  const end = room.strip.from + room.strip.length;
  // The line of the melds lies outermost, at the wall.
  const depth = room.strip.near + room.strip.depth - (lines - group.line - 0.5) * rowStep - (upright ? (width * (TALL - PITCH)) / 2 : 0);
  const spot = (number) => turn(end + group.begins + (number + 0.5) * step, depth, place);
  const facing = { owner: seat, gold, back };
  const kind = group.kind === "flower" ? "flower" : group.kind === "aside" ? "put-away" : `meld-tile of-${group.kind}`;
  // Read from left to right on the right-hand side and opposite too.
  const order = place === 1 || place === 2 ? (number) => group.size - 1 - number : (number) => number;
  const nodes = group.tiles.slice(0, group.size).map((face, number) => {
    const [x, y] = spot(order(number));
    const hidden = group.kind === "kong_concealed" && number !== 1;
    return tile(hidden ? "" : face, x, y, width, { ...facing, kind });
  });
  if (group.tiles.length > group.size && group.kind !== "aside") {
    const [x, y] = spot(1);
    nodes.push(tile(group.tiles[3], x, y - width * 0.34, width, { ...facing, kind: `${kind} fourth`, last: group.claimable, claimable: group.claimable }));
  }
  if (group.label) {
    const [x, y] = spot((group.size - 1) / 2);
    nodes.push(tag(x, y, group.label, Math.max(14 * room.unit, width * 0.62), "felt-tag"));
  }
  return group.kind === "flower" ? nodes : [svg("g", { class: `meld meld-${group.kind}`, "data-owner": seat, "data-kind": group.kind }, ...nodes)];
}

function pillAt(words, covered, room, place) {
  const [x, y] = turn(room.strip.from + 24 * room.unit, room.strip.near + room.strip.depth / 2, place);
  return tag(x, y, words, 17 * room.unit, covered ? "felt-pill pill-covered" : "felt-pill pill-tour");
}

function tag(x, y, words, size, kind) {
  const wide = Math.max(1, [...words].length) * size * 0.98 + size * 0.5;
  const label = svg("text", { x, y, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" });
  label.textContent = words;
  return svg("g", { class: kind }, svg("rect", { x: x - wide / 2, y: y - size * 0.68, width: wide, height: size * 1.36, rx: size * 0.34 }), label);
}
