// The Studies page: the list, and one study with what its status allows. Parts of a study: study_setup.js before the
// opening, study_live.js while raters vote, study_report.js after the lock.
import { address, button, el, getJson, postJson } from "./dom.js";
import { livePart } from "./study_live.js";
import { reportPart } from "./study_report.js";
import { setupPart } from "./study_setup.js";

const LOST = "The server could not be reached. Try again.";
const STATUS = { draft: "draft", open: "open: raters vote", paused: "paused", locked: "locked", unblinded: "unblinded" };
const STEPS = {
  open: { label: "Open", resume: "Go on", help: "Freezes the protocol and the texts, and lets raters in." },
  paused: { label: "Pause", help: "Gives out no more pairs for now." },
  locked: { label: "Lock", help: "Ends the voting for good; then the report can be read, with masked names.", ask: "Lock this study? No vote can be given afterwards." },
  unblinded: { label: "Unblind", help: "Puts the systems' names in the place of the masks, for good and on record.", why: true },
};

class Studies {
  constructor(root) {
    this.root = root;
    this.part("new").addEventListener("submit", (event) => { event.preventDefault(); this.make(); });
    window.addEventListener("popstate", () => this.open());
    this.open();
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }
  say(text) { this.part("status").textContent = text; }
  fail(text) { this.part("error").textContent = text; if (text) this.part("error").scrollIntoView({ block: "nearest" }); }

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

  get id() { return new URL(location).searchParams.get("study"); }
  url(path = "") { return `/api/studies/${encodeURIComponent(this.id)}${path}`; }
  get(path) { return this.ask(() => getJson(this.url(path))); }
  post(path, body) { return this.ask(() => postJson(this.url(path), body)); }

  async open() {
    clearInterval(this.timer);
    this.say("");
    await (this.id ? this.show() : this.list());
    this.root.dataset.state = "ready";
  }

  go(study) {
    history.pushState(null, "", address(location.pathname, study ? { study } : {}));
    this.open();
  }

  // -- the list --------------------------------------------------------------------------------

  async list() {
    this.part("one-study").replaceChildren();
    this.part("list-of-studies").hidden = false;
    const answer = await this.ask(() => getJson("/api/studies"));
    if (!answer) return;
    this.part("no-studies").hidden = answer.studies.length > 0;
    this.part("study-rows").replaceChildren(...answer.studies.map((study) => el("li", {}, this.link(study.id, study.name),
      el("span", { class: "rd-soft" }, `${STATUS[study.status]} · ${study.created_at.slice(0, 10)}${study.elsewhere ? " · votes from elsewhere" : ""}`))));
  }

  link(id, words) {
    const follow = (event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); this.go(id); };
    return el("a", { href: address(location.pathname, id ? { study: id } : {}), onclick: follow }, el("bdi", {}, words));
  }

  async make() {
    const answer = await this.ask(() => postJson("/api/studies", { name: this.root.querySelector("#rd-study-name").value }));
    if (answer) { this.part("new").reset(); this.go(answer.id); }
  }

  // -- one study -------------------------------------------------------------------------------

  async show() {
    clearInterval(this.timer);
    this.part("list-of-studies").hidden = true;
    const study = await this.get("");
    if (!study) { this.part("one-study").replaceChildren(el("p", {}, this.link("", "All studies"))); return; }
    const typed = this.typed();
    const parts = study.status === "draft" ? setupPart(this, study) : study.steps.includes("unblinded") || study.status === "unblinded" ? reportPart(this, study) : livePart(this, study);
    this.part("one-study").replaceChildren(this.head(study), ...parts);
    for (const [id, [value, checked]] of typed) Object.assign(this.root.querySelector(`#${id}`) ?? {}, { value, checked });
  }

  // What was changed in the protocol and not saved yet outlives what is done elsewhere on the page.
  typed() {
    const fields = this.unsaved === this.id ? [...this.root.querySelectorAll(".rd-protocol :is(input, textarea)")] : [];
    return fields.map((field) => [field.id, [field.value, field.checked]]);
  }

  head(study) {
    const facts = [`${study.frozen ? "Protocol frozen" : "Protocol so far"}, SHA-256 ${study.sha256}`];
    if (study.unblinding) facts.push(`Unblinded ${study.unblinding.at.slice(0, 16).replace("T", " ")} UTC by ${study.unblinding.actor}: ${study.unblinding.reason}`);
    return el("header", { class: "rd-study-head" }, el("p", {}, this.link("", "All studies")), el("h1", {}, el("bdi", {}, study.name)),
      el("p", { class: "rd-state", "data-status": study.status }, STATUS[study.status]), facts.map((fact) => el("p", { class: "rd-soft" }, fact)),
      el("div", { class: "rd-steps" }, study.steps.map((step) => this.step(study, step))));
  }

  step(study, to) {
    const { label, resume, help, ask, why } = STEPS[to];
    const reason = why ? el("input", { id: "rd-why", maxlength: 500, autocomplete: "off" }) : null;
    const act = async () => {
      if (ask && !window.confirm(ask)) return;
      const answer = await this.post("/step", { to, why: reason?.value ?? "" });
      if (answer) { await this.show(); this.say(`The study is ${answer.status}.`); }
    };
    return el("div", { class: "rd-step" }, reason && el("label", { for: "rd-why" }, "Why it is unblinded"), reason,
      button(study.status === "paused" && resume ? resume : label, act, { class: to === "paused" ? "" : "rd-primary" }), el("span", { class: "rd-soft" }, help));
  }

  download(path, label) { return el("a", { class: "rd-file", href: this.url(path), download: true }, label); }
}

window.redraftStudies = (root) => { if (!root.dataset.begun) { root.dataset.begun = "1"; new Studies(root.querySelector(".rd-studies")); } };
