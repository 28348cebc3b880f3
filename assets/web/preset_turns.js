// The requests of a preset as turns of a chat; what changes while someone types is brought into sight.
import { el } from "./dom.js";

const LONG = 1200;  // characters of a request from which on it scrolls in its box
const ROLES = { system: "system", user: "to the model", assistant: "the model" };

const draw = ({ title, role, text, cut }) => {
  const scrolls = text.length > LONG ? { tabindex: "0", role: "group", "aria-label": title } : {};
  return el("li", { class: "rd-turn", "data-role": role }, el("h3", {}, el("span", {}, title), el("span", {}, ROLES[role])),
    el("div", { class: "rd-words", dir: "auto", ...scrolls }, text || "(nothing)"), cut && el("p", { class: "rd-help" }, "The rest is not shown."));
};

export class Turns {
  constructor(root) {
    this.pane = root.querySelector(".rd-preview");
    this.list = root.querySelector(".rd-turns");
    this.forget();
  }

  // The next turns are those of another preset: nothing in them has changed.
  forget() { this.before = null; }

  draw(turns) {
    const changed = (turn) => this.before && this.before.get(turn.title) !== turn.text;
    this.list.replaceChildren(...turns.map(draw));
    const first = turns.findIndex(changed);
    turns.forEach((turn, place) => { if (changed(turn)) this.list.children[place].dataset.changed = "1"; });
    // Scrolls the pane alone, never the page that someone is typing in.
    if (first >= 0) this.pane.scrollTop += this.list.children[first].getBoundingClientRect().top - this.pane.getBoundingClientRect().top - 40;
    this.before = new Map(turns.map((turn) => [turn.title, turn.text]));
  }
}
