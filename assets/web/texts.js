// Drafts as they are read: plain, with their changes marked, or as a heat map of their tokens.
import { button, el, getJson, number } from "./dom.js";

const marked = (marks) => marks.map(([characters, symbol]) =>
  symbol ? el("span", { class: "rd-mark", "data-symbol": symbol }, characters) : characters);

// Pieces are [kind, number of the change, marks]. A change that can be accepted by itself gets a box.
export const difference = (pieces, hunks) => {
  const box = el("div", { class: "rd-text rd-diff", dir: "auto" });
  let change = null, group = null;
  for (const [kind, index, marks] of pieces) {
    if (kind === "same") { box.append(...marked(marks)); change = null; continue; }
    if (index !== change) {
      change = index;
      group = hunks ? hunkBox(hunks, index) : el("span", { class: "rd-change" });
      box.append(group);
    }
    group.append(el(kind === "added" ? "ins" : "del", {}, marked(marks)));
  }
  return box;
};

// A span that is ticked by click, Enter or Space; `hunks` is {chosen: Set, changed: function}.
const hunkBox = (hunks, index) => {
  const toggle = () => {
    if (hunks.chosen.has(index)) hunks.chosen.delete(index); else hunks.chosen.add(index);
    draw();
    hunks.changed();
  };
  const box = el("span", { class: "rd-change rd-hunk", role: "checkbox", tabindex: "0", "aria-label": `Take over change ${index + 1}`,
    onclick: toggle, onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(); } } });
  const draw = () => box.setAttribute("aria-checked", String(hunks.chosen.has(index)));
  draw();
  return box;
};

// The text that results from taking over the chosen changes.
export const merged = (pieces, chosen) => pieces.filter(([kind, index]) =>
  kind === "same" || (kind === "added") === chosen.has(index)).map(([, , marks]) => marks.map(([characters]) => characters).join("")).join("");

// The draft's side of a comparison: what was removed is marked where the person chose side by side.
const original = (pieces) => {
  const box = el("div", { class: "rd-text rd-original", dir: "auto" });
  for (const [kind, , marks] of pieces) if (kind !== "added") box.append(kind === "same" ? el("span", {}, marked(marks)) : el("del", {}, marked(marks)));
  return box;
};

const plain = (text) => el("div", { class: "rd-text", dir: "auto" }, text || "(empty)");

const chip = (score) => {
  const change = score.change === null ? "" : score.change === 0 ? " (=)" : ` (${score.change > 0 ? "+" : "−"}${number(Math.abs(score.change))})`;
  const known = score.value !== null;
  const text = known ? `${score.label} ${number(score.value)}${change}` : `${score.label}: not scored`;
  const kind = !known ? "unknown" : !score.change ? "" : score.change > 0 ? "up" : "down";
  return el("details", { class: `rd-chip ${kind}` }, el("summary", {}, text),
    el("div", { class: "rd-chip-body" }, [score.help, score.why, score.condition && `Conditioned: ${score.condition}.`, score.details].filter(Boolean).join(" ")));
};

// -- the heat map -----------------------------------------------------------------------------

// Probability to one of six steps, from sure to surprising; unknown is a step of its own.
const step = (logprob) => (logprob === null ? "none" : String(Math.min(5, Math.floor(-logprob / 0.7))));
const percent = (logprob) => (logprob === null ? "no usable number" : `${number(Math.exp(logprob) * 100)} %`);
const SYMBOLS = { "\n": "↵", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", " ": "·" };

// A token's text with symbols for the space that it begins with and for line breaks.
const tokenText = (text) => [...text].map((character, index) => {
  const symbol = character === " " && index > 0 ? "" : SYMBOLS[character];
  return symbol ? el("span", { class: "rd-mark", "data-symbol": symbol }, character) : character;
});

// Tokens come as numbers of characters, which JavaScript counts by halves.
const cut = (text, lengths) => {
  const characters = [...text];
  let done = 0;
  return lengths.map((length) => characters.slice(done, (done += length)).join(""));
};

// Tokens that end inside a character have no text of their own: they are shown with the one that completes it.
const grouped = (texts, logprobs) => {
  const groups = [];
  let first = 0;
  texts.forEach((text, index) => {
    if (!text && index < texts.length - 1) return;
    groups.push({ text, first, last: index, logprob: weakest(logprobs.slice(first, index + 1)) });
    first = index + 1;
  });
  return groups;
};
const weakest = (values) => { const known = values.filter((v) => v !== null); return known.length ? Math.min(...known) : null; };

const heat = (session, source, found, text) => {
  const told = el("div", { class: "rd-told", "aria-live": "polite" }, "Point at a token, or reach it with Tab and the arrow keys.");
  const map = el("div", { class: "rd-text rd-heat", role: "group", "aria-label": `Token probabilities, ${source.label}` });
  const groups = grouped(cut(text, found.lengths), found.logprobs);
  const fragment = document.createDocumentFragment();
  groups.forEach((group, index) => fragment.append(el("span", { class: "rd-token", "data-step": step(group.logprob), "data-index": index, tabindex: index ? "-1" : "0" }, tokenText(group.text))));
  map.append(fragment);
  const cache = new Map();
  const show = async (index) => {
    const group = groups[index];
    const numbers = found.logprobs.slice(group.first, group.last + 1).map(percent).join(" × ");
    const line = [el("b", {}, JSON.stringify(group.text)), ` ${numbers}`];
    told.replaceChildren(...line);
    if (!cache.has(index)) cache.set(index, (await getJson(`/api/sessions/${session}/tokens/${group.last}?step=${source.step}&which=${source.which}`)).alternatives || []);
    const others = cache.get(index);
    if (told.firstChild !== line[0] || !others.length) return;
    told.append(el("span", { class: "rd-others" }, " instead of ", others.map(([text, logprob]) => el("span", { class: "rd-other" }, `${JSON.stringify(text)} ${percent(logprob)}`))));
  };
  const at = (event) => event.target.closest(".rd-token");
  map.addEventListener("mouseover", (e) => at(e) && show(Number(at(e).dataset.index)));
  map.addEventListener("focusin", (e) => at(e) && show(Number(at(e).dataset.index)));
  map.addEventListener("keydown", (e) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[e.key], here = at(e);
    const next = way && here && map.querySelector(`[data-index="${Number(here.dataset.index) + way}"]`);
    if (next) { e.preventDefault(); here.tabIndex = -1; next.tabIndex = 0; next.focus(); }
  });
  return [map, told];
};

const heatSwitch = (session, draft, shown) => {
  if (!draft.heat.length) return null;
  const box = el("div", { class: "rd-heat-box" });
  const open = async (source, pressed) => {
    const wasOn = pressed.getAttribute("aria-pressed") === "true";
    for (const other of box.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", "false");
    place.replaceChildren();
    shown.hidden = false;
    if (wasOn) return;
    pressed.setAttribute("aria-pressed", "true");
    const found = await getJson(`/api/sessions/${session}/tokens?step=${source.step}&which=${source.which}`)
      .catch(() => ({ error: "The probabilities could not be fetched. Reload the page and try again." }));
    if (pressed.getAttribute("aria-pressed") !== "true") return;
    place.replaceChildren(...(found.error ? [el("p", {}, found.error)] : heat(session, source, found, draft.text)));
    shown.hidden = !found.error;
  };
  const place = el("div", {});
  box.append(place, el("div", { class: "rd-heat-choices" }, "Token probabilities ",
    draft.heat.map((source) => button(source.label, (e) => open(source, e.currentTarget), { class: "rd-small", "aria-pressed": "false" }))));
  return box;
};

// -- drafts -----------------------------------------------------------------------------------

const signature = (by) => (by === "model" ? null : el("div", { class: "rd-by" }, `by ${by}`));

const marks = (draft) => el("div", { class: "rd-chips" },
  draft.flags.map((flag) => el("span", { class: "rd-flag" }, flag)), draft.scores.map(chip));

// A draft: by whom, its text, its token map on demand, its scores. `text` is how the text is shown.
const drawn = (session, draft, text) => [signature(draft.by), text, heatSwitch(session, draft, text), marks(draft)];

// `pieces` compare the base of a round with its last revision, where there is one.
export const baseDraft = (session, draft, pieces = null) => drawn(session, draft, pieces ? original(pieces) : plain(draft.text));
export const changedDraft = (session, draft, hunks) => drawn(session, draft, draft.pieces ? difference(draft.pieces, hunks) : plain(draft.text));
export const plainText = plain;
