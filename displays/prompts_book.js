// The book of a hand at a table that reads no tiles: flowers and kongs while play goes on, 胡, and what lies behind 更多.

import { choose, clean, flowerFields, join, may, press } from "./prompt_parts.js";
import { fromMe, tilesInSet } from "./settling.js";
import { say, sayCode, seatName } from "./text.js";

const KONGS = ["open", "added", "concealed"];

export const BOOK = {
  book: (context) => {
    const { view, viewer, want, choice } = context;
    const step = STEPS[choice.step];
    if (step) return { ...step(context), keep: keepOf(view, "book") };
    const covered = want.params.covered ?? [];
    return {
      keep: keepOf(view, "book"),
      tone: "all",
      say: say("do.book"),
      hint: join(covered.length ? say("do.book.covered", { seats: covered.map((seat) => seatName(seat, viewer)).join(say("and")) }) : "", say(hasFlowers(view, want) ? "do.book.hint" : "do.book.hint_kongs")),
      body: { kind: "book", flowers: hasFlowers(view, want) ? flowerFields(want, viewer) : null, kongs: kongFields(want, want.params.kongs?.[viewer] ?? [], want.params.honours) },
      buttons: [choose({ step: "win" }, say("press.hu"), "primary"), choose({ step: "more" }, say("press.more"), "second")],
      dense: true,
    };
  },
};

/** What a choice is kept under: an answer that renews the want must not throw a half-made choice away. */
export const keepOf = (view, name) => `${name}.${view.hand}`;

/** Whether these tiles have flowers and the want takes them. */
export const hasFlowers = (view, want) => may(want, "flower") && tilesInSet(view) !== 136;

/** Counters of kongs: [{kind, honour, n, plus, minus}]; honours of their own where they count otherwise. */
export function kongFields(want, kongs, honours, more = {}) {
  if (!may(want, "kong")) return [];
  return (honours ? [false, true] : [false]).flatMap((honour) => KONGS.map((kind) => {
    const params = { kind, ...(honours ? { honour } : {}), ...more };
    const n = kongs.filter((one) => one.kind === kind && (!honours || Boolean(one.honour) === honour)).length;
    return {
      label: say(honours ? `kong.${kind}` : `meld.kong_${kind}`), sub: honours ? say(honour ? "kong.honour" : "kong.suited") : "", n, name: `${kind}${honour ? "_honour" : ""}`,
      plus: { want: want.id, action: "kong", params }, minus: { want: want.id, action: "unkong", params },
    };
  }));
}

/** Rows that ask who won and which way, then, where it matters, on whose tile; the last touch sends it. */
export function winRows(want, viewer, choice, ways, covered = []) {
  const who = choice.who ?? viewer;
  const asked = ways.find((one) => one.way === choice.way);
  const both = ways.some((one) => one.way === "sanjindao") && ways.some((one) => one.way === "sanjindao_late");
  const sub = (way) => (both && way.startsWith("sanjindao") ? say(way === "sanjindao" ? "win.opening" : "win.later") : "");
  const send = (way, source = null) => ({ want: want.id, action: "win", params: clean({ way, seat: who, source }) });
  const item = ({ way, source, may: giver }) => ({ label: sayCode("way", way), sub: sub(way), ...(source || giver ? { choose: { way }, on: way === choice.way } : { press: send(way) }) });
  if (!asked) {
    return [
      { label: say("field.who"), seats: fromMe(viewer).map((seat) => ({ seat, on: seat === who, choose: { who: seat, way: null }, off: covered.includes(seat) })) },
      { label: say("field.way"), wrap: true, items: ways.map(item) },
    ];
  }
  const givers = fromMe(viewer).filter((seat) => seat !== who).map((seat) => ({ seat, press: send(asked.way, seat) }));
  return [{ seats: givers }, ...(asked.source ? [] : [{ items: [{ label: say("press.nobodys"), press: send(asked.way) }] }])];
}

/** What was chosen of a win so far, in words. */
export function winWords(viewer, choice) {
  return choice.way ? say("end.win", { seat: seatName(choice.who ?? viewer, viewer), way: sayCode("way", choice.way) }) : "";
}

/** Rows of 流局: with who drew the last tile where the next dealer may hang on it. */
export function drawnRows(want, viewer, must) {
  const send = (params) => ({ want: want.id, action: "drawn", params });
  return [
    { label: say("field.last_drawer"), seats: fromMe(viewer).map((seat) => ({ seat, press: send({ last_drawer: seat }) })) },
    ...(must ? [] : [{ items: [{ label: say("press.drawn_plain"), press: send({}) }] }]),
  ];
}

/** Rows of 诈胡: whose and which. */
export function foulRows(want, viewer, choice, kinds) {
  const who = choice.who ?? viewer;
  return [
    { label: say("field.foul_who"), seats: fromMe(viewer).map((seat) => ({ seat, on: seat === who, choose: { who: seat } })) },
    { label: say("field.foul_kind"), items: kinds.map((kind) => ({ label: sayCode("foul", kind), press: { want: want.id, action: "foul", params: { kind, seat: who } } })) },
  ];
}

/** Rows of 跟庄: how many of the dealer's discards all three followed, and whether nobody had a flower. */
export function followedRows(want, said) {
  const [count, none] = [said.followed ?? 0, Boolean(said.no_flowers)];
  const send = (params) => ({ want: want.id, action: "followed", params: { no_flowers: none, followed: count, ...params } });
  return [
    { label: say("field.followed"), items: [0, 1, 2, 3, 4].map((n) => ({ label: String(n), on: n === count, press: send({ followed: n }) })) },
    { label: say("field.no_flowers"), items: [true, false].map((on) => ({ label: say(on ? "press.yes" : "press.no"), on: none === on, press: send({ no_flowers: on }) })) },
  ];
}

const back = () => choose({ step: null, way: null, who: null }, say("press.back"), "third");

/** What 胡 and 更多 open, step by step; every step but the last says nothing to the table. */
const STEPS = {
  win: ({ viewer, want, choice }) => ({
    tone: "mine",
    say: say(choice.way ? "do.win.source" : "do.win"),
    hint: join(winWords(viewer, choice), say("do.win.hint")),
    body: { kind: "picks", rows: winRows(want, viewer, choice, want.params.ways ?? [], want.params.covered ?? []) },
    buttons: [choice.way ? choose({ way: null }, say("press.back"), "third") : back()],
    wide: "low",
  }),
  more: ({ view, viewer, want }) => {
    const fouls = want.params.fouls ?? [];
    const drawn = want.params.last_drawer ? { choose: { step: "drawn" } } : { press: { want: want.id, action: "drawn", params: {} } };
    return {
      tone: "all",
      say: say("do.more"),
      hint: say("do.more.hint"),
      body: {
        kind: "picks", tall: true,
        rows: [
          ...(may(want, "drawn") ? [{ items: [{ label: say("press.drawn"), sub: say("press.drawn.hint"), ...drawn }] }] : []),
          ...(may(want, "foul") && fouls.length ? [{ items: [{ label: say("press.foul"), sub: say("press.foul.hint"), choose: { step: "foul" } }] }] : []),
          ...(may(want, "followed") && want.params.followed ? [{ items: [{ label: say("press.followed"), sub: say("press.followed.hint"), choose: { step: "followed" } }] }] : []),
          ...(may(want, "cover") ? [{ items: [{ label: say("press.cover"), sub: say("press.cover.hint"), choose: { step: "cover" } }] }] : []),
        ],
      },
      buttons: [back()],
    };
  },
  drawn: ({ viewer, want }) => ({
    tone: "mine", say: say("do.drawn"), hint: say("do.win.hint"), body: { kind: "picks", rows: drawnRows(want, viewer, true) }, buttons: [back()],
  }),
  foul: ({ viewer, want, choice }) => ({
    tone: "mine", say: say("do.foul"), hint: say("do.win.hint"), body: { kind: "picks", rows: foulRows(want, viewer, choice, want.params.fouls ?? []) }, buttons: [back()],
  }),
  followed: ({ want }) => ({
    tone: "mine", say: say("do.followed"), hint: say("do.win.hint"), body: { kind: "picks", rows: followedRows(want, want.params.followed ?? {}) }, buttons: [back()],
  }),
  cover: ({ viewer, want }) => {
    const covered = want.params.covered ?? [];
    return {
      tone: "mine",
      say: say("do.cover"),
      hint: say("do.cover.hint"),
      body: { kind: "picks", rows: [{ seats: fromMe(viewer).map((seat) => ({ seat, on: covered.includes(seat), press: { want: want.id, action: "cover", params: { seat, on: !covered.includes(seat) } } })) }] },
      buttons: [back()],
    };
  },
};
