// What is said of a hand in play, of the book and between hands to a seat of which nothing is asked.

import { join } from "./prompt_parts.js";
import { tourName } from "./prompts_play.js";
import { endWords, seatNames } from "./settling.js";
import { say, sayCode, seatName, tileName } from "./text.js";

/** Play: whose turn it is, what may be claimed, whose lap it is. */
export function waitPlay(view, viewer) {
  const play = view.play;
  if (!play || play.stage === "keep") return { say: say("wait.play"), hint: "" };
  const seat = play.turn ? seatName(play.turn, viewer) : "";
  const from = play.source ? seatName(play.source, viewer) : "";
  const tile = play.tile ? tileName(play.tile) : "";
  const tour = play.tour ? say("wait.tour", { seat: seatName(play.tour.owner, viewer), level: tourName(play.tour.level) }) : "";
  const left = typeof play.to_draw === "number" ? say("wait.to_draw", { n: play.to_draw }) : "";
  const body = tile ? { kind: "tiles", tiles: [play.tile] } : null;
  if (play.stage === "window") return { say: say(tile ? "wait.window" : "wait.window_down", { seat: from, tile }), hint: join(tour, left), body };
  if (play.stage === "rob") return { say: say("wait.rob", { seat: from, tile }), hint: join(tour, left), body };
  if (play.stage === "over") return { say: say("wait.settle"), hint: "" };
  const covered = play.covered?.[viewer];
  if (covered) return { say: say("wait.covered"), hint: join(sayCode("covered", covered), tour, left) };
  const stage = { draw: "wait.draw", turn: "wait.turn", lap: "wait.lap", flower: "wait.flower" }[play.stage] ?? "wait.turn";
  return { say: seat ? say(stage, { seat }) : say("wait.play"), hint: join(tour, left) };
}

/** The book after the end of a hand: who still has to say something. */
export function waitSettle(view, viewer) {
  const book = view.book;
  if (!book) return { say: say("wait.settle"), hint: "" };
  const hint = book.kind ? endWords(book, viewer) : "";
  const body = book.settlement ? { kind: "settlement", settlement: book.settlement, missing: null, viewer: viewer ?? "E", lines: [] } : null;
  const open = (map) => Object.entries(map ?? {}).filter(([, yes]) => !yes).map(([seat]) => seat);
  if (book.stage === "agreement") return { say: say("do.agree.wait", { seats: seatNames(open(book.agreed), viewer) }), hint, body };
  if (book.stage === "objection") return { say: say("do.objection", { seat: seatName(book.by, viewer) }), hint: say("do.objection.hint"), body, face: "objection" };
  if (book.stage === "vote") return { say: say("wait.vote"), hint: say("do.vote.hint", { seat: seatName(book.by, viewer) }), body, face: "objection" };
  const waiting = open(book.done);
  return { say: waiting.length ? say("do.entry.wait", { seats: seatNames(waiting, viewer) }) : say("wait.settle"), hint, body };
}

/** The last hand in words for a line below; empty while there is none. */
export function lastWords(result) {
  if (!result) return "";
  const winners = result.wins?.length ? result.wins : result.winner && result.way ? [{ seat: result.winner, way: result.way }] : [];
  const foul = typeof result.foul === "string" ? { seat: result.foul, kind: "zhahu" } : result.foul;
  const kind = result.kind ?? (winners.length ? "win" : "draw");
  return endWords({ kind, winners, foul });
}
