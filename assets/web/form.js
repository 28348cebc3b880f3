// The task form beside the board. Its boxes are Gradio's and may come after the board: they take a value by
// an input event. What is typed there is kept until a session is made of it.
import { choices } from "./dom.js";

const BOXES = ["text", "instruction"];

// Keeps what is typed, and puts it back on a page that shows no session.
export const keepTyped = (signal) => {
  document.addEventListener("input", (event) => {
    const id = BOXES.find((name) => event.target.closest?.(`#${name}`));
    if (id) choices.set(`form:${id}`, event.target.value);
  }, { signal });
  for (const id of BOXES) direct(id, 50);
  if (!new URL(location).searchParams.get("session")) for (const id of BOXES) restore(id, 50);
};

export const begin = (text) => { choices.set("form:text", text); choices.set("form:instruction", ""); };
export const forgetTyped = () => begin("");

// Text of either direction: by its first letter.
const direct = (id, tries) => {
  const box = document.querySelector(`#${id} textarea`);
  if (box) box.dir = "auto"; else if (tries) setTimeout(() => direct(id, tries - 1), 100);
};

const restore = (id, tries) => {
  const saved = choices.get(`form:${id}`, ""), box = document.querySelector(`#${id} textarea`);
  if (!saved || (box && box.value)) return;
  if (!box) { if (tries) setTimeout(() => restore(id, tries - 1), 100); return; }
  box.value = saved;
  box.dispatchEvent(new Event("input", { bubbles: true }));
};

// Beside an open session the form is folded away, and the board has its place.
export const showForm = (board, shown) => {
  const toggle = board.part("task-toggle");
  document.body.toggleAttribute("data-show-task", shown);
  toggle.setAttribute("aria-expanded", String(shown));
  toggle.textContent = shown ? "Hide the task" : "Show the task";
  if (shown) document.querySelector("#task")?.scrollIntoView({ block: "nearest" });
};

export const focusForm = (board) => {
  if (document.body.hasAttribute("data-session")) showForm(board, true);
  const box = document.querySelector("#text textarea");
  box?.focus();
  return Boolean(box);
};

// The examples of the chosen kind of task; where it has none, those of all.
export const showExamples = (root, preset) => {
  const all = [...root.querySelectorAll(".rd-example")];
  const own = all.filter((each) => each.dataset.preset === preset);
  for (const each of all) each.hidden = own.length > 0 && !own.includes(each);
};
