// How a display gets its seat: a one-time token in the address's fragment, or a code confirmed at the table.

import { deviceId, deviceName, recall, recallHere, remember, rememberHere } from "./settings.js";

const POLL_MS = 1000;
const PLACES = new Set(["E", "S", "W", "N", "view", "service"]);
/** Pages of their own, which no seat stands for. */
const APART = new Set(["view", "service"]);

/** The pairing this display holds, or null. Seats are kept apart: two tabs of one browser may hold two of them. */
export function storedPairing(place) {
  const seat = APART.has(place) ? place : recallHere("seat") ?? recall("seat");
  const known = recall(`pairing.${seat}`);
  return known?.user && known.password && known.table && PLACES.has(known.seat) ? known : null;
}

/** Keeps a pairing; this tab, and whatever is opened next on this device, is that seat's display. */
export function storePairing(place, pairing) {
  remember(`pairing.${pairing.seat}`, pairing);
  if (APART.has(place)) return;
  rememberHere("seat", pairing.seat);
  remember("seat", pairing.seat);
}

/** Forgets a pairing. */
export function forgetPairing(pairing) {
  if (!pairing) return;
  remember(`pairing.${pairing.seat}`, null);
  rememberHere("seat", null);
  if (recall("seat") === pairing.seat) remember("seat", null);
}

/** Takes `#seat=E&token=…` out of the address, at once, and returns {seat, token} or null. */
export function takeFragment() {
  const fields = new URLSearchParams(location.hash.replace(/^#/, ""));
  const [seat, token] = [fields.get("seat"), fields.get("token")];
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  return PLACES.has(seat) && token ? { seat, token } : null;
}

/** Pairs with a token: {pairing} or {problem: "second" | "token" | "failed", name}. */
export async function pairWithToken({ seat, token }) {
  const { status, body } = await post("pair", { seat, token, device: deviceId(), name: deviceName() });
  if (status === 200) return { pairing: pairingOf(body, seat) };
  if (status === 409) return { problem: "second", name: body.name ?? "" };
  return { problem: status === 403 ? "token" : "failed" };
}

/** Asks for a seat: {code, ask, expires_s} or {problem, name}. */
export async function askForSeat(seat) {
  const { status, body } = await post("pair/ask", { seat, device: deviceId(), name: deviceName() });
  if (status === 200) return body;
  return status === 409 ? { problem: "second", name: body.name ?? "" } : { problem: "failed" };
}

/** Waits until the code was confirmed or refused: {pairing} or {problem}. `going()` false gives up. */
export async function waitForGrant(ask, seat, going) {
  while (going()) {
    const { status, body } = await post("pair/wait", { ask });
    if (status === 200) return { pairing: pairingOf(body, seat) };
    if (status === 403 || status === 410) return { problem: "refused" };
    if (status === 409) return { problem: "second", name: body.name ?? "" };
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return { problem: "given_up" };
}

function pairingOf(body, seat) {
  return { user: body.user, password: body.password, table: body.table, seat: body.seat ?? seat };
}

async function post(path, fields) {
  try {
    const answer = await fetch(`/${path}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields), cache: "no-store",
    });
    const body = await answer.json().catch(() => ({}));
    return { status: answer.status, body: body ?? {} };
  } catch {
    return { status: 0, body: {} };
  }
}
