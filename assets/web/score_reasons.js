// What scores say besides their numbers: reasons, and a judge's replies as they came.
import { el, number } from "./dom.js";

const value = (score) => (score.value === null ? `not scored: ${score.why}` : number(score.value));

// One measurement, with all that is known of it.
export const scoreDetails = (score) => el("div", { class: "rd-sv-score" },
  el("p", {}, el("b", {}, score.label), ` ${value(score)}`, score.value !== null && score.why ? `. ${score.why}` : ""),
  score.condition && el("p", { class: "rd-sv-soft" }, `Conditioned: ${score.condition}.`),
  score.details.length ? el("p", { class: "rd-sv-soft" }, score.details.map(([name, part]) => `${name} ${number(part)}`).join(", ")) : null,
  score.notes.length ? el("ul", {}, score.notes.map((note) => el("li", {}, note))) : null,
  score.replies.length ? el("details", {}, el("summary", {}, score.replies.length === 1 ? "The reply as it came" : `${score.replies.length} replies as they came`),
    score.replies.map((reply) => el("div", { class: "rd-text rd-sv-quoted", dir: "auto" }, reply))) : null);

export const reasons = (scores) => scores.length
  ? el("details", { class: "rd-sv-reasons" }, el("summary", {}, "Reasons for the scores"), scores.map(scoreDetails)) : null;
