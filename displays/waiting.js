// What is said to a seat of which nothing is asked: whom the table waits for, where everybody may know.

import { fullPlace } from "./places.js";
import { waitBids } from "./prompts_bids.js";
import { diceText, say, seatName, tileName } from "./text.js";
import { lastWords, waitPlay, waitSettle } from "./waiting_play.js";

/** The waiting task of a view. */
export function waitingTask(view, viewer) {
  const { phase } = view;
  if (view.parked) return { kicker: say("parked"), say: say("do.parked"), hint: say("do.parked.hint"), face: "parked" };
  if (view.machine?.sorting && ["idle", "sorting"].includes(phase)) return sorting(view);
  if (phase === "bids") return waitBids(view, viewer);
  if (phase.endsWith("_roll")) return waitRoll(view, viewer);
  if (phase === "taking" || phase === "door") return waitTake(view, viewer);
  if (phase === "flowers") return waitFlowers(view, viewer);
  if (phase === "gold") return waitGold(view, viewer);
  if (phase === "opening") return { say: say("wait.opening"), hint: goldHint(view), body: goldBody(view) };
  if (phase === "play") return waitPlay(view, viewer);
  if (phase === "settle") return waitSettle(view, viewer);
  if (phase === "paused") return { say: say("alert.paused.say"), hint: say("alert.paused.hint"), face: "paused" };
  if (phase === "over") return { say: lastWords(view.result) || say("wait.over"), hint: say("wait.over") };
  if (view.locked && ["idle", "ended"].includes(phase)) return { kicker: say("locked"), say: say("do.locked"), hint: say("do.locked.hint"), face: "parked" };
  if (phase === "ended") return { say: say("wait.ended"), hint: say("wait.hint_ended"), face: "ended" };
  if (phase === "seating") return view.dice ? waitRoll(view, viewer) : { say: say("wait.seating"), hint: "" };
  if (phase === "lift" && view.match?.stage === "ended" && view.machine?.centre === "down") return { say: say("do.lift.last"), hint: resultWords(view) ?? "" };
  if (phase === "lift" && view.machine?.centre === "down") return { say: say("wait.lift_key"), hint: resultWords(view) ?? "" };
  if (phase === "push_in" && view.machine?.centre === "up") return { say: say("wait.push_key"), hint: "" };
  const closing = view.use === "closing" ? say("wait.closing") : "";
  return { say: say(`wait.${phase}`), hint: closing || (resultWords(view) ?? "") };
}

/** The last hand's result in words, or null while there is none. */
export function resultWords(view) {
  return view.result ? say("wait.last", { result: lastWords(view.result) }) : null;
}

/** What the gold is and how it came about, for the line below. */
export function goldHint(view) {
  const gold = view.gold;
  if (!gold?.face) return "";
  const parts = [];
  if (gold.indicator && gold.indicator !== gold.face) parts.push(say("wait.hint_indicator", { tile: tileName(gold.indicator) }));
  if (gold.white) parts.push(say("wait.hint_white", { tile: tileName(gold.white) }));
  if (gold.passed?.length) parts.push(say("wait.hint_passed", { n: gold.passed.length }));
  return parts.join(" · ");
}

/** The gold as a great tile in the column. */
export function goldBody(view) {
  return view.gold?.face ? { kind: "gold", face: view.gold.face, white: view.gold.white ?? null } : null;
}

/** Who takes now among the four, and how far the taking has come. */
export function turnsBody(view) {
  const { seat, n, of } = view.take ?? {};
  return seat && of > 1 ? { kind: "turns", seat, dealer: view.rolls?.find((roll) => roll.purpose === "deal" && view.layout === "bagua")?.points ?? view.dealer, n, of } : null;
}

/** How far the gold is counted. */
export function countOf(view) {
  const gold = view.gold;
  if (gold?.roll) return gold.roll[0] + gold.roll[1];
  return gold?.path?.length ?? 0;
}

function sorting(view) {
  const { tiles, seconds, set } = view.machine.sorting;
  const total = Object.values(tiles).reduce((sum, count) => sum + count, 0);
  return {
    say: say("sorting.say"),
    hint: say("sorting.hint", { n: seconds, tiles: total }),
    body: { kind: "sorting", tiles, set, stacks: view.stacks },
  };
}

function waitRoll(view, viewer) {
  const dice = view.dice;
  const purpose = say(`purpose.${dice?.purpose ?? view.phase.replace("_roll", "")}`);
  const by = dice?.by ?? "";
  if (dice?.state === "rolling") return { say: say("wait.rolling"), hint: purpose };
  if (dice?.state === "entering" && by) return { say: say("wait.entering", { seat: seatName(by, viewer) }), hint: purpose };
  if (dice?.state === "checking" && dice.values) {
    return { say: say("wait.checking", { seat: seatName(by, viewer), dice: diceText(dice.values) }), hint: say("do.check.hint") };
  }
  if (by) return { say: say("wait.roll", { seat: seatName(by, viewer), purpose }), hint: "" };
  return { say: say("wait.roll_any", { purpose }), hint: "" };
}

function waitTake(view, viewer) {
  const take = view.take;
  if (view.phase === "door" && (view.door || take)) {
    const place = fullPlace(take?.positions ?? [view.door]);
    return { say: say(take?.seat === viewer || view.dealer === viewer ? "wait.door_mine" : "wait.door", { place }), hint: "" };
  }
  if (!take) return { say: say("wait.taking"), hint: "" };
  const place = fullPlace(take.positions);
  const mine = take.seat === viewer;
  return {
    tone: mine ? "mine" : "wait",
    say: mine ? say("do.take", { place }) : say("wait.take", { seat: seatName(take.seat, viewer), place }),
    hint: say("wait.hint_take", { n: take.n, of: take.of }),
    body: turnsBody(view),
  };
}

function waitFlowers(view, viewer) {
  const turn = view.flower_turn;
  if (!turn) return { say: say("wait.flowers"), hint: "" };
  const seat = seatName(turn.seat, viewer);
  // How many it holds nobody knows before they lie there; the tail is where it draws.
  if (!turn.count) return { say: say("wait.flowers_turn", { seat }), hint: fullPlace((view.tail?.next ?? []).slice(0, 1)) };
  return { say: say("wait.flowers_seat", { seat, n: turn.count }), hint: fullPlace(turn.positions) };
}

function waitGold(view, viewer) {
  const gold = view.gold;
  const n = countOf(view);
  if (!gold) return { say: say("phase.gold"), hint: "" };
  const seat = seatName(gold.by, viewer);
  if (gold.state === "shown") return { say: say("wait.gold", { tile: tileName(gold.face) }), hint: goldHint(view), body: goldBody(view) };
  if (gold.state === "checking") return { say: say("wait.gold_check", { seat, tile: tileName(gold.indicator ?? gold.face) }), hint: say("do.check.hint") };
  if (gold.state === "entering" && seat) return { say: say("wait.gold_enter", { n, seat }), hint: "" };
  if (seat) return { say: say("wait.gold_flip", { n, seat }), hint: "" };
  return { say: say("wait.gold_count", { n }), hint: "" };
}
