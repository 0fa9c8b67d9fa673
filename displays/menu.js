// Settings of this display: language, theme, un-pairing; and the way to history, statistics and records.

import { endOffer } from "./prompts_match.js";
import { html, show } from "./svg.js";
import { LANGUAGES, language, rulesName, say } from "./text.js";

/** The settings sheet inside `holder`; `change(name, value)` is told what was chosen, `about()` gives the view. */
export function createMenu(holder, change, about) {
  let sure = false;
  const close = () => show(holder, false);
  holder.addEventListener("click", (event) => {
    if (event.target === holder) close();
  });

  function choices(field, name, current, pairs) {
    const buttons = pairs.map(([value, label]) => {
      const node = html("button", { type: "button", class: "menu-choice", "data-value": value, "aria-pressed": String(value === current) }, html("span", { text: label }));
      node.addEventListener("click", () => {
        change(name, value);
        open();
      });
      return node;
    });
    return html("div", { class: "menu-row" }, html("span", { class: "field", text: field }), html("div", { class: "menu-choices" }, ...buttons));
  }

  function unpair() {
    const node = html("button", { type: "button", class: "press press-second menu-quiet" }, html("span", { text: say(sure ? "menu.unpair.sure" : "menu.unpair") }));
    node.addEventListener("click", () => {
      if (sure) {
        close();
        change("unpair", true);
      } else {
        sure = true;
        fill();
      }
    });
    return node;
  }

  /** The sheets about this evening, where a match is played. */
  function looks() {
    const buttons = ["history", "statistics", "record", "match"].map((what) => {
      const node = html("button", { type: "button", class: "menu-choice", "data-look": what }, html("span", { text: say(`sheet.${what}`) }));
      node.addEventListener("click", () => {
        close();
        change("sheet", what);
      });
      return node;
    });
    return html("div", { class: "menu-row" }, html("span", { class: "field", text: say("menu.evening") }), html("div", { class: "menu-choices" }, ...buttons));
  }

  /** The end of the match from a seat: two must ask, so a slip of one ends nothing. */
  function ending(offer) {
    const node = html("button", { type: "button", class: "press press-second menu-quiet", "data-action": "end" }, html("span", { text: offer.label }), html("small", { text: say("menu.end.hint") }));
    node.addEventListener("click", () => {
      close();
      change("press", offer);
    });
    return node;
  }

  function fill() {
    const { view, theme, paired, sheets } = about();
    const offer = sheets ? endOffer(view) : null;
    const facts = [];
    if (view?.rules) facts.push(say("menu.known", { rules: rulesName(view.rules), layout: view.layout ? say(`layout.${view.layout}`) : "" }));
    if (view?.me?.device?.name) facts.push(say("menu.device", { name: view.me.device.name }));
    const shut = html("button", { type: "button", class: "press press-primary" }, html("span", { text: say("press.close") }));
    shut.addEventListener("click", close);
    holder.replaceChildren(
      html(
        "div",
        { class: "menu-box", role: "dialog", "aria-label": say("menu.title") },
        html("h2", { text: say("menu.title") }),
        ...(sheets ? [looks()] : []),
        choices(say("menu.language"), "language", language(), LANGUAGES.map((code, index) => [code, say("language.full", {}, index)])),
        choices(say("menu.theme"), "theme", theme, [["dark", say("menu.dark")], ["light", say("menu.light")]]),
        ...facts.map((text) => html("p", { class: "menu-fact", text })),
        html("div", { class: "menu-buttons" }, ...(paired ? [unpair()] : []), ...(offer ? [ending(offer)] : []), shut),
      ),
    );
  }

  function open() {
    sure = false;
    fill();
    show(holder, true);
  }

  return { open, close };
}
