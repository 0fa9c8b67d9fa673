// Puts the page's own drawing code in front of a test: views go in by hand, what is pressed is kept.

import { createPage } from "/page.js";
import { Presses } from "/presses.js";
import "/harness/measure.js";

const sent = [];
let clock = null;
const presses = new Presses((input) => sent.push(input), () => clock ?? performance.now());
const guardMs = Number(new URLSearchParams(location.search).get("guard") ?? 0);
const page = await createPage({ presses, paired: () => true, guardMs });

window.harness = {
  sent,
  page,
  show(view, viewer, epoch = 1) {
    presses.heard(view, epoch);
    page.draw(view, viewer);
  },
  reset() {
    sent.length = 0;
    clock = null;
    presses.entries.clear();
    page.openMenu();
    document.getElementById("menu").hidden = true;
    page.change("language", "zh-Hans");
    page.change("theme", "dark");
  },
  setClock(value) {
    clock = value;
    page.tick();
  },
};

document.documentElement.dataset.ready = "yes";
