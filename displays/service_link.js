// The repairer's connection: availability, what the table says live in service mode, commands and their answers.

import { Freshness } from "./fresh.js";
import { clientOptions, readEnvelope, socketUrl } from "./link.js";
import { randomId } from "./presses.js";

const CLIENT = "service";
const VALID_MS = 10000;
const ANSWER_MS = 12000;
/** A self-test of everything takes its time. */
const LONG_MS = 90000;
/** Without anything live for so long the table is not heard. */
export const QUIET_MS = 3000;

/**
 * Connects with a pairing {user, password, table}; `who()` is the repairer's name, `heard()` is called after anything
 * changed. `live` is the table's last word in service mode, or null.
 */
export class ServiceLink {
  constructor(mqtt, pairing, who, heard, url = socketUrl()) {
    const base = `kaijin/1/${pairing.table}`;
    this.topics = { availability: `${base}/availability`, live: `${base}/service`, answers: `${base}/response/${CLIENT}`, command: `${base}/command` };
    this.who = who;
    this.heard = heard;
    this.fresh = new Freshness();
    this.live = null;
    this.liveAt = 0;
    this.availability = null;
    this.reason = "";
    this.connected = false;
    this.refused = false;
    this.mono = null; // {epoch, ms, at}: the table's clock as last heard, and when
    this.waiting = new Map();
    this.client = mqtt.connect(url, clientOptions(`service-${randomId(8)}`, pairing));
    this.client.on("connect", () => this.#opened());
    this.client.on("close", () => this.#closed());
    this.client.on("error", (error) => this.#failed(error));
    this.client.on("message", (topic, payload, packet) => this.#message(topic, payload, Boolean(packet.retain)));
  }

  /** Whether the table is in service mode and says so now. */
  isLive(now) {
    return this.live !== null && this.connected && now - this.liveAt < QUIET_MS;
  }

  /** Asks for an action of `command/service`; {ok, result} or {ok: false, code, params}. Sent once, never again. */
  async ask(action, args = {}) {
    if (!this.mono && !(await this.#clock())) return { ok: false, code: "slow", params: {} };
    return this.#send("service", { action, ...args }, action === "self_test" ? LONG_MS : ANSWER_MS);
  }

  /** Asks for a restart; the answer comes when it begins, so only that it was taken is awaited. */
  async restart() {
    if (!this.mono && !(await this.#clock())) return { ok: false, code: "slow", params: {} };
    return this.#send("restart", {}, ANSWER_MS, "accepted");
  }

  /** Ends the connection for good. */
  close() {
    this.client.end(true);
  }

  async #clock() {
    const answer = await this.#send("status", {}, ANSWER_MS);
    return answer.ok;
  }

  #send(verb, args, wait, enough = "done") {
    if (!this.connected) return Promise.resolve({ ok: false, code: "slow", params: {} });
    const id = `${verb}-${randomId(12)}`;
    const body = { id, client: CLIENT, who: this.who(), args };
    if (this.mono) Object.assign(body, { epoch: this.mono.epoch, not_after_ms: Math.round(this.mono.ms + performance.now() - this.mono.at) + VALID_MS });
    return new Promise((answered) => {
      const late = setTimeout(() => this.#answered(id, { ok: false, code: "slow", params: {} }), wait);
      this.waiting.set(id, { answered, late, enough });
      this.client.publish(`${this.topics.command}/${verb}`, JSON.stringify(body), { qos: 1 }, () => {});
    });
  }

  #answered(id, answer) {
    const asked = this.waiting.get(id);
    if (!asked) return;
    this.waiting.delete(id);
    clearTimeout(asked.late);
    asked.answered(answer);
  }

  #opened() {
    this.connected = true;
    this.refused = false;
    this.mono = null;
    this.client.subscribe([this.topics.availability, this.topics.answers, this.topics.live], { qos: 1 }, () => this.heard());
  }

  #closed() {
    this.connected = false;
    this.heard();
  }

  #failed(error) {
    if (error?.code === 4 || error?.code === 5 || error?.code === 135) this.refused = true;
    this.heard();
  }

  #message(topic, payload, retained) {
    const envelope = readEnvelope(payload);
    if (!envelope || !Number.isSafeInteger(envelope.epoch)) return;
    if (this.fresh.epoch !== null && envelope.epoch < this.fresh.epoch) return;
    this.fresh.newEpoch(envelope.epoch);
    if (!retained) this.#hearClock(envelope);
    if (topic === this.topics.availability) this.#available(envelope.data);
    else if (topic === this.topics.live && !retained) this.#lives(envelope.data);
    else if (topic === this.topics.answers && !retained) this.#answers(envelope.data);
    this.heard();
  }

  #hearClock({ epoch, mono_ms: ms }) {
    if (this.mono && this.mono.epoch === epoch && ms < this.mono.ms) return;
    this.mono = { epoch, ms, at: performance.now() };
  }

  #available(data) {
    this.availability = typeof data.state === "string" ? data.state : null;
    this.reason = data.reason ?? "";
    if (this.availability !== "maintenance") this.live = null;
  }

  #lives(data) {
    this.live = data;
    this.liveAt = performance.now();
  }

  #answers({ id, outcome, code, params, result }) {
    const asked = this.waiting.get(id);
    if (!asked) return;
    if (outcome === "done" || (outcome === "accepted" && asked.enough === "accepted")) this.#answered(id, { ok: true, result });
    else if (outcome !== "accepted") this.#answered(id, { ok: false, code, params });
  }
}
