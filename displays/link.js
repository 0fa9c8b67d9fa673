// The connection to the table's broker: MQTT over a WebSocket of the page's own origin. It recovers for ever.

import { Freshness } from "./fresh.js";
import { randomId } from "./presses.js";

const KEEPALIVE_S = 3;
const RETRY_MS = 1000;
const CONNECT_MS = 4000;
const ROOT = "kaijin/1";

/**
 * Connects with a pairing {user, password, table, seat}; seat "view" reads the public state.
 * `mqtt` is the client library, `heard()` is called after anything changed.
 */
export class TableLink {
  constructor(mqtt, pairing, heard, url = socketUrl()) {
    this.topics = topicsOf(pairing);
    this.heard = heard;
    this.fresh = new Freshness();
    this.view = null;
    this.emptied = false;
    this.availability = null;
    this.reason = "";
    this.connected = false;
    this.refused = false;
    this.begunAt = performance.now();
    this.client = mqtt.connect(url, clientOptions(`display-${randomId(8)}`, pairing));
    this.client.on("connect", () => this.#opened());
    this.client.on("close", () => this.#closed());
    this.client.on("error", (error) => this.#failed(error));
    this.client.on("message", (topic, payload, packet) => this.#message(topic, payload, Boolean(packet.retain)));
  }

  /** Sends an input of this seat; without a connection it is dropped, the page says so and it can be pressed again. */
  send(input) {
    if (!this.connected) return;
    this.client.publish(this.topics.input, JSON.stringify(input), { qos: 1 }, () => {});
  }

  /** Ends the connection for good. */
  close() {
    this.client.end(true);
  }

  #opened() {
    this.connected = true;
    this.refused = false;
    this.client.subscribe([this.topics.view, this.topics.availability], { qos: 1 }, () => {});
    this.heard();
  }

  #closed() {
    this.connected = false;
    this.heard();
  }

  #failed(error) {
    // CONNACK 4 and 5: bad user or password, not authorised.
    if (error?.code === 4 || error?.code === 5 || error?.code === 135) this.refused = true;
    this.heard();
  }

  #message(topic, payload, retained) {
    if (topic === this.topics.view && payload.length === 0) {
      this.#empty(retained);
      return;
    }
    const envelope = readEnvelope(payload);
    if (!envelope) return;
    if (topic === this.topics.availability) this.#available(envelope);
    else if (topic === this.topics.view) this.#viewed(envelope, retained);
  }

  #available(envelope) {
    const { epoch, data } = envelope;
    if (!Number.isSafeInteger(epoch) || (this.fresh.epoch !== null && epoch < this.fresh.epoch)) return;
    this.fresh.newEpoch(epoch);
    this.availability = typeof data.state === "string" ? data.state : null;
    this.reason = typeof data.reason === "string" ? data.reason : "";
    this.heard();
  }

  #viewed(envelope, retained) {
    const kind = this.fresh.note(envelope, retained, performance.now());
    if (kind === "old") return;
    // A table that speaks is not lost: an old will may have come late.
    if (kind === "live" && this.availability === "lost") this.availability = null;
    const empty = Object.keys(envelope.data).length === 0;
    this.emptied = empty;
    this.view = empty ? null : envelope.data;
    this.heard();
  }

  #empty(retained) {
    if (retained) return;
    this.view = null;
    this.emptied = true;
    this.heard();
  }
}

function topicsOf({ table, seat }) {
  const base = `${ROOT}/${table}`;
  const view = seat === "view" ? `${base}/state` : `${base}/seat/${seat}`;
  return { availability: `${base}/availability`, view, input: `${base}/seat/${seat}/input` };
}

/** How a page connects with its pairing: it tries for ever, and nothing waits in it for a connection. */
export function clientOptions(clientId, pairing) {
  return {
    clientId,
    username: pairing.user,
    password: pairing.password,
    protocolVersion: 4,
    clean: true,
    keepalive: KEEPALIVE_S,
    reconnectPeriod: RETRY_MS,
    connectTimeout: CONNECT_MS,
    reconnectOnConnackError: true,
    timerVariant: "native",
    queueQoSZero: false,
    resubscribe: false,
  };
}

/** An envelope of this contract's major, or null for anything else. */
export function readEnvelope(payload) {
  try {
    const envelope = JSON.parse(new TextDecoder().decode(payload));
    const sound = envelope && envelope.v === 1 && envelope.data && typeof envelope.data === "object";
    return sound ? envelope : null;
  } catch {
    return null;
  }
}

/** Where the page server bridges to the broker. */
export function socketUrl() {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/mqtt`;
}
