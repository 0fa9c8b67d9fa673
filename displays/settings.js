// What a display remembers by itself: language, theme, its own name, its pairing. Lost storage is no error.

import { randomId } from "./presses.js";

const PREFIX = "kaijin.";

/** A stored value, or null. */
export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name));
  } catch {
    return null;
  }
}

/** Stores a value; null forgets it. */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
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
