// The right column: one sentence that says what to do now, what there is to choose, and the buttons.

import { html, keyed, set, show, write } from "./svg.js";
import { noticesOf, taskOf, warningOf } from "./tasks.js";
import { language, say, sayCode, seatName, tileName } from "./text.js";
import { BODIES, labelled } from "./widgets.js";

/** Time that people have to enter something is counted down at its end only; what silence decides is counted from the start. */
const HURRY_S = 60;
// Shapes that every system font draws: pictographs are missing on a plain board.
const FACES = { stop: "■", link: "×", fault: "!", count: "!", paused: "‖", ended: "○", parked: "‖", objection: "?", service: "!" };

/** How long buttons that come of themselves do not answer: a thumb on its way was meant for those before. */
export const GUARD_MS = 400;
/** Prompts that are renewed with every touch and go on as they were. */
const GOING_ON = new Set(["flowers", "tail"]);

/**
 * The column inside `holder`, its notices over `cards`; `presses` knows what was pressed, or is null where nothing can
 * be (wall view). Buttons that the table has changed answer after `guardMs`.
 */
export function createPanel(holder, cards, presses, guardMs = GUARD_MS) {
  const parts = {
    face: html("span", { class: "face", "aria-hidden": "true" }),
    kicker: html("span", { class: "kicker" }),
    warning: html("span", { class: "warning" }),
    countdown: html("span", { class: "countdown", role: "timer" }),
    say: html("h1", { class: "say", "aria-live": "polite" }),
    hint: html("p", { class: "hint" }),
    body: html("div", { class: "body" }),
    repair: html("p", { class: "repair" }),
    answer: html("p", { class: "answer", role: "status" }),
    buttons: html("div", { class: "buttons" }),
    cards,
  };
  const head = html("div", { class: "panel-head" }, parts.face, parts.kicker, parts.warning, parts.countdown);
  holder.append(head, parts.say, parts.hint, parts.body, parts.repair, parts.answer, parts.buttons);
  const panel = { holder, parts, presses, choice: {}, taskId: "", task: null, view: null, viewer: null, endsAt: null, guardMs, asked: "", guard: 0 };
  show(parts.answer, false);
  for (const node of [holder, cards]) node.addEventListener("click", (event) => clicked(panel, event));
  return {
    draw: (view, viewer) => draw(panel, view, viewer),
    tick: () => tick(panel),
    task: () => panel.task,
  };
}

function draw(panel, view, viewer) {
  Object.assign(panel, { view, viewer });
  const fresh = taskOf(view, viewer, panel.choice);
  const kept = fresh.keep ?? fresh.id;
  if (kept !== panel.taskId) {
    panel.taskId = kept;
    panel.choice = {};
  }
  panel.endsAt = fresh.leftMs === null ? null : performance.now() + fresh.leftMs;
  paint(panel);
  guard(panel);
}

/** Other buttons than a moment ago, and nobody has touched this display for them: they wait a little. */
function guard(panel) {
  const { holder, guardMs } = panel;
  const asked = askedOf(panel);
  if (asked === panel.asked) return;
  panel.asked = asked;
  clearTimeout(panel.guard);
  holder.classList.toggle("fresh", guardMs > 0);
  if (guardMs > 0) panel.guard = setTimeout(() => holder.classList.remove("fresh"), guardMs);
}

const askedOf = ({ task, taskId }) => JSON.stringify([GOING_ON.has(task.verb) ? task.verb : taskId, task.buttons.map(({ action, kind }) => [action, kind])]);

function paint(panel) {
  const { parts, view, viewer } = panel;
  const task = taskOf(view, viewer, panel.choice);
  panel.task = task;
  const classes = ["panel", `tone-${task.tone}`, task.wide && `wide-${task.wide}`, task.dense && "dense", ...["answered", "fresh"].filter((name) => panel.holder.classList.contains(name))];
  set(panel.holder, { class: classes.filter(Boolean).join(" "), "data-verb": task.verb ?? "", "data-face": task.face ?? "" });
  write(parts.face, FACES[task.face] ?? "");
  show(parts.face, Boolean(FACES[task.face]));
  write(parts.kicker, task.kicker);
  write(parts.say, task.say);
  line(parts.hint, task.hint);
  line(parts.repair, task.repair);
  keyed(parts.body, [language(), task.body], (node) => task.body && BODIES[task.body.kind]?.(node, task.body, view));
  show(parts.body, Boolean(task.body));
  const warning = warningOf(view, task);
  write(parts.warning, warning ? `! ${warning}` : "");
  drawCards(panel);
  keyed(parts.buttons, [language(), task.buttons], (node) => node.append(...task.buttons.map(pressable)));
  set(parts.buttons, { class: `buttons count-${task.buttons.length}${task.row ? ` row-${task.row}` : ""}` });
  show(parts.buttons, task.buttons.length > 0);
  tick(panel);
}

function drawCards(panel) {
  const cards = noticesOf(panel.view);
  keyed(panel.parts.cards, [language(), cards], (node) => {
    for (const card of cards.slice(0, 2)) {
      const buttons = card.buttons.length ? [html("div", { class: "card-buttons" }, ...card.buttons.map(pressable))] : [];
      node.append(html("div", { class: `card card-${card.tone}`, "data-card": card.key }, html("p", { text: card.text }), ...buttons));
    }
  });
  show(panel.parts.cards, cards.length > 0);
}

/** A button for something that is sent to the table. */
export function pressable(button) {
  const marks = ["can", "sure", "gold", "on"].filter((mark) => button[mark]).map((mark) => ` ${mark}`).join("");
  const node = html("button", { type: "button", class: `press press-${button.kind}${marks}`, "data-action": button.action ?? "choose" }, labelled(button.label));
  if (button.choose) node.choose = button.choose;
  else node.press = button;
  node.disabled = !button.ready;
  return node;
}

function line(node, text) {
  write(node, text ?? "");
  show(node, Boolean(text));
}

function clicked(panel, event) {
  const node = event.target.closest("button");
  if (!node || node.disabled) return;
  if (node.choose) {
    panel.choice = { ...panel.choice, ...node.choose };
    paint(panel);
    panel.asked = askedOf(panel);
  } else if (node.press && panel.presses) {
    panel.presses.press(node.press);
    tick(panel);
  }
}

/** What changes with time alone: the countdown and the state of pressed buttons. */
function tick(panel) {
  const { parts, presses, endsAt } = panel;
  const left = endsAt === null ? null : Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
  const counted = left !== null && (left <= HURRY_S || panel.task?.counted);
  write(parts.countdown, counted ? say("field.seconds", { n: left }) : "");
  show(parts.countdown, counted);
  if (!presses) return;
  for (const node of [...panel.holder.querySelectorAll("button"), ...parts.cards.querySelectorAll("button")]) {
    if (!node.press) continue;
    const state = presses.stateOf(node.press);
    set(node, { "data-state": state || null, "aria-busy": state === "pending" ? "true" : null });
  }
  const word = presses.word();
  line(parts.answer, word ? wording(word) : "");
  panel.holder.classList.toggle("answered", Boolean(word));
}

function wording(word) {
  if (word.kind === "slow") return say("answer.slow");
  const rule = word.rule ? say("refused.rule", { rule: word.rule }) : "";
  return say("refused.say", { reason: sayCode("refused", word.code, worded(word.params)) }) + rule;
}

/** Params of a refusal as words: tiles and seats by their names. */
function worded({ tile, seat, ...rest }) {
  return { ...rest, tile: tileName(tile) || tile, seat: seatName(seat) };
}
