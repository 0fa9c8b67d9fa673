// Buttons pressed and not yet answered: what is pending, what was refused, what the table has not answered for too long.

export const SLOW_MS = 5000;
const KEPT_MS = 8000; // how long a refusal stays in sight
const MOST = 32;

/** A random id, also on pages without a secure context. */
export function randomId(bytes = 9) {
  const numbers = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(numbers, (number) => number.toString(16).padStart(2, "0")).join("");
}

/** Keeps presses; `publish(input)` sends one, `now()` is a monotonic clock in ms. */
export class Presses {
  constructor(publish, now = () => performance.now()) {
    this.publish = publish;
    this.now = now;
    this.entries = new Map();
    this.epoch = null;
  }

  /** Sends what a button stands for; pressed again while unanswered for long, it is sent again under the same id. */
  press(button) {
    const key = keyOf(button);
    const known = this.entries.get(key);
    if (known?.state === "pending" && this.now() - known.at < SLOW_MS) return;
    const id = known?.state === "pending" ? known.id : randomId();
    if (!known && this.entries.size >= MOST) this.entries.delete(this.entries.keys().next().value);
    this.entries.set(key, { id, want: button.want, at: this.now(), state: "pending", code: "", rule: "", params: {} });
    this.publish({ id, epoch: this.epoch, want: button.want, action: button.action, params: button.params });
  }

  /** Takes the answers of a view; what belongs to no outstanding want is forgotten. */
  heard(view, epoch) {
    if (epoch !== this.epoch) this.entries.clear();
    this.epoch = epoch;
    const answers = new Map((view?.me?.answers ?? []).map((answer) => [answer.id, answer]));
    const outstanding = new Set((view?.me?.wants ?? []).map((want) => want.id));
    for (const [key, entry] of this.entries) {
      const answer = answers.get(entry.id);
      if (entry.state === "pending" && answer) {
        Object.assign(entry, { state: answer.ok ? "ok" : "refused", code: answer.code, rule: answer.rule, params: answer.params ?? {}, at: this.now() });
      }
      const over = this.now() - entry.at > KEPT_MS;
      const gone = entry.want !== "" && !outstanding.has(entry.want);
      if ((entry.state !== "pending" && over) || (gone && entry.state !== "refused")) this.entries.delete(key);
    }
  }

  /** "", "pending", "slow", "ok" or "refused". */
  stateOf(button) {
    const entry = this.entries.get(keyOf(button));
    if (!entry) return "";
    return entry.state === "pending" && this.now() - entry.at >= SLOW_MS ? "slow" : entry.state;
  }

  /** What must be said of the latest press: {kind: "slow" | "refused", code, rule, params}, or null. */
  word() {
    let latest = null;
    for (const entry of this.entries.values()) {
      const age = this.now() - entry.at;
      const slow = entry.state === "pending" && age >= SLOW_MS;
      const refused = entry.state === "refused" && age < KEPT_MS;
      if ((slow || refused) && (!latest || entry.at >= latest.at)) latest = { ...entry, kind: slow ? "slow" : "refused" };
    }
    return latest && { kind: latest.kind, code: latest.code, rule: latest.rule, params: latest.params };
  }
}

function keyOf({ want, action, params }) {
  return `${want}|${action}|${JSON.stringify(params)}`;
}
