// Single keys for what is in front of the person, a sheet that names them, and a way to turn them off.
import { choices, el } from "./dom.js";

const KEYS = [
  ["a", "accept the revision, or revise with the ticked points"],
  ["r", "reject the revision"],
  ["e", "edit: write the text yourself"],
  ["n", "ask again, with a note"],
  ["p", "add a point to the critique"],
  ["s", "stop"],
  ["c", "continue a session that is not running"],
  ["u", "undo the last decision (in a new session)"],
  ["d", "how changes are shown: in the text, side by side, not at all"],
  ["h", "token probabilities of the newest text"],
  ["g", "go to what is happening"],
  ["j / k", "next round, round before"],
  ["t", "to the text box of a new task"],
  ["?", "this sheet"],
];
const TYPING = "input, textarea, select, [contenteditable=true], [role=textbox], [role=combobox], [role=listbox]";

export const shortcutSheet = () => {
  const on = el("input", { type: "checkbox", onchange: (e) => choices.set("keys", e.target.checked ? "on" : "off") });
  on.checked = choices.get("keys", "on") === "on";
  const sheet = el("dialog", { class: "rd-sheet", "aria-label": "Keyboard shortcuts" }, el("h2", {}, "Keyboard shortcuts"),
    el("dl", {}, KEYS.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("label", {}, on, " Single keys work (not while you type)"),
    el("form", { method: "dialog" }, el("button", { class: "rd-primary" }, "Close")));
  return sheet;
};

export const listen = (board, signal) => {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest?.(TYPING) || document.querySelector("dialog[open]")) return;
    if (event.key !== "?" && choices.get("keys", "on") !== "on") return;
    if (board.key(event.key)) event.preventDefault();
  }, { signal });
};
