// The bodies of tasks: dice pad, flower fields, picker of faces, progress of the sorting, and the like.

import { diePicture } from "./dice.js";
import { SEATS } from "./geometry.js";
import { html } from "./svg.js";
import { diceText, rulesName, say, tileName } from "./text.js";
import { backPicture, tilePicture } from "./tiles.js";
import { choice, stepper, touch } from "./widget_parts.js";
import { HAND_BODIES } from "./widgets_hand.js";
import { SETTLING_BODIES } from "./widgets_settling.js";

export { labelled } from "./widget_parts.js";

/** kind → fills a node with a task's body. */
export const BODIES = {
  ...HAND_BODIES,
  ...SETTLING_BODIES,
  dice: (node, { dice }) => node.append(html("div", { class: "great-dice" }, ...dice.map(diePicture))),
  dice_pad: dicePad,
  faces,
  gold: (node, { face, white, rows = [] }, view) => {
    const great = html("div", { class: "great-gold" }, tilePicture(face, tileName(face), "golden"), ...(white && !rows.length ? whiteStands(white) : []));
    node.append(great);
    if (rows.length) beside(great, rows, view);
  },
  sides,
  sorting,
  start,
  turns,
  tiles: (node, { tiles, rows = [] }, view) => {
    const great = html("div", { class: "great-tiles" }, ...tiles.map((face) => tilePicture(face, tileName(face))));
    node.append(great);
    if (rows.length) beside(great, rows, view);
  },
};

/** Small choices beside a great tile, which stays where it is. */
function beside(great, rows, view) {
  great.classList.add("with-picks");
  HAND_BODIES.picks(great, { rows, small: true }, view);
}

/** 白板 beside the tile it stands for. */
export function whiteStands(white) {
  return [html("span", { class: "white-stands" }, tilePicture("5z", tileName("5z")), html("span", { text: "=" }), tilePicture(white, tileName(white)))];
}

/**
 * The 21 throws of two dice, the larger die first: a line a larger die, a column a smaller one; the short lines of 1, 2
 * and 3 stand behind those of 6, 5 and 4.
 */
const THROWS = [6, 1, 5, 2, 4, 3].flatMap((high) => Array.from({ length: high }, (_, index) => [high, index + 1]));

function dicePad(node, { want, off }) {
  const keys = THROWS.map((dice) => {
    const key = touch({ press: { want, action: "dice", params: { dice } }, off }, `dice-choice high-${dice[0]}`, diceText(dice), ...dice.map(diePicture));
    key.dataset.dice = diceText(dice);
    return key;
  });
  node.append(html("div", { class: "dice-pad" }, ...keys));
}

/** All faces that may lie there, one touch each; on small displays a suit at a time. */
function faces(node, { want, suit, honours, flowers }) {
  const groups = Object.entries({ m: suited("m"), p: suited("p"), s: suited("s"), z: honours, f: flowers }).filter(([, all]) => all.length);
  const tabs = groups.map(([one]) => choice("suit-choice", one === suit, { suit: one }, say(`suit.${one}`), html("span", { text: say(`suit.${one}`) })));
  const key = (face) => {
    const made = touch({ press: { want, action: "face", params: { tile: face } } }, "face-choice", tileName(face), tilePicture(face, tileName(face)));
    made.dataset.tile = face;
    return made;
  };
  node.append(
    html("div", { class: "suits" }, ...tabs),
    html("div", { class: "face-groups" }, ...groups.map(([one, all]) => html("div", { class: `face-grid${one === suit ? " chosen" : ""}`, "data-suit": one }, ...all.map(key)))),
  );
}

const suited = (suit) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `${number}${suit}`);

function sides(node, { sides: list }) {
  const rows = list.map((side) => {
    const off = side.counted !== side.expected;
    const words = say("do.count.row", { ...side, side: say(`side.${side.side}`) });
    return html("li", { class: off ? "off" : "right" }, html("span", { class: "mark", text: off ? "✗" : "✓" }), html("span", { text: words }));
  });
  node.append(html("ul", { class: "sides" }, ...rows));
}

function sorting(node, { tiles, set, stacks }) {
  const rows = SEATS.map((side) => {
    const expected = (stacks?.[side] ?? 0) * 2;
    const bar = html("progress", { max: Math.max(1, expected), value: tiles[side] ?? 0, "aria-label": say(`side.${side}`) });
    return html(
      "li",
      { class: `seat-${side}` },
      html("span", { class: "owner", text: say(`glyph.${side}`) }),
      bar,
      html("span", { class: "count", text: expected ? `${tiles[side] ?? 0} / ${expected}` : `${tiles[side] ?? 0}` }),
    );
  });
  node.append(html("div", { class: "sorting" }, backPicture(set), html("ul", {}, ...rows)));
}

/** Whose turn it is among the four, in play order, and how far the taking has come. */
function turns(node, { seat, dealer, n, of }) {
  const first = Math.max(0, SEATS.indexOf(dealer));
  const order = SEATS.map((_, index) => SEATS[(first + index) % 4]);
  const seats = order.map((one) =>
    html("li", { class: `seat-${one}${one === seat ? " now" : ""}`, "aria-current": one === seat ? "step" : null }, html("span", { class: "owner", text: say(`glyph.${one}`) })),
  );
  node.append(html("div", { class: "turns" }, html("ol", {}, ...seats), html("progress", { class: `seat-${seat}`, max: Math.max(1, of), value: n })));
}

function start(node, { rules, layout, rulesets, hands, minutes, seats }) {
  const names = rulesets.map((one) => (typeof one === "string" ? one : one.name));
  const at = Math.max(0, names.indexOf(rules));
  const step = (by) => {
    const next = names[(at + by + names.length) % names.length];
    return { rules: next, layout: layoutsOf(rulesets, next)[0] ?? null };
  };
  const row = html("div", { class: "rules-row" });
  if (names.length > 1) row.append(choice("step", false, step(-1), say("press.before"), html("span", { text: "‹" })));
  row.append(html("span", { class: "rules-name", text: rulesName(rules) }));
  if (names.length > 1) row.append(choice("step", false, step(1), say("press.after"), html("span", { text: "›" })));
  const layouts = layoutsOf(rulesets, rules);
  const kinds = layouts.map((one) => choice("layout-choice", one === (layout ?? layouts[0]), { rules, layout: one }, say(`layout.${one}`), html("span", { text: say(`layout.${one}`) })));
  const draws = ["free", "dice"].map((one) => choice("layout-choice", one === seats, { seats: one }, say(`seating.${one}`), html("span", { text: say(`seating.${one}`) })));
  node.append(html("div", { class: "start-fields" },
    startField("rules", row),
    ...(kinds.length ? [startField("layout", html("div", { class: "layouts" }, ...kinds))] : []),
    ...(seats ? [startField("seats", html("div", { class: "layouts" }, ...draws))] : []),
    ...[hands, minutes].filter(Boolean).map((one) => html("div", { class: "start-choice" }, html("span", { class: "field", text: one.label }), stepper(one))),
  ));
}

function startField(name, row) {
  return html("div", { class: `start-choice start-${name}` }, html("span", { class: "field", text: say(`field.${name}`) }), row);
}

/** Layouts of a rule profile: as the table says, else both. */
function layoutsOf(rulesets, name) {
  const known = rulesets.find((one) => typeof one === "object" && one.name === name);
  return known?.layouts ?? ["zhitui", "bagua"];
}
