// What each seat says of its hand after a 胡: item by item or tile by tile, with the settlement growing beside it.

import { drawnRows, followedRows, foulRows, hasFlowers, keepOf, kongFields, winRows, winWords } from "./prompts_book.js";
import { choose, clean, flowerFields, join, may, press } from "./prompt_parts.js";
import { padBody, padButtons, padTold } from "./pad.js";
import { endWords, fromMe, seatNames, tilesInSet } from "./settling.js";
import { say, sayCode, seatName } from "./text.js";

/** Items that are counted; the table says how many there can be of each. */
const COUNTED = new Set(["golds", "pongs_suited", "pongs_honour", "triplets_suited", "triplets_honour"]);

export const ENTRY = {
  entry: (context) => {
    const { view, viewer, want, choice } = context;
    const { params } = want;
    const told = { ...params, seat: viewer };
    const done = params.done?.[viewer] ?? false;
    const needed = params.needed ?? true;
    const won = (params.winners ?? []).some((win) => win.seat === viewer);
    const waiting = Object.entries(params.done ?? {}).filter(([, ready]) => !ready).map(([seat]) => seat);
    const frame = { keep: keepOf(view, "entry"), wide: "low", tone: needed && !done ? "mine" : "all" };
    if (choice.step === "change") return { ...frame, ...changeTask(context, told) };
    if (choice.tab === "tiles" && !padTold(choice, told)) return { ...frame, ...padTask(context, told) };
    if (done || (!needed && !choice.mine)) {
      return {
        ...frame,
        tone: "wait",
        say: waiting.length ? say("do.entry.wait", { seats: seatNames(waiting, viewer) }) : say("do.entry.settling"),
        hint: endWords(params, viewer),
        body: { kind: "settlement", settlement: params.settlement, missing: params.missing, viewer, lines: params.lines ?? [] },
        buttons: [
          ...(done && may(want, "undone") ? [press(want, "undone", say("press.undone"), {}, "second")] : []),
          ...(!done && !needed ? [choose({ mine: true }, say("press.mine"))] : []),
          choose({ step: "change" }, say("press.change_win"), "second"),
        ],
      };
    }
    return {
      ...frame,
      say: say(params.foul ? "do.entry.foul" : won ? "do.entry.won" : "do.entry"),
      hint: endWords(params, viewer),
      body: entryBody(context, told),
      buttons: [
        ...(may(want, "done") ? [press(want, "done", say("press.entered"))] : []),
        choose({ step: "change" }, say("press.change_win"), "second"),
      ],
    };
  },
  object_entry: (context) => {
    const { view, viewer, want, choice } = context;
    const seat = choice.seat ?? viewer;
    const told = { ...want.params, ...want.params.seats?.[seat], seat };
    const frame = { keep: keepOf(view, "object"), wide: "always", tone: "mine" };
    if (choice.step === "change") return { ...frame, ...changeTask(context, told) };
    if (choice.tab === "tiles" && !padTold(choice, told)) return { ...frame, ...padTask(context, told) };
    return {
      ...frame,
      say: say("do.object", { seat: seatName(seat, viewer) }),
      hint: say("do.object.hint"),
      body: { ...entryBody(context, told), seats: fromMe(viewer).map((one) => ({ seat: one, on: one === seat, choose: { seat: one, tab: null } })), first: want.params.first ?? view.book?.settlement ?? null },
      buttons: [
        press(want, "propose", say("press.propose"), {}, "primary", Boolean(want.params.settlement)),
        choose({ step: "change" }, say("press.change_win"), "second"),
        press(want, "withdraw", say("press.withdraw"), {}, "second"),
      ],
    };
  },
};

/** `seat` in what is sent: only an objector speaks for others. */
const forSeat = (want, seat) => (want.verb === "object_entry" ? { seat } : {});

/** The tabs that these fields need, and what the chosen one shows. */
function entryBody(context, told) {
  const { view, viewer, want, choice } = context;
  const tabs = tabsOf(view, want, told);
  const tab = tabs.some((one) => one.id === choice.tab && one.id !== "tiles") ? choice.tab : tabs[0]?.id;
  return {
    kind: "entry",
    tabs: tabs.map(({ id, label }) => ({ label, on: id === tab, choose: { tab: id, steps: null, mode: null } })),
    tab,
    part: tab ? PARTS[tab]({ view, viewer, want, told }) : null,
    water: told.water ?? null,
    settlement: told.settlement ?? null,
    missing: told.missing ?? null,
    viewer,
  };
}

function tabsOf(view, want, told) {
  const fields = told.fields ?? [];
  const tabs = [];
  if (fields.some((name) => COUNTED.has(name) || name === "last_tile" || name === "bid")) tabs.push({ id: "items", label: say(fields.some((name) => COUNTED.has(name) && name !== "golds") ? "tab.items" : "item.golds") });
  if (hasFlowers(view, want) || fields.includes("kongs")) tabs.push({ id: "laid", label: say(hasFlowers(view, want) ? "tab.laid" : "tab.kongs") });
  if (fields.some((name) => ["patterns", "hardness"].includes(name))) tabs.push({ id: "patterns", label: say("tab.patterns") });
  if (may(want, "tiles")) tabs.push({ id: "tiles", label: say("tab.tiles") });
  if (fields.some((name) => ["ready", "pays_all", "followed"].includes(name))) tabs.push({ id: "extra", label: say("tab.extra") });
  return tabs;
}

const PARTS = {
  items: ({ want, told }) => {
    const said = told.said ?? {};
    if (said.by === "tiles") {
      const press = { want: want.id, action: "tiles", params: { concealed: [], melds: [], ...forSeat(want, told.seat) } };
      return { kind: "picks", rows: [{ label: say("entry.by_tiles"), items: [{ label: say("press.by_items"), press }] }] };
    }
    const send = (params) => ({ want: want.id, action: "items", params: { ...params, ...forSeat(want, told.seat) } });
    const counters = (told.fields ?? []).filter((name) => COUNTED.has(name)).map((name) => ({
      name, label: say(`item.${name}`), n: said[name] ?? 0, least: 0, most: told.most[name],
      minus: send({ [name]: Math.max(0, (said[name] ?? 0) - 1) }), plus: send({ [name]: (said[name] ?? 0) + 1 }),
    }));
    if (told.fields?.includes("bid")) {
      const bid = said.bid ?? 0;
      const offer = (points) => ({ want: want.id, action: "bid", params: { points, ...forSeat(want, told.seat) } });
      counters.push({ name: "bid", label: say("item.bid"), n: bid, least: 0, most: told.most.bid, minus: offer(Math.max(0, bid - 1)), plus: offer(bid + 1) });
    }
    const numbers = Array.isArray(told.last_tile) && told.last_tile.length ? told.last_tile : [0, 1, 2, 3];
    const rows = told.fields?.includes("last_tile")
      ? [{ label: say("item.last_tile"), items: [...new Set([0, ...numbers])].map((number) => ({ label: say(`last_tile.${number}`), on: (said.last_tile ?? 0) === number, press: send({ last_tile: number }) })) }]
      : [];
    return { kind: "counters", counters, rows };
  },
  laid: ({ view, viewer, want, told }) => {
    const mine = view.flowers?.[told.seat] ?? [];
    const taken = Object.fromEntries(Object.entries(view.flowers ?? {}).flatMap(([seat, faces]) => faces.map((face) => [face, seat])));
    const more = forSeat(want, told.seat);
    const kongs = told.said?.kongs ?? (Array.isArray(told.kongs) ? told.kongs : told.kongs?.[told.seat]) ?? [];
    const flowers = hasFlowers(view, want) ? { ...flowerFields(want, told.seat, more), mine: told.said?.flowers ?? mine, taken: want.params.taken ?? taken } : null;
    return { kind: "book", flowers, kongs: told.fields?.includes("kongs") ? kongFields(want, kongs, told.honours ?? kongs.some((one) => one.honour), more) : [], viewer };
  },
  patterns: ({ want, told }) => {
    const said = told.said ?? {};
    const chosen = said.patterns ?? [];
    const rows = [];
    if (told.fields.includes("hardness")) {
      rows.push({ label: say("field.hardness"), items: ["soft", "hard", "double"].map((name) => ({ label: say(`hardness.${name}`), on: (told.hardness ?? said.hardness) === name, press: { want: want.id, action: "hardness", params: { hardness: name, ...forSeat(want, told.seat) } } })) });
    }
    if (told.fields.includes("patterns")) {
      const all = told.patterns ?? ["menqing", "pengpenghu", "hunyise", "qingyise", "jinlong", "gangshangkaihua"];
      const toggled = (name) => (chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
      rows.push({ label: say("field.patterns"), wrap: true, items: all.map((name) => ({ label: sayCode("pattern", name), on: chosen.includes(name), press: { want: want.id, action: "patterns", params: { patterns: toggled(name), ...forSeat(want, told.seat) } } })) });
    }
    return { kind: "picks", rows };
  },
  extra: ({ viewer, want, told }) => {
    const said = told.said ?? {};
    const send = (action, params) => ({ want: want.id, action, params });
    const rows = [];
    if (told.fields.includes("ready")) {
      rows.push({ label: say("field.ready"), items: [true, false].map((on) => ({ label: say(on ? "press.yes" : "press.no"), on: Boolean(said.ready) === on, press: send("ready", { on, ...forSeat(want, told.seat) }) })) });
    }
    if (told.fields.includes("pays_all")) {
      const payer = told.pays_all ?? said.pays_all ?? null;
      rows.push({ label: say("field.pays_all"), seats: fromMe(viewer).map((seat) => ({ seat, on: seat === payer, press: send("pays_all", { seat: seat === payer ? null : seat }) })) });
    }
    if (told.fields.includes("followed")) rows.push(...followedRows(want, told.followed ?? said));
    return { kind: "picks", rows };
  },
};

function padTask({ view, want, choice }, of) {
  const told = { ...of, whole: tilesInSet(view) };
  const winner = (told.winners ?? []).some((win) => win.seat === told.seat);
  return {
    wide: "always",
    say: say(winner ? "do.tiles.won" : "do.tiles"),
    hint: "",
    body: padBody(choice, told, winner),
    buttons: padButtons(want, choice, told, forSeat(want, told.seat), winner),
    dense: true,
  };
}

/** Whatever was said about the end may be changed until it is booked: another 胡, 流局, 诈胡, or playing on. */
function changeTask({ viewer, want, choice }, told) {
  const { ways = [], fouls = [], covered = [], several, winners = [] } = told;
  const rows = [];
  if (choice.to === "win") rows.push(...winRows(want, viewer, choice, ways, covered));
  else if (choice.to === "drawn") rows.push(...drawnRows(want, viewer, false));
  else if (choice.to === "foul") rows.push(...foulRows(want, viewer, choice, fouls));
  else {
    rows.push({
      wrap: true,
      items: [
        ...(may(want, "reopen") ? [reopen(want, choice)] : []),
        ...(may(want, "win") && ways.length ? [{ label: say(several ? "press.win_more" : "press.win_other"), sub: say("press.win_other.hint"), choose: { to: "win" } }] : []),
        ...(may(want, "drawn") ? [{ label: say("press.drawn"), sub: say("press.drawn.hint"), choose: { to: "drawn" } }] : []),
        ...(may(want, "foul") && fouls.length ? [{ label: say("press.foul"), sub: say("press.foul.hint"), choose: { to: "foul" } }] : []),
      ],
    });
    if (may(want, "unwin") && winners.length > 1) rows.push({ label: say("field.unwin"), seats: winners.map(({ seat }) => ({ seat, press: { want: want.id, action: "unwin", params: clean({ seat }) } })) });
    if (may(want, "cover")) rows.push({ label: say("field.cover"), seats: fromMe(viewer).map((seat) => ({ seat, on: covered.includes(seat), press: { want: want.id, action: "cover", params: { seat, on: !covered.includes(seat) } } })) });
  }
  return {
    say: say(choice.to === "win" ? (choice.way ? "do.win.source" : "do.win") : "do.change"),
    hint: join(winWords(viewer, choice) || endWords(told, viewer), say("do.win.hint")),
    body: { kind: "picks", rows, tall: !choice.to },
    buttons: [choose(choice.way ? { way: null } : choice.to ? { to: null, way: null, who: null } : { step: null, to: null, way: null, who: null, back: null }, say("press.back"), "third")],
  };
}

/** Back to play drops what was said of the end, so it is asked for twice. */
function reopen(want, choice) {
  if (!choice.back) return { label: say("press.reopen"), sub: say("press.reopen.hint"), choose: { back: true } };
  return { label: say("press.reopen.sure"), sub: say("press.reopen.hint"), press: { want: want.id, action: "reopen", params: {} } };
}
