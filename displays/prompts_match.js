// The prompts of a match: what is agreed before it, seats, swaps, taking a booking back, pausing and parking.

import { choose, clean, may, press } from "./prompt_parts.js";
import { fromMe } from "./settling.js";
import { say, sayCode, seatName } from "./text.js";

const HANDS = [0, 1, 4, 8, 12, 16, 20, 24, 32, 40, 48];
const MINUTES = [0, 30, 60, 90, 120, 150, 180, 240, 300, 360];

export const MATCH = {
  start: ({ view, want, choice }) => {
    const { params } = want;
    const rulesets = params.rulesets ?? [];
    const rules = choice.rules ?? params.rules;
    const layout = choice.layout ?? params.layout ?? null;
    const hands = choice.hands ?? params.hands ?? null;
    const minutes = choice.minutes ?? params.minutes ?? null;
    const seats = choice.seats ?? params.seats ?? null;
    const known = rulesets.find((one) => typeof one === "object" && one.name === rules);
    const chips = known?.chips ?? (rules === params.rules ? params.chips : null);
    const again = view.phase === "ended" && !choice.fresh;
    const agreed = clean({ rules, layout, hands: choice.hands ?? null, minutes: choice.minutes ?? null, seats: choice.seats ?? null });
    return {
      tone: "all",
      say: say(choice.fresh ? "do.start.fresh" : again ? "do.start.again" : "do.start"),
      hint: choice.fresh ? say("do.start.fresh.hint") : again ? say("do.start.again.hint") : chips ? say("do.start.chips", { n: chips }) : say("do.start.hint"),
      body: {
        kind: "start", rules, layout, rulesets, seats,
        hands: hands === null ? null : stepper("hands", hands, HANDS),
        minutes: minutes === null ? null : stepper("minutes", minutes, MINUTES),
      },
      buttons: [
        press(want, "start", say(choice.fresh ? "press.start.fresh" : "press.start"), choice.fresh ? { ...agreed, fresh: true } : agreed),
        // Who sits down after others must not be shown what those have played.
        ...(params.fresh ? [choose({ fresh: !choice.fresh }, say(choice.fresh ? "press.same_table" : "press.new_table"), "third")] : []),
      ],
    };
  },
  seats: ({ view, viewer, want }) => {
    const { seats = {} } = want.params;
    const from = want.params.before ?? want.params.from ?? {};
    const was = Object.fromEntries(Object.entries(from).map(([seat, player]) => [player, seat]));
    const name = (seat) => view.match?.players?.[seat]?.name || "";
    const rows = fromMe(viewer).map((seat) => ({ seat, from: was[seats[seat]] ?? seat, name: name(was[seats[seat]] ?? seat) }));
    const leaves = Object.entries(seats).find(([, player]) => player === from[viewer])?.[0] ?? viewer;
    return {
      tone: "mine",
      say: leaves === viewer ? say("do.seats.stay") : say("do.seats", { seat: seatName(leaves) }),
      hint: say(view.phase === "settle" ? "do.seats.back" : "do.seats.hint"),
      body: { kind: "seating", rows },
      buttons: may(want, "ok") ? [press(want, "ok", say("press.seated"))] : [],
    };
  },
  paused: () => ({ tone: "alert", face: "paused", kicker: say("alert.paused"), say: say("alert.paused.say"), hint: say("alert.paused.hint"), buttons: [] }),
  locked: () => ({ tone: "wait", face: "parked", kicker: say("locked"), say: say("do.locked"), hint: say("do.locked.hint"), buttons: [] }),
  parked: ({ want }) => ({
    tone: "all",
    face: "parked",
    kicker: say("parked"),
    say: say("do.parked"),
    hint: want.params.reason ? sayCode("park", want.params.reason) : say("do.parked.hint"),
    buttons: may(want, "unpark") ? [press(want, "unpark", say("press.unpark"))] : [],
  }),
};

/** Buttons beside whatever is asked: going back to the taking, taking the last booking back, swapping seats. */
export function besides(view, viewer, wants, choice) {
  const found = [];
  for (const want of wants) {
    if (want.verb === "taken" && may(want, "not_yet")) found.push(press(want, "not_yet", say("press.not_yet"), {}, "third"));
    if (want.verb === "undo" && !(want.params.asked_by ?? []).length) found.push(press(want, "undo", say("press.undo", { n: want.params.hand }), {}, "third"));
    if (want.verb === "call_off" && !(want.params.asked_by ?? []).length) found.push(press(want, "call_off", say("press.call_off"), {}, "third"));
    if (want.verb !== "swap") continue;
    for (const right of want.params.rights ?? []) {
      const label = sayCode("swap", right);
      found.push(choice.swap === right ? { ...press(want, "swap", say("press.swap.sure"), { right }, "third"), sure: true } : choose({ swap: right }, label, "third"));
    }
  }
  return found;
}

/**
 * Somebody wants the last booking back (`undo`) or the match to end (`end`), which takes a second seat: a card, as
 * nothing else has to wait for it.
 */
export function askedCard(want, viewer) {
  const { verb, params } = want;
  const asked = params.asked_by ?? [];
  const mine = asked.includes(viewer);
  const seats = asked.map((seat) => seatName(seat, viewer)).join(say("and"));
  return {
    key: `${verb}.${want.id}`,
    text: say(mine ? `notice.${verb}_mine` : `notice.${verb}`, { seat: seats, n: params.hand }),
    tone: "ask",
    buttons: [
      ...(may(want, verb) ? [press(want, verb, say(`press.${verb}.agree`), {}, "second")] : []),
      ...(may(want, "keep") ? [press(want, "keep", say(`press.${verb}.${mine ? "withdraw" : "keep"}`), {}, "second")] : []),
    ],
  };
}

/** A seat does not answer what it was asked about a zone: the three others may rule in its place, as a card (P8). */
export function rulingCard(want, viewer) {
  const { seat, zone } = want.params;
  return {
    key: `count_ruling.${want.id}`,
    text: say("notice.count_ruling", { seat: seatName(seat, viewer), zone: sayCode("zone", zone) }),
    tone: "ask",
    buttons: ["believed", "out"].filter((action) => may(want, action)).map((action) => press(want, action, say(`press.ruling.${action}`), {}, "second")),
  };
}

/** What the settings offer for the match: its end, as long as nobody has asked for it; null where it cannot be had. */
export function endOffer(view) {
  const want = (view?.me?.wants ?? []).find((one) => one.verb === "end" && may(one, "end"));
  return want && !want.params.asked_by?.length ? press(want, "end", say("press.end"), {}, "second") : null;
}

function stepper(name, value, values) {
  const next = values.find((one) => one > value) ?? value;
  const before = [...values].reverse().find((one) => one < value) ?? value;
  return { label: say(`field.${name}`), text: value ? say(`value.${name}`, { n: value }) : say(`value.no_${name}`), minus: { [name]: before }, plus: { [name]: next }, least: before === value, most: next === value };
}
