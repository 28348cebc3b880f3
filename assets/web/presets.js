// The Presets page: opens a preset's text, has the server check and preview it as it is typed, and saves it.
// The text in the box is the one truth; form and preview show what the server reads in it.
import { address, button, el, getJson, postJson } from "./dom.js";
import { Import } from "./preset_import.js";
import { TaskForm } from "./preset_task.js";
import { TextBox } from "./preset_text.js";
import { Turns } from "./preset_turns.js";
import { forget, keep, left } from "./preset_unsaved.js";
import { drawValues } from "./preset_values.js";
import { Versions, named } from "./preset_versions.js";

const PAUSE = 300;  // milliseconds without a key before a text is checked
const LOST = "The server could not be reached. Your text is kept in this browser; try again.";

class Presets {
  constructor(root) {
    this.root = root;
    this.turn = 0;
    this.task = new TaskForm(root, () => this.soon());
    this.name = null;
    this.saved = this.base = "";
    this.yaml = new TextBox(root, () => this.typed());
    this.versions = new Versions(this);
    this.turns = new Turns(root);
    this.import = new Import(root, {
      take: (name, text) => this.begin(name, text),
      change: async (name, text) => { if (await this.open(name)) this.put(text); },
      rename: (name, text) => this.askName(`${name}-2`, text),
    });
    const on = (name, act) => this.part(name).addEventListener("click", act);
    on("save", () => this.save());
    on("drop", () => this.drop());
    on("copy", () => this.askName(`${this.name}-copy`.slice(0, 60), this.yaml.text));
    on("export", (event) => this.exportText(event));
    this.part("ask").addEventListener("close", () => this.nameGiven());
    window.addEventListener("popstate", () => this.open(this.asked()));
    this.start();
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }
  say(text) { this.part("status").textContent = text; }
  fail(text) { this.part("error").textContent = text; }
  get dirty() { return this.yaml.text !== this.saved; }
  asked() { return new URL(location).searchParams.get("preset"); }

  // The server's answer, or null after its refusal was shown.
  async ask(request) {
    this.fail("");
    try {
      const answer = await request();
      if (!answer.error && !answer.detail) return answer;
      this.fail(answer.error || answer.detail);
    } catch {
      this.fail(LOST);
    }
    return null;
  }

  // -- the list and one of it -------------------------------------------------------------------

  async start() {
    const listed = await this.list();
    if (listed) await this.open(this.asked() || listed[0].name);
    this.root.dataset.state = "ready";
  }

  async list() {
    const answer = await this.ask(() => getJson("/api/presets"));
    if (!answer) return null;
    this.part("names").replaceChildren(...answer.presets.map((one) => this.entry(one)));
    return answer.presets;
  }

  entry({ name, title, origin, description, error }) {
    const open = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, "", address(location.pathname, { preset: name }));
      this.open(name);
    };
    return el("li", { "data-name": name }, el("a", { href: address(location.pathname, { preset: name }), title: description, onclick: open }, el("bdi", {}, title)),
      el("span", { class: "rd-origin" }, origin), error && el("span", { class: "rd-broken" }, error));
  }

  async open(name) {
    const answer = await this.ask(() => getJson(`/api/presets/text?${new URLSearchParams({ name })}`).then((got) => (got.base ? { ...got, problem: got.error, error: "" } : got)));
    if (!answer) return false;
    this.show(answer.name, answer.text, answer.base);
    this.drawAbout(answer);
    if (answer.problem) this.fail(answer.problem);
    this.offer();
    return true;
  }

  // A preset that is not saved yet.
  begin(name, text) {
    this.show(name, "", "");
    this.drawAbout({ origin: "new, not saved yet", versions: [] });
    this.put(text);
  }

  show(name, text, base) {
    this.task.task = null;
    this.turns.forget();
    this.saved = this.yaml.set(text);
    this.say("");
    this.fail("");
    for (const part of ["offer", "conflict", "compared"]) this.part(part).replaceChildren();
    this.part("title").textContent = name;
    this.head(name, base);
    this.mark();
    this.check();
  }

  // What stands around the text: which preset it is, and the links to it.
  head(name, base) {
    this.name = name;
    this.base = base;
    for (const row of this.part("names").children) {
      row.toggleAttribute("data-current", row.dataset.name === name);
      if (row.dataset.name === name) row.firstChild.setAttribute("aria-current", "true"); else row.firstChild.removeAttribute("aria-current");
    }
    this.part("use").href = address("/", { preset: name });
    this.part("export").href = `/api/presets/file?${new URLSearchParams({ name })}`;
    this.part("export").download = `${name}.yaml`;
  }

  drawAbout({ origin, versions }) {
    this.part("about").textContent = origin;
    this.versions.draw(versions);
  }

  put(text) {
    this.yaml.set(text);
    this.typed();
  }

  typed() {
    if (this.dirty) keep(this.name, this.yaml.text, this.base); else forget(this.name);
    this.mark();
    this.soon();
  }

  soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.check(), PAUSE);
  }

  mark() {
    this.part("save").disabled = this.part("drop").disabled = !this.dirty;
    this.root.toggleAttribute("data-dirty", this.dirty);
    this.part("use").toggleAttribute("data-off", !this.base);
    this.part("use").textContent = this.dirty && this.base ? "Use it as saved" : "Use it";
  }

  // -- checking and showing ---------------------------------------------------------------------

  // Only the answer to the newest question counts: an older one may come later.
  async check() {
    clearTimeout(this.waiting);
    const turn = ++this.turn;
    const text = this.yaml.text;
    let answer;
    try {
      answer = await postJson("/api/presets/preview", { text, task: this.task.task });
    } catch {
      answer = { error: LOST };
    }
    if (turn !== this.turn) return;
    const wrong = answer.error || answer.detail;
    this.problem(wrong || "", answer.line || null);
    this.part("groups").toggleAttribute("inert", Boolean(wrong));
    this.part("form-note").textContent = wrong ? "These are the values before the mistake. Correct the text first." : (answer.notes || []).join(" ");
    this.part("preview").toggleAttribute("data-old", Boolean(wrong));
    if (wrong) return;
    this.part("title").textContent = answer.title;
    drawValues(this.part("groups"), answer.groups, { change: (path, value) => this.change(path, value), goTo: (line) => this.yaml.goTo(line) });
    this.task.draw(answer);
    this.turns.draw(answer.turns);
  }

  problem(words, line) {
    this.yaml.mark(line);
    this.part("problem").replaceChildren(...(words ? [words, " ", line && button(`To line ${line}`, () => this.yaml.goTo(line))].filter(Boolean) : []));
    if (words) this.yaml.box.setAttribute("aria-invalid", "true"); else this.yaml.box.removeAttribute("aria-invalid");
  }

  // A value of the form goes into the text. What was typed there meanwhile is not lost: it counts.
  async change(path, value) {
    const text = this.yaml.text;
    const answer = await this.ask(() => postJson("/api/presets/value", { text, path, value }));
    if (!answer) return;
    if (this.yaml.text !== text) return this.fail("The text was changed at the same moment. Change the value again.");
    this.put(answer.text);
    this.check();
  }

  // -- saving -----------------------------------------------------------------------------------

  async save(base = this.base, text = this.yaml.text) {
    this.fail("");
    this.part("conflict").replaceChildren();
    let answer;
    try {
      answer = await postJson("/api/presets/save", { text, base });
    } catch {
      return this.fail(LOST);
    }
    if (answer.conflict) return this.clash(answer);
    if (answer.error || answer.detail) return this.refused(answer);
    await this.kept(answer, text);
    this.say(`Saved: ${answer.name}, ${named(answer.version)}.`);
  }

  // The box is left alone where it holds what was saved, or what was typed since.
  async kept({ name, base }, text) {
    const another = !this.dirty;
    forget(this.name);
    history.replaceState(null, "", address(location.pathname, { preset: name }));
    await this.list();
    if (another) return this.open(name);
    this.saved = text;
    this.head(name, base);
    this.typed();
    const now = await this.ask(() => getJson(`/api/presets/text?${new URLSearchParams({ name })}`));
    if (now) this.drawAbout(now);
  }

  refused({ error, detail, line }) {
    this.fail(`Nothing was saved. ${error || detail}`);
    if (line) { this.yaml.mark(line); this.yaml.goTo(line); }
  }

  clash({ error, conflict }) {
    this.part("conflict").replaceChildren(el("p", { role: "alert" }, error),
      button("What differs", async () => {
        const theirs = await this.ask(() => getJson(`/api/presets/text?${new URLSearchParams({ name: conflict.name })}`));
        if (theirs) this.versions.compare(theirs.text, this.yaml.text, "From the one in use to yours");
      }),
      button("Save over it", () => this.save(conflict.base)),
      button("Copy under another name", () => this.askName(`${conflict.name}-2`, this.yaml.text)));
    this.part("conflict").querySelector("button").focus();
  }

  // What was dropped can be brought back until the page is left.
  drop() {
    const text = this.yaml.text;
    forget(this.name);
    this.yaml.set(this.saved);
    this.typed();
    this.part("conflict").replaceChildren();
    this.part("offer").replaceChildren("Your changes are dropped. ", button("Undo", () => { this.part("offer").replaceChildren(); this.put(text); this.yaml.box.focus(); }));
    this.part("offer").querySelector("button").focus();
  }

  // What another visit of this page left unsaved.
  offer() {
    const found = left(this.name);
    if (!found) return;
    if (found.text === this.saved) return forget(this.name, found.of);
    const done = (act) => () => { this.part("offer").replaceChildren(); forget(this.name, found.of); act(); };
    const stale = found.base !== this.base ? " The preset was saved by someone since." : "";
    this.part("offer").replaceChildren(`Changes of ${new Date(found.at).toLocaleString()} that were not saved are kept in this browser.${stale} `,
      button("Bring them back", done(() => { this.base = found.base; this.put(found.text); this.yaml.box.focus(); })),
      button("See what differs", () => this.versions.compare(this.saved, found.text, "From the saved text to the unsaved one")),
      button("Forget them", done(() => this.yaml.box.focus())));
  }

  // An unsaved text is exported too, as it stands in the box.
  exportText(event) {
    if (!this.dirty) return;
    event.preventDefault();
    const link = el("a", { href: URL.createObjectURL(new Blob([this.yaml.text], { type: "application/yaml" })), download: `${this.name}.yaml` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // -- names ------------------------------------------------------------------------------------

  askName(usual, text) {
    this.copied = text;
    this.part("ask").querySelector("input").value = usual;
    this.part("ask").returnValue = "";
    this.part("ask").showModal();
  }

  async nameGiven() {
    const name = this.root.querySelector("#rd-new-name").value.trim();
    if (this.part("ask").returnValue !== "yes" || !name) return;
    const answer = await this.ask(() => postJson("/api/presets/value", { text: this.copied, path: ["name"], value: name }));
    if (answer) this.begin(name, answer.text);
  }
}

window.redraftPresets = (element) => {
  const root = element.querySelector(".rd-presets");
  if (root.dataset.ready) return;
  root.dataset.ready = "1";
  new Presets(root);
};
