// What differs between two texts, line by line, as the server compared them (ui/diff_lines.py).
import { el } from "./dom.js";

const TAGS = { removed: "del", added: "ins", same: "span" };
const count = (number) => `${number} unchanged line${number === 1 ? "" : "s"}`;

const row = ({ skipped, parts }) => {
  if (skipped) return el("div", { class: "rd-skipped" }, count(skipped));
  const changed = parts.some(([kind]) => kind !== "same");
  return el("div", { class: changed ? "rd-line rd-line-changed" : "rd-line" }, parts.map(([kind, text]) => el(TAGS[kind], {}, text || " ")));
};

// The lines as a node; in words where nothing differs.
export const difference = (lines) =>
  lines.length ? el("div", { class: "rd-difference", tabindex: "0", role: "group", "aria-label": "Changed lines" }, lines.map(row)) : el("p", {}, "Nothing differs.");
