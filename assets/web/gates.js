// What a person decides: the points of a critique, and what becomes of a revision.
import { button, el } from "./dom.js";
import { merged } from "./texts.js";

const SEVERITIES = [["major", "major"], ["minor", "minor"], ["unstated", "not weighed"]];

// A text box in a panel below the buttons; what is typed is kept until it is sent.
export const typing = (board, panel, { label, value, key, send, act, rows = 6 }) => {
  const area = el("textarea", { rows, "aria-label": label, oninput: () => board.typed.save({ [key]: area.value }) });
  area.value = board.typed.saved()[key] ?? value;
  if (board.typed.saved()[key] !== undefined) board.typed.here();
  const leave = () => { board.typed.forget(key); panel.replaceChildren(); };
  panel.replaceChildren(el("label", {}, label), area, el("div", { class: "rd-buttons" },
    button(send, () => act(area.value), { class: "rd-primary" }), button("Leave it", leave)));
  area.focus();
};

// -- the critique -----------------------------------------------------------------------------

const pointEditor = (point, index, count, { keep, move }) => {
  const field = (name, label, rows) => {
    const box = el("textarea", { rows, "aria-label": `${label} of point ${index + 1}`, placeholder: label,
      oninput: (e) => { point[name] = e.target.value; point.by = "person"; keep(); } });
    box.value = point[name];
    return box;
  };
  const tick = el("input", { type: "checkbox", "aria-label": `Follow point ${index + 1}`,
    onchange: (e) => { point.kept = e.target.checked; keep(); } });
  tick.checked = point.kept;
  const weight = el("select", { "aria-label": `Weight of point ${index + 1}`, onchange: (e) => { point.severity = e.target.value; keep(); } },
    SEVERITIES.map(([value, label]) => el("option", { value, selected: point.severity === value }, label)));
  const shift = (by, label, arrow) => button(arrow, () => move(index, by), { class: "rd-small", "aria-label": `Move point ${index + 1} ${label}`,
    disabled: index + by < 0 || index + by >= count });
  return el("li", {}, el("div", { class: "rd-tick" }, el("label", {}, tick, ` Point ${index + 1}`),
    weight, shift(-1, "up", "↑"), shift(1, "down", "↓")),
  point.quote && el("q", {}, point.quote), field("problem", "What is wrong", 2), field("action", "What to do", 1));
};

export const critiqueGate = (board, gate) => {
  const points = board.typed.saved().points || structuredClone(gate.points);
  if (board.typed.saved().points) board.typed.here();
  const list = el("ol", { class: "rd-edit-points" });
  const panel = el("div", { class: "rd-panel" });
  const keep = () => board.typed.save({ points });
  const move = (index, by) => { points.splice(index + by, 0, ...points.splice(index, 1)); keep(); draw(); list.children[index + by].querySelector("input").focus(); };
  const draw = () => list.replaceChildren(...points.map((point, index) => pointEditor(point, index, points.length, { keep, move })));
  const add = () => {
    points.push({ problem: "", action: "", quote: "", severity: "unstated", by: "person", kept: true });
    keep(); draw(); list.lastChild.querySelector("textarea").focus();
  };
  const chosen = () => points.filter((p) => p.kept && (p.problem.trim() || p.action.trim())).map(({ kept, ...point }) => point);
  const edit = () => typing(board, panel, { label: "The draft, as you write it", value: gate.text, key: "text", send: "Save as my draft", act: (text) => board.rule("edit", { text }) });
  const again = () => typing(board, panel, { label: "What should the critic look at?", value: "", key: "note", send: "Ask for another critique", act: (note) => board.rule("retry", { note }), rows: 2 });
  draw();
  if (board.typed.saved().text !== undefined) queueMicrotask(edit); else if (board.typed.saved().note !== undefined) queueMicrotask(again);
  return [el("p", { class: "rd-hint" }, gate.hint), list, el("div", { class: "rd-buttons" },
    button("Revise with the ticked points", () => board.rule("accept", { points: chosen() }), { class: "rd-primary", "data-key": "a" }),
    gate.done && button("Finish: nothing left to do", () => board.rule("accept")),
    button("Add a point", add, { "data-key": "p" }), button("Edit the draft", edit, { "data-key": "e" }),
    button("Ask for another critique…", again, { "data-key": "n" }), button("Stop", () => board.rule("stop"), { "data-key": "s" })), panel];
};

// -- the revision -----------------------------------------------------------------------------

// Which changes of the open revision are ticked: all, until the person unticks some.
export const chosenHunks = (board, pieces, changed) => {
  const all = new Set(pieces.filter(([kind]) => kind !== "same").map(([, index]) => index));
  const saved = board.typed.saved().hunks;
  return { all, pieces, changed, chosen: saved ? new Set(saved.filter((index) => all.has(index))) : new Set(all) };
};

export const revisionGate = (board, gate, hunks) => {
  const panel = el("div", { class: "rd-panel" }), result = el("div", { class: "rd-result", "aria-live": "polite" });
  const accept = button("Accept", () => partly() ? board.rule("hunks", { hunks: [...hunks.chosen] }) : board.rule("accept"), { class: gate.advised ? "rd-primary" : "", "data-key": "a" });
  const partly = () => hunks.chosen.size < hunks.all.size;
  const edit = () => typing(board, panel, { label: "Your text", value: partly() ? merged(hunks.pieces, hunks.chosen) : gate.text, key: "text", send: "Save as my text", act: (text) => board.rule("edit", { text }) });
  const again = () => typing(board, panel, { label: "What should be different?", value: "", key: "note", send: "Ask again with this note", act: (note) => board.rule("retry", { note }), rows: 2 });
  hunks.changed = () => { board.typed.save({ hunks: [...hunks.chosen] }); draw(); };
  const draw = () => {
    accept.textContent = partly() ? `Accept ${hunks.chosen.size} of ${hunks.all.size} changes` : "Accept";
    accept.disabled = partly() && !hunks.chosen.size;
    result.replaceChildren(...(partly() ? [el("div", { class: "rd-hint" }, "With the ticked changes it reads:"), el("div", { class: "rd-text" }, merged(hunks.pieces, hunks.chosen))] : []));
  };
  draw();
  if (board.typed.saved().text !== undefined) queueMicrotask(edit); else if (board.typed.saved().note !== undefined) queueMicrotask(again);
  return [hunks.all.size > 1 && el("p", { class: "rd-hint" }, "Click a marked change to leave it out."), result,
    el("div", { class: "rd-buttons" }, accept, button("Reject", () => board.rule("reject"), { "data-key": "r", class: gate.advised ? "" : "rd-primary" }), button("Edit", edit, { "data-key": "e" }),
      button("Ask again…", again, { "data-key": "n" }), button("Stop", () => board.rule("stop"), { "data-key": "s" })), panel];
};
