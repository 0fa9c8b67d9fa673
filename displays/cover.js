// Full-screen faces: connecting, out of date, switched off, not paired, second device, evening over.

import { SEATS } from "./geometry.js";
import { html, keyed, set, show } from "./svg.js";
import { LANGUAGES, language, say } from "./text.js";

/** A cover over the page inside `holder`; `draw(face)` with null takes it away. */
export function createCover(holder) {
  const box = html("div", { class: "cover-box", role: "alertdialog", "aria-live": "assertive" });
  holder.append(box);
  return {
    draw(face) {
      show(holder, Boolean(face));
      set(holder, { "data-cover": face?.kind ?? null, class: `cover${face?.tone ? ` cover-${face.tone}` : ""}` });
      if (face) keyed(box, [language(), { ...face, act: undefined }], (node) => fill(node, face));
    },
  };
}

function fill(node, face) {
  node.append(html("h1", { class: "cover-title", text: face.title }));
  if (face.code) node.append(html("p", { class: "cover-code", text: `${face.code.slice(0, 3)} ${face.code.slice(3)}` }));
  if (face.hint) node.append(html("p", { class: "cover-hint", text: face.hint }));
  if (face.more) node.append(html("p", { class: "cover-more", text: face.more }));
  if (face.busy) node.append(html("span", { class: "busy", "aria-hidden": "true" }));
  if (face.seats) {
    const seats = SEATS.map((seat) =>
      act("seat-choice", face, { choose: seat }, html("span", { class: `owner seat-${seat}`, text: say(`glyph.${seat}`) }), html("span", { text: say(`seat.${seat}`) })),
    );
    node.append(html("div", { class: "cover-seats" }, ...seats));
  }
  if (face.buttons?.length) {
    const buttons = face.buttons.map((button) => act("press press-second", face, button.act, html("span", { text: button.label })));
    node.append(html("div", { class: "cover-buttons" }, ...buttons));
  }
  const languages = LANGUAGES.map((code, index) =>
    act("cover-language", face, { language: code }, html("span", { lang: code, text: say("language.full", {}, index) })),
  );
  node.append(html("div", { class: "cover-languages" }, ...languages));
}

function act(classes, face, what, ...children) {
  const node = html("button", { type: "button", class: classes }, ...children);
  node.addEventListener("click", () => face.act(what));
  return node;
}

/** Why a table says that it cannot start: its journal cannot be used, so there is no view. */
const CANNOT_START = new Set(["disk_full", "disk_read_only", "disk_error", "journal_unusable"]);

/** The face a connection deserves now, or null when what is shown is fresh. `act` answers its buttons. */
export function connectionFace(link, now, act) {
  if (link.refused && !link.connected) {
    return { kind: "refused", tone: "alert", title: say("cover.refused"), hint: say("cover.refused.hint"), buttons: [{ label: say("cover.press_pair"), act: { again: true } }], act };
  }
  if (link.fresh.isFresh(now) && link.view && !["offline", "lost"].includes(link.availability)) return null;
  if (link.emptied && link.connected) return { kind: "ended", title: say("cover.ended"), hint: say("cover.ended.hint"), act };
  if (link.connected && link.availability === "offline") return { kind: "offline", tone: "alert", title: say("cover.offline"), hint: say("cover.offline.hint"), busy: true, act };
  if (link.connected && link.availability === "fault" && CANNOT_START.has(link.reason)) {
    return { kind: "unstartable", tone: "alert", title: say("cover.unstartable"), hint: say(link.reason === "journal_unusable" ? "cover.unstartable.hint" : `notice.${link.reason}`), act };
  }
  const age = link.fresh.age(now);
  const since = Math.floor((age ?? now - link.begunAt) / 1000);
  const never = age === null && now - link.begunAt < 10000;
  if (never) {
    const starting = link.availability === "starting";
    return { kind: "connecting", title: say(starting ? "cover.starting" : "cover.connecting"), hint: say(starting ? "cover.starting.hint" : "cover.connecting.hint"), busy: true, act };
  }
  const lost = !link.connected || link.availability === "lost";
  return {
    kind: lost ? "lost" : "stale", tone: "alert", title: say(lost ? "cover.lost" : "cover.stale"),
    hint: say("cover.stale.age", { n: since }), more: say("cover.lost.hint"), busy: true, act,
  };
}
