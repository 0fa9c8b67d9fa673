// Dice as pictures.

import { svg } from "./svg.js";

const PIPS = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
  6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
};

/** A die of `size` units with its centre at (x, y); without a value it is blank. */
export function dieAt(value, x, y, size, extra = "") {
  const step = size * 0.27;
  const great = value === 1;
  return svg(
    "g",
    { class: `die ${extra}`.trim(), transform: `translate(${x} ${y})`, "data-pips": value ?? "" },
    svg("rect", { class: "die-body", x: -size / 2, y: -size / 2, width: size, height: size, rx: size * 0.18 }),
    ...(PIPS[value] ?? []).map(([column, row]) =>
      svg("circle", { class: great || value === 4 ? "pip-red" : "pip-ink", cx: column * step, cy: row * step, r: size * (great ? 0.17 : 0.095) }),
    ),
  );
}

/** A die as a picture of its own. */
export function diePicture(value) {
  return svg("svg", { viewBox: "-16 -16 32 32", class: "die-picture", "aria-hidden": "true" }, dieAt(value, 0, 0, 29));
}
