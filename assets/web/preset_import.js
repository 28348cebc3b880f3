// Bringing a preset in, from a file or as text: the server checks it, and nothing is kept before it is saved.
import { button, el } from "./dom.js";

const LOST = "The server could not be reached. Nothing was imported; try again.";

export class Import {
  // `take(name, text)` opens a new preset; `change(name, text)` opens one that there is with this text.
  constructor(root, { take, change, rename }) {
    this.dialog = root.querySelector(".rd-bring");
    this.error = root.querySelector(".rd-bring-error");
    this.clash = root.querySelector(".rd-bring-clash");
    this.file = root.querySelector("#rd-file");
    this.pasted = root.querySelector("#rd-pasted");
    Object.assign(this, { take, change, rename });
    root.querySelector(".rd-import").addEventListener("click", () => this.open());
    root.querySelector(".rd-bring-close").addEventListener("click", () => this.dialog.close());
    root.querySelector(".rd-bring-pasted").addEventListener("click", () => this.check(this.pasted.value));
    this.file.addEventListener("change", () => { if (this.file.files[0]) this.check(this.file.files[0]); });
  }

  open() {
    this.file.value = this.pasted.value = "";
    this.say("");
    this.dialog.showModal();
  }

  say(error) {
    this.error.textContent = error;
    this.clash.replaceChildren();
  }

  async check(body) {
    this.say("");
    try {
      const headers = { "Content-Type": "application/octet-stream" };
      const answer = await (await fetch("/api/presets/import", { method: "POST", headers, body })).json();
      this.file.value = "";  // the same file can be chosen again once it is corrected
      if (answer.error || answer.detail) this.say(answer.error || answer.detail);
      else if (answer.exists) this.ask(answer);
      else this.done(() => this.take(answer.name, answer.text));
    } catch {
      this.say(LOST);
    }
  }

  ask({ name, text }) {
    this.clash.replaceChildren(el("p", {}, `There is already a preset ${name}. Nothing was imported yet.`),
      button(`Open it as a change of ${name}`, () => this.done(() => this.change(name, text))),
      button("Give it another name", () => this.done(() => this.rename(name, text))));
    this.clash.querySelector("button").focus();
  }

  done(act) {
    this.dialog.close();
    act();
  }
}
