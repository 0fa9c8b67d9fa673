// The repairer's page: bar, tabs, one sheet, one line of words; drawn from one state. Knows nothing of the network.

import { countersTab, followed, historyTab, motorsTab, press, sensorsTab, testsTab, timesTab } from "./service_parts.js";
import { clock } from "./service_words.js";
import { html, keyed, set, show, write } from "./svg.js";
import { LANGUAGES, language, say, sayCode } from "./text.js";

export const TABS = ["sensors", "motors", "tests", "times", "history", "counters"];
/** Tabs that need service mode. */
const IN_SERVICE = new Set(["sensors", "motors", "tests"]);
const DRAW = { sensors: sensorsTab, motors: motorsTab, tests: testsTab, times: timesTab, history: historyTab, counters: countersTab };

/**
 * Builds the page into its places in `document`; `tell` is told what is pressed. `draw(state)` shows a state:
 * {paired, code, asking, problem, connected, mode ("off" | "asked" | "on"), who, left, live, heard, tab, name, duration,
 * pending, results, times, history, counters, failure, sure}.
 */
export function createServicePage(tell) {
  const place = (name) => document.getElementById(name);
  const [bar, tabs, sheet, line] = ["bar", "tabs", "sheet", "line"].map(place);

  function draw(state) {
    set(document.documentElement, { lang: language(), "data-mode": state.paired ? state.mode : "unpaired" });
    document.title = say("service.page");
    drawBar(state);
    drawTabs(state);
    drawSheet(state);
    const words = lineWords(state);
    write(line, words.text);
    set(line, { class: `line line-${words.tone}` });
    show(line, Boolean(words.text));
  }

  function drawBar(state) {
    const { live } = state;
    const on = state.mode === "on";
    // What only counts down is written into its place: a button that is being pressed must not be made anew.
    keyed(bar, [language(), on, state.paired, state.who, live?.key, Boolean(live), Boolean(state.pending), state.sure, state.mode], (node) => {
      node.append(html("h1", { text: say("service.title") }));
      if (state.paired) node.append(html("span", { class: `chip ${on ? "chip-on" : ""}`, "data-chip": "mode" }, html("b", { text: say(on ? "service.on" : "service.off") }), ...(on ? [html("small", {}, html("span", { text: `${say("service.by", { who: state.who })} · ` }), html("span", { class: "left" }))] : [])));
      if (on && live) node.append(html("span", { class: `chip ${live.key ? "chip-key" : ""}`, "data-chip": "key" }, html("b", { text: say(live.key ? "service.key.held" : "service.key.free") })));
      node.append(html("span", { class: "space" }));
      if (on) node.append(press(say("service.stop"), "stop", tell.stop, { kind: "stop" }), press(say(state.sure ? "service.leave.sure" : "service.leave"), "leave", () => tell.leave(state.sure), { off: Boolean(state.pending) }));
      else node.append(...languages());
    });
    const left = bar.querySelector(".left");
    if (left) write(left, say("service.left", { left: clock(state.left) }));
  }

  function languages() {
    return LANGUAGES.map((code, index) => press(say("language", {}, index), `language-${code}`, () => tell.language(code), { kind: code === language() ? "chosen" : "plain" }));
  }

  function drawTabs(state) {
    show(tabs, state.paired);
    keyed(tabs, [language(), state.tab, state.mode], (node) => node.append(...TABS.map((tab) => {
      const made = press(say(`service.tab.${tab}`), `tab-${tab}`, () => tell.tab(tab), { kind: "tab" });
      return set(made, { "aria-pressed": String(tab === state.tab) });
    })));
  }

  function drawSheet(state) {
    const { key, nodes } = sheetOf(state);
    set(sheet, { "data-sheet": key[0] });
    const at = sheet.scrollTop;
    const same = sheet.dataset.shown === key[0];
    if (keyed(sheet, [language(), ...key], (node) => node.append(...nodes()))) sheet.scrollTop = same ? at : 0;
    sheet.dataset.shown = key[0];
    const counted = sheet.querySelector(".counted");
    if (counted) write(counted, say("service.asked.left", { n: state.left }));
  }

  function sheetOf(state) {
    if (!state.paired) return { key: ["pair", state.code, state.asking, state.problem], nodes: () => pairing(state) };
    if (!IN_SERVICE.has(state.tab)) return { key: [state.tab, state[state.tab], state.mode, Boolean(state.pending)], nodes: () => DRAW[state.tab](state, tell) };
    if (state.mode === "asked") return { key: ["asked"], nodes: () => asked(state) };
    if (state.mode === "off") return { key: ["enter"], nodes: () => entering(state) };
    if (!state.heard || !state.live || state.live.link === "lost") return { key: ["quiet", state.live?.link], nodes: () => [html("p", { class: "empty", text: say(state.live?.link === "lost" ? "service.link_lost" : "cover.connecting") })] };
    return { key: [state.tab, ...shownOf(state)], nodes: () => DRAW[state.tab](state, tell) };
  }

  function pairing(state) {
    const tongues = html("div", { class: "tongues" }, ...languages());
    if (state.code) return [html("div", { class: "face" }, html("p", { class: "code", text: `${state.code.slice(0, 3)} ${state.code.slice(3)}` }), html("p", { class: "great", text: say("service.code.hint") }), html("span", { class: "busy", "aria-hidden": "true" }))];
    return [html("div", { class: "face" },
      ...(state.problem ? [html("p", { class: "great bad", text: say(state.problem) })] : []),
      nameField(state),
      press(say("service.pair"), "pair", tell.pair, { kind: "great", off: state.asking }), tongues)];
  }

  function nameField(state) {
    const input = html("input", { id: "name", type: "text", maxlength: "40", autocomplete: "off", value: state.name });
    input.addEventListener("input", () => tell.name(input.value));
    return html("label", { class: "name", for: "name" }, html("span", { text: say("service.name") }), input, html("small", { class: "quiet", text: say("service.name.hint") }));
  }

  function entering(state) {
    return [html("div", { class: "face" }, html("p", { class: "great", text: say("service.why") }), nameField(state), press(say("service.enter"), "enter", tell.enter, { kind: "great" }))];
  }

  function asked(state) {
    return [html("div", { class: "face" }, html("p", { class: "great", text: say("service.asked") }), html("p", { class: "number counted" }), html("span", { class: "busy", "aria-hidden": "true" }), press(say("press.cancel"), "cancel", () => tell.leave(false)))];
  }

  return { draw };
}

/** As much of a state as a tab shows: what is pressed is made anew only where it must look otherwise. */
function shownOf({ tab, live, duration, pending, results }) {
  if (tab === "sensors") return [live.sensors, live.values];
  const { sensors, key, at_rest, board_mode, stop, motion } = live;
  const ready = [key, at_rest, board_mode, Boolean(stop), Boolean(motion), pending, results];
  return tab === "motors" ? [...ready, duration, followed(sensors)] : ready;
}

/** The one line below: what hinders now, or what was refused last. */
function lineWords(state) {
  if (state.paired && !state.connected) return { tone: "alert", text: say("cover.lost") };
  if (state.failure) return { tone: "alert", text: state.failure };
  const { live } = state;
  if (state.mode !== "on" || !live || live.link === "lost") return { tone: "plain", text: "" };
  if (live.stop) return { tone: "alert", text: say("service.stopped", { reason: sayCode("stop", live.stop.replaceAll(" ", "_")) }) };
  if (!live.board_mode) return { tone: "alert", text: say("service.board_off") };
  if (!live.at_rest) return { tone: "plain", text: say("service.rest") };
  if (state.tab === "motors" && !live.key) return { tone: "plain", text: say("service.key.hold") };
  return { tone: "plain", text: "" };
}
