// What can be done with several chosen sessions at once, and undone. The server does it; this asks for it.
import { address, button, count, el } from "./dom.js";
import { trainingForm } from "./history_files.js";

const MOST_NAMED = 1500;  // an address of more ids is longer than servers take

export class Bulk {
  constructor(page, root) {
    this.page = page;
    this.root = root;
    this.ids = new Set();
    this.all = false;
    this.draw();
  }

  toggle(id, on) {
    if (on) this.ids.add(id); else this.ids.delete(id);
    this.all = false;
    this.draw();
  }

  clear() {
    this.ids.clear();
    this.all = false;
    this.draw();
  }

  allShown() {
    for (const id of this.page.shown()) this.ids.add(id);
    this.draw();
    this.page.tick();
  }

  get what() { return this.all ? `all ${this.page.counted} that match` : count(this.ids.size, "session"); }
  get asked() { return this.all ? { ids: null, filter: this.page.filters.filter() } : { ids: [...this.ids] }; }

  draw() {
    const focused = this.root.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    this.root.hidden = !this.ids.size && !this.all;
    if (this.root.hidden) { this.root.replaceChildren(); return; }
    const training = this.root.querySelector(".rd-training");
    const act = (name, label, run) => button(label, run, { "data-act": name });
    const tag = el("input", { type: "text", maxlength: "60", "aria-label": "Tag", placeholder: "tag" });
    this.root.replaceChildren(
      el("span", { class: "rd-chosen" }, this.all ? `Chosen: ${this.what}` : `${this.what} chosen`),
      !this.all && this.page.more ? act("all", `Choose all ${this.page.counted} that match`, () => { this.all = true; this.draw(); }) : "",
      act("shown", "Choose all shown", () => this.allShown()),
      ...this.files(),
      act("training", "Training data", () => this.training()),
      el("form", { class: "rd-tagging", onsubmit: (e) => { e.preventDefault(); this.run("tag", tag.value); } }, tag,
        el("button", { type: "submit" }, "Tag"), button("Untag", () => this.run("untag", tag.value))),
      act("delete", "Delete", () => this.run("delete")),
      act("none", "Choose none", () => { this.clear(); this.page.tick(); }),
      training || "");
    if (focused) this.root.querySelector(`[data-act="${focused}"]`)?.focus();
  }

  files() {
    if (this.ids.size > MOST_NAMED && !this.all) return [el("span", {}, `Files and comparisons: of ${MOST_NAMED.toLocaleString("en")} at most, or of all that match.`)];
    return [this.ids.size > 1 || this.filtered ? el("a", { class: "rd-open", href: address("/compare/", this.chosen()) }, "Compare") : "",
      el("a", { class: "rd-open rd-export", href: this.file("jsonl"), download: "", title: "Everything, to be imported elsewhere" }, "Export"),
      el("a", { class: "rd-open", href: this.file("csv"), download: "", title: "A row for every text and every ruling, for a spreadsheet" }, "As CSV")];
  }

  // Whether all that a filter finds are chosen.
  get filtered() { return this.all && this.page.filters.active; }
  chosen() { return this.all ? this.page.filters.filter() : { ids: [...this.ids].join(",") }; }
  file(form) { return address("/api/history/export", { ...this.chosen(), form }); }

  training() {
    if (!this.root.querySelector(".rd-training")) this.root.append(trainingForm(this.page, () => this.asked, () => this.closeTraining()));
    this.root.querySelector(".rd-training select").focus();
  }

  closeTraining() {
    this.root.querySelector(".rd-training").remove();
    this.root.querySelector('[data-act="training"]').focus();
  }

  // One action at a time: the second of a double click would find nothing left to do, and take the undo away.
  async run(action, tag = "") {
    if (this.running) return;
    this.running = true;
    try { await this.done(action, tag); } finally { this.running = false; }
  }

  async done(action, tag) {
    const answer = await this.page.post("/api/history/bulk", { action, tag, ...this.asked });
    if (!answer) return;
    const done = { delete: "Deleted", tag: `Tagged “${tag}”`, untag: `Without “${tag}” now` }[action];
    if (action === "delete") this.clear();  // those with a new tag stay chosen, for what comes next
    await this.page.refresh();
    await this.page.deletions();
    if (!answer.sessions) { this.page.say("Nothing was changed: it was so already."); return; }
    const undo = button("Undo", () => this.undo(answer.undo), { class: "rd-undo" });
    this.page.say(`${done}: ${count(answer.sessions, "session")}. `, undo);
    undo.focus();
  }

  async undo(name) {
    const answer = await this.page.post("/api/history/undo", { name });
    if (!answer) return;
    await this.page.refresh();
    await this.page.deletions();
    this.page.say(`Undone: ${count(answer.sessions, "session")} as before.`);
    this.page.box.focus();
  }
}
