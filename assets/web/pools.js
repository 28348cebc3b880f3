// Candidates: a grid a choice. They stream side by side, can be sorted, ticked, compared, put together, and one
// of them picked. What is ticked is kept in the browser with what is typed (typed.js).
import { button, choices, el, getJson, postJson, redraw } from "./dom.js";
import { typing } from "./gates.js";
import { baseDraft, difference, plainText } from "./texts.js";

const COPY = "A new session that goes on from this candidate with critique and revision; this one stays as it is";

export const drawPools = (board) => {
  const places = [board.part("pools"), board.part("final")];
  const wanted = [0, 0];
  for (let index = 0; index < board.head.pools; index++) {
    const pool = board.parts[`pool ${index}`];
    const box = places[Number(pool.final)];
    const node = box.children[wanted[Number(pool.final)]++] || box.appendChild(emptyPool());
    node.toggleAttribute("data-last", index === board.head.pools - 1);
    drawPool(board, node, pool, index);
  }
  places.forEach((box, which) => { while (box.children.length > wanted[which]) box.lastChild.remove(); });
};

const emptyPool = () => el("section", { class: "rd-pool" }, el("h2", { class: "rd-pool-name" }), el("div", { class: "rd-pool-reason" }),
  el("div", { class: "rd-votes" }), el("div", { class: "rd-pool-tools" }), el("div", { class: "rd-grid" }),
  el("div", { class: "rd-gate rd-pool-gate" }), el("div", { class: "rd-compare" }));

const drawPool = (board, node, pool, index) => {
  const part = (name) => node.querySelector(`.rd-${name}`);
  const slots = pool.slots.map((n) => board.parts[`pool ${index} ${n}`]).filter(Boolean);
  const view = { board, node, pool, index, slots, ticks: ticksOf(board, node, pool) };
  node.redraftView = view;
  node.setAttribute("aria-label", pool.name);
  part("pool-name").textContent = pool.name;
  redraw(part("pool-reason"), [pool.reason, pool.ruled, pool.open], () => [
    pool.reason && el("p", { class: "rd-verdict" }, `${pool.open ? "The policy's advice: " : ""}${pool.reason}`), pool.ruled && el("p", { class: "rd-ruling" }, pool.ruled)]);
  redraw(part("votes"), pool.votes, (votes) => votes.length ? voteBars(view, votes) : null);
  redraw(part("pool-tools"), [sortings(slots), slots.some((s) => s.alike.length)], ([names, alike]) => tools(view, names, alike));
  drawSlots(view);
  redraw(part("pool-gate"), pool.open ? [pool, board.head.position] : null, (open) => open && gate(view));
  if (!pool.open && !part("compare").dataset.asked) part("compare").replaceChildren();
  arrange(view);
};

// -- ticks ------------------------------------------------------------------------------------

const ticksOf = (board, node, pool) => {
  if (!node.redraftTicks) node.redraftTicks = new Set(pool.open ? board.typed.saved().ticks || [] : []);
  return node.redraftTicks;
};

const tick = (view, n, on) => {
  if (on) view.ticks.add(n); else view.ticks.delete(n);
  if (view.pool.open) view.board.typed.save({ ticks: [...view.ticks] });
  for (const control of view.node.querySelectorAll("[data-needs]")) control.disabled = view.ticks.size < Number(control.dataset.needs);
};

// -- cards ------------------------------------------------------------------------------------

const drawSlots = (view) => {
  const grid = view.node.querySelector(".rd-grid");
  for (const slot of view.slots) {
    let card = grid.querySelector(`:scope > [data-number="${slot.number}"]`);
    if (!card) card = grid.appendChild(el("article", { class: "rd-slot", "data-number": slot.number, tabindex: "-1" },
      el("header", {}), el("div", { class: "rd-body" }), el("div", { class: "rd-live", "data-part": slot.number }), el("div", { class: "rd-slot-buttons" })));
    drawSlot(view, card, slot);
  }
  for (const card of [...grid.children]) if (!view.slots.some((slot) => slot.number === Number(card.dataset.number))) card.remove();
};

const drawSlot = (view, card, slot) => {
  const { board, pool } = view;
  const picked = pool.picked.includes(slot.number), advised = pool.advised.includes(slot.number) && !pool.synthesise;
  card.classList.toggle("picked", picked);
  card.setAttribute("aria-label", `Candidate ${slot.number + 1}`);
  redraw(card.querySelector("header"), [slot.number, slot.made, picked, advised, slot.waiting, slot.alike], () => [
    el("label", {}, tickBox(view, slot), el("h3", {}, `Candidate ${slot.number + 1}`)),
    picked && el("span", { class: "rd-badge picked" }, "picked"), advised && el("span", { class: "rd-badge" }, "advised"),
    slot.made && el("span", { class: "rd-badge plain" }, slot.made), slot.waiting && el("span", { class: "rd-badge plain" }, "being written"),
    slot.alike.length ? el("span", { class: "rd-badge plain" }, `much like ${slot.alike.map((n) => n + 1).join(", ")}`) : null]);
  redraw(card.querySelector(".rd-body"), [slot.draft, slot.critique], () => [
    slot.critique && el("details", { class: "rd-slot-critique" }, el("summary", {}, "The critique it follows"), plainText(slot.critique)),
    slot.draft && baseDraft(board.session, slot.draft)]);
  redraw(card.querySelector(".rd-slot-buttons"), [pool.open, pool.keep, advised, pool.refinable, pool.gate, Boolean(slot.draft), slot.position], () => slot.draft && [
    slot.position === null ? null : starButton(board, slot.position, slot.number),
    pool.open && pool.keep === 1 && button("Pick this", () => board.rule("pick", { picks: [slot.number] }), { class: advised ? "rd-primary" : "", "aria-label": `Pick candidate ${slot.number + 1}` }),
    pool.refinable && pool.gate !== null && button("Refine from this", () => board.branch(`choices/${pool.gate}/refine`, { pick: slot.number }), { class: "rd-small", title: COPY, "aria-label": `Refine from candidate ${slot.number + 1}` })]);
};

const tickBox = (view, slot) => {
  const box = el("input", { type: "checkbox", "aria-label": `Tick candidate ${slot.number + 1}`, onchange: (e) => tick(view.node.redraftView, slot.number, e.target.checked) });
  box.checked = view.ticks.has(slot.number);
  return box;
};

// A mark of one's own on a candidate, kept with the session; it decides nothing.
const starButton = (board, step, number) => {
  const star = button("☆", async () => {
    const steps = await starred(board), on = !steps.has(step);
    const answer = await postJson(board.url("stars"), { step, on }).catch(() => ({ error: "The server could not be reached. Try again." }));
    if (answer.error) { board.say(answer.error); return; }
    if (on) steps.add(step); else steps.delete(step);
    // The candidates may have been drawn anew since the click: the star that is on the page now is another.
    for (const shown of board.root.querySelectorAll(`.rd-star[data-step="${step}"]`)) showStar(shown, on);
  }, { class: "rd-small rd-star", "aria-label": `Star candidate ${number + 1}`, "aria-pressed": "false", "data-step": String(step) });
  starred(board).then((steps) => showStar(star, steps.has(step)));
  return star;
};

const showStar = (star, on) => {
  star.textContent = on ? "★" : "☆";
  star.setAttribute("aria-pressed", String(on));
};

const starred = (board) => {
  if (board.starsOf !== board.session) {
    board.starsOf = board.session;
    board.stars = getJson(board.url("stars")).then((answer) => new Set(answer.stars || [])).catch(() => new Set());
  }
  return board.stars;
};

// -- order and likeness -----------------------------------------------------------------------

const sortings = (slots) => [...new Set(slots.flatMap((slot) => (slot.draft?.scores || []).map((score) => score.label)))];

const tools = (view, names, alike) => {
  const order = el("select", { onchange: (e) => { view.node.dataset.order = e.target.value; arrange(view.node.redraftView); } },
    el("option", { value: "" }, "as they were asked for"), names.map((name) => el("option", { value: name, selected: view.node.dataset.order === name }, `by ${name}`)),
    el("option", { value: " length", selected: view.node.dataset.order === " length" }, "shortest first"));
  const together = el("input", { type: "checkbox", onchange: (e) => { choices.set("alike", e.target.checked ? "one" : "all"); arrange(view.node.redraftView); } });
  together.checked = choices.get("alike", "all") === "one";
  return [view.slots.length > 1 && el("label", {}, "Order ", order), alike && el("label", {}, together, " Show one of those that are much alike"),
    view.slots.length > 1 && button("Compare the ticked", () => compare(view.node.redraftView), { class: "rd-small", "data-needs": 2, disabled: view.ticks.size < 2 })];
};

// Puts the cards in the chosen order and hides those that are like one that is shown.
const arrange = (view) => {
  const grid = view.node.querySelector(".rd-grid"), by = view.node.dataset.order || "";
  const worth = (slot) => by === " length" ? -(slot.draft?.text.length ?? Infinity) : slot.draft?.scores.find((score) => score.label === by)?.value ?? -Infinity;
  const sorted = by ? [...view.slots].sort((a, b) => worth(b) - worth(a) || a.number - b.number) : view.slots;
  sorted.forEach((slot, place) => {
    const card = grid.querySelector(`:scope > [data-number="${slot.number}"]`);
    if (grid.children[place] !== card) grid.insertBefore(card, grid.children[place] || null);
  });
  const one = choices.get("alike", "all") === "one", shown = new Set();
  for (const slot of sorted) {
    const hidden = one && slot.alike.some((n) => shown.has(n));
    grid.querySelector(`:scope > [data-number="${slot.number}"]`).hidden = hidden;
    if (!hidden) shown.add(slot.number);
  }
};

// -- votes ------------------------------------------------------------------------------------

const voteBars = (view, votes) => [el("h3", {}, "Votes: which candidates give the same answer"), el("ul", {}, votes.map(({ answer, members, of }) => {
  const bar = el("span", { class: "rd-bar" });
  bar.style.width = `${(100 * members.length) / of}%`;
  const to = (n) => el("a", { href: "#", onclick: (e) => { e.preventDefault(); const card = view.node.querySelector(`.rd-slot[data-number="${n}"]`); card.hidden = false; card.focus(); card.scrollIntoView({ block: "center" }); } }, String(n + 1));
  return el("li", {}, el("span", { class: "rd-answer", dir: "auto" }, answer), el("span", { class: "rd-bar-box" }, bar),
    el("span", {}, `${members.length} of ${of}: candidate${members.length === 1 ? "" : "s"} `, members.flatMap((n, i) => [i ? ", " : "", to(n)])));
}))];

// -- the choice -------------------------------------------------------------------------------

const gate = (view) => {
  const { board, pool } = view;
  const panel = el("div", { class: "rd-panel" });
  const own = () => typing(board, panel, { label: "Your text", value: "", key: "text", send: "Go on with my text", act: (text) => board.rule("edit", { text }) });
  const more = () => typing(board, panel, { label: "What should be different? (may be empty)", value: "", key: "note", send: "Write more candidates", act: (note) => board.rule("retry", { note }), rows: 2 });
  const ticked = () => [...view.ticks].filter((n) => view.slots.some((slot) => slot.number === n)).sort((a, b) => a - b);
  const advised = pool.advised.map((n) => n + 1).join(", ");
  if (board.typed.saved().text !== undefined) queueMicrotask(own); else if (board.typed.saved().note !== undefined) queueMicrotask(more);
  const needs = (count) => ({ "data-needs": count, disabled: view.ticks.size < count });
  return [el("div", { class: "rd-buttons" },
    pool.synthesise ? button("Write one from all", () => board.rule("synthesise", { picks: pool.advised }), { class: "rd-primary", "data-key": "a" })
      : button(pool.keep > 1 ? `Keep those advised (${advised})` : `Pick the advised one (${advised})`, () => board.rule("pick", { picks: pool.advised }), { class: "rd-primary", "data-key": "a" }),
    pool.keep > 1 && button(`Keep the ticked (at most ${pool.keep})`, () => board.rule("pick", { picks: ticked() }), needs(1)),
    button("Write one from the ticked", () => board.rule("synthesise", { picks: ticked() }), needs(1)),
    button("More candidates…", more, { "data-key": "n" }), button("Write it myself…", own, { "data-key": "e" }),
    button("Stop", () => board.rule("stop"), { "data-key": "s" })), panel];
};

// -- comparing and putting together ----------------------------------------------------------

const compare = async (view, base = null) => {
  const { board, pool, index } = view;
  const box = view.node.querySelector(".rd-compare");
  const numbers = [...view.ticks].sort((a, b) => a - b);
  const from = base ?? numbers[0];
  const found = await getJson(`${board.url(`pools/${index}/compare`)}?base=${from}&others=${numbers.filter((n) => n !== from).join(",")}`)
    .catch(() => ({ error: "The server could not be reached. Try again." }));
  box.dataset.asked = "1";
  if (found.error) { box.replaceChildren(el("p", { role: "alert" }, found.error)); return; }
  const chosen = new Map(found.pieces.map(([n]) => [n, new Set()]));
  const result = el("div", { class: "rd-result", "aria-live": "polite" });
  const merged = () => [...chosen].flatMap(([n, hunks]) => [...hunks].map((hunk) => [n, hunk]));
  const draw = async () => {
    const asked = merged();
    if (!asked.length) { result.replaceChildren(); return; }
    const answer = await postJson(board.url(`pools/${index}/merge`), { base: from, merged: asked }).catch(() => ({ error: "The server could not be reached. Try again." }));
    if (JSON.stringify(asked) !== JSON.stringify(merged())) return;
    result.replaceChildren(...(answer.error ? [el("p", { role: "alert" }, answer.error)] : [el("p", { class: "rd-hint" }, "Put together it reads:"), plainText(answer.text),
      view.node.redraftView.pool.open && button("Go on with this text", () => board.rule("merge", { picks: [from], merged: asked }), { class: "rd-primary" })].filter(Boolean)));
  };
  const pick = el("select", { onchange: (e) => compare(view.node.redraftView, Number(e.target.value)) }, numbers.map((n) => el("option", { value: n, selected: n === from }, `candidate ${n + 1}`)));
  const close = () => { box.replaceChildren(); delete box.dataset.asked; };
  box.replaceChildren(el("h3", {}, "Compare, and put parts together"), el("label", {}, "Begin with ", pick),
    el("p", { class: "rd-hint" }, pool.open ? "Tick the changes that you want to take over from the others." : "The changes of the others against it."),
    el("div", { class: "rd-grid" }, found.pieces.map(([n, pieces]) => el("div", { class: "rd-slot" }, el("h3", {}, `Candidate ${n + 1}`),
      difference(pieces, { chosen: chosen.get(n), changed: draw })))),
    result, button("Close", close, { class: "rd-small" }));
  box.scrollIntoView({ block: "nearest" });
};
