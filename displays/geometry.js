// Where every tile of the walls and rows stands on the felt, seen from one seat. Pure: numbers in, numbers out.
//
// Units: a tile is WIDE along its wall and DEEP across it. The centre of the table is (0, 0), x to the right, y down,
// the viewer's side at the bottom. Stacks and row tiles are counted from 1 at their owner's right end.

export const SEATS = ["E", "S", "W", "N"];
export const WIDE = 20;
export const DEEP = 27;
const PUSHED = 8;
const GAP = 5;
const MARGIN = 24;

/** How far `seat` sits from `viewer` in play order: 0 bottom, 1 right, 2 top, 3 left. */
export function placeOf(seat, viewer) {
  return (SEATS.indexOf(seat) - SEATS.indexOf(viewer) + 4) % 4;
}

/** A point of the bottom side turned to the side at `place`. */
export function turn(x, y, place) {
  switch (place) {
    case 1: return [y, -x];
    case 2: return [-x, -y];
    case 3: return [-y, x];
    default: return [x, y];
  }
}

/** `S2t` → {side, number, tier}; `N8` → {side, number, tier: ""}. */
export function parsePosition(position) {
  const found = /^([ESWN])(\d+)([tb]?)$/.exec(position ?? "");
  return found && { side: found[1], number: Number(found[2]), tier: found[3] };
}

/** The place of a position in its side's wall string; row tiles follow the eight pushed stacks. */
export function wallIndex(position) {
  const at = parsePosition(position);
  if (!at) return -1;
  return at.tier ? (at.number - 1) * 2 + (at.tier === "b" ? 1 : 0) : PUSHED * 2 + at.number - 1;
}

/** The plan of a table: sizes, and the function that says where the tile at (side, index) stands. */
export function planOf(view, viewer) {
  const stacks = view.stacks ?? {};
  const most = Math.max(13, ...SEATS.map((side) => stacks[side] ?? 0));
  const laid = Boolean(view.rows_laid && view.row);
  const slots = Math.max(most, view.layout === "bagua" ? view.row ?? 0 : 0);
  const inner = (slots * WIDE) / 2 + GAP;
  const outer = inner + DEEP;
  return {
    key: [viewer, laid, slots, view.row, ...SEATS.map((side) => stacks[side] ?? 0)].join(),
    slots, inner, outer, laid, viewer,
    edge: outer + MARGIN,
    free: inner - (laid ? DEEP + GAP : 0),
    stacks: Object.fromEntries(SEATS.map((side) => [side, stacks[side] ?? 0])),
    tiles: (side) => (laid ? PUSHED * 2 + view.row : (stacks[side] ?? 0) * 2),
    tile: (side, index) => tilePlace(side, index, { count: stacks[side] ?? 0, row: view.row, laid, inner, viewer }),
    along: (side, offset, depth) => turn(offset, inner + depth, placeOf(side, viewer)),
  };
}

function tilePlace(side, index, { count, row, laid, inner, viewer }) {
  const place = placeOf(side, viewer);
  const inRow = laid && index >= PUSHED * 2;
  const number = inRow ? index - PUSHED * 2 + 1 : Math.floor(index / 2) + 1;
  const ends = inRow ? row : count;
  const offset = (ends / 2 - number + 0.5) * WIDE;
  const depth = laid && !inRow ? -(GAP + DEEP / 2) : DEEP / 2;
  const [x, y] = turn(offset, inner + depth, place);
  const upright = place % 2 === 0;
  return {
    side, place, number, inRow, x, y, offset, depth,
    tier: inRow ? "" : index % 2 ? "b" : "t",
    width: upright ? WIDE : DEEP,
    height: upright ? DEEP : WIDE,
  };
}

// While a hand is played: the console in the middle, four blocks of discards around it like the sails of a mill, and
// along every wall a strip for melds and flowers, each seat's own corner at its right hand. Measured in a room whose
// half is 149; in the owner's frame `along` runs from his left to his right and `depth` from the centre to him.
const ROOM = { half: 149, console: 32, block: [34, 111], strip: [113, 149] };

/** Whether stacks that were pushed forward for the rows stand there still. */
export function isCrowded(view) {
  return Boolean(view.rows_laid && view.row && Object.values(view.wall ?? {}).some((wall) => wall.slice(0, PUSHED * 2).includes("1")));
}

/** The room for a hand in play inside the walls; `crowded`: stacks that were pushed forward stand there still. */
export function roomOf(plan, crowded) {
  const half = (crowded ? plan.free : plan.inner) - 6;
  const unit = half / ROOM.half;
  const [near, far] = ROOM.block;
  const [inside, outside] = ROOM.strip;
  return {
    unit,
    console: ROOM.console * unit,
    block: { from: -ROOM.console * unit, length: (far + ROOM.console) * unit, near: near * unit, depth: (far - near) * unit },
    strip: { from: -(inside - 4) * unit, length: (inside - 4 + outside) * unit, near: inside * unit, depth: (outside - inside) * unit },
  };
}
