// Is what I show true now? Only a live message (RETAIN flag 0) of the newest epoch says so, and for ten seconds.

export const FRESH_MS = 10000;

/** Judges messages by epoch and retain flag; all times are of one monotonic clock, in ms. */
export class Freshness {
  constructor() {
    this.epoch = null;
    this.mono = -1;
    this.liveAt = null;
  }

  /**
   * Takes note of a view. "old": of an earlier epoch, or older than the one shown, not to be used; "kept": retained,
   * may be shown but proves nothing; "live": fresh from now.
   */
  note(envelope, retained, now) {
    const { epoch, mono_ms: mono } = envelope;
    if (!Number.isSafeInteger(epoch)) return "old";
    if (this.epoch !== null && epoch < this.epoch) return "old";
    if (epoch !== this.epoch) this.newEpoch(epoch);
    if (Number.isFinite(mono)) {
      if (mono < this.mono) return "old";
      this.mono = mono;
    }
    if (retained) return "kept";
    this.liveAt = now;
    return "live";
  }

  /** A higher epoch was heard of: nothing of the earlier ones is fresh any more. */
  newEpoch(epoch) {
    if (this.epoch !== null && epoch <= this.epoch) return;
    this.epoch = epoch;
    this.mono = -1;
    this.liveAt = null;
  }

  /** ms since the last live message, null when there has been none of this epoch. */
  age(now) {
    return this.liveAt === null ? null : now - this.liveAt;
  }

  /** Whether what is shown can be believed. */
  isFresh(now) {
    return this.liveAt !== null && now - this.liveAt < FRESH_MS;
  }
}
