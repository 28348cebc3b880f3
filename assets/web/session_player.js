// The texts that stood, one after the other on a slider, each run of characters with who wrote it last.
import { button, el } from "./dom.js";

const PACE = 1200;  // milliseconds a text stands while they are played
const TONES = 6;

const share = (part, whole) => `${Math.round((100 * part) / (whole || 1))} %`;

export class Player {
  constructor(root) {
    this.root = root;
    this.slider = this.part("slider");
    this.slider.addEventListener("input", () => { this.stop(); this.show(); });
    this.part("back").addEventListener("click", () => this.go(-1));
    this.part("next").addEventListener("click", () => this.go(1));
    this.part("run").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  part(name) { return this.root.querySelector(`.rd-sv-${name}, #rd-sv-${name}`); }
  get at() { return Number(this.slider.value); }

  async load(fetched) {
    const view = await fetched();
    if (!view) return;
    this.view = view;
    this.part("player").hidden = view.frames.length < 2;
    this.part("play").dataset.loaded = "1";
    if (!view.frames.length) { this.part("frame").textContent = "No text stands yet."; return; }
    this.slider.max = view.frames.length - 1;
    this.slider.value = view.frames.length - 1;
    this.show();
  }

  play() {
    if (this.at >= Number(this.slider.max)) this.slider.value = 0;
    this.show();
    this.part("run").textContent = "Pause";
    this.part("run").setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => { if (this.at < Number(this.slider.max)) this.move(1); else this.stop(); }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.part("run").textContent = "Play";
    this.part("run").setAttribute("aria-pressed", "false");
  }

  go(by) { this.stop(); this.move(by); }
  move(by) { this.slider.value = this.at + by; this.show(); }

  words(frame) {
    const left = this.view.left_out ? ` (the ${this.view.left_out} before are too long to be played)` : "";
    const what = frame.how === "first draft" ? `the first draft, by ${frame.by}` : `${frame.how} by ${frame.by}${frame.round ? ` in round ${frame.round}` : ""}`;
    return `Text ${this.at + 1} of ${this.view.frames.length}${left}: ${what}, step ${frame.step}.`;
  }

  show() {
    const frame = this.view.frames[this.at], authors = this.view.authors;
    this.part("frame").textContent = this.words(frame);
    this.slider.setAttribute("aria-valuetext", this.words(frame));
    this.part("back").disabled = this.at === 0;
    this.part("next").disabled = this.at >= Number(this.slider.max);
    const before = this.at ? new Set(this.view.frames[this.at - 1].runs.map(([by]) => by)) : new Set();
    const lengths = new Map();
    const runs = frame.runs.map(([by, text]) => {
      lengths.set(by, (lengths.get(by) || 0) + text.length);
      return el("span", { ...this.look(by, !before.has(by) && this.at > 0), "data-by": by, title: this.name(authors[by]) }, text);
    });
    this.part("written").replaceChildren(...(runs.length ? runs : ["(empty)"]));
    const whole = [...lengths.values()].reduce((a, b) => a + b, 0);
    const entries = [...lengths].sort(([, a], [, b]) => b - a).map(([by, length]) => el("li", {},
      button(`${this.name(authors[by])}: ${share(length, whole)}`, (e) => this.only(by, e.currentTarget), { ...this.look(by, false), "aria-pressed": "false" })));
    this.part("legend").replaceChildren(...entries);
  }

  look(by, fresh) {
    const author = this.view.authors[by];
    return { class: `rd-sv-run-of${fresh ? " rd-sv-fresh" : ""}`, "data-person": author.person ? "1" : false, "data-tone": author.person ? "p" : author.round % TONES };
  }

  name(author) { return `${author.name}, ${author.round ? `round ${author.round}` : author.person ? `step ${author.step}` : "first draft"}`; }

  // Emphasises what one author wrote; again, everything as before.
  only(by, pressed) {
    const on = pressed.getAttribute("aria-pressed") !== "true";
    for (const other of this.part("legend").querySelectorAll("button")) other.setAttribute("aria-pressed", String(on && other === pressed));
    for (const run of this.part("written").querySelectorAll("[data-by]")) run.classList.toggle("rd-sv-dimmed", on && run.dataset.by !== String(by));
  }
}
