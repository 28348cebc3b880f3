// The page of one session: the timeline, texts compared, texts played through, forks. It keeps nothing: what is
// looked at stands in the address, and the server is asked for everything long when it is opened.
import { address, el, getJson, postJson } from "./dom.js";
import { stepBody, stepLine } from "./session_steps.js";
import { Player } from "./session_player.js";
import { familyTree } from "./family_tree.js";
import { changedDraft } from "./texts.js";
import { reasons } from "./score_reasons.js";

const LOST = "The server could not be reached. Reload the page to try again.";

class SessionView {
  constructor(root) {
    this.root = root;
    this.id = new URL(location).searchParams.get("id") || "";
    this.player = new Player(root);
    this.part("text").addEventListener("change", () => this.compare());
    this.part("against").addEventListener("change", () => this.compare());
    this.part("swap").addEventListener("click", () => this.swap());
    this.part("kind").addEventListener("change", () => this.narrow());
    this.open();
  }

  part(name) { return this.root.querySelector(`.rd-sv-${name}, #rd-sv-${name}`); }
  url(what) { return `/api/sessions/${encodeURIComponent(this.id)}/${what}`; }

  // The server's answer, or null after its refusal was shown.
  async ask(request) {
    const error = this.part("error");
    error.textContent = "";
    try {
      const answer = await request();
      if (!answer.error && !answer.detail) return answer;
      error.textContent = answer.error || "The server did not understand the address of this page.";
    } catch {
      error.textContent = LOST;
    }
    return null;
  }

  async open() {
    const view = this.id ? await this.ask(() => getJson(this.url("timeline"))) : null;
    if (!view) {
      this.root.dataset.state = "gone";
      if (!this.id) this.part("error").textContent = "The address of this page names no session. Open one from the history.";
      this.part("links").replaceChildren(el("a", { href: address("/history/") }, "To the history"));
      return;
    }
    this.head(view);
    this.part("list").replaceChildren(...view.steps.map((line) => stepLine(line, (body) => this.openStep(line, body))));
    this.narrow();
    this.fillTexts(view);
    this.root.dataset.state = "ready";
    this.compare();
    this.player.load(() => this.ask(() => getJson(this.url("evolution"))));
    this.forks();
  }

  head(view) {
    document.title = `Redraft: ${view.title}`;
    this.part("title").textContent = view.title || "(without a title)";
    const facts = [view.preset && `preset ${view.preset}`, view.strategy, view.model, `${view.steps.length} steps`,
      `started ${new Date(view.created_at).toLocaleString()}`].filter(Boolean);
    this.part("facts").replaceChildren(...facts.map((fact) => el("span", {}, fact)),
      view.parent ? el("span", {}, "forked from ", el("a", { href: address("/session/", { id: view.parent[0], step: view.parent[1] }) }, `step ${view.parent[1]} of another`)) : "");
    this.part("state").textContent = view.state;
    const file = (form, name) => el("a", { href: this.url(`export?form=${form}`), download: `session.${form}` }, name);
    this.part("links").replaceChildren(el("a", { href: address("/", { session: this.id }) }, "Open to work on"),
      el("span", {}, "As a file: ", file("html", "HTML"), " · ", file("md", "Markdown"), " · ", file("csv", "CSV"), " · ", file("json", "JSON")));
    this.part("task-parts").replaceChildren(...view.task.flatMap(([name, text]) => [el("h3", {}, name), el("div", { class: "rd-text", dir: "auto" }, text)]));
  }

  // -- the timeline -----------------------------------------------------------------------------

  narrow() {
    const kind = this.part("kind").value;
    const rows = [...this.part("list").children];
    for (const row of rows) row.hidden = Boolean(kind) && row.dataset.kind !== kind;
    const shown = rows.filter((row) => !row.hidden).length;
    this.part("count").textContent = kind ? `${shown} of ${rows.length} steps` : `${rows.length} steps`;
  }

  async openStep(line, body) {
    const step = await this.ask(() => getJson(this.url(`steps/${line.position}`)));
    if (!step) return false;
    body.replaceChildren(stepBody(step, {
      show: this.texts.has(line.position) ? () => this.choose(line.position) : null,
      fork: () => this.fork(line.position),
    }));
    return true;
  }

  async fork(position) {
    const answer = await this.ask(() => postJson(this.url("fork"), { position }));
    if (answer) location.assign(address("/", { session: answer.session }));
  }

  // -- one text against another -----------------------------------------------------------------

  fillTexts(view) {
    this.texts = new Map(view.texts.map((text) => [text.step, text.name]));
    const option = ({ step, name }) => el("option", { value: step }, `Step ${step}: ${name}`);
    this.part("text").replaceChildren(...view.texts.map(option));
    this.part("against").replaceChildren(el("option", { value: "" }, "nothing"), ...view.texts.map(option));
    const query = new URL(location).searchParams;
    const steps = view.texts.map((text) => String(text.step));
    const asked = (name, usual) => (steps.includes(query.get(name)) ? query.get(name) : usual);
    this.part("text").value = asked("step", steps.at(-1) ?? "");
    this.part("against").value = asked("against", query.has("step") || steps.length < 2 ? "" : steps[0]);
  }

  choose(step) {
    const before = [...this.texts.keys()].filter((other) => other < step).at(-1);
    this.part("text").value = step;
    this.part("against").value = before ?? "";
    this.compare();
    this.part("text").focus();
    this.part("compare").scrollIntoView({ block: "nearest" });
  }

  swap() {
    const [text, against] = [this.part("text").value, this.part("against").value];
    if (!against) return;
    this.part("text").value = against;
    this.part("against").value = text;
    this.compare();
  }

  async compare() {
    const step = this.part("text").value, against = this.part("against").value;
    const shown = this.part("shown");
    this.part("swap").disabled = !against;
    if (!step) { shown.replaceChildren(el("p", {}, "No text was written yet.")); return; }
    const url = new URL(location);
    url.searchParams.set("step", step);
    if (against) url.searchParams.set("against", against); else url.searchParams.delete("against");
    history.replaceState(history.state, "", url);
    const turn = (this.turn = (this.turn || 0) + 1);
    const found = await this.ask(() => getJson(this.url(`texts?${new URLSearchParams({ step, ...(against ? { against } : {}) })}`)));
    if (!found || turn !== this.turn) return;
    const same = against && found.pieces && !found.pieces.some(([kind]) => kind !== "same");
    shown.replaceChildren(...[same && el("p", {}, "The two texts are the same."),
      changedDraft(this.id, { ...found.draft, pieces: found.pieces }, null), reasons(found.reasons)].flat(Infinity).filter(Boolean));
  }

  async forks() {
    const answer = await this.ask(() => getJson(this.url("family")));
    if (!answer) return;
    const alone = answer.sessions.length < 2;
    this.part("tree").replaceChildren(alone ? el("p", {}, "No other session was forked from this one, or this from another.") : familyTree(answer.sessions));
  }
}

window.redraftSession = (element) => {
  const root = element.querySelector(".rd-sv");
  if (root.dataset.ready) return;
  root.dataset.ready = "1";
  new SessionView(root);
};
