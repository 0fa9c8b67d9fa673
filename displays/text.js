// All sentences: one catalogue, three scripts. Codes come over the wire, words are found here.

export const LANGUAGES = ["zh-Hans", "zh-Hant", "en"];

let catalogue = {};
let script = 0;

/** Loads the catalogue that lies beside this module. */
export async function loadCatalogue() {
  const answer = await fetch(new URL("catalogue.json", import.meta.url));
  if (!answer.ok) throw new Error(`catalogue.json: ${answer.status}`);
  catalogue = await answer.json();
}

/** Chooses `zh-Hans`, `zh-Hant` or `en`; anything else is `zh-Hans`. */
export function setLanguage(language) {
  script = Math.max(0, LANGUAGES.indexOf(language));
}

/** The language in use. */
export function language() {
  return LANGUAGES[script];
}

/** Whether the catalogue words this key. */
export function hasWords(key) {
  return Object.hasOwn(catalogue, key);
}

/** The words of a key in the language in use (or in another by its number), `{name}` replaced. */
export function say(key, params = {}, which = script) {
  const words = catalogue[key];
  if (!words) return key;
  return words[which].replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name, one, many) => {
    const value = params[name];
    if (one !== undefined) return Number(value) === 1 ? one : many;
    return value === undefined || value === null ? "" : String(value);
  });
}

/** The words of `group.code`, or of `group.other` with the code where nobody has worded it yet. */
export function sayCode(group, code, params = {}, suffix = "") {
  const key = `${group}.${code}${suffix}`;
  return hasWords(key) ? say(key, params) : say(`${group}.other${suffix}`, { code, ...params });
}

/** A seat as others call it, or 您 for the viewer. */
export function seatName(seat, viewer = null) {
  if (!seat) return "";
  return seat === viewer ? say("you") : say(`seat.${seat}`);
}

/** The name of a face: 三筒, 红中, 春. */
export function tileName(face) {
  if (!face) return "";
  if (face[1] === "z" || face[1] === "f") return say(`tile.${face}`);
  return say(`tile.${face[1]}`, { n: say(`number.${face[0]}`) });
}

/** The name of a rule profile, its own name where the catalogue has none. */
export function rulesName(name) {
  return hasWords(`rules.${name}`) ? say(`rules.${name}`) : name;
}

/** A number with a true minus. */
export function minus(number) {
  return number < 0 ? `−${-number}` : String(number);
}

/** `5+1`. */
export function diceText(dice) {
  return Array.isArray(dice) ? `${dice[0]}+${dice[1]}` : "";
}
