// What a repairer sees in words: sensors, motors, self-tests, movements, results, refusals. Codes travel, words are here.

import { hasWords, say, sayCode } from "./text.js";

const SIDES = new Set(["E", "S", "W", "N"]);

/** A motor's name. */
export function motorName(code) {
  return hasWords(`service.motor.${code}`) ? say(`service.motor.${code}`) : say("service.motor.other", { code });
}

/** A self-test's name. */
export function testName(code) {
  return hasWords(`service.test.${code}`) ? say(`service.test.${code}`) : say("service.test.other", { code });
}

/** A sensor's name, with its side where it has one: `eye_level_W`. */
export function sensorName(code) {
  const side = code.slice(-1);
  const stem = code.slice(0, -2);
  if (SIDES.has(side) && code[code.length - 2] === "_" && hasWords(`service.sensor.${stem}`)) return say(`service.sensor.${stem}`, { side: say(`side.${side}`) });
  return hasWords(`service.sensor.${code}`) ? say(`service.sensor.${code}`) : say("service.sensor.other", { code });
}

/** A fault in words, and at which side. */
export function faultName(code, side = "") {
  const what = sayCode("fault", code);
  return side ? say("service.result.failed_side", { side: say(`side.${side}`), what }) : what;
}

/** What a repairer should look at. */
export const faultRepair = (code) => sayCode("fault", code, {}, ".repair");

/** How a motion ended, in words; `moved` for a jog that did what it should. */
export function resultWords({ outcome, fault, side }, moved = false) {
  if (outcome === "failed") return fault ? faultName(fault, side) : say("service.result.failed", { what: say("service.unknown") });
  return say(outcome === "interrupted" ? "service.result.interrupted" : moved ? "service.result.moved" : "service.result.done");
}

/** Why something was not done, in words. */
export function failureWords({ code, params = {} }) {
  const what = Object.keys(params).filter((name) => name !== "what").map(motorName).join(say("and"));
  const key = `service.failed.${code}`;
  return hasWords(key) ? say(key, { ...params, what }) : say("service.failed.other", { code });
}

/** A reading with its unit as people read it: 24.0 V, 0.60 A, 35 °C, 93 %. */
export function reading(name, value) {
  if (name === "supply") return `${(value / 1000).toFixed(1)} V`;
  if (name === "motor_current") return `${(value / 1000).toFixed(2)} A`;
  if (name.endsWith("_temperature")) return `${Math.round(value / 10 - 273.15)} °C`;
  return `${Math.round(value / 10)} %`;
}

/** Milliseconds as seconds with one or two digits; a dash where there is nothing. */
export function seconds(ms) {
  if (ms === null || ms === undefined) return say("service.unknown");
  return say("service.jog.seconds", { n: (ms / 1000).toFixed(ms < 10000 ? 2 : 1) });
}

/** m:ss. */
export function clock(left) {
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}
