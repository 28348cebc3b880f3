// The task that a preview is made for: the preset's own example until a person types another.
import { el } from "./dom.js";

const LONGEST = 20000;  // characters; ui/preset_routes.py takes no more

export class TaskForm {
  constructor(root, changed) {
    this.box = root.querySelector(".rd-task-fields");
    this.changed = changed;
    this.task = null;
    root.querySelector(".rd-task-usual").addEventListener("click", () => { this.task = null; changed(); });
  }

  // The boxes stay while a person types in them: only a preset with other fields draws them anew.
  draw({ fields, task }) {
    const signature = JSON.stringify(fields);
    if (this.box.dataset.drawn !== signature) {
      this.box.dataset.drawn = signature;
      this.box.replaceChildren(...fields.map(([name, label]) => el("label", {}, label,
        el("textarea", { rows: name === "input" ? 3 : 1, maxlength: LONGEST, "data-name": name, oninput: () => this.typed() }))));
    }
    const shown = this.task || task;
    for (const each of this.box.children) {
      const area = each.querySelector("textarea");
      if (area !== document.activeElement || !this.task) area.value = shown[area.dataset.name] || "";
    }
  }

  typed() {
    this.task = Object.fromEntries([...this.box.querySelectorAll("textarea")].map((each) => [each.dataset.name, each.value]));
    this.changed();
  }
}
