// The box for the YAML: a text area with line numbers beside it and a mark on the line of a mistake.
import { el } from "./dom.js";

const LINE = 20;  // pixels; presets.css sets the same height

export class TextBox {
  constructor(root, typed) {
    this.box = root.querySelector(".rd-yaml");
    this.gutter = root.querySelector(".rd-gutter");
    this.band = root.querySelector(".rd-band");
    this.wrong = null;
    this.box.addEventListener("input", () => { this.number(); typed(); });
    this.box.addEventListener("scroll", () => this.align());
  }

  get text() { return this.box.value; }

  // Reading it back: a text area has line ends of its own.
  set(text) {
    this.box.value = text;
    this.number();
    return this.box.value;
  }

  number() {
    const count = this.text.split("\n").length;
    if (count === this.count) return;
    this.count = count;
    this.draw();
  }

  mark(line) {
    if (line === this.wrong) return;
    this.wrong = line;
    this.draw();
  }

  draw() {
    const numbers = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place).join("\n");
    const at = this.wrong && this.wrong <= this.count ? this.wrong : null;
    const parts = at ? [numbers(1, at - 1), at > 1 ? "\n" : "", el("b", {}, String(at)), at < this.count ? "\n" : "", numbers(at + 1, this.count)] : [numbers(1, this.count)];
    this.gutter.replaceChildren(...parts);
    this.band.hidden = !at;
    this.align();
  }

  align() {
    this.gutter.scrollTop = this.box.scrollTop;
    if (this.wrong) this.band.style.transform = `translateY(${(this.wrong - 1) * LINE - this.box.scrollTop}px)`;
  }

  goTo(line) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    this.box.focus();
    this.box.setSelectionRange(start, start + (lines[line - 1] || "").length);
    this.box.scrollTop = Math.max(0, (line - 1) * LINE - this.box.clientHeight / 3);
    this.box.scrollLeft = 0;
    this.box.scrollIntoView({ block: "nearest" });
  }
}
