// Pieces that several bodies are made of: things to touch, words on them, counters, seats.

import { html } from "./svg.js";
import { say, seatName, tileName } from "./text.js";
import { tilePicture } from "./tiles.js";

/** The words of a button; what stands in brackets at its end is set small below. */
export function labelled(label) {
  const found = /^(.*?) \(([^()]*)\)$/.exec(label);
  if (!found) return html("span", { class: "label", text: label });
  return html("span", { class: "label" }, html("span", { text: `${found[1]} ` }), html("small", { text: found[2] }));
}

/** A button that changes what is chosen on this display. */
export function choice(classes, pressed, patch, label, ...children) {
  const node = html("button", { type: "button", class: classes, "aria-pressed": String(pressed), "aria-label": label }, ...children);
  node.choose = patch;
  return node;
}

/** A button of a body: {press} is sent to the table, {choose} stays here; `on` says that it is chosen, `off` that it is not to be had. */
export function touch(item, classes, label, ...children) {
  const node = html("button", { type: "button", class: `touch ${classes}${item.on ? " on" : ""}`, "aria-pressed": item.on === undefined ? null : String(Boolean(item.on)), "aria-label": label }, ...children);
  if (item.press) node.press = item.press;
  else node.choose = item.choose;
  node.disabled = Boolean(item.off);
  return node;
}

/** A seat's glyph in its colour. */
export const badge = (seat) => html("span", { class: `owner seat-${seat}`, text: say(`glyph.${seat}`) });

/** A button for a seat: glyph, name and colour; the viewer's own says 我. */
export function seatTouch(item, viewer) {
  const name = item.seat === viewer ? say("me") : seatName(item.seat);
  return touch(item, `seat-touch seat-${item.seat}`, name, badge(item.seat), html("span", { class: "label", text: name }), ...(item.on ? [mark()] : []));
}

/** That something is chosen is told by a tick, not by colour alone. */
export const mark = () => html("span", { class: "tick", "aria-hidden": "true", text: "✓" });

/** − value +; each end may be a press or a choice. */
export function stepper({ label, text, n, minus, plus, least, most, name }) {
  const end = (what, patch, off, word) => {
    const item = patch?.action ? { press: patch, off } : { choose: patch, off };
    const node = touch(item, "step-end", `${label} ${word}`, html("span", { text: what }));
    if (name) node.dataset.step = `${name}${what === "+" ? "+" : "-"}`;
    return node;
  };
  return html("div", { class: "stepper", role: "group", "aria-label": label },
    end("−", minus, least === true || n === least, say("press.less")),
    html("span", { class: "step-value", text: text ?? String(n) }),
    end("+", plus, most === true || n === most, say("press.one_more")));
}

/** Small tiles in a row. */
export function tileRow(faces, classes = "tile-row", gold = null) {
  return html("span", { class: classes }, ...faces.map((face) => tilePicture(face, tileName(face), face === gold ? "golden" : "")));
}
