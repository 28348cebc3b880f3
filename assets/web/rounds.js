// The rounds of a session: a row each, with draft, critique and revision side by side. What is in a row is
// drawn only when it is new, so that nobody is disturbed who reads or types there.
import { button, el, redraw } from "./dom.js";
import { critiqueGate, chosenHunks, revisionGate } from "./gates.js";
import { baseDraft, changedDraft, plainText } from "./texts.js";

const LONG = 900;
const COPY = "A new session that stands before this decision; this one stays as it is";
const ANEW = "A new session in which the model writes this again; this one stays as it is";

export const drawRounds = (board) => {
  const box = board.part("rounds");
  for (let index = 0; index < board.head.rows; index++) {
    const row = { ...board.parts[`row ${index}`], critique: board.parts[`critique ${index}`] };
    drawRow(board, box.children[index] || box.appendChild(emptyRow()), row);
  }
  while (box.children.length > board.head.rows) box.lastChild.remove();
};

const emptyRow = () => {
  const column = (name, label) => el("section", { class: `rd-cell rd-${name}`, "aria-label": label }, el("h3", {}, label),
    el("div", { class: "rd-body" }), el("div", { class: "rd-gate" }), el("div", { class: "rd-live" }));
  return el("article", { class: "rd-round", tabindex: "-1" }, el("h2", { class: "rd-round-name" }),
    el("div", { class: "rd-columns" }, column("base", "Draft"), column("critique", "Critique"), column("revision", "Revision")));
};

const drawRow = (board, node, row) => {
  const { head } = board;
  const here = row.number === head.round;
  const cell = (name, part) => node.querySelector(`.rd-${name} .rd-${part}`);
  const open = (kind) => (here && board.parts.gate && board.parts.gate.kind === kind ? { ...board.parts.gate, position: head.position } : null);
  node.querySelector(".rd-round-name").textContent = row.name;
  node.classList.toggle("rd-single", row.single);
  const pieces = row.attempts.length ? row.attempts[row.attempts.length - 1].proposed.pieces : null;
  redraw(cell("base", "body"), [row.base, row.replaced, pieces], () => row.base && [replaced(board, row.replaced), baseDraft(board.session, row.base, pieces),
    row.number === 1 && anew(board, 0, "Another first draft")]);
  redraw(cell("critique", "body"), row.critique, (found) => found && critique(board, found));
  redraw(cell("critique", "gate"), open("critique"), (gate) => gate && critiqueGate(board, gate));
  drawRevisions(board, cell("revision", "body"), cell("revision", "gate"), row.attempts, open("revision"));
  cell("base", "live").dataset.cell = row.single || (row.number === 1 && !row.base) ? "draft" : "";
  cell("critique", "live").dataset.cell = here ? "critique" : "";
  cell("revision", "live").dataset.cell = here ? "revise" : "";
};

// The open revision's changes can be ticked one by one, so its text and its buttons are drawn together.
const drawRevisions = (board, body, gateBox, attempts, gate) => {
  const last = attempts[attempts.length - 1];
  const hunks = gate && last ? chosenHunks(board, last.proposed.pieces, () => {}) : null;
  const relay = hunks && { chosen: hunks.chosen, changed: () => hunks.changed() };
  let fresh = false;
  redraw(body, [attempts, gate], () => { fresh = true; return attempts.map((each) => attempt(board, each, each === last ? relay : null)); });
  if (fresh) delete gateBox.dataset.drawn;
  redraw(gateBox, gate, () => gate && revisionGate(board, gate, hunks));
};

const replaced = (board, drafts) => drafts.length
  ? el("details", { class: "rd-replaced" }, el("summary", {}, "What stood here before"), drafts.map((draft) => baseDraft(board.session, draft))) : null;

const otherwise = (board, position) => position === null || position >= board.head.position ? null
  : button("Decide this otherwise", () => board.branch("fork", { position }), { class: "rd-small", title: COPY });

const anew = (board, position, label = "Write this again, in a copy") => position === null ? null
  : button(label, () => board.branch("again", { position }), { class: "rd-small", title: ANEW });

const critique = (board, found) => {
  if (!found.ruled) return null;
  const points = found.points.map((point) => el("li", { class: point.kept ? "" : "rd-left-out" },
    point.severity === "unstated" ? null : el("span", { class: `rd-severity ${point.severity}` }, point.severity),
    point.quote ? el("q", {}, point.quote) : null, el("span", {}, point.problem), point.action ? el("span", { class: "rd-action" }, point.action) : null,
    point.by === "model" ? null : el("span", { class: "rd-by" }, `by ${point.by}`)));
  return [points.length ? el("ul", { class: "rd-points" }, points) : plainText(found.raw || "No points."),
    el("div", { class: "rd-verdict" }, found.verdict), el("div", { class: "rd-ruling" }, found.ruled),
    el("div", { class: "rd-forks" }, otherwise(board, found.gate), anew(board, found.position))];
};

const attempt = (board, found, hunks) => el("div", { class: `rd-attempt ${found.ruling}` }, changedDraft(board.session, found.proposed, hunks),
  found.remark ? el("div", { class: "rd-verdict" }, found.remark) : null,
  found.audit.length ? audit(found.audit) : null,
  found.verdict ? el("div", { class: "rd-verdict" }, found.verdict) : null, found.ruled ? el("div", { class: "rd-ruling" }, found.ruled) : null,
  found.written ? el("div", { class: "rd-written" }, changedDraft(board.session, found.written, null)) : null,
  found.ruled ? el("div", { class: "rd-forks" }, otherwise(board, found.gate), anew(board, found.position)) : null);

// Which points were met: by the critic's word, where it was asked, and by whether the quoted words changed.
const audit = (points) => {
  const met = points.filter((point) => point.met ?? point.words).length;
  return el("details", { class: "rd-audit" }, el("summary", {}, `Points met: ${met} of ${points.length}`), el("ul", {}, points.map(({ point, met: said, words }) => el("li", {}, point,
    el("span", { class: "rd-by" }, [said === null ? "" : said ? "met, says the critic" : "not met, says the critic", words === null ? "" : words ? "the quoted words changed" : "the quoted words still stand"].filter(Boolean).join("; "))))));
};

// Long texts of earlier rounds show their beginning. A row in which the person reads is left as it is:
// `mayChange` says which rows may be drawn shorter now.
export const clampEarlier = (box, mayChange) => {
  for (const row of [...box.children].slice(0, -1)) if (mayChange(row)) for (const text of row.querySelectorAll(".rd-text:not(.rd-heat, .rd-clamp)")) clamp(text);
  for (const text of box.lastElementChild?.querySelectorAll(".rd-clamp") || []) text.classList.add("rd-whole");
};

const clamp = (text) => {
  text.classList.add("rd-clamp");
  if (text.textContent.length < LONG && text.textContent.split("\n").length < 15) { text.classList.add("rd-whole"); return; }
  const more = button("Show all", () => {
    const whole = text.classList.toggle("rd-whole");
    more.textContent = whole ? "Show less" : "Show all";
    more.setAttribute("aria-expanded", String(whole));
  }, { class: "rd-small rd-show-all", "aria-expanded": "false" });
  text.after(more);
};
