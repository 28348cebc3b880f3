// Texts as they stream: one, or one for each candidate that is being written. A text of an earlier passage is
// never taken for a later one's; text counts in characters, not in JavaScript's halves of them.
import { el } from "./dom.js";

export class Streams {
  constructor(board) { this.board = board; this.parts = new Map(); }

  // The numbers of the texts that stream now, by part: what is new begins empty, what is not there has ended.
  expect(passages) {
    for (const part of [...this.parts.keys()]) if (passages[part] === undefined) this.drop(part);
    for (const [part, number] of Object.entries(passages)) if (this.parts.get(Number(part))?.number !== number) this.begin(Number(part), number);
    this.draw();
  }

  begin(part, number) { this.drop(part); this.parts.set(part, { number, text: "", received: 0, box: null }); }
  drop(part) { this.parts.get(part)?.box?.remove(); this.parts.delete(part); }

  hear(number, from, text, part = 0) {
    if (from === 0) this.begin(part, number);
    const stream = this.parts.get(part);
    if (!stream || number !== stream.number || from !== stream.received) return;
    stream.text += text;
    stream.received += [...text].length;
    this.drawOne(part, stream);
  }

  draw() { for (const [part, stream] of this.parts) this.drawOne(part, stream); }

  drawOne(part, stream) {
    const place = this.place(part);
    if (!place) { stream.box?.remove(); return; }
    if (stream.box?.parentNode !== place) {
      stream.box?.remove();
      stream.box = place.appendChild(el("div", { class: "rd-text rd-stream", dir: "auto" }));
      stream.box.append(document.createTextNode(""));
    }
    const node = stream.box.firstChild;
    if (stream.text.startsWith(node.data)) node.appendData(stream.text.slice(node.data.length));
    else node.data = stream.text;
  }

  // Where the text of that part appears: in its candidate's card, else in the cell of its role.
  place(part) {
    const { root, head } = this.board;
    if (!head || head.state !== "running" || !head.streaming) return null;
    if (head.pooled) return root.querySelector(`.rd-pool[data-last] [data-part="${part}"]`);
    return part === 0 ? root.querySelector(`[data-cell="${head.streaming}"]`) : null;
  }
}
