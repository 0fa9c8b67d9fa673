// Bodies of play and of the book: flowers and kongs, rows of choices, the drawn tile, tiles compared, the tile pad.

import { html } from "./svg.js";
import { say, tileName } from "./text.js";
import { FLOWERS, tilePicture } from "./tiles.js";
import { labelled, mark, seatTouch, stepper, tileRow, touch } from "./widget_parts.js";

/** kind → fills a node with a body. */
export const HAND_BODIES = {
  book,
  compare_tiles,
  counters: (node, { counters, rows }, view) => {
    if (counters.length) node.append(html("div", { class: `counters many-${counters.length}` }, ...counters.map(counter)));
    if (rows.length) picks(node, { rows }, view);
  },
  flowers,
  pad,
  picks,
  seating,
  turn: (node, { drawn, follow, gold }) => {
    if (follow.length) node.append(html("div", { class: "labelled-tiles" }, html("span", { class: "field", text: say("field.follow") }), tileRow(follow, "great-tiles")));
    if (drawn) node.append(html("div", { class: "labelled-tiles drawn-tile" }, html("span", { class: "field", text: say("field.drawn") }), tileRow([drawn], "great-tiles", gold)));
  },
};

/** Flower fields above counters of kongs. */
function book(node, { flowers: fields, kongs }) {
  if (fields) flowers(node, fields);
  if (kongs.length) node.append(html("div", { class: `kong-grid many-${kongs.length}` }, ...kongs.map(kongField)));
}

/** One touch adds a kong; beside it, once there is one, what takes it back. */
function kongField({ label, sub, n, name, plus, minus }) {
  const words = [html("span", { class: "label", text: label }), ...(n ? [html("span", { class: "times", text: `×${n}` })] : []), ...(sub ? [html("small", { text: sub })] : [])];
  const add = touch({ press: plus }, "kong-add", label, html("span", { class: "kong-words" }, ...words));
  add.dataset.kong = name;
  const back = touch({ press: minus }, "kong-back", `${label} ${say("press.less")}`, html("span", { text: "−" }));
  back.dataset.kong = `${name}-`;
  return html("div", { class: `kong-field${n ? " some" : ""}` }, add, ...(n ? [back] : []));
}

function flowers(node, fields) {
  node.append(html("div", { class: "flower-grid" }, ...FLOWERS.map((face) => flowerField(face, fields))));
}

function flowerField(face, { want, viewer, undo, mine, taken, more }) {
  const by = taken[face];
  const own = mine.includes(face) || by === viewer;
  const other = by && !own;
  const owner = other ? by : own ? viewer : null;
  const node = html(
    "button",
    {
      type: "button",
      class: `flower-field${owner ? ` owned seat-${owner}` : ""}`,
      "aria-pressed": String(Boolean(own)),
      "aria-label": tileName(face),
      "data-flower": face,
    },
    tilePicture(face, tileName(face)),
    ...(owner ? [html("span", { class: "owner", text: say(`glyph.${owner}`) })] : []),
  );
  node.press = { want, action: own ? "unflower" : "flower", params: { tile: face, ...more } };
  node.disabled = Boolean(other) || (Boolean(own) && !undo);
  return node;
}

function counter(one) {
  return html("div", { class: "counter", "data-item": one.name }, html("span", { class: "field", text: one.label }), stepper(one));
}

/** Rows of things to touch: {label, items | seats, wrap}. */
function picks(node, { rows, tall, small }, view) {
  const lines = rows.map(({ label, items, seats, wrap }) => html(
    "div",
    { class: "pick-row" },
    ...(label ? [html("span", { class: "field", text: label })] : []),
    seats
      ? html("div", { class: "pick-seats" }, ...seats.map((seat) => seatTouch(seat, view.me?.seat)))
      : html("div", { class: `pick-items${wrap ? " wrap" : ""} many-${Math.min(9, items.length)}${items.some((one) => one.tiles?.length) ? " with-tiles" : ""}` }, ...items.map(pickItem)),
  ));
  node.append(html("div", { class: `picks${tall ? " tall" : ""}${small ? " small" : ""}` }, ...lines));
}

function pickItem(item) {
  const tiles = item.tiles?.length ? [tileRow(item.tiles)] : [];
  const words = item.label ? [labelled(item.label)] : [];
  const sub = item.sub ? [html("small", { class: "sub", text: item.sub })] : [];
  const node = touch(item, "pick", item.label || item.name || (item.tiles ?? []).map(tileName).join(" "), ...tiles, ...words, ...sub, ...(item.on ? [mark()] : []));
  if (item.press) node.dataset.action = item.press.action;
  if (item.tiles?.length) node.dataset.tiles = item.tiles.join("");
  return node;
}

/** What the table believes above what a reader sees: the tiles in which they differ. */
function compare_tiles(node, { rows }) {
  node.append(html("div", { class: "compare" }, ...rows.map(({ label, tiles }) => html(
    "div", { class: "compare-row" }, html("span", { class: "field", text: label }),
    tiles.length ? tileRow(tiles, "compare-tiles") : html("span", { class: "quiet", text: say("value.none") }),
  ))));
}

/** The tile pad: what was entered above, one key a face below. */
function pad(node, { hand, left, complete, suits, honours, modes }) {
  const key = (one) => {
    const made = touch(one, "pad-key", one.name, one.face ? tilePicture(one.face, one.name) : html("span", { class: "label", text: one.label }));
    made.dataset.key = one.face ?? "flowers";
    return made;
  };
  const melds = hand.melds.map(({ kind, tiles }) => html("span", { class: "meld", "data-meld": kind }, tileRow(tiles), html("small", { text: say(`meld.${kind}`) })));
  const seen = hand.concealed.indexOf(hand.tile);
  const tiles = hand.concealed.map((face, index) => html("span", { class: index === seen ? "won" : "" }, tilePicture(face, tileName(face)), ...(index === seen ? [html("small", { text: say("pad.won") })] : [])));
  const flower = hand.tile && seen < 0 ? [html("span", { class: "won" }, tilePicture(hand.tile, tileName(hand.tile)), html("small", { text: say("pad.won") }))] : [];
  const count = html("span", { class: `pad-count${complete ? " right" : ""}`, text: complete ? `✓ ${left}` : left });
  node.append(
    html("div", { class: "pad-entered" }, html("div", { class: "pad-hand" }, ...melds, ...tiles, ...flower), count),
    html("div", { class: "pad-keys" },
      html("div", { class: "pad-suits" }, ...suits.map((row) => html("div", { class: "pad-suit" }, ...row.map(key)))),
      html("div", { class: `pad-honours many-${honours.length}` }, ...honours.map(key)),
      html("div", { class: "pad-modes" }, ...modes.map((mode) => touch(mode, "pad-mode", mode.label, html("span", { class: "label", text: mode.label }))))),
  );
}

/** Who sits where: at each seat who comes, and from where. */
function seating(node, { rows }) {
  const line = ({ seat, from, name }) => html("li", { class: seat === from ? "stays" : "" },
    html("span", { class: `owner seat-${from}`, text: say(`glyph.${from}`) }), html("span", { class: "name", text: name }),
    html("span", { class: "arrow", text: seat === from ? "=" : "→" }), html("span", { class: `owner seat-${seat}`, text: say(`glyph.${seat}`) }));
  node.append(html("ul", { class: "seating" }, ...rows.map(line)));
}

