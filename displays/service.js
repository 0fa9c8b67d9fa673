// The repairer's page: pairs by the service key at the table, connects, asks, and shows what the table says.

import mqtt from "./vendor/mqtt.esm.js";
import { askForSeat, forgetPairing, pairWithToken, storePairing, storedPairing, takeFragment, waitForGrant } from "./pairing.js";
import { ServiceLink } from "./service_link.js";
import { createServicePage } from "./service_page.js";
import { jogResult, TESTS, testResults } from "./service_parts.js";
import { failureWords } from "./service_words.js";
import { applyTheme, deviceName, recall, remember } from "./settings.js";
import { LANGUAGES, loadCatalogue, setLanguage } from "./text.js";

const PLACE = "service";
const TICK_MS = 250;
const ASK_AGAIN_MS = 2000;
const FAILURE_MS = 8000;

const state = {
  paired: false, code: "", asking: false, problem: "", connected: false, mode: "off", who: "", left: 0, live: null, heard: false,
  tab: "sensors", name: recall("service.name") ?? deviceName(), duration: 500, pending: "", results: {}, times: null, history: null,
  counters: null, failure: "", sure: false,
};
let link = null;
let failedAt = 0;
let askedAt = 0;
let turn = 0;

const fragment = takeFragment();
await loadCatalogue();
setLanguage(recall("language") ?? LANGUAGES[0]);
applyTheme(recall("theme") ?? "dark");

const page = createServicePage({
  language: (code) => { remember("language", code); setLanguage(code); refresh(); },
  name: (name) => { state.name = name; remember("service.name", name); },
  tab: (tab) => { state.tab = tab; state.failure = ""; look(); refresh(); },
  duration: (ms) => { state.duration = ms; refresh(); },
  pair, enter, leave, more, restart, unpair, stop,
  jog: (motor, ms) => carryOut(`jog.${motor}`, () => link.ask("jog", { motor, ms }), (answer) => jogResult(motor, answer)),
  test: (number) => carryOut(`test.${TESTS[number]}`, () => link.ask("self_test", { number }), (answer) => testResults(TESTS[number], answer)),
  forget: (movement) => carryOut("forget", () => link.ask("forget", { movement })).then(look),
  show: (what) => carryOut(what, () => link.ask(what)),
});

setInterval(tick, TICK_MS);
await begin();

async function begin() {
  const known = storedPairing(PLACE);
  if (fragment?.seat === PLACE) {
    const { pairing } = await pairWithToken(fragment);
    if (pairing) return connect(pairing);
    state.problem = "cover.token_refused";
  }
  if (known) connect(known);
  refresh();
}

function connect(pairing) {
  storePairing(PLACE, pairing);
  Object.assign(state, { paired: true, code: "", asking: false, problem: "" });
  link?.close();
  link = new ServiceLink(mqtt, pairing, () => state.name.trim() || deviceName(), heard);
  refresh();
}

/** Shows a code until the service key at the table has confirmed it. */
async function pair() {
  const mine = ++turn;
  Object.assign(state, { asking: true, problem: "" });
  refresh();
  const asked = await askForSeat(PLACE);
  if (mine !== turn) return;
  if (!asked.code) {
    Object.assign(state, { asking: false, problem: "cover.pair_failed" });
    refresh();
    return;
  }
  state.code = asked.code;
  refresh();
  const answer = await waitForGrant(asked.ask, PLACE, () => mine === turn);
  if (answer.pairing) connect(answer.pairing);
  else {
    Object.assign(state, { code: "", asking: false, problem: "cover.ask_refused" });
    refresh();
  }
}

function heard() {
  if (!link) return;
  const { live } = link;
  if (link.refused && !link.connected) {
    unpair();
    return;
  }
  const was = state.mode;
  state.connected = link.connected;
  if (link.availability === "maintenance" && link.reason === "service") state.mode = "on";
  else if (state.mode === "on") state.mode = "off";
  if (state.mode === "on" && live) Object.assign(state, { who: live.who, left: live.left_s, live });
  if (state.mode !== "on") state.live = null;
  if (was !== state.mode) Object.assign(state, { results: {}, sure: false, failure: "" });
  refresh();
}

function tick() {
  if (!link) return;
  const now = performance.now();
  state.heard = link.isLive(now);
  if (state.failure && now - failedAt > FAILURE_MS) state.failure = "";
  // While the key is waited for, the table itself says how long; where it says nothing live, how it stands.
  if (link.connected && (state.mode !== "on" || !state.heard) && now - askedAt > ASK_AGAIN_MS) status();
  refresh();
}

async function status() {
  askedAt = performance.now();
  const { ok, result } = await link.ask("status");
  if (!ok || !link) return;
  Object.assign(state, { mode: result.service, who: result.who, left: result.left_s });
  if (!state[state.tab] && ["times", "history", "counters"].includes(state.tab)) look();
  refresh();
}

/** What a tab shows beside the live sensors is asked for when it is opened. */
async function look() {
  const tab = state.tab;
  if (!["times", "history", "counters"].includes(tab) || !link) return;
  const answer = await link.ask(tab);
  if (answer.ok) state[tab] = answer.result;
  else failed(answer);
  refresh();
}

async function more(from) {
  const answer = await link.ask("history", { from });
  if (answer.ok) state.history = { ...answer.result, faults: [...state.history.faults, ...answer.result.faults] };
  refresh();
}

async function enter() {
  const answer = await link.ask("enter");
  if (answer.ok) Object.assign(state, { mode: answer.result.service, left: answer.result.left_s });
  else failed(answer);
  refresh();
}

async function leave(sure) {
  const answer = await link.ask("leave", { sure });
  state.sure = !answer.ok && answer.code === "not_home";
  if (answer.ok) Object.assign(state, { mode: answer.result.service, live: null });
  else failed(answer);
  refresh();
}

/** Stops everything: not held up by anything that is pending. */
async function stop() {
  const answer = await link.ask("stop");
  if (!answer.ok) failed(answer);
  refresh();
}

/** Asks for something that takes its time; until it is answered nothing else is asked for. */
async function carryOut(key, ask, worded = () => ({})) {
  if (state.pending) return;
  Object.assign(state, { pending: key, failure: "" });
  refresh();
  const answer = await ask();
  state.pending = "";
  state.results = { ...state.results, ...worded(answer) };
  if (!answer.ok) failed(answer);
  refresh();
}

async function restart() {
  const answer = await link.restart();
  if (!answer.ok) failed(answer);
}

function unpair() {
  turn += 1;
  link?.close();
  link = null;
  forgetPairing({ seat: PLACE });
  Object.assign(state, { paired: false, code: "", asking: false, mode: "off", live: null, times: null, history: null, counters: null });
  refresh();
}

function failed(answer) {
  failedAt = performance.now();
  state.failure = failureWords(answer);
}

function refresh() {
  page.draw(state);
}
