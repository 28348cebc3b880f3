// Where the work is, and whether the page goes along with it. It goes along while the person does: once they
// scroll away from the work, a button leads back and nothing moves by itself any more.
import { button } from "./dom.js";

const SCROLL_KEYS = ["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "];
const LOW = 0.75;  // a step that begins lower than this in the window is brought up
const HAND = 400;  // milliseconds within which a scroll is taken to come from the person's last movement

export class Follow {
  constructor(board, signal) {
    this.board = board;
    this.along = true;
    this.moved = -Infinity;
    this.jump = board.root.appendChild(button("Jump to what is happening", () => this.go(), { class: "rd-jump rd-primary", hidden: true }));
    const hand = () => { this.moved = performance.now(); };
    const on = (event, act) => document.addEventListener(event, act, { signal, passive: true, capture: true });
    on("wheel", hand);
    on("touchmove", hand);
    on("pointerdown", (e) => { if (e.target === document.documentElement) hand(); });
    on("keydown", (e) => { if (SCROLL_KEYS.includes(e.key) && !e.target.closest?.("textarea, input, select")) hand(); });
    on("scroll", () => this.scrolled());
    window.addEventListener("resize", () => this.show(), { signal });
  }

  // The part of the page in which something happens or waits.
  get place() {
    const { root, head } = this.board;
    if (!head) return null;
    const seen = (node) => (node && node.offsetParent !== null ? node : null);
    if (head.state === "ended") return seen(this.board.part("outcome"));
    if (head.state === "paused") return seen(this.board.part("problem"));
    const last = (selector) => [...root.querySelectorAll(selector)].filter(seen).pop();
    const gate = last(".rd-gate:not(:empty)");
    // A revision is read before it is ruled on, and candidates are looked at together.
    if (gate) return gate.closest(".rd-pool") || gate.closest(".rd-revision")?.querySelector(".rd-attempt:last-child") || gate;
    const stream = last(".rd-stream");
    if (stream) return stream.closest(".rd-pool") || stream;
    return seen(root.querySelector(`[data-cell="${head.streaming}"]`)?.closest(".rd-cell").querySelector("h3"));
  }

  // `low` is how far down it may begin, as a share of the window.
  inView(node, low = 0.9) {
    const box = node.getBoundingClientRect();
    return box.top < innerHeight * low && box.bottom > 80;
  }

  scrolled() {
    if (performance.now() - this.moved < HAND) { const { place } = this; this.along = !place || this.inView(place); }
    this.show();
  }

  // After the board was drawn: a step that begins out of sight is brought into sight.
  step() {
    const { place } = this;
    if (place && place !== this.last && this.along && !this.inView(place, LOW) && !this.busyElsewhere(place)) place.scrollIntoView({ block: "start" });
    this.last = place;
    this.show();
  }

  // Whether the person types, or has marked a text, somewhere else.
  busyElsewhere(place) {
    const typing = document.activeElement?.matches("textarea, input, select, [contenteditable=true]") ? document.activeElement : null;
    const marked = document.getSelection();
    return Boolean((typing && !place.contains(typing)) || (marked && !marked.isCollapsed && this.board.root.contains(marked.anchorNode)));
  }

  show() {
    const { place } = this;
    this.jump.textContent = this.board.head?.state === "ended" ? "Jump to the outcome" : "Jump to what is happening";
    this.jump.hidden = !place || this.inView(place);
  }

  go() {
    this.along = true;
    this.place?.scrollIntoView({ block: "start" });
    this.show();
  }
}
