// The board: one session, drawn from its event stream. It keeps no state of the session: the server's
// view is the truth, and what is typed but not sent is kept in the browser under the step it is for.
import { scoreChart } from "./chart.js";
import { button, choices, el, getJson, number, postJson, redraw } from "./dom.js";
import { critiqueGate, chosenHunks, revisionGate } from "./gates.js";
import { listen, shortcutSheet } from "./keys.js";
import { baseDraft, changedDraft, plainText } from "./texts.js";

const DIFFS = ["inline", "side", "clean"];
const LOST = "The connection to the server is lost. What is recorded is safe; trying again…";

class Board {
  constructor(root) {
    this.root = root;
    this.session = null;
    this.parts = {};
    this.passage = -1;
    this.received = 0;
    this.streamed = "";
    const on = (name, event, act) => this.part(name).addEventListener(event, act);
    on("stop", "click", () => this.post("stop", {}));
    on("continue", "click", () => this.post("run", {}));
    on("undo", "click", () => this.branch("undo", {}));
    on("mode", "change", (e) => this.post("mode", { mode: e.target.value }));
    on("diff-choice", "change", (e) => this.showDiffs(e.target.value));
    on("versions", "toggle", () => this.drawFamily());
    on("settings-form", "submit", (e) => { e.preventDefault(); this.changeSettings(e.target); });
    on("task-toggle", "click", (e) => {
      const shown = document.body.toggleAttribute("data-show-task");
      e.target.setAttribute("aria-expanded", String(shown));
      e.target.textContent = shown ? "Hide the task" : "Show the task";
      if (shown) document.querySelector("#task")?.scrollIntoView();
    });
    on("help", "click", () => this.sheet.showModal());
    this.sheet = root.appendChild(shortcutSheet());
    this.showDiffs(choices.get("diff", "inline"));
    setInterval(() => this.tick(), 1000);
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }
  get head() { return this.parts.head; }
  url(what) { return `/api/sessions/${encodeURIComponent(this.session)}/${what}`; }

  // -- the connection -------------------------------------------------------------------------

  open(session) {
    if (session === this.session) return;
    this.session = session;
    this.parts = {};
    if (this.events) this.events.close();
    this.part("rounds").replaceChildren();
    this.part("unsent").replaceChildren();
    this.say("");
    this.root.dataset.state = session ? "loading" : "empty";
    document.body.toggleAttribute("data-session", Boolean(session));
    this.part("versions").open = false;
    if (session) this.follow();
  }

  follow() {
    if (this.events) this.events.close();
    const session = this.session;
    const events = (this.events = new EventSource(this.url("events")));
    const hear = (kind, act) => events.addEventListener(kind, (e) => act(JSON.parse(e.data)));
    hear("view", (parts) => { this.part("connection").textContent = ""; this.show(parts); });
    hear("message", (passage) => this.hear(...passage));
    hear("notice", ({ text }) => { this.part("notice").textContent = text; });
    hear("gone", ({ text }) => { events.close(); this.root.dataset.state = "gone"; this.say(text); });
    events.onerror = () => {
      // The browser gives up for good when a connection is refused while the server restarts.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => { if (this.session === session && this.events === events) this.follow(); }, 1000);
      if (this.root.dataset.state !== "gone") this.part("connection").textContent = LOST;
    };
  }

  say(text) { this.part("message").textContent = text; }

  async post(what, body) {
    if (this.busy && what !== "stop") return null;
    this.busy = true;
    this.root.dataset.busy = "1";
    try {
      const answer = await postJson(this.url(what), body);
      this.say(answer.error || (answer.detail ? "The server did not understand this; reload the page and try again." : ""));
      if (answer.error) this.follow();  // what is shown may be old: show the truth
      return answer.error || answer.detail ? null : answer;
    } catch {
      this.say("The server could not be reached. Nothing was sent; try again.");
      return null;
    } finally {
      this.busy = false;
      delete this.root.dataset.busy;
    }
  }

  async rule(ruling, more = {}) {
    const position = (this.sending = this.head.position);
    // What was typed and not sent with this ruling stays: the tab in which it was typed offers it.
    const sent = Object.keys(more).length > 0;
    if (await this.post("decisions", { position, ruling, ...more })) { if (sent) localStorage.removeItem(this.savedKey(position)); }
    else { this.sending = null; this.offerUnsent(position); }
  }

  // A fork or an undo: a new session, which the page then shows; the old one stays as it is.
  async branch(what, body) {
    const answer = await this.post(what, body);
    if (answer) this.goTo(answer.session);
  }

  goTo(session) {
    const url = new URL(location);
    url.searchParams.set("session", session);
    history.pushState(null, "", url);
    this.open(session);
  }

  async changeSettings(form) {
    const number = (name) => (form.elements[name].value === "" ? null : Number(form.elements[name].value));
    const models = Object.fromEntries([...form.querySelectorAll("[data-role]")].map((input) => [input.dataset.role, input.value.trim()]));
    const body = { model: form.elements.model.value.trim(), models, rounds: number("rounds"), calls: number("calls"), tokens: number("tokens"),
      seconds: number("seconds"), money: number("money") };
    if (await this.post("settings", body)) this.say("Set for the steps to come.");
  }

  // -- what is typed but not sent -------------------------------------------------------------

  savedKey(position = this.head.position) { return `redraft:typed:${this.session}:${position}`; }
  saved() { try { return JSON.parse(localStorage.getItem(this.savedKey())) || {}; } catch { return {}; } }
  save(changes) { this.typedAt = this.head.position; try { localStorage.setItem(this.savedKey(), JSON.stringify({ ...this.saved(), ...changes })); } catch { /* full or private */ } }
  forget(name) { const { [name]: _, ...rest } = this.saved(); try { localStorage.setItem(this.savedKey(), JSON.stringify(rest)); } catch { /* full */ } }

  // What was typed for a gate that someone else has decided meanwhile is offered, not lost.
  offerUnsent(position) {
    if (position === undefined || position !== this.typedAt || position === this.sending || this.head.position <= position) return;
    let saved = {};
    try { saved = JSON.parse(localStorage.getItem(this.savedKey(position))) || {}; } catch { return; }
    const typed = saved.text ?? saved.note ?? (saved.points || []).filter((p) => p.by === "person").map((p) => `${p.problem} ${p.action}`.trim()).join("\n");
    if (!typed) return;
    const area = el("textarea", { rows: 4, readonly: true, "aria-label": "What you had typed" });
    area.value = typed;
    const forget = () => { localStorage.removeItem(this.savedKey(position)); this.part("unsent").replaceChildren(); };
    this.part("unsent").replaceChildren(el("p", {}, "The session moved on while you were typing, by another tab or person. What you had typed:"), area,
      el("div", { class: "rd-buttons" }, button("Decide that step with it, in a copy", () => this.carry(position)),
        button("Use as a new task", () => this.newTask(typed)), button("Forget it", forget)));
  }

  async carry(position) {
    const typed = localStorage.getItem(this.savedKey(position));
    const answer = await this.post("fork", { position });
    if (!answer) return;
    localStorage.setItem(`redraft:typed:${answer.session}:${position}`, typed);
    this.goTo(answer.session);
  }

  // -- what the server says -------------------------------------------------------------------

  show(changed) {
    const before = this.head?.position;
    Object.assign(this.parts, changed);
    const { head } = this;
    this.root.dataset.state = head.state;
    for (const name of ["title", "problem", "notice", "warning", "figures"]) this.part(name).textContent = head[name];
    this.part("mode").value = head.mode;
    redraw(this.part("parent"), head.parent, (parent) => parent && [document.createTextNode(`A copy of another session from its step ${parent.step} on · `),
      el("a", { href: `?session=${parent.session}`, onclick: (e) => { e.preventDefault(); this.goTo(parent.session); } }, "back to the original")]);
    this.part("undo").disabled = !head.undoable;
    this.begun = Date.now() - head.running_seconds * 1000;
    redraw(this.part("notes"), this.parts.notes, (notes) => notes.map((note) => el("li", {}, note)));
    redraw(this.part("chart-box"), this.parts.chart, scoreChart);
    redraw(this.part("settings-form"), this.parts.settings, (settings) => this.settingsForm(settings));
    this.drawRounds();
    redraw(this.part("outcome"), this.parts.outcome, (outcome) => outcome && this.outcome(outcome));
    if (head.passage !== this.passage) this.hear(head.passage, 0, "");
    else this.drawStream();
    if (this.part("versions").open && changed.outcome) this.drawFamily();
    this.tick();
    if (before !== head.position) this.offerUnsent(before);
  }

  // Text counts in characters, not in JavaScript's halves of them.
  hear(passage, from, text) {
    if (from === 0) { this.passage = passage; this.streamed = ""; this.received = 0; }
    if (passage !== this.passage || from !== this.received) return;
    this.streamed += text;
    this.received += [...text].length;
    this.drawStream();
  }

  tick() {
    if (!this.head) return;
    const running = this.head.state === "running" ? Math.round((Date.now() - this.begun) / 1000) : 0;
    this.part("doing").textContent = this.head.doing;
    this.part("clock").textContent = running >= 2 ? `${running} s` : "";
  }

  drawStream() {
    const role = this.head && this.head.state === "running" ? this.head.streaming : null;
    for (const box of this.root.querySelectorAll(".rd-stream")) if (!role || box.dataset.for !== role) box.remove();
    if (!role) return;
    let box = this.root.querySelector(".rd-stream");
    if (!box) {
      const cell = this.root.querySelector(`[data-cell="${role}"]`);
      if (!cell) return;
      box = cell.appendChild(el("div", { class: "rd-text rd-stream", "data-for": role }, ""));
      box.append(document.createTextNode(""));
    }
    const node = box.firstChild;
    if (this.streamed.startsWith(node.data)) node.appendData(this.streamed.slice(node.data.length));
    else node.data = this.streamed;
  }

  // -- rounds ---------------------------------------------------------------------------------

  drawRounds() {
    const box = this.part("rounds");
    for (let index = 0; index < this.head.rows; index++) this.drawRow(box.children[index] || box.appendChild(this.emptyRow()), this.parts[`row ${index}`]);
    while (box.children.length > this.head.rows) box.lastChild.remove();
  }

  emptyRow() {
    const column = (name, label) => el("section", { class: `rd-cell rd-${name}`, "aria-label": label }, el("h3", {}, label),
      el("div", { class: "rd-body" }), el("div", { class: "rd-gate" }), el("div", { class: "rd-live" }));
    return el("article", { class: "rd-round", tabindex: "-1" }, el("h2", { class: "rd-round-name" }),
      el("div", { class: "rd-columns" }, column("base", "Draft"), column("critique", "Critique"), column("revision", "Revision")));
  }

  drawRow(node, row) {
    const { head } = this;
    const here = row.number === head.round;
    const cell = (name, part) => node.querySelector(`.rd-${name} .rd-${part}`);
    const open = (kind) => (here && this.parts.gate && this.parts.gate.kind === kind ? { ...this.parts.gate, position: head.position } : null);
    node.querySelector(".rd-round-name").textContent = row.name;
    node.classList.toggle("rd-single", row.single);
    const pieces = row.attempts.length ? row.attempts[row.attempts.length - 1].proposed.pieces : null;
    redraw(cell("base", "body"), [row.base, row.replaced, pieces], () => row.base && [this.replaced(row.replaced), baseDraft(this.session, row.base, pieces),
      row.number === 1 && button("Another first draft", () => this.branch("again", {}), { class: "rd-small", title: "A new session on the same task; this one stays as it is" })]);
    redraw(cell("critique", "body"), row.critique, (critique) => critique && this.critique(critique));
    redraw(cell("critique", "gate"), open("critique"), (gate) => gate && critiqueGate(this, gate));
    this.drawRevisions(cell("revision", "body"), cell("revision", "gate"), row.attempts, open("revision"));
    cell("base", "live").dataset.cell = row.single || (row.number === 1 && !row.base) ? "draft" : "";
    cell("critique", "live").dataset.cell = here ? "critique" : "";
    cell("revision", "live").dataset.cell = here ? "revise" : "";
  }

  // The open revision's changes can be ticked one by one, so its text and its buttons are drawn together.
  drawRevisions(body, gateBox, attempts, gate) {
    const last = attempts[attempts.length - 1];
    const hunks = gate && last ? chosenHunks(this, last.proposed.pieces, () => {}) : null;
    const relay = hunks && { chosen: hunks.chosen, changed: () => hunks.changed() };
    let fresh = false;
    redraw(body, [attempts, gate], () => { fresh = true; return attempts.map((attempt) => this.attempt(attempt, attempt === last ? relay : null)); });
    if (fresh) delete gateBox.dataset.drawn;
    redraw(gateBox, gate, () => gate && revisionGate(this, gate, hunks));
  }

  replaced(drafts) {
    return drafts.length ? el("details", { class: "rd-replaced" }, el("summary", {}, "What stood here before"), drafts.map((draft) => baseDraft(this.session, draft))) : null;
  }

  forkButton(position, label) {
    return position === null || position >= this.head.position ? null
      : button(label, () => this.branch("fork", { position }), { class: "rd-small", title: "A new session that stands before this decision; this one stays as it is" });
  }

  critique(critique) {
    if (!critique.ruled) return null;
    const points = critique.points.map((point) => el("li", { class: point.kept ? "" : "rd-left-out" },
      point.severity === "unstated" ? null : el("span", { class: `rd-severity ${point.severity}` }, point.severity),
      point.quote ? el("q", {}, point.quote) : null, el("span", {}, point.problem), point.action ? el("span", { class: "rd-action" }, point.action) : null,
      point.by === "model" ? null : el("span", { class: "rd-by" }, `by ${point.by}`)));
    return [points.length ? el("ul", { class: "rd-points" }, points) : plainText(critique.raw || "No points."),
      el("div", { class: "rd-verdict" }, critique.verdict), el("div", { class: "rd-ruling" }, critique.ruled),
      this.forkButton(critique.gate, "Decide this otherwise")];
  }

  attempt(attempt, hunks) {
    return el("div", { class: `rd-attempt ${attempt.ruling}` }, changedDraft(this.session, attempt.proposed, hunks),
      attempt.remark ? el("div", { class: "rd-verdict" }, attempt.remark) : null,
      attempt.verdict ? el("div", { class: "rd-verdict" }, attempt.verdict) : null, attempt.ruled ? el("div", { class: "rd-ruling" }, attempt.ruled) : null,
      attempt.written ? el("div", { class: "rd-written" }, changedDraft(this.session, attempt.written, null)) : null,
      attempt.ruled ? this.forkButton(attempt.gate, "Decide this otherwise") : null);
  }

  outcome(outcome) {
    const copy = async (e) => {
      try { await navigator.clipboard.writeText(outcome.text); e.target.textContent = "Copied"; } catch { e.target.textContent = "Select the text to copy it"; }
    };
    const file = (form, label) => el("a", { href: this.url(`export?form=${form}`), download: `session.${form}`, class: "rd-link" }, label);
    const goOn = async () => { await this.branch("undo", {}); this.post("run", {}); };
    return [el("h2", {}, "Outcome"), el("p", {}, outcome.why), outcome.stopped ? button("Go on from here, in a copy", goOn, { class: "rd-primary", "data-key": "c" }) : null, outcome.text === null ? null : [plainText(outcome.text), el("div", { class: "rd-buttons" }, button("Copy", copy), button("Use as a new task", () => this.newTask(outcome.text)))],
      el("p", {}, "The whole session: ", file("md", "Markdown"), " · ", file("html", "HTML"), " · ", file("json", "JSON"))];
  }

  newTask(text) {
    choices.set("form:text", text);
    choices.set("form:instruction", "");
    location.href = "/";
  }

  // -- around the rounds ----------------------------------------------------------------------

  settingsForm(settings) {
    const field = (name, label, value, more = {}) => el("label", {}, label, el("input", { name, value: value ?? "", ...more }));
    const whole = { type: "number", min: 1, step: 1, placeholder: "no limit" };
    return [field("model", "Model", settings.model, { autocomplete: "off" }),
      ...["draft", "critique", "revise", "judge", "score"].map((role) => el("label", {}, `For ${role}`, el("input", { "data-role": role, value: settings.models[role] ?? "", placeholder: "the same model", autocomplete: "off" }))),
      field("rounds", "Rounds at most", settings.rounds, { type: "number", min: 1, max: 50 }), field("calls", "Calls at most", settings.calls, whole),
      field("tokens", "Tokens at most", settings.tokens, whole), field("seconds", "Seconds of model time at most", settings.seconds, { ...whole, step: "any" }),
      el("label", { hidden: !settings.priced }, "Money at most", el("input", { name: "money", value: settings.money ?? "", type: "number", min: 0, step: "any" })),
      el("button", { class: "rd-primary" }, "Set for the steps to come")];
  }

  async drawFamily() {
    if (!this.part("versions").open) return;
    const { sessions = [], error } = await getJson(this.url("family"));
    const items = (parent) => sessions.filter((s) => s.parent === parent || (parent === null && !sessions.some((other) => other.session === s.parent)));
    const tree = (parent) => {
      const children = items(parent);
      return children.length ? el("ul", { class: "rd-tree" }, children.map((s) => el("li", {}, this.version(s), tree(s.session)))) : null;
    };
    this.part("versions-body").replaceChildren(...[error ? el("p", {}, error) : tree(null)].filter(Boolean));
  }

  version(s) {
    const words = `${s.steps} steps${s.forked_at === null ? "" : `, from step ${s.forked_at}`} · ${s.state}${s.score === null ? "" : ` · ${number(s.score)}`}`;
    return el("span", { class: s.on_best_path ? "rd-best-path" : "" }, s.here ? el("b", {}, `this session: ${words}`)
      : el("a", { href: `?session=${s.session}`, onclick: (e) => { e.preventDefault(); this.goTo(s.session); } }, words), s.best ? el("span", { class: "rd-chip up" }, "best score") : null);
  }

  showDiffs(choice) {
    const known = DIFFS.includes(choice) ? choice : "inline";
    this.root.dataset.diff = known;
    this.part("diff-choice").value = known;
    choices.set("diff", known);
  }

  // -- keys -----------------------------------------------------------------------------------

  // Do what the key stands for; false when there is nothing to do.
  key(key) {
    const seen = (node) => node && node.offsetParent !== null && !node.disabled;
    const press = (node) => seen(node) && (node.click(), true);
    const last = (selector) => [...this.root.querySelectorAll(selector)].filter(seen).pop();
    switch (key) {
      case "?": this.sheet.showModal(); return true;
      case "c": return press(this.part("continue")) || press(this.root.querySelector('.rd-outcome [data-key="c"]'));
      case "u": return press(this.part("undo"));
      case "d": this.showDiffs(DIFFS[(DIFFS.indexOf(this.root.dataset.diff) + 1) % DIFFS.length]); return true;
      case "h": return press(last(".rd-heat-choices button"));
      case "t": { const box = document.querySelector("#text textarea"); if (box) box.focus(); return Boolean(box); }
      case "j": return this.step(1);
      case "k": return this.step(-1);
      case "s": return press(last('.rd-gate [data-key="s"]')) || press(this.part("stop"));
      default: return press(last(`.rd-gate [data-key="${CSS.escape(key)}"]`));
    }
  }

  step(by) {
    const rows = [...this.part("rounds").children];
    const here = rows.indexOf(document.activeElement?.closest(".rd-round"));
    const next = rows[here < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + by))];
    if (next) { next.focus(); next.scrollIntoView({ block: "start" }); }
    return Boolean(next);
  }
}

// What is typed into the task form is kept too, until a session is made of it. The form's boxes may
// come after the board, and are Gradio's: they take a value by an input event.
const FORM = ["text", "instruction"];
const keepTyped = (signal) => {
  document.addEventListener("input", (event) => {
    const id = FORM.find((name) => event.target.closest?.(`#${name}`));
    if (id) choices.set(`form:${id}`, event.target.value);
  }, { signal });
  for (const id of FORM) direct(id, 50);
  if (!new URL(location).searchParams.get("session")) for (const id of FORM) restore(id, 50);
};
// Text of either direction: by its first letter.
const direct = (id, tries) => {
  const box = document.querySelector(`#${id} textarea`);
  if (box) box.dir = "auto"; else if (tries) setTimeout(() => direct(id, tries - 1), 100);
};
const restore = (id, tries) => {
  const saved = choices.get(`form:${id}`, ""), box = document.querySelector(`#${id} textarea`);
  if (!saved || (box && box.value)) return;
  if (!box) { if (tries) setTimeout(() => restore(id, tries - 1), 100); return; }
  box.value = saved;
  box.dispatchEvent(new Event("input", { bubbles: true }));
};

window.redraftBoard = (element, props, trigger, watch) => {
  const root = element.querySelector(".rd-board");
  const board = new Board(root);
  const leaving = new AbortController();
  for (const example of root.querySelectorAll(".rd-example"))
    example.addEventListener("click", () => {
      trigger("example", { index: Number(example.dataset.index) });
      document.querySelector("#task")?.scrollIntoView({ block: "start" });
    });
  const followValue = () => {
    const session = (props.value || {}).session || null;
    if (session && new URL(location).searchParams.get("session") !== session) {
      board.goTo(session);
      for (const id of FORM) choices.set(`form:${id}`, "");
    } else board.open(session);
  };
  window.addEventListener("popstate", () => location.reload(), { signal: leaving.signal });
  listen(board, leaving.signal);
  watch("value", followValue);
  followValue();
  keepTyped(leaving.signal);
  root.dataset.ready = "1";
  root.redraft = board;  // for a look from the browser's console
};
