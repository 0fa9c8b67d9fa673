// The four scores for spectators, on the wall view: who leads, whose turn it is, what the last hand brought.

import { chipsNodes } from "./chips.js";
import { SEATS } from "./geometry.js";
import { nameOf, seatBadge } from "./people.js";
import { bidWord } from "./prompts_bids.js";
import { endOf, resultKind } from "./result.js";
import { signed } from "./settling.js";
import { html, keyed } from "./svg.js";
import { language, minus, rulesName, say } from "./text.js";

/** The board of scores inside `holder`. */
export function createStanding(holder) {
  return {
    draw(view) {
      const { play, match, result } = view;
      const shown = [language(), play?.turn, play?.covered, play?.tour, match, result, view.dealer, view.streak, view.base, view.bids, view.flowers, view.rules, view.layout, resultKind(view)];
      keyed(holder, shown, (node) => fill(node, view));
    },
  };
}

function fill(node, view) {
  const { result } = view;
  node.append(html("ol", { class: "standing-seats" }, ...SEATS.map((seat) => row(view, seat))));
  if (result?.kind && resultKind(view) === "") {
    node.append(html("p", { class: "standing-last" }, html("span", { class: "quiet", text: say("result.last") }), html("span", { text: endOf(result) })));
  }
  const layout = view.layout ? say(`layout.${view.layout}`) : "";
  node.append(html("p", { class: "standing-rules quiet", text: say("menu.known", { rules: rulesName(view.rules), layout }) }));
}

function row(view, seat) {
  const { match, play, result } = view;
  const marks = [];
  if (view.dealer === seat) marks.push(html("span", { class: "dealer-mark", text: say("mark.dealer") }));
  if (view.dealer === seat && view.streak > 0) marks.push(html("span", { class: "quiet", text: say("top.streak", { n: view.streak }) }));
  if (seat in (view.bids ?? {})) marks.push(html("span", { class: "quiet", text: bidWord(view, seat, view.bids[seat]) }));
  if (play?.tour?.owner === seat) marks.push(html("span", { class: "seat-state", text: say(`play.tour.${play.tour.level}`) }));
  if (play?.covered?.[seat]) marks.push(html("span", { class: "seat-state", text: say("play.covered") }));
  const flowers = view.flowers?.[seat]?.length ?? 0;
  if (flowers) marks.push(html("span", { class: "quiet", text: say("play.flowers", { n: flowers }) }));
  const net = resultKind(view) === "hand" ? result.net[seat] : null;
  return html(
    "li", { class: `standing-seat seat-${seat}${play?.turn === seat ? " now" : ""}`, "data-seat": seat },
    seatBadge(seat),
    html("div", { class: "standing-who" }, html("span", { class: "name", text: nameOf(view, seat) }), html("div", { class: "standing-marks" }, ...marks, ...chipsNodes(match, seat))),
    html("span", { class: "standing-net quiet", text: typeof net === "number" ? signed(net) : "" }),
    html("span", { class: "standing-points", text: match ? minus(match.points?.[seat] ?? 0) : "" }),
  );
}
