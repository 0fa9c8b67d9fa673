// The prompts of the opening of a hand and of the machine: what is asked in words, and the buttons that answer it.

import { stoppedFace } from "./alerts.js";
import { countOf, goldBody, goldHint, resultWords, turnsBody, waitingTask } from "./waiting.js";
import { fullPlace, placeWords } from "./places.js";
import { byHand, choose, clean, flowerFields, join, may, press } from "./prompt_parts.js";
import { countAsked, pick } from "./prompts_play.js";
import { tilesInSet } from "./settling.js";
import { diceText, say, sayCode, seatName, tileName } from "./text.js";
import { FLOWERS, HONOURS } from "./tiles.js";

/** verb → task of a want. */
export const OPENING = {
  // Clearing an emergency stop takes two presses: hands off first.
  stopped: ({ view, want, choice }) => ({
    ...stoppedFace(view.machine?.stop ?? want.params.reason),
    buttons: [
      choice.sure
        ? press(want, "clear", say("press.clear_stop.sure"))
        : { choose: { sure: true }, label: say("press.clear_stop"), kind: "second", ready: true },
    ],
  }),
  lift: ({ view, want }) => {
    const last = view.match?.stage === "ended";
    return {
      tone: "all", say: say(last ? "do.lift.last" : "do.lift"), hint: last ? say("do.lift.last.hint") : resultWords(view) || say("do.lift.hint"), buttons: [press(want, "lift", say("press.lift"))],
    };
  },
  push_in: ({ want }) => ({
    tone: "all", say: say("do.push_in"), hint: say("do.push_in.hint"), buttons: [press(want, "pushed", say("press.pushed"))],
  }),
  count: ({ want }) => {
    const sides = want.params.sides ?? [];
    const off = sides.reduce((sum, side) => sum + side.counted - side.expected, 0);
    const kind = off < 0 ? "short" : off > 0 ? "long" : "uneven";
    return {
      tone: "alert",
      face: "count",
      kicker: say("alert.fault"),
      say: say(`do.count.${kind}`, { n: Math.abs(off) }),
      hint: say(kind === "long" ? "do.count.long.hint" : "do.count.short.hint"),
      body: { kind: "sides", sides },
      buttons: [press(want, "retry", say("press.retry"))],
    };
  },
  retry: ({ want }) => {
    const { operation, fault, side } = want.params;
    const what = fault ? sayCode("fault", fault) : say("do.retry", { operation: sayCode("op", operation) });
    return {
      tone: "alert",
      face: "fault",
      kicker: fault ? say("do.retry", { operation: sayCode("op", operation) }) : say("alert.fault"),
      say: side ? say("alert.where", { what, side: say(`side.${side}`) }) : what,
      hint: sayCode("fault", fault || "other", {}, ".do"),
      repair: say("alert.repair", { text: sayCode("fault", fault || "other", {}, ".repair") }),
      buttons: [press(want, "retry", say("press.retry"))],
    };
  },
  // What the machine cannot know is asked, never guessed: two seats that see it say so.
  stands: ({ viewer, want }) => {
    const { operation, fault, side, said } = want.params;
    const what = sayCode("fault", fault);
    const yes = (said ?? []).map((seat) => say("stands.said", { seat: seatName(seat, viewer) }));
    return {
      tone: "alert",
      face: "fault",
      kicker: side ? say("alert.where", { what, side: say(`side.${side}`) }) : what,
      say: sayCode("stands", operation),
      hint: join(say("stands.hint"), ...yes),
      repair: say("alert.repair", { text: sayCode("fault", fault, {}, ".repair") }),
      buttons: [
        ...(may(want, "stands") ? [press(want, "stands", say("press.stands"))] : []),
        press(want, "retry", say("press.stands_not"), {}, "second"),
      ],
    };
  },
  row: ({ want }) => ({
    tone: "all", say: say("do.row"), hint: say("do.row.hint"), buttons: may(want, "ok") ? [press(want, "ok", say("press.row"))] : [],
  }),
  roll: ({ view, viewer, want, wants }) => {
    const purpose = say(`purpose.${want.params.purpose}`);
    const mine = view.dice?.by ? view.dice.by === viewer : false;
    const tail = wants.find((one) => one.verb === "tail");
    return {
      tone: mine ? "mine" : "all",
      say: say(mine ? "do.roll" : "do.roll_any", { purpose }),
      hint: join(rollHint(want.params), tail ? say("do.tail.hint", { n: tail.params.count ?? 0 }) : ""),
      body: tail ? flowerFields(tail, viewer) : null,
      buttons: [...(may(want, "roll") ? [press(want, "roll", say("press.roll"))] : []), ...(tail ? tailButtons(tail, view) : [])],
    };
  },
  dice: ({ want }) => {
    const task = dicePad(want, say("do.dice"), say("do.dice.hint", { purpose: say(`purpose.${want.params.purpose}`) }), "mine");
    return { ...task, buttons: [...task.buttons, ...(may(want, "cocked") ? [press(want, "cocked", say("press.cocked"), {}, "second")] : [])] };
  },
  dice_lost: ({ want }) => {
    const seen = Object.entries(want.params.seen ?? {}).map(([seat, dice]) =>
      say(dice ? "do.dice_lost.seen" : "do.dice_lost.none", { seat: seatName(seat), dice: diceText(dice) }),
    );
    const task = dicePad(want, say("do.dice_lost"), join(say("do.dice_lost.hint"), ...seen), "alert");
    return { ...task, buttons: [...task.buttons, ...(may(want, "nobody") ? [press(want, "nobody", say("press.nobody"), {}, "second")] : [])] };
  },
  dice_check: ({ viewer, want }) => {
    const { dice, by } = want.params;
    return check(want, viewer, by, {
      said: say("do.dice_check.by_me", { dice: diceText(dice) }),
      asked: say("do.dice_check", { seat: seatName(by), dice: diceText(dice) }),
      body: { kind: "dice", dice },
    });
  },
  gold_check: ({ viewer, want }) => {
    const { tile, by } = want.params;
    return check(want, viewer, by, {
      said: say("do.gold_check.by_me", { tile: tileName(tile) }),
      asked: say("do.gold_check", { tile: tileName(tile) }),
      body: { kind: "tiles", tiles: [tile] },
    });
  },
  take: ({ view, viewer, want }) => {
    const { seat, positions, n, of } = want.params;
    const words = placeWords(positions, viewer);
    const mine = seat === viewer;
    const door = view.phase === "door" || (view.door && positions?.includes(view.door));
    const buttons = may(want, "ok") ? [press(want, "ok", say("press.taken"))] : byHand(want);
    const turn = of > 1 ? say("wait.hint_take", { n, of }) : "";
    if (door) return { tone: mine ? "mine" : "all", say: say(mine ? "wait.door_mine" : "wait.door", { place: fullPlace(positions) }), hint: "", buttons };
    return {
      tone: mine ? "mine" : "all",
      say: mine ? say("do.take", { place: words.place }) : say("wait.take", { seat: seatName(seat, viewer), place: fullPlace(positions) }),
      hint: join(mine ? words.hint : "", turn, buttons.length && !mine ? say("do.take.done_hint") : ""),
      body: turnsBody(view),
      buttons,
    };
  },
  flowers: ({ view, viewer, want }) => {
    if (want.params.tiles) {
      return {
        tone: "mine",
        say: say("do.flowers.full", { n: want.params.tiles.length }),
        hint: fullPlace(want.params.positions),
        body: { kind: "tiles", tiles: want.params.tiles },
        buttons: byHand(want),
      };
    }
    return {
      tone: "all",
      say: say("do.flowers"),
      hint: say("do.flowers.hint", { place: fullPlace((want.params.tail ?? []).slice(0, 1)), n: want.params.count ?? 0 }),
      body: flowerFields(want, viewer),
      buttons: [...(may(want, "ok") ? [press(want, "ok", say("press.no_more"))] : []), ...tailButtons(want, view)],
    };
  },
  tail: ({ view, viewer, want }) => {
    const waiting = waitingTask(view, viewer);
    const shift = tailButtons(want, view);
    return {
      ...waiting,
      hint: shift.length ? say("do.tail.hint", { n: want.params.count ?? 0 }) : waiting.hint,
      body: flowerFields(want, viewer),
      buttons: shift,
    };
  },
  gold_face: ({ view, want, choice }) => ({
    tone: "mine",
    say: say((want.params.nth ?? 1) > 1 ? "do.gold_face.again" : "do.gold_face", { n: countOf(view) }),
    hint: fullPlace([want.params.position]),
    // One touch: all see it, and any of them, its thrower too, can say that it is not so.
    body: { kind: "faces", want: want.id, suit: choice.suit ?? "m", honours: tilesInSet(view) === 120 ? ["5z"] : HONOURS, flowers: tilesInSet(view) === 136 ? [] : FLOWERS },
    buttons: [],
  }),
  flip: ({ view, want, wants, choice }) => {
    if (choice.unread) return OPENING.gold_face({ view, want, wants, choice });
    return {
      tone: "mine",
      say: say("do.flip", { n: countOf(view) }),
      hint: join(fullPlace([want.params.position]), say("do.flip.hint")),
      buttons: may(want, "face") ? [{ choose: { unread: true }, label: say("press.unread"), kind: "second", ready: true }] : [],
    };
  },
  hand_check: ({ want }) => ({
    tone: "mine",
    say: say("do.hand_check", want.params),
    hint: say("do.hand_check.hint"),
    buttons: may(want, "ok") ? [press(want, "ok", say("press.done"))] : [],
  }),
  opening: ({ view, viewer, want, wants, choice }) => {
    const tail = wants.find((one) => one.verb === "tail");
    const claims = want.params.claims ?? [];
    const doubt = countAsked(wants, choice);
    const options = (want.params.options ?? []).filter((option) => option.name === "hu" && claims.includes(option.way));
    const offers = claims.flatMap((way) => (options.some((option) => option.way === way) ? options.filter((option) => option.way === way) : [{ name: "hu", way }]));
    const ways = claims.map((way) => sayCode("way", way)).join(say("and"));
    const tile = tileName(view.gold?.face);
    if (!may(want, "pass")) {
      return {
        tone: "all", say: say("do.opening.none", { tile }), hint: goldHint(view), body: tail ? flowerFields(tail, viewer) : goldBody(view),
        buttons: may(want, "ok") ? [press(want, "ok", say("press.begin"))] : [],
      };
    }
    return {
      // The same column at every seat, whatever it holds: a 胡 that is none is refused (R13, R28).
      tone: "all",
      say: say("do.opening", { tile }),
      hint: doubt?.hint ?? (choice.pick === "hu" ? say(offers.some((option) => option.tile) ? "do.pick.drop" : "do.pick.hu") : claims.length ? say("do.opening.may", { ways }) : say("do.opening.nothing")),
      body: { ...goldBody(view), rows: doubt?.rows ?? (choice.pick === "hu" ? claims.map((way) => offeredRow(want, offers, way)) : []) },
      buttons: [doubt ? { ...doubt.button, label: say("press.claim_any"), can: offers.length > 0 } : claimAny(want, offers, choice, viewer === view.dealer ? "tianhu" : "qiangjin"), press(want, "pass", say("press.pass"), {}, "five")],
      row: "two",
    };
  },
};

/** 胡 in the window of the opening: sent where only one can be meant, else which one is chosen. */
function claimAny(want, offers, choice, otherwise) {
  const label = say("press.claim_any");
  const can = offers.length > 0;
  if (offers.length > 1) return { ...choose({ pick: choice.pick === "hu" ? null : "hu" }, label, "five"), can, on: choice.pick === "hu" };
  return { ...press(want, "claim", label, clean({ way: offers[0]?.way ?? otherwise, tile: offers[0]?.tile || null }), "five"), can };
}

/** The ways in which one 胡 may be meant: by name, or by the tile that is dropped for it. */
function offeredRow(want, offers, way) {
  const same = offers.filter((option) => option.way === way);
  const name = sayCode("way", way);
  const dropped = same.some((option) => option.tile);
  return { label: dropped ? name : "", items: same.map((option) => ({ ...pick(want, { ...option, name: "claim" }), label: dropped ? "" : name })) };
}

/** One touch says both dice: a wrong one is taken back, or objected to, before anything is done with it. */
function dicePad(want, words, hint, tone) {
  return { tone, say: words, hint, wide: "low", body: { kind: "dice_pad", want: want.id, off: !may(want, "dice") }, buttons: [] };
}

function check(want, viewer, by, { said, asked, body }) {
  const own = by === viewer;
  return {
    tone: own ? "wait" : "all",
    say: own ? said : asked,
    hint: say("do.check.hint"),
    body,
    buttons: [
      ...(may(want, "agree") ? [press(want, "agree", say("press.agree"))] : []),
      ...(may(want, "object") ? [press(want, "object", say(own ? "press.take_back" : "press.object"), {}, "second")] : []),
    ],
  };
}

function rollHint({ spoilt, mode }) {
  return spoilt ? sayCode("spoilt", spoilt) : say(`do.roll.${mode ?? "read"}`);
}

/** Nothing has gone from the tail as long as one may go back to the taking: that stands in place of one tile less. */
function tailButtons(want, view) {
  if (!may(want, "tail_shift")) return [];
  const taken = view.me.wants.find((one) => one.verb === "taken" && may(one, "not_yet"));
  return [
    taken ? press(taken, "not_yet", say("press.not_yet"), {}, "second") : press(want, "tail_shift", say("press.tail_back"), { by: -1 }, "second"),
    press(want, "tail_shift", say("press.tail_on"), { by: 1 }, "second"),
  ];
}
