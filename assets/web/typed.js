// What is typed at a gate but not sent: kept in the browser under the step it is for, and offered when someone
// else has decided that step meanwhile.
import { button, el } from "./dom.js";

const read = (key) => { try { return JSON.parse(localStorage.getItem(key)) || {}; } catch { return {}; } };
const write = (key, value) => { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* full or private */ } };

export class Typed {
  constructor(board) { this.board = board; }

  key(position = this.board.head.position, session = this.board.session) { return `redraft:typed:${session}:${position}`; }
  saved() { return read(this.key()); }
  here() { this.at = this.board.head.position; }
  save(changes) { this.here(); write(this.key(), { ...this.saved(), ...changes }); }
  forget(name) { const { [name]: _, ...rest } = this.saved(); write(this.key(), rest); }
  drop(position) { localStorage.removeItem(this.key(position)); }

  // `sending` is the step that this tab is deciding itself.
  offer(position, sending) {
    if (position === undefined || position !== this.at || position === sending || this.board.head.position <= position) return;
    const saved = read(this.key(position));
    const typed = saved.text ?? saved.note ?? (saved.points || []).filter((p) => p.by === "person").map((p) => `${p.problem} ${p.action}`.trim()).join("\n");
    if (!typed) return;
    const place = this.board.part("unsent");
    const area = el("textarea", { rows: 4, readonly: true, "aria-label": "What you had typed" });
    area.value = typed;
    const forget = () => { this.drop(position); place.replaceChildren(); };
    place.replaceChildren(el("p", {}, "The session moved on while you were typing, by another tab or person. What you had typed:"), area,
      el("div", { class: "rd-buttons" }, button("Decide that step with it, in a copy", () => this.carry(position)),
        button("Use as a new task", () => this.board.newTask(typed)), button("Forget it", forget)));
  }

  async carry(position) {
    const typed = read(this.key(position));
    const answer = await this.board.post("fork", { position });
    if (!answer) return;
    write(this.key(position, answer.session), typed);
    this.board.goTo(answer.session);
  }
}
