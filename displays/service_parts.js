// What the tabs of the repairer's page show: one function a tab, from what is known to nodes.

import { html } from "./svg.js";
import { hasWords, say, sayCode } from "./text.js";
import { faultName, faultRepair, failureWords, motorName, reading, resultWords, seconds, sensorName, testName } from "./service_words.js";

export const MOTORS = ["centre", "walls", "stirrer", "lifters", "pushers", "dice"];
/** In the order of their numbers on the wire. */
export const TESTS = ["all", "supply", "stop_circuit", "keys", "centre_limits", "wall_homes", "eyes", "heads", "dice", "readers", "motors"];
const MOVING = new Set(["all", "motors"]);
export const DURATIONS = [200, 500, 1000, 2000];
const MACHINE = ["lid_closed", "centre_down", "centre_up", "walls_down", "walls_up", "stop_button", "dice_still", "tiles_on_felt", "reader_ready", "service_mode"];
const KEYS = ["lift_key", "dice_key", "service_key"];
const READINGS = ["supply", "motor_current", "board_temperature", "motor_temperature"];
const SIDES = ["E", "S", "W", "N"];
/** What a motor's own sensors are. */
const FOLLOWS = { centre: ["centre_down", "centre_up"], walls: ["walls_down", "walls_up"], dice: ["dice_still"] };

/** What the motors' own sensors show. */
export function followed(sensors) {
  return Object.values(FOLLOWS).flat().map((name) => Boolean(sensors[name]));
}

/** A button that says what it does; `act` is what it tells. */
export function press(label, what, act, { kind = "plain", off = false, busy = false, small = "" } = {}) {
  const node = html("button", { type: "button", class: `do do-${kind}`, "data-act": what, "aria-busy": busy ? "true" : null }, html("span", { text: label }), ...(small ? [html("small", { text: small })] : []));
  node.disabled = off;
  // A stop does not wait for the finger to leave.
  node.addEventListener(kind === "stop" ? "pointerdown" : "click", act);
  if (kind === "stop") node.addEventListener("keydown", (event) => event.key === "Enter" && act());
  return node;
}

/** A bit by shape and word, so that no colour is needed: a filled disc, or a ring. */
function bit(on) {
  return html("span", { class: `bit ${on ? "bit-on" : "bit-off"}`, "data-on": String(Boolean(on)) }, html("i", { "aria-hidden": "true" }), html("b", { text: say(on ? "service.on_bit" : "service.off_bit") }));
}

function row(name, value, code) {
  return html("li", { class: "fact", "data-code": code }, html("span", { text: name }), value);
}

function group(title, rows) {
  return html("section", { class: "group" }, html("h2", { text: title }), html("ul", {}, ...rows));
}

/** Live sensors: the machine, keys, the four sides beside one another, readings. */
export function sensorsTab({ live }) {
  const { sensors, values } = live;
  const bits = (names) => names.filter((name) => name in sensors).map((name) => row(sensorName(name), bit(sensors[name]), name));
  const head = ["eye", "level", "head", "seat_key"].map((name) => html("th", { text: say(`service.col.${name}`) }));
  const sides = SIDES.map((side) =>
    html("tr", { "data-side": side },
      html("th", {}, html("span", { class: `owner seat-${side}`, text: say(`glyph.${side}`) })),
      html("td", {}, bit(sensors[`eye_${side}`])),
      html("td", { class: "number", text: reading(`eye_level_${side}`, values[`eye_level_${side}`] ?? 0) }),
      html("td", {}, bit(sensors[`head_${side}`])),
      html("td", {}, bit(sensors[`seat_key_${side}`])),
    ));
  const readings = READINGS.filter((name) => name in values).map((name) => row(sensorName(name), html("b", { class: "number", text: reading(name, values[name]) }), name));
  return [
    html("div", { class: "columns" },
      group(say("service.group.machine"), bits(MACHINE)),
      html("div", { class: "stack" },
        html("table", { class: "sides" }, html("thead", {}, html("tr", {}, html("th", {}), ...head)), html("tbody", {}, ...sides)),
        html("div", { class: "halves" }, group(say("service.group.keys"), bits(KEYS)), group(say("service.group.values"), readings)),
      ),
    ),
  ];
}

/** One card a motor: run it backwards or forwards, and what its own sensors show. */
export function motorsTab(state, tell) {
  const { live, duration, pending, results } = state;
  const may = live.key && live.at_rest && live.board_mode && !live.stop && !live.motion && !pending;
  const times = DURATIONS.map((ms) => press(say("service.jog.seconds", { n: ms / 1000 }), `for-${ms}`, () => tell.duration(ms), { kind: ms === duration ? "chosen" : "plain" }));
  const cards = MOTORS.map((motor) => {
    const told = results[`jog.${motor}`];
    const shown = (FOLLOWS[motor] ?? []).filter((name) => name in live.sensors).map((name) => row(sensorName(name), bit(live.sensors[name]), name));
    const run = (sign, word) => press(say(word), `jog-${motor}-${sign < 0 ? "back" : "forward"}`, () => tell.jog(motor, sign * duration), { kind: "move", off: !may, busy: pending === `jog.${motor}` });
    return html("section", { class: "motor", "data-motor": motor },
      html("div", { class: "motor-head" }, html("h2", { text: motorName(motor) }), html("ul", { class: "follows" }, ...shown)),
      html("p", { class: `told ${told && !told.good ? "bad" : ""}`, text: told?.text ?? "" }),
      html("div", { class: "pair" }, run(-1, "service.jog.back"), run(1, "service.jog.forward")));
  });
  return [
    html("div", { class: "durations" }, html("span", { text: say("service.jog.time") }), ...times),
    html("div", { class: "motors" }, ...cards),
  ];
}

/** Self-tests by number with what they found in words; lamps and buzzer. */
export function testsTab(state, tell) {
  const { live, pending, results } = state;
  const ready = live.at_rest && live.board_mode && !live.stop && !live.motion && !pending;
  const rows = TESTS.map((test, number) => {
    const told = results[`test.${test}`];
    const moves = MOVING.has(test);
    return html("li", { class: "test", "data-test": test },
      html("span", { class: "number", text: number ? String(number) : "" }),
      html("span", { class: "test-name" }, html("b", { text: testName(test) }), ...(moves ? [html("small", { text: say("service.test.moves") })] : [])),
      html("span", { class: `test-told ${told ? (told.good ? "good" : "bad") : "quiet"}`, text: pending === `test.${test}` ? say("service.test.running") : told?.text ?? say("service.test.none") }),
      press(say("service.test.run"), `test-${number}`, () => tell.test(number), { kind: "move", off: !ready || (moves && !live.key), busy: pending === `test.${test}` }));
  });
  return [
    html("ol", { class: "tests" }, ...rows),
    html("div", { class: "shows" },
      press(say("service.lamps"), "lamps", () => tell.show("lamps"), { off: Boolean(pending) }),
      press(say("service.buzzer"), "buzzer", () => tell.show("buzzer"), { off: Boolean(pending) })),
  ];
}

/** The answer of a self-test as each test's words. */
export function testResults(asked, answer) {
  if (!answer.ok) return { [`test.${asked}`]: { good: false, text: failureWords(answer) } };
  const { result } = answer;
  const found = { [`test.${asked}`]: { good: result.outcome === "done", text: resultWords(result) } };
  const told = new Set();
  for (const check of result.checks ?? []) {
    const key = `test.${check.test}`;
    const text = check.fault ? `${faultName(check.fault, check.side)} – ${faultRepair(check.fault)}` : say("service.result.done");
    // A test may find something at several sides.
    found[key] = { good: !check.fault, text: told.has(key) ? `${found[key].text}${say("and")}${text}` : text };
    told.add(key);
  }
  return found;
}

/** The words of a jog's answer. */
export function jogResult(motor, answer) {
  const good = answer.ok && answer.result.outcome === "done";
  return { [`jog.${motor}`]: { good, text: answer.ok ? resultWords(answer.result, true) : failureWords(answer) } };
}

/** Learned times against now. */
export function timesTab({ times, mode, pending }, tell) {
  if (!times) return [];
  const heads = ["movement", "usual", "now", "last", "board", "limit"].map((name) => html("th", { text: say(`service.times.${name}`) }));
  const rows = times.movements.map((one) => {
    const mark = one.slow ? html("b", { class: "mark bad", text: say("service.times.slow") }) : html("small", { class: "quiet", text: one.usual_ms ? say("service.times.count", { n: one.count }) : say("service.times.few") });
    const again = mode === "on" && one.slow ? [press(say("service.times.forget"), `forget-${one.movement}`, () => tell.forget(one.movement), { off: Boolean(pending) })] : [];
    return html("tr", { "data-movement": one.movement, class: one.slow ? "slow" : "" },
      html("th", {}, html("span", { text: sayCode("op", one.movement) }), mark, ...again),
      ...[one.usual_ms, one.now_ms, one.last_ms, one.board_ms, one.limit_ms].map((ms) => html("td", { class: "number", text: seconds(ms) })));
  });
  return [html("table", { class: "rows" }, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows))];
}

/** The history of faults: how often, where, by which sensor. */
export function historyTab({ history }, tell) {
  if (!history) return [];
  if (!history.faults.length) return [html("p", { class: "empty", text: say("service.history.none") })];
  const heads = ["fault", "where", "sensor", "count", "per", "last"].map((name) => html("th", { text: say(`service.history.${name}`) }));
  const rows = history.faults.map((one) =>
    html("tr", { "data-fault": one.code, "data-side": one.side },
      html("th", {}, html("span", { text: hasWords(`fault.${one.code}`) ? say(`fault.${one.code}`) : sayCode("fault", one.code) }), html("small", { class: "quiet", text: faultRepair(one.code) })),
      html("td", {}, one.side ? html("span", { class: `owner seat-${one.side}`, text: say(`glyph.${one.side}`) }) : say("service.unknown")),
      html("td", { text: one.sensors.map(sensorName).join(say("and")) || say("service.unknown") }),
      html("td", { class: "number", text: String(one.count) }),
      html("td", { class: "number", text: one.per_1000 === null ? say("service.unknown") : String(one.per_1000) }),
      html("td", { class: "number", text: say("service.history.ago", { n: Math.max(0, history.cycles - one.last_cycle) }) })));
  const more = history.next === null ? [] : [press(say("service.history.more"), "more", () => tell.more(history.next))];
  return [
    html("p", { class: "quiet", text: say("service.history.cycles", { n: history.cycles }) }),
    html("table", { class: "rows" }, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows)),
    ...more,
  ];
}

/** Cycles, motor hours, lines; and what concerns the controller itself. */
export function countersTab({ counters }, tell) {
  if (!counters) return [];
  const hours = (all) => say("service.counters.hours", { h: Math.floor(all / 3600), m: Math.floor((all % 3600) / 60) });
  const facts = [row(say("service.counters.cycles"), html("b", { class: "number", text: counters.cycles ?? say("service.unknown") }), "cycles")];
  for (const [motor, all] of Object.entries(counters.motor_seconds ?? {})) facts.push(row(say("service.counters.motor", { motor: motorName(motor) }), html("b", { class: "number", text: hours(all) }), motor));
  const lines = counters.lines.map((one) => html("section", { class: "group", "data-line": one.port },
    html("h2", { text: say("service.counters.line", { port: one.port }) }),
    html("p", { text: say("service.counters.line_facts", { in: one.frames_in, out: one.frames_out, again: one.retransmits, bad: one.bad_frames, lost: one.losses }) }),
    html("p", { text: one.board_bad_frames === null ? say("service.failed.link_lost") : say("service.counters.board_facts", { again: one.board_retransmits, bad: one.board_bad_frames }) })));
  return [
    html("div", { class: "columns" }, html("section", { class: "group" }, html("ul", {}, ...facts)), html("div", { class: "stack" }, ...lines)),
    html("div", { class: "shows" }, press(say("service.restart"), "restart", () => tell.restart(), { small: say("service.restart.waits") }), press(say("service.unpair"), "unpair", () => tell.unpair())),
  ];
}
