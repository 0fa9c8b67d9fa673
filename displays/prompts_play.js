// The prompts of play where tiles are read: draw, discard, claims, kongs, laps of 游金, and what a reader doubts.

import { fullPlace, placeWords } from "./places.js";
import { byHand, choose, clean, join, may, press } from "./prompt_parts.js";
import { say, sayCode, seatName, tileName } from "./text.js";

/** The five answers to a discard, the same at every seat whatever it holds (R13). */
const FIVE = ["hu", "kong_open", "pong", "chi", "pass"];

export const PLAY = {
  // Told to this seat alone, and in quiet colours: a red screen would tell the others (R39).
  count_wrong: ({ want, choice }) => {
    const { zone, seen, expected } = want.params;
    return {
      tone: "mine",
      say: say("do.count_wrong", { zone: sayCode("zone", zone), seen, expected }),
      hint: say("do.count_wrong.hint"),
      buttons: [
        ...(may(want, "ok") ? [press(want, "ok", say("press.count_right"))] : []),
        ...(may(want, "admit") ? [twice(choice, "admit", press(want, "admit", say("press.admit.sure")), say("press.admit"))] : []),
      ],
    };
  },
  reader_check: ({ want }) => {
    const { zone, seen = [], believed = [] } = want.params;
    return {
      tone: "mine",
      say: say("do.reader_check", { zone: sayCode("zone", zone) }),
      hint: say("do.reader_check.hint"),
      body: { kind: "compare_tiles", rows: [{ label: say("field.believed"), tiles: believed }, { label: say("field.seen"), tiles: seen }] },
      buttons: [
        ...(may(want, "believed") ? [press(want, "believed", say("press.believed"))] : []),
        ...(may(want, "seen") ? [press(want, "seen", say("press.seen"), {}, "second")] : []),
      ],
    };
  },
  wrong_discard: ({ want }) => {
    const { tile, code, rule } = want.params;
    return {
      tone: "mine",
      say: say("do.wrong_discard", { tile: tileName(tile) }),
      hint: `${sayCode("refused", code, { tile: tileName(tile) })}${rule ? say("refused.rule", { rule }) : ""}`,
      body: { kind: "tiles", tiles: [tile] },
      buttons: [],
    };
  },
  claim: ({ viewer, want, wants, choice }) => {
    const { tile, source, kind, options = [] } = want.params;
    const doubt = countAsked(wants, choice);
    const open = choice.pick === COUNT ? "" : choice.pick;
    const rob = kind === "kong";
    return {
      // From across the table the column is the same whatever I hold (R13): what I may do is a thin line under a word.
      tone: "all",
      say: say(rob ? "do.claim.kong" : "do.claim", { seat: seatName(source, viewer), tile: tileName(tile) }),
      hint: doubt?.hint ?? (open ? say(`do.pick.${open}`) : say("do.claim.hint")),
      body: { kind: "tiles", tiles: [tile], rows: doubt?.rows ?? (open ? [{ items: picks(want, options, open) }] : []) },
      buttons: FIVE.map((name) => (doubt && name === "hu" ? { ...doubt.button, can: options.some((option) => option.name === "hu") } : claimButton(want, options, name, choice, rob))),
      row: "five",
    };
  },
  lap: ({ view, viewer, want, choice }) => {
    const { drawn, options = [] } = want.params;
    const tour = view.play?.tour;
    return {
      tone: "mine",
      say: tour ? say("do.lap", { seat: seatName(tour.owner), level: tourName(tour.level), tile: tileName(drawn) }) : say("do.lap.plain", { tile: tileName(drawn) }),
      hint: say("do.lap.hint"),
      body: winPicks(want, options, choice) ?? { kind: "tiles", tiles: [drawn] },
      buttons: [
        ...winButtons(want, options, choice),
        ...tourButtons(view, viewer, want, options),
        ...kongButtons(want, options),
        ...(may(want, "pass") ? [press(want, "pass", say("press.put_away"), {}, wins(options).length ? "second" : "primary")] : []),
      ],
    };
  },
  flower: ({ want, choice }) => {
    const { tile, options = [] } = want.params;
    return {
      tone: "mine",
      say: say("do.flower_wins", { tile: tileName(tile) }),
      hint: "",
      body: winPicks(want, options, choice) ?? { kind: "tiles", tiles: [tile] },
      buttons: [...winButtons(want, options, choice), press(want, "pass", say("press.replace_only"), {}, "second")],
    };
  },
  replace: ({ viewer, want }) => {
    const { tile, position } = want.params;
    return {
      tone: "mine",
      say: say("do.replace", { tile: tileName(tile) }),
      hint: position ? join(fullPlace([position]), placeWords([position], viewer).hint) : "",
      body: { kind: "tiles", tiles: [tile] },
      buttons: byHand(want),
    };
  },
  lay: ({ viewer, want }) => {
    const { kind, tiles = [], tile, source } = want.params;
    const from = source && source !== viewer;
    if (kind === "aside") {
      return { tone: "mine", say: say("do.lay.aside", { tile: tileName(tiles[0]) }), hint: say("do.lay.aside.hint"), body: { kind: "tiles", tiles }, buttons: may(want, "by_hand") ? [press(want, "by_hand", say("press.laid"), {}, "second")] : [] };
    }
    return {
      tone: "mine",
      say: say(from ? "do.lay.from" : "do.lay", { kind: sayCode("meld", kind), seat: seatName(source, viewer), tile: tileName(tile) }),
      hint: say(kind?.startsWith("kong") ? "do.lay.kong_hint" : "do.lay.hint"),
      body: { kind: "tiles", tiles },
      buttons: may(want, "by_hand") ? [press(want, "by_hand", say("press.laid"), {}, "second")] : [],
    };
  },
  turn: ({ view, viewer, want, choice }) => {
    const { drawn = "", options = [], discards = [], follow = [], fouls = [] } = want.params;
    const sentence = follow.length ? "do.turn.follow" : drawn ? "do.turn.drawn" : "do.turn";
    const task = {
      tone: "mine",
      say: say(sentence, { tile: tileName(drawn), tiles: follow.map(tileName).join(say("and")) }),
      hint: follow.length ? say("do.turn.follow.hint") : wins(options).length ? say("do.turn.win.hint") : say("do.turn.hint"),
    };
    const back = choose({ step: null, tile: null, sure: null }, say("press.back"), "third");
    if (choice.step === "discard") return { ...task, say: say("do.pick.discard"), hint: say("do.pick.discard.hint"), ...discardHere(want, discards, choice, back) };
    if (choice.step === "more") return { ...task, hint: "", body: { kind: "picks", rows: [exposeRow(want, fouls, choice)] }, buttons: [back] };
    const down = options.filter((option) => option.name === "discard_down");
    const body = winPicks(want, options, choice)
      ?? (choice.pick === "down" ? { kind: "picks", rows: [{ label: say("do.pick.down"), items: down.map((option) => pick(want, option)) }] } : null)
      ?? { kind: "turn", drawn, follow, gold: view.gold?.face ?? null };
    if (choice.pick) return { ...task, body, buttons: [choose({ pick: null }, say("press.back"), "third")] };
    const buttons = [
      ...winButtons(want, options, choice),
      ...tourButtons(view, viewer, want, options),
      ...(down.length ? [choose({ pick: choice.pick === "down" ? null : "down" }, say("press.discard_down"))] : []),
      ...kongButtons(want, options),
      ...(may(want, "discard") && discards.length ? [choose({ step: "discard" }, say("press.discard_here"), "third")] : []),
      ...(may(want, "expose_false") && fouls.length ? [choose({ step: "more" }, say("press.more"), "third")] : []),
    ];
    return { ...task, body, buttons, dense: buttons.length > 4 };
  },
  draw: ({ viewer, want }) => {
    const { position, end } = want.params;
    const words = placeWords(position ? [position] : [], viewer);
    return {
      tone: "mine",
      say: say(end === "tail" ? "do.draw.tail" : "do.draw", { place: words.place }),
      hint: words.hint,
      buttons: byHand(want),
    };
  },
};

/** The name of a tour's level: 明游, 双游, 三游. */
export function tourName(level) {
  return say(`tour.${level}`);
}

/** An option as a pick: what it sends, its words and its tiles. */
export function pick(want, option) {
  const tiles = option.tiles ?? (option.tile ? [option.tile] : []);
  const label = option.way && !tiles.length ? sayCode("way", option.way) : "";
  return { press: { want: want.id, action: option.name, params: paramsOf(option) }, label, tiles };
}

/** A button for each way of 胡 that is there. */
function winButtons(want, options, choice) {
  const ways = [...new Set(wins(options).map((option) => option.way))];
  return ways.map((way, index) => {
    const same = wins(options).filter((option) => option.way === way);
    const label = say("press.claim", { way: sayCode("way", way) });
    const kind = index === 0 ? "primary" : "second";
    if (same.length === 1) return { ...press(want, "hu", label, paramsOf(same[0]), kind), can: true };
    return { ...choose({ pick: choice.pick === way ? null : way }, label, kind), can: true };
  });
}

/** The tiles of which one is dropped for the way that was chosen; null while none is. */
function winPicks(want, options, choice) {
  const same = wins(options).filter((option) => choice.pick && option.way === choice.pick);
  if (same.length === 0) return null;
  return { kind: "picks", rows: [{ label: say("do.pick.drop"), items: same.map((option) => pick(want, option)) }] };
}

const COUNT = "count";

/** A seat that is asked about its number of tiles is refused 胡 (R39): in a window, where the question waits, 胡 asks it. */
export function countAsked(wants, choice) {
  const asked = wants.find((one) => one.verb === "count_wrong" && may(one, "ok"));
  if (!asked) return null;
  const open = choice.pick === COUNT;
  const { zone, seen, expected } = asked.params;
  return {
    button: { ...choose({ pick: open ? null : COUNT }, say("press.five.hu"), "five"), on: open },
    hint: open ? say("do.count_wrong", { zone: sayCode("zone", zone), seen, expected }) : null,
    rows: open ? [{ items: [{ press: { want: asked.id, action: "ok", params: {} }, label: say("press.count_right"), tiles: [] }] }] : null,
  };
}

const wins = (options) => options.filter((option) => option.name === "hu");

function paramsOf({ way, tile, tiles, kind }) {
  return clean({ way: way || null, tile: tile || null, tiles: tiles?.length ? tiles : null, kind: kind || null });
}

/** A press that cannot be taken back is asked for a second time. */
function twice(choice, name, button, first) {
  return choice.sure === name ? { ...button, kind: "second", sure: true } : choose({ sure: name }, first);
}

function claimButton(want, options, name, choice, rob) {
  const own = options.filter((option) => option.name === name);
  const label = say(`press.five.${name}`);
  const can = name !== "pass" && own.length > 0;
  if (own.length > 1) return { ...choose({ pick: choice.pick === name ? null : name }, label, "five"), can, on: choice.pick === name };
  if (own.length === 1 || name !== "hu") return { ...press(want, name, label, own.length ? paramsOf(own[0]) : name === "chi" ? { tiles: anyRun(want.params.tile) } : {}, "five"), can };
  // A thumb that slips onto 胡 has to say so twice, where the house fines it (R28); the button keeps its look.
  if (choice.sure !== "hu") return choose({ sure: "hu" }, label, "five");
  return { ...press(want, "hu", say("press.five.hu.sure"), { way: rob ? "qianggang" : "pinghu" }, "five"), sure: true };
}

/** Two tiles that would make a run with this one: a 吃 that is none is refused by the table, with its reason. */
function anyRun(tile) {
  const [number, suit] = [Number(tile[0]), tile[1]];
  if (suit === "z") return [tile, tile];
  return (number <= 7 ? [number + 1, number + 2] : [number - 2, number - 1]).map((one) => `${one}${suit}`);
}

function picks(want, options, name) {
  return options.filter((option) => option.name === name).map((option) => pick(want, option));
}

function kongButtons(want, options) {
  return options.filter((option) => option.name === "kong_concealed" || option.name === "kong_added").map((option) => press(want, option.name, say(`press.${option.name}`, { tile: tileName(option.tile) }), paramsOf(option), "second"));
}

function tourButtons(view, viewer, want, options) {
  const mine = view.play?.tour?.owner === viewer ? view.play.tour.level : 1;
  const level = tourName(Math.min(3, mine + 1));
  return options.filter((option) => option.name === "tour_discard").map((option) => ({ ...press(want, "tour_discard", say("press.tour", { level }), paramsOf(option), "second"), gold: true }));
}

/** A discard by touch, for who cannot lay it down or whose tile no reader saw: chosen, then said. */
function discardHere(want, discards, choice, back) {
  const items = discards.map((tile) => ({ choose: { tile }, on: tile === choice.tile, tiles: [tile], label: "", name: tileName(tile) }));
  const said = choice.tile ? [press(want, "discard", say("press.discard", { tile: tileName(choice.tile) }), { tile: choice.tile })] : [];
  return { body: { kind: "picks", rows: [{ items }], small: true }, buttons: [...said, back], dense: true };
}

/** Behind 更多: a hand laid open that does not win. */
function exposeRow(want, fouls, choice) {
  const items = fouls.map((kind) => {
    const name = sayCode("foul", kind);
    return choice.sure === kind
      ? { press: { want: want.id, action: "expose_false", params: { kind } }, label: say("press.expose.sure", { kind: name }), tiles: [] }
      : { choose: { sure: kind }, label: name, tiles: [] };
  });
  return { label: say("do.pick.expose"), items };
}
