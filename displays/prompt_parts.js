// What the prompts are put together from: buttons, and the small bodies that several of them share.

import { say } from "./text.js";

/** A button that answers a want. */
export const press = (want, action, label, params = {}, kind = "primary", ready = true) => ({
  want: want.id, action, params, label, kind, ready,
});

/** A button that changes what is chosen on this display, and tells the table nothing. */
export const choose = (patch, label, kind = "second") => ({ choose: patch, label, kind, ready: true });

/** Whether a want takes this answer. */
export const may = (want, action) => want.actions.includes(action);

/** Where readers see what is done, a button for the case that they do not. */
export function byHand(want) {
  return may(want, "by_hand") ? [press(want, "by_hand", say("press.by_hand"), {}, "second")] : [];
}

/** The eight fields: which flower is whose. The table knows them, whoever touched. */
export function flowerFields(want, viewer, more = {}) {
  return { kind: "flowers", want: want.id, mine: want.params.mine ?? [], taken: want.params.taken ?? {}, viewer, undo: may(want, "unflower"), more };
}

/** Params without what is not set. */
export function clean(params) {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null && value !== undefined));
}

/** Parts of a line, the empty ones left out. */
export function join(...parts) {
  return parts.filter(Boolean).join(" · ");
}
