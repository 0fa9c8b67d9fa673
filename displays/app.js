// A display: pairs, connects, shows its one view, and says what is pressed.

import mqtt from "./vendor/mqtt.esm.js";
import { connectionFace } from "./cover.js";
import { TableLink } from "./link.js";
import { createPage } from "./page.js";
import { askForSeat, forgetPairing, pairWithToken, storePairing, storedPairing, takeFragment, waitForGrant } from "./pairing.js";
import { Presses } from "./presses.js";
import { say } from "./text.js";

const TICK_MS = 200;
const UNPAIR_MS = 4000;
const PLACE = document.documentElement.dataset.place === "view" ? "view" : "seat";

let link = null;
let pairing = null;
let leaving = false;
let asking = 0;
let unspent = null; // a token that could not be used because the seat is held
let face = null; // what the page shows while it has no pairing
let reword = null; // makes that face again
const presses = PLACE === "view" ? null : new Presses((input) => link?.send(input));
const fragment = takeFragment();
const page = await createPage({ presses, unpair, paired: () => PLACE !== "view" && pairing !== null });

setInterval(refresh, TICK_MS);
document.addEventListener("visibilitychange", refresh);
// An address pasted into an open page changes the fragment alone, which loads nothing by itself.
window.addEventListener("hashchange", () => location.hash.includes("token=") && location.reload());
await begin();

async function begin() {
  const known = storedPairing(PLACE);
  if (fragment) await useToken(fragment, known);
  else if (known) connect(known);
  else unpaired();
}

async function useToken(token, known = null) {
  show(() => ({ kind: "pairing", title: say("cover.pairing"), busy: true }));
  const { pairing: fresh, problem, name } = await pairWithToken(token);
  unspent = problem === "second" || problem === "failed" ? token : null;
  if (fresh) connect(fresh);
  else if (known && problem !== "second") connect(known);
  else refusedBy(problem, token.seat, name);
}

function connect(fresh) {
  pairing = fresh;
  leaving = false;
  face = reword = null;
  storePairing(PLACE, fresh);
  link?.close();
  link = new TableLink(mqtt, fresh, heard);
  refresh();
}

function heard() {
  if (!link) return;
  // Given up: the table has emptied the topic, or the broker no longer lets this display in.
  if (leaving && (link.emptied || link.refused)) {
    forget();
    return;
  }
  presses?.heard(link.view, link.fresh.epoch);
  if (link.view) page.draw(shownView(link), PLACE === "view" ? null : pairing.seat);
  refresh();
}

/** The view, and that the table is parked, which a public view does not say. */
function shownView({ view, availability }) {
  return availability === "parked" ? { ...view, parked: true } : view;
}

function refresh() {
  page.cover(face ?? (link ? connectionFace(link, performance.now(), acted) : null));
  page.tick();
}

/** Shows a face; `words` makes it, so that it can be made again in another language. */
function show(words) {
  reword = () => {
    face = { ...words(), act: acted };
    refresh();
  };
  reword();
}

function unpaired(more = "") {
  if (PLACE === "view") ask("view");
  else show(() => ({ kind: "unpaired", title: say("cover.pair"), hint: say("cover.pair.hint"), more, seats: true }));
}

async function ask(seat) {
  const turn = ++asking;
  show(() => ({ kind: "pairing", title: say("cover.pairing"), busy: true }));
  const asked = await askForSeat(seat);
  if (turn !== asking) return;
  if (!asked.code) {
    refusedBy(asked.problem, seat, asked.name);
    return;
  }
  show(() => ({
    kind: "code", title: say("cover.code"), code: asked.code, hint: say("cover.code.hint", { seat: placeName(seat) }), busy: true,
    buttons: PLACE === "view" ? [] : [{ label: say("press.cancel"), act: { cancel: true } }],
  }));
  const answer = await waitForGrant(asked.ask, seat, () => turn === asking);
  if (turn !== asking) return;
  if (answer.pairing) connect(answer.pairing);
  else refusedBy(answer.problem, seat, answer.name);
}

function placeName(seat) {
  return seat === "view" ? say("wall_view") : say(`seat.${seat}`);
}

function refusedBy(problem, seat, name = "") {
  show(() => refusalFace(problem, seat, name));
}

function refusalFace(problem, seat, name) {
  const buttons = [{ label: say("cover.press_retry"), act: { retry: seat } }, ...(PLACE === "view" ? [] : [{ label: say("press.cancel"), act: { cancel: true } }])];
  if (problem === "second") {
    return { kind: "second", tone: "alert", title: say("cover.second", { seat: placeName(seat) }), hint: say("cover.second.hint"), more: name ? say("cover.second.named", { name }) : "", buttons };
  }
  const title = { token: say("cover.token_refused"), refused: say("cover.ask_refused") }[problem] ?? say("cover.pair_failed");
  return { kind: "pair_failed", tone: "alert", title, buttons };
}

function acted(what) {
  if (what.language) {
    page.change("language", what.language);
    reword?.();
  } else if (what.choose) ask(what.choose);
  else if (what.retry && unspent?.seat === what.retry) useToken(unspent);
  else if (what.retry) ask(what.retry);
  else if (what.cancel || what.again) {
    asking += 1;
    forget();
  }
}

/** Gives the seat up: the table is told, and answers by emptying the seat's topic. */
function unpair() {
  leaving = true;
  presses?.press({ want: "", action: "unpair", params: {} });
  setTimeout(() => leaving && forget(), UNPAIR_MS);
}

function forget() {
  leaving = false;
  link?.close();
  link = null;
  forgetPairing(pairing ?? storedPairing(PLACE));
  pairing = null;
  unpaired();
}
