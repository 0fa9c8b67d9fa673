// Faces of a table that cannot go on: in service, stopped, unreachable machine, fault, paused.

import { motorName, testName } from "./service_words.js";
import { hasWords, say, sayCode } from "./text.js";

const BLOCKING = new Set(["fault", "critical"]);

/** The alert that takes the whole column, or null. `busy`: people have something to do that no fault stands in the way of. */
export function alertTask(view, busy) {
  const machine = view.machine ?? {};
  if (machine.service) return servicedFace(machine.service);
  if (machine.stop) return stoppedFace(machine.stop);
  if (machine.link === "lost") return { tone: "alert", face: "link", kicker: say("alert.link"), say: say("alert.link.say"), hint: say("alert.link.hint") };
  const critical = (machine.faults ?? []).find((fault) => fault.severity === "critical");
  const blocking = critical ?? (busy || machine.problem ? null : (machine.faults ?? []).find((fault) => BLOCKING.has(fault.severity)));
  if (blocking) return faulty(blocking);
  if (view.use === "paused") {
    return { tone: "alert", face: "paused", kicker: say("alert.paused"), say: say("alert.paused.say"), hint: say("alert.paused.hint") };
  }
  if (machine.link === "wait" && !busy) return { tone: "wait", face: "link", say: say("alert.link_wait"), hint: say("alert.link.hint") };
  return null;
}

/** What, where, what you can do, and what a repairer should look at, in the words of the fault vocabulary. */
export function faulty(fault) {
  const what = sayCode("fault", fault.code);
  return {
    tone: "alert",
    face: "fault",
    kicker: say("alert.fault"),
    say: fault.side ? say("alert.where", { what, side: say(`side.${fault.side}`) }) : what,
    hint: sayCode("fault", fault.code, {}, ".do"),
    repair: say("alert.repair", { text: sayCode("fault", fault.code, {}, ".repair") }),
  };
}

/** An emergency stop and its reason. */
export function stoppedFace(reason) {
  return {
    tone: "alert",
    face: "stop",
    kicker: say("alert.stop"),
    say: say("alert.stop.say"),
    hint: say("alert.stop.hint", { reason: sayCode("stop", reason.replaceAll(" ", "_")) }),
  };
}

/** A repairer has the table, and what is being done to it. */
function servicedFace({ who, act, params }) {
  const motor = params.motor ? motorName(params.motor) : "";
  const test = params.test ? testName(params.test) : "";
  const doing = act ? (hasWords(`alert.service.${act}`) ? `alert.service.${act}` : "alert.service.other") : "";
  return {
    tone: "alert",
    face: "service",
    kicker: say("alert.service"),
    say: say("alert.service.say", { who }),
    hint: say("alert.service.hint"),
    repair: doing ? say(doing, { motor, test, code: act }) : "",
  };
}
