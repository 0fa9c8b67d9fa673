// The settlement is agreed on, objected to, and decided by three to one.

import { join, may, press } from "./prompt_parts.js";
import { endWords, fromMe, seatNames } from "./settling.js";
import { say, seatName } from "./text.js";

/** Differences shown at once. */
const ROWS = 4;

export const AGREEMENT = {
  agree: ({ viewer, want }) => {
    const { agreed = {}, settlement, lines, doubted = [] } = want.params;
    const mine = agreed[viewer] ?? false;
    const open = Object.entries(agreed).filter(([, yes]) => !yes).map(([seat]) => seat);
    return {
      tone: mine ? "wait" : "mine",
      say: mine ? say("do.agree.wait", { seats: seatNames(open, viewer) }) : say("do.agree"),
      hint: join(endWords(want.params, viewer), doubted.length ? say("do.agree.doubted", { seats: seatNames(doubted, viewer) }) : say("do.check.hint")),
      body: { kind: "settlement", settlement, missing: null, viewer, lines, agreed },
      buttons: [
        ...(may(want, "agree") && !mine ? [press(want, "agree", say("press.agree"))] : []),
        ...(may(want, "object") ? [press(want, "object", say("press.object"), {}, "second")] : []),
        ...(may(want, "change") ? [press(want, "change", say("press.change"), {}, "second")] : []),
      ],
      wide: "low",
    };
  },
  objection: ({ view, viewer, want }) => ({
    tone: "wait",
    face: "objection",
    say: say("do.objection", { seat: seatName(want.params.by, viewer) }),
    hint: say("do.objection.hint"),
    body: view.book?.settlement ? { kind: "settlement", settlement: view.book.settlement, missing: null, viewer, lines: [] } : null,
    buttons: [],
  }),
  vote: ({ viewer, want, choice }) => {
    const { by, first, second, differs = [], votes = {} } = want.params;
    const mine = votes[viewer] ?? null;
    const vote = (number) => press(want, "vote", say(number === 1 ? "press.vote.first" : "press.vote.second", { seat: seatName(by, viewer) }), { choice: number }, "vote");
    const page = Math.min(choice.page ?? 0, Math.max(0, Math.ceil(differs.length / ROWS) - 1));
    return {
      tone: mine ? "all" : "mine",
      face: "objection",
      say: say(mine ? "do.vote.wait" : "do.vote"),
      hint: say("do.vote.hint", { seat: seatName(by, viewer) }),
      body: {
        kind: "versions", first, second, viewer, by, votes,
        order: fromMe(viewer), differs: differs.slice(page * ROWS, (page + 1) * ROWS),
        more: differs.length > ROWS ? { label: say("press.page", { n: page + 1, of: Math.ceil(differs.length / ROWS) }), choose: { page: (page + 1) % Math.ceil(differs.length / ROWS) } } : null,
      },
      buttons: [
        ...(may(want, "vote") ? [1, 2].map((number) => ({ ...vote(number), on: mine === number, can: mine === number })) : []),
        ...(may(want, "withdraw") ? [press(want, "withdraw", say("press.withdraw"), {}, "second")] : []),
      ],
      wide: "always",
    };
  },
};
