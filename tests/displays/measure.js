// What tests ask of a drawn page: does anything stick out, can it be read, where does it stand?

const all = selector => [...document.querySelectorAll(selector)];

window.measure = {
  /** What `kind` ("troubles" or "contrast") finds, by name, over many views: [name, view, viewer]. */
  every: ([kind, views]) => {
    const wrong = {};
    for (const [name, view, viewer] of views) {
      window.harness.show(view, viewer);
      const found = window.measure[kind]();
      if (found.length) wrong[name] = found;
    }
    return wrong;
  },

  /** Of everything visible: does it stick out of the frame, is a target too small, does one thing lie over another? */
  troubles: () => {
  const seen = node => node.getClientRects().length && getComputedStyle(node).visibility !== "hidden";
  const box = node => node.getBoundingClientRect();
  const out = [];
  for (const node of document.querySelectorAll("#top *, #panel *, #bottom *, #standing *, .over *, #table svg")) {
    if (!seen(node) || node.closest("svg") !== null && node.tagName !== "svg") continue;
    const at = box(node);
    if (node.closest(".sheet-body")) continue;
    if (at.left < -0.5 || at.top < -0.5 || at.right > innerWidth + 0.5 || at.bottom > innerHeight + 0.5)
      out.push(`outside: ${node.className.baseVal ?? node.className} ${node.textContent.slice(0, 20)}`);
  }
  for (const node of document.querySelectorAll("button")) {
    if (!seen(node)) continue;
    const at = box(node);
    const least = node.classList.contains("press-primary") ? 64 : 48;
    if (at.height < least || at.width < 48) out.push(`small: ${node.className} ${at.width}x${at.height}`);
    if (node.scrollWidth > node.clientWidth + 1) out.push(`cut: ${node.className} ${node.textContent}`);
  }
  // What is pushed to the end of its place sticks out above, where nothing scrolls to it.
  const body = document.querySelector("#panel > .body");
  if (seen(body)) for (const node of body.querySelectorAll("*"))
    if (seen(node) && !node.closest("svg svg") && box(node).top < box(body).top - 1) out.push(`above the body: ${node.className.baseVal ?? node.className}`);
  const parts = [...document.querySelectorAll("#panel > *")].filter(seen).map(node => [node, box(node)]);
  const panel = box(document.getElementById("panel"));
  for (const [node, at] of parts) {
    if (at.bottom > panel.bottom + 0.5) out.push(`below the column: ${node.className}`);
    if (node.scrollHeight > node.clientHeight + 2 && node.clientHeight) out.push(`overfull: ${node.className}`);
  }
  for (let i = 0; i + 1 < parts.length; i += 1)
    if (parts[i][1].bottom > parts[i + 1][1].top + 1 && parts[i][1].right > parts[i + 1][1].left && parts[i][1].left < parts[i + 1][1].right)
      out.push(`${parts[i][0].className} over ${parts[i + 1][0].className}`);
  // A sheet may be longer than its window, which then has buttons to go on; nothing else may be cut off.
  for (const node of document.querySelectorAll(".result, .result-lines, .standing, .standing-seat, .sheet, .sheet-foot, .sheet-tabs")) {
    if (!seen(node)) continue;
    if (node.scrollHeight > node.clientHeight + 2 || node.scrollWidth > node.clientWidth + 2) out.push(`overfull: ${node.className}`);
    if (node.matches(".result, .standing") && [...node.children].some(child => box(child).bottom > box(node).bottom + 0.5)) out.push(`below: ${node.className}`);
  }
  // Cards lie over the drawing, never over words or numbers.
  for (const card of document.querySelectorAll(".card"))
    for (const node of document.querySelectorAll(".result td, .result li, .result h2, .standing td"))
      if (seen(card) && seen(node) && box(node).bottom > box(card).top + 1 && box(node).top < box(card).bottom) out.push(`under a card: ${node.textContent.slice(0, 20)}`);
  const strips = [...document.querySelectorAll("#top > *")].filter(seen).map(box);
  for (let i = 0; i + 1 < strips.length; i += 1)
    if (strips[i].right > strips[i + 1].left + 1) out.push(`top strip: ${i} over ${i + 1}`);
  if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
    out.push("scrolls");
  const say = document.querySelector(".say");
  if (!say.textContent.trim()) out.push("no sentence");
  if (parseFloat(getComputedStyle(say).fontSize) < 28) out.push("small sentence");
  return out;
},

  /** Texts whose contrast against what lies behind them is too low: 7 for the sentence, 4.5 elsewhere. */
  contrast: (where = "#top *, #panel *, #bottom *, #cards *, #standing *, .over *") => {
  const parse = text => {
    const found = text.match(/[\d.]+/g).map(Number);
    const scale = text.startsWith("color(srgb") ? 255 : 1;
    return [...found.slice(0, 3).map(value => value * scale), found[3] ?? 1];
  };
  const light = ([r, g, b]) => {
    const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const out = [];
  for (const node of document.querySelectorAll(where)) {
    const own = [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.getClientRects().length || node.closest("svg")) continue;
    if (node.closest("button:disabled") || node.closest(".turns li:not(.now)")) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const least = node.matches(".say") ? 7 : 4.5;
    if (ratio < least) out.push(`${node.className || node.tagName} "${node.textContent}" ${ratio.toFixed(2)}`);
  }
  return out;
},

  /** Chinese characters that the fonts of this machine do not draw. */
  glyphs: () => {
  const draw = text => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 48;
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.font = `40px ${getComputedStyle(document.body).fontFamily}`;
    pen.fillText(text, 4, 40);
    return [...pen.getImageData(0, 0, 48, 48).data].filter((_, index) => index % 4 === 3).join();
  };
  const nothing = draw("\u{10FFFF}");
  return [..."东南西北東發中白萬春蘭竹菊庄莊补補"].map(text => [text, draw(text)]).filter(([, ink]) => ink === nothing || !/[1-9]/.test(ink))
    .map(([text]) => text).concat(draw("东") === draw("南") ? ["东=南"] : []);
},

  /** Where the numbers of the count stand. */
  numbers: () => all(".layer-marks .disc text").map(node => [Number(node.getAttribute("x")), Number(node.getAttribute("y"))]),

  /** Position → [left, top, whether it stands] of every tile of the walls. */
  walls: () => Object.fromEntries(all(".brick").map(node => {
    const box = node.getBoundingClientRect();
    return [node.dataset.position, [box.x + box.width / 2, box.y + box.height / 2, node.classList.contains("stands")]];
  })),

  /** An attribute of every node that fits. */
  each: ([selector, name]) => all(selector).map(node => node.getAttribute(name)),

  /** A computed style of the first node that fits. */
  style: ([selector, name]) => getComputedStyle(document.querySelector(selector))[name],
};
