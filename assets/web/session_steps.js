// The steps of a session: a line each, that opens to all that was asked and answered.
import { button, el, number } from "./dom.js";
import { scoreDetails } from "./score_reasons.js";

const LONG = 1200;
const SPEAKERS = { system: "System", user: "User", assistant: "Assistant" };

const took = (line) => [line.prompt_tokens + line.completion_tokens && `${line.prompt_tokens.toLocaleString("en")} tokens read, ${line.completion_tokens.toLocaleString("en")} written`,
  line.seconds ? `${number(line.seconds)} s` : "", line.money === null ? "" : `cost ${line.money.toFixed(4)}`].filter(Boolean).join(" · ");

// `open(body)` fills the body when it is opened for the first time; false where it could not.
export const stepLine = (line, open) => {
  const body = el("div", { class: "rd-sv-body" });
  const row = el("li", { "data-kind": line.kind, "data-step": line.position });
  const details = el("details", {}, el("summary", {},
    el("span", { class: "rd-sv-number" }, String(line.position)),
    el("span", { class: "rd-sv-what" }, el("b", {}, line.title), line.round ? ` · round ${line.round}` : "", line.who ? [" · ", el("bdi", {}, line.who)] : ""),
    el("span", { class: "rd-sv-took" }, took(line)),
    el("span", { class: "rd-sv-excerpt", dir: "auto" }, line.excerpt),
    line.remarks.length ? el("span", { class: "rd-sv-remarks" }, line.remarks.map((remark) => el("span", { class: "rd-flag" }, remark))) : null), body);
  let filled = false;
  details.addEventListener("toggle", async () => {
    if (!details.open || filled) return;
    filled = true;
    body.textContent = "Loading…";
    filled = await open(body);
    if (!filled) { body.textContent = ""; details.open = false; }
  });
  row.append(details);
  return row;
};

// A text that shows its beginning and is unfolded on demand.
const folded = (text, attributes = {}) => {
  const box = el("div", { class: "rd-text rd-sv-quoted", dir: "auto", ...attributes }, text.length > LONG ? `${text.slice(0, LONG)}…` : text || "(empty)");
  if (text.length <= LONG) return box;
  const more = button(`Show all ${text.length.toLocaleString("en")} characters`, () => { box.textContent = text; more.remove(); box.tabIndex = -1; box.focus(); }, { class: "rd-small" });
  return [box, more];
};

const prompt = (turns) => turns.length ? el("details", { class: "rd-sv-prompt" }, el("summary", {}, `The prompt as it was sent: ${turns.length} turn${turns.length === 1 ? "" : "s"}`),
  el("ol", {}, turns.map(({ role, content }) => el("li", { "data-role": role }, el("h4", {}, SPEAKERS[role] || role), folded(content))))) : null;

const point = ({ severity, quote, problem, action, by }) => el("li", {}, severity === "unstated" ? null : el("span", { class: `rd-severity ${severity}` }, severity), " ",
  quote ? el("q", {}, quote) : null, " ", problem, action ? el("span", { class: "rd-action" }, action) : null, by === "model" ? null : el("span", { class: "rd-by" }, `by ${by}`));

const part = ({ heading, text, scores, points, remark }) => el("div", { class: "rd-sv-part" }, el("h3", {}, heading), remark ? el("p", {}, remark) : null,
  points && points.length ? el("ul", { class: "rd-points" }, points.map(point)) : null, points && !points.length && !text ? el("p", {}, "No points.") : null,
  text === undefined || (text === "" && points) ? null : folded(text), (scores || []).map(scoreDetails));

// `acts`: show(), null where the step brought no text, and fork().
export const stepBody = (step, acts) => el("div", {},
  step.facts.length ? el("dl", { class: "rd-sv-facts-list" }, step.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))) : null,
  step.cached_tokens ? el("p", { class: "rd-sv-soft" }, `${step.cached_tokens.toLocaleString("en")} of the tokens read came from the cache.`) : null,
  step.notes.length ? el("ul", { class: "rd-sv-notes" }, step.notes.map((note) => el("li", {}, note))) : null,
  prompt(step.prompt), step.parts.map(part),
  el("div", { class: "rd-buttons" }, acts.show && button("Compare its text", acts.show, { class: "rd-small" }),
    button(step.gate ? "Decide this otherwise, in a fork" : `Fork before step ${step.position}`, acts.fork, { class: "rd-small", title: "A new session with all the steps before this one; this session stays as it is" })));
