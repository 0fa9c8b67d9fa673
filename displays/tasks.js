// What do I do now? One view in, one task out: a sentence, a line below it, a body to choose from, and buttons.
//
// A task is {id, tone, kicker, say, hint, body, buttons, leftMs, keep, wide, row}. `tone` is "mine" (act), "all" (anyone
// may act), "wait" or "alert". `keep` names what a half-made choice is kept under (the id where there is none), `wide`
// gives the column the whole width ("low": on low displays alone, "always"), `row` lays the buttons. A button is
// {want, action, params, label, kind: "primary" | "second" | "third" | "five" | "vote", ready, can, sure} or {choose}.

import { alertTask } from "./alerts.js";
import { ANSWERS } from "./prompts.js";
import { askedCard, besides, rulingCard } from "./prompts_match.js";
import { sayCode, say } from "./text.js";
import { waitingTask } from "./waiting.js";

/** Prompts in the order of their urgency: the first that is outstanding is shown. */
const ORDER = [
  "stopped", "parked", "paused", "count_wrong", "reader_check", "wrong_discard", "count", "stands", "retry", "gold_check", "dice_check",
  "dice_lost", "hand_check", "opening", "claim", "flower", "lap", "replace", "lay", "turn", "draw", "vote", "object_entry",
  "objection", "agree", "entry", "book", "dice", "gold_face", "flip", "bid", "roll", "take", "flowers", "seats", "row", "push_in", "lift",
  "start", "locked", "tail",
];
/** What a reader doubts of this seat; told once no window runs, in which all columns look the same (R13). */
const DOUBTS = new Set(["count_wrong", "reader_check", "wrong_discard"]);
const CLAIMED = ["opening", "claim"];
/** Prompts that a window of the whole table counts down. */
const WINDOWED = new Set(["opening", "claim", "agree", "bid"]);
/** Wants that are never the task: they stand beside it, as buttons or as a card; `end` in the settings. */
const BESIDE = ["taken", "undo", "swap", "end", "call_off"];
/** Prompts that a stopped or unreachable machine does not stand in the way of. */
const MACHINE_PROMPTS = new Set(["count", "retry"]);

/** The task of a view for `viewer` (a seat, or null for the wall view); `choice` is what was chosen but not sent. */
export function taskOf(view, viewer, choice = {}) {
  const wants = orderedWants(view);
  const alert = alertTask(view, wants.length > 0 && !wants.every((want) => MACHINE_PROMPTS.has(want.verb)));
  if (alert && wants[0]?.verb !== "stopped") return { ...frame(view), ...alert, buttons: retryButtons(wants) };
  for (const want of wants) {
    if (inBackground(view, want) || waitsForWindow(view, want)) continue;
    const answer = ANSWERS[want.verb];
    const task = answer?.({ view, viewer, want, wants, choice });
    if (task) return withBeside(view, viewer, choice, { ...frame(view), id: want.id, verb: want.verb, leftMs: want.left_ms ?? (WINDOWED.has(want.verb) ? view.window?.left_ms : null) ?? null, counted: WINDOWED.has(want.verb), ...task });
  }
  return withBeside(view, viewer, choice, { ...frame(view), ...waitingTask(view, viewer), verb: "" });
}

/** Wants beside the task: going back to the taking, taking the last booking back, swapping seats, ending the match. */
export function besideWants(view) {
  return (view.me?.wants ?? []).filter((want) => BESIDE.includes(want.verb));
}

function withBeside(view, viewer, choice, task) {
  const there = new Set(task.buttons.map((button) => button.want));
  const more = besides(view, viewer, besideWants(view), choice).filter((button) => !button.want || !there.has(button.want));
  return { ...task, buttons: [...task.buttons, ...more] };
}

/** The wants of this seat that the page knows, most urgent first. */
export function orderedWants(view) {
  const known = (view.me?.wants ?? []).filter((want) => ORDER.includes(want.verb));
  return known.sort((a, b) => ORDER.indexOf(a.verb) - ORDER.indexOf(b.verb));
}

/** Trouble with the set that is sorted while a hand is played: it does not stop the hand, so it is a card. */
function inBackground(view, want) {
  return Boolean(view.wall) && (want.verb === "count" || (want.verb === "retry" && want.params.operation === "sort"));
}

function waitsForWindow(view, want) {
  return DOUBTS.has(want.verb) && (CLAIMED.includes(view.window?.kind) || view.me.wants.some((one) => CLAIMED.includes(one.verb)));
}

function frame(view) {
  return {
    id: `${view.hand}.${view.phase}`, tone: "wait", kicker: say(`phase.${view.phase}`), say: "", hint: "", body: null, buttons: [],
    leftMs: view.window?.left_ms ?? null,
  };
}

function retryButtons(wants) {
  const want = wants.find((one) => MACHINE_PROMPTS.has(one.verb));
  return want ? [{ want: want.id, action: "retry", params: {}, label: say("press.retry"), kind: "primary", ready: true }] : [];
}

/** Everything else that must be seen but does not stop the game, as cards: {key, text, tone, buttons}. */
export function noticesOf(view) {
  const cards = [];
  for (const ask of view.me?.pairing ?? []) cards.push(pairingCard(ask));
  for (const want of besideWants(view)) if (want.params.asked_by?.length) cards.push(askedCard(want, view.me.seat));
  for (const want of view.me?.wants ?? []) if (want.verb === "count_ruling") cards.push(rulingCard(want, view.me.seat));
  for (const want of orderedWants(view)) if (inBackground(view, want)) cards.push(backgroundCard(view, want));
  for (const notice of view.notices ?? []) {
    const seat = notice.seat === "view" ? say("wall_view") : notice.seat ? say(`seat.${notice.seat}`) : "";
    cards.push({ key: `notice.${notice.code}.${notice.seat}`, text: sayCode("notice", notice.code, { ...notice.params, seat }), tone: "plain", buttons: [] });
  }
  const unasked = view.machine?.unasked_dice;
  if (unasked) cards.push({ key: "unasked", text: say("notice.unasked_dice", { dice: unasked.join("+") }), tone: "plain", buttons: [] });
  return cards;
}

/** Faults that do not stop the game, in one line: "a sensor eye is dirty (West side) · play can go on …". */
export function warningOf(view, task) {
  if (task.face === "fault" || task.face === "count") return "";
  return (view.machine?.faults ?? []).map((fault) => {
    const side = fault.side ? say(`side.${fault.side}`) : "";
    const what = sayCode("fault", fault.code);
    return `${side ? say("alert.where", { what, side }) : what} · ${sayCode("fault", fault.code, {}, ".do")}`;
  }).join(" · ");
}

function backgroundCard(view, want) {
  const { say: what, hint, buttons } = ANSWERS[want.verb]({ view, viewer: view.me.seat, want, wants: [want], choice: {} });
  const off = (want.params.sides ?? []).filter((side) => side.counted !== side.expected);
  const where = off.map((side) => say("do.count.brief", { ...side, side: say(`side.${side.side}`) }));
  const long = off.reduce((sum, side) => sum + side.counted - side.expected, 0) > 0;
  const todo = want.verb === "count" ? say(long ? "do.count.brief.long" : "do.count.brief.hint") : hint;
  return { key: `background.${want.id}`, text: [what, ...where, todo].filter(Boolean).join(" · "), tone: "ask", buttons: buttons.map((button) => ({ ...button, kind: "second" })) };
}

function pairingCard(ask) {
  const answer = (ok) => ({ want: "", action: "confirm_device", params: { code: ask.code, ok }, ready: true });
  const refuse = { ...answer(false), label: say("press.refuse"), kind: "second" };
  // What a repairer may do needs a key at the table: a display can only refuse.
  if (ask.seat === "service") return { key: `pairing.${ask.code}`, text: say("notice.pairing_service", { code: ask.code }), tone: "ask", buttons: [refuse] };
  const seat = ask.seat === "view" ? say("wall_view") : say(`seat.${ask.seat}`);
  return {
    key: `pairing.${ask.code}`,
    text: say("notice.pairing", { seat, code: ask.code }),
    tone: "ask",
    buttons: [
      { ...answer(true), label: say("press.confirm"), kind: "second" },
      refuse,
    ],
  };
}
