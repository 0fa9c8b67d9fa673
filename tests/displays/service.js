// Puts the repairer's page in front of a test: states go in by hand, what is pressed is kept.

import { createServicePage } from "/service_page.js";
import { jogResult, testResults } from "/service_parts.js";
import { failureWords } from "/service_words.js";
import { applyTheme } from "/settings.js";
import { loadCatalogue, setLanguage } from "/text.js";
import "/harness/measure.js";

const told = [];
const tell = new Proxy({}, { get: (_, name) => (...values) => told.push([name, ...values]) });
await loadCatalogue();
setLanguage("zh-Hans");
applyTheme("dark");
const page = createServicePage(tell);

const seen = (node) => node.getClientRects().length > 0;
const box = (node) => node.getBoundingClientRect();

window.harness = {
  told,
  page,
  speak: setLanguage,
  dress: applyTheme,
  /** Draws a state; answers of jogs, tests and failures in it are worded first, as the page does. */
  show(state) {
    told.length = 0;
    const results = {};
    for (const [motor, answer] of Object.entries(state.jogs ?? {})) Object.assign(results, jogResult(motor, answer));
    for (const [test, answer] of Object.entries(state.tested ?? {})) Object.assign(results, testResults(test, answer));
    page.draw({ ...state, results, failure: state.failed ? failureWords(state.failed) : "" });
  },
  /** What sticks out, is too small to touch, or cut off. */
  troubles() {
    const out = [];
    for (const node of document.querySelectorAll("button, input")) {
      if (!seen(node)) continue;
      const at = box(node);
      if (at.height < 48 || at.width < 48) out.push(`small: ${node.dataset.act ?? node.id} ${at.width}x${at.height}`);
      if (node.scrollWidth > node.clientWidth + 1) out.push(`cut: ${node.textContent}`);
    }
    for (const node of document.querySelectorAll("body *")) {
      if (!seen(node)) continue;
      const at = box(node);
      if (at.left < -0.5 || at.right > innerWidth + 0.5) out.push(`outside: ${node.className} ${node.textContent.slice(0, 30)}`);
      if (!node.closest("#sheet") && (at.top < -0.5 || at.bottom > innerHeight + 0.5)) out.push(`outside: ${node.className}`);
    }
    if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight) out.push("scrolls");
    const sheet = document.getElementById("sheet");
    if (sheet.scrollWidth > sheet.clientWidth + 1) out.push("sheet scrolls sideways");
    for (const node of document.querySelectorAll("#sheet > *, .motor, .test, .group")) if (seen(node) && node.scrollHeight > node.clientHeight + 2) out.push(`overfull: ${node.className}`);
    return out;
  },
};

document.documentElement.dataset.ready = "yes";
