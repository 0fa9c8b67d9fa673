// 买底 of the dealer, 顶底 of the others: what each bids before the deal roll, openly.

import { choose, join, press } from "./prompt_parts.js";
import { fromMe, seatNames } from "./settling.js";
import { say, seatName } from "./text.js";

/** Most amounts offered beside the counter. */
const OFFERED = 4;

export const BIDS = {
  bid: ({ view, viewer, want, choice }) => {
    const { kind, most, points: said } = want.params;
    const n = choice.points ?? said ?? 0;
    const frame = { keep: `bid.${want.id}.${said}` };
    if (said !== null && !choice.again) {
      return { ...frame, tone: "wait", say: waitBids(view, viewer).say, hint: bidWords(view, viewer), buttons: [choose({ again: true }, say("press.change"))] };
    }
    const send = (points, look) => press(want, "bid", points ? say(`press.bid.${kind}`, { n: points }) : say(`press.no_bid.${kind}`), { points }, look, points !== said);
    return {
      ...frame,
      tone: "mine",
      say: say(`do.bid.${kind}`),
      hint: join(say(`do.bid.${kind}.hint`, { n: most }), bidWords(view, viewer)),
      body: {
        kind: "counters",
        counters: [{ name: "bid", label: say(`item.bid.${kind}`), n, least: 0, most, minus: { points: n - 1 }, plus: { points: n + 1 } }],
        rows: [{ items: amounts(most).map((points) => ({ label: String(points), on: points === n, choose: { points } })) }],
      },
      buttons: n ? [send(n, "primary"), send(0, "second")] : [send(0, "primary")],
    };
  },
};

/** Who is still to speak, and what was bid so far. */
export function waitBids(view, viewer) {
  const waiting = fromMe(viewer ?? "E").filter((seat) => !(seat in (view.bids ?? {})));
  return { say: say("do.bid.wait", { seats: seatNames(waiting, viewer) }), hint: bidWords(view, viewer) };
}

/** What each has bid who has spoken. */
function bidWords(view, viewer) {
  const bids = Object.entries(view.bids ?? {});
  return bids.map(([seat, points]) => say("bid.of", { seat: seatName(seat, viewer), bid: bidWord(view, seat, points) })).join(say("and"));
}

/** 买底 5, 顶底 5, or that nothing is bid. */
export function bidWord(view, seat, points) {
  const kind = seat === view.dealer ? "buy" : "top";
  return points ? say(`bid.${kind}`, { n: points }) : say(`bid.no_${kind}`);
}

/** Round amounts up to the most. */
function amounts(most) {
  const steps = [1, 2, 5].flatMap((digit) => [0, 1, 2, 3].map((zeros) => digit * 10 ** zeros)).sort((a, b) => a - b);
  const step = steps.find((one) => most / one <= OFFERED) ?? most;
  const found = [];
  for (let points = step; points < most; points += step) found.push(points);
  return [...found, most];
}
