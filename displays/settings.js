// What a display remembers by itself: language, theme, its own name, its pairing. Lost storage is no error.

import { randomId } from "./presses.js";

const PREFIX = "kaijin.";

/** A value stored on this device, or null. */
export const recall = (name) => read(() => localStorage, name);

/** Stores a value on this device; null forgets it. */
export const remember = (name, value) => write(() => localStorage, name, value);

/** A value stored for this tab alone, or null. */
export const recallHere = (name) => read(() => sessionStorage, name);

/** Stores a value for this tab alone; null forgets it. */
export const rememberHere = (name, value) => write(() => sessionStorage, name, value);

function read(storage, name) {
  try {
    return JSON.parse(storage().getItem(PREFIX + name));
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  try {
    if (value === null) storage().removeItem(PREFIX + name);
    else storage().setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage is switched off: the display works, it only has to be asked again after a reload.
  }
}

/** This device's own random id, kept for good. */
export function deviceId() {
  const known = recall("device");
  if (typeof known === "string" && known) return known;
  const fresh = randomId(12);
  remember("device", fresh);
  return fresh;
}

/** A short name by which people can tell this device: "Chrome · Android". */
export function deviceName() {
  const agent = navigator.userAgent;
  const find = (pairs) => pairs.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = find([[/Edg\//, "Edge"], [/Firefox\//, "Firefox"], [/Chrom(e|ium)\//, "Chrome"], [/Safari\//, "Safari"]]) ?? "Browser";
  const system = find([[/Android/, "Android"], [/iPad|iPhone/, "iOS"], [/Windows/, "Windows"], [/Mac OS/, "Mac"], [/Linux/, "Linux"]]);
  return system ? `${browser} · ${system}` : browser;
}

/** Puts theme ("dark" | "light") and language on the page. */
export function applyTheme(theme) {
  document.documentElement.dataset.theme = theme === "light" ? "light" : "dark";
}
