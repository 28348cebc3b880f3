// The filters of the History page: the state of the page's address, drawn as a row of choices.
// Knows no session; what was chosen is told to the page, which asks the server.
import { button, el } from "./dom.js";

const CHOICES = [
  ["preset", "Preset"], ["strategy", "Strategy"], ["model", "Model"], ["outcome", "Outcome"], ["decision", "Decision"], ["tag", "Tag"],
];
const RANGES = [
  ["since", "Started on or after", "date"], ["until", "Started on or before", "date"],
  ["change_least", "Score change at least", "number"], ["change_most", "Score change at most", "number"],
  ["cost_least", "Cost at least", "number"], ["cost_most", "Cost at most", "number"],
];
const SORTS = [
  ["newest", "", "Newest first"], ["newest", "1", "Oldest first"], ["changed", "", "Last changed first"], ["change", "", "Largest gain first"],
  ["change", "1", "Largest loss first"], ["cost", "", "Highest cost first"], ["tokens", "", "Most tokens first"], ["rounds", "", "Most rounds first"],
];
const MORE = [...RANGES.map(([name]) => name), "flag"];
export const NAMES = ["q", ...CHOICES.map(([name]) => name), "flag", "starred", ...RANGES.map(([name]) => name)];
const OUTCOMES = { open: "still open", done: "done", rounds: "rounds used up", target: "target reached", "no gain": "nothing gained",
  stopped: "stopped by a person", budget: "budget spent", failed: "failed" };

export class Filters {
  constructor(root, changed) {
    this.root = root;
    this.changed = changed;
    this.values = {};
    this.saved = [];
    this.state = new Map();
    this.read();
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }

  // -- the address ------------------------------------------------------------------------------

  read() {
    const asked = new URL(location).searchParams;
    this.state = new Map([...NAMES, "sort", "ascending"].map((name) => [name, asked.get(name) || ""]));
    if (MORE.some((name) => this.state.get(name))) this.part("narrow").open = true;
  }

  // What the list is asked by, and without order; both leave out what asks for nothing.
  query() { return this.only([...NAMES, "sort", "ascending"]); }
  filter() { return this.only(NAMES); }
  only(names) { return Object.fromEntries(names.filter((name) => this.state.get(name)).map((name) => [name, this.state.get(name)])); }
  get active() { return Object.keys(this.filter()).length > 0; }

  write() {
    const url = new URL(location);
    for (const [name, value] of this.state) if (value) url.searchParams.set(name, value); else url.searchParams.delete(name);
    history.replaceState(history.state, "", url);
  }

  set(changes) {
    for (const [name, value] of Object.entries(changes)) this.state.set(name, value);
    this.write();
    this.mark();
    this.changed();
  }

  clear() {
    const nothing = Object.fromEntries(NAMES.map((name) => [name, ""]));
    this.root.querySelector("#rd-query").value = "";
    this.set(nothing);
    this.draw();
  }

  // -- drawing ----------------------------------------------------------------------------------

  know({ values, saved }) {
    [this.values, this.saved] = [values, saved];
    this.draw();
  }

  draw() {
    const selects = CHOICES.map(([name, label]) => this.select(name, label, this.options(name)));
    const starred = button("Starred", () => this.set({ starred: this.state.get("starred") ? "" : "1" }), { class: "rd-starred-only" });
    const clear = button("Clear filters", () => this.clear(), { class: "rd-clear" });
    this.part("filters").replaceChildren(...selects, starred, this.sort(), clear);
    this.part("ranges").replaceChildren(...RANGES.map((each) => this.range(...each)), this.select("flag", "Flagged as", this.options("flag")));
    this.drawSaved();
    this.mark();
  }

  // A value that the address asks for is offered although no session has it: the page says what it filters by.
  options(name) {
    const found = (this.values[name] || []).filter(([value]) => value).map(([value, label]) => [value, name === "outcome" ? OUTCOMES[value] || label : label]);
    const asked = this.state.get(name);
    return asked && !found.some(([value]) => value === asked) ? [...found, [asked, asked]] : found;
  }

  select(name, label, options) {
    const box = el("select", { "aria-label": label, "data-name": name, onchange: (e) => this.set({ [name]: e.target.value }) },
      el("option", { value: "" }, `${label}: any`), options.map(([value, text]) => el("option", { value }, `${label}: ${text}`)));
    box.value = this.state.get(name);
    return box;
  }

  sort() {
    const box = el("select", { "aria-label": "Order", class: "rd-order", onchange: (e) => {
      const [sort, ascending] = e.target.value.split(" ");
      this.set({ sort: sort === "newest" && !ascending ? "" : sort, ascending: ascending || "" });
    } }, SORTS.map(([sort, ascending, label]) => el("option", { value: `${sort} ${ascending}`.trim() }, label)));
    box.value = `${this.state.get("sort") || "newest"} ${this.state.get("ascending")}`.trim();
    return box;
  }

  range(name, label, type) {
    const input = el("input", { type, step: "any", value: this.state.get(name), onchange: (e) => this.set({ [name]: e.target.value }) });
    return el("label", {}, label, input);
  }

  mark() {
    for (const box of this.part("filters").querySelectorAll("[data-name]")) box.classList.toggle("rd-on", Boolean(box.value));
    this.part("filters").querySelector(".rd-starred-only")?.setAttribute("aria-pressed", String(Boolean(this.state.get("starred"))));
    const clear = this.part("filters").querySelector(".rd-clear");
    if (clear) clear.hidden = !this.active;
    const save = this.part("saved").querySelector(".rd-save");
    if (save) save.hidden = !this.active;
  }

  // -- saved filters ------------------------------------------------------------------------------

  drawSaved() {
    const kept = this.saved.map(({ name, query }) => el("span", { class: "rd-kept" },
      button(name, () => this.use(query), { "aria-label": `Filter: ${name}` }),
      button("×", () => this.onForget(name), { "aria-label": `Drop the filter ${name}`, class: "rd-drop" })));
    const box = el("input", { type: "text", maxlength: "60", "aria-label": "Name of the filter", placeholder: "name" });
    const form = el("form", { class: "rd-save", onsubmit: (e) => { e.preventDefault(); this.onSave(box.value, new URLSearchParams(this.query()).toString()); } },
      box, el("button", { type: "submit" }, "Save this filter"));
    this.part("saved").replaceChildren(...kept, form);
  }

  use(query) {
    const asked = new URLSearchParams(query);
    for (const name of this.state.keys()) this.state.set(name, asked.get(name) || "");
    this.root.querySelector("#rd-query").value = this.state.get("q");
    this.set({});
    this.draw();
  }
}
