// The board: one session, drawn from its event stream. It keeps no state of the session: the server's
// view is the truth. Draws what stands around the rounds; rounds.js draws the rounds, panels.js what is beside
// them, typed.js keeps what is typed, follow.js the place of the work in sight.
import { scoreChart } from "./chart.js";
import { address, choices, el, postJson, redraw } from "./dom.js";
import { Follow } from "./follow.js";
import { begin, focusForm, forgetTyped, keepTyped, showExamples, showForm } from "./form.js";
import { listen, shortcutSheet } from "./keys.js";
import { drawFamily, outcomePanel, sessionLink, settingsForm, settingsOf } from "./panels.js";
import { Parts } from "./parts.js";
import { presetChanges } from "./preset_changes.js";
import { drawPools } from "./pools.js";
import { clampEarlier, drawRounds } from "./rounds.js";
import { Streams } from "./streams.js";
import { Typed } from "./typed.js";

const DIFFS = ["inline", "side", "clean"];
const LOST = "The connection to the server is lost. What is recorded is safe; trying again…";

class Board {
  constructor(root, signal) {
    this.root = root;
    this.session = null;
    this.parts = new Parts();
    this.streams = new Streams(this);
    this.typed = new Typed(this);
    this.followed = new Follow(this, signal);
    const on = (name, event, act) => this.part(name).addEventListener(event, act);
    on("stop", "click", () => this.post("stop", {}));
    on("continue", "click", () => this.post("run", {}));
    on("undo", "click", () => this.branch("undo", {}));
    on("mode", "change", (e) => this.post("mode", { mode: e.target.value }));
    on("diff-choice", "change", (e) => this.showDiffs(e.target.value));
    on("versions", "toggle", () => drawFamily(this));
    on("settings-form", "submit", (e) => { e.preventDefault(); this.changeSettings(e.target); });
    on("task-toggle", "click", () => showForm(this, !document.body.hasAttribute("data-show-task")));
    on("new-task", "click", () => { location.href = address(location.pathname); });
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
    this.parts = new Parts();
    if (this.events) this.events.close();
    for (const name of ["pools", "rounds", "final"]) this.part(name).replaceChildren();
    this.streams = new Streams(this);
    this.part("unsent").replaceChildren();
    this.say("");
    this.root.dataset.state = session ? "loading" : "empty";
    const inForm = document.querySelector("#task")?.contains(document.activeElement);
    document.body.toggleAttribute("data-session", Boolean(session));
    showForm(this, false);
    if (inForm && session) this.root.focus({ preventScroll: true });
    this.part("versions").open = false;
    presetChanges(this.part("preset-changes"), session && this.url("preset-changes"));
    if (session) this.follow();
  }

  follow() {
    if (this.events) this.events.close();
    const session = this.session;
    const events = (this.events = new EventSource(this.url("events")));
    const hear = (kind, act) => events.addEventListener(kind, (e) => act(JSON.parse(e.data)));
    hear("view", (parts) => { this.part("connection").textContent = ""; this.show(parts); });
    hear("message", (passage) => this.streams.hear(...passage));
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
    this.followed.along = true;
    // What was typed and not sent with this ruling stays: the tab in which it was typed offers it.
    const sent = Object.keys(more).length > 0;
    if (await this.post("decisions", { position, ruling, ...more })) { if (sent) this.typed.drop(position); }
    else { this.sending = null; this.typed.offer(position, this.sending); }
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

  newTask(text) {
    begin(text);
    location.href = address("/");
  }

  async changeSettings(form) {
    if (await this.post("settings", settingsOf(form))) this.say("Set for the steps to come.");
  }

  // -- what the server says -------------------------------------------------------------------

  show(changed) {
    const before = this.head?.position;
    this.parts.take(changed);
    const { head } = this;
    this.root.dataset.state = head.state;
    for (const name of ["title", "problem", "notice", "warning", "figures"]) this.part(name).textContent = head[name];
    this.part("mode").value = head.mode;
    this.part("continue").textContent = head.problem ? "Retry" : "Continue";
    redraw(this.part("parent"), head.parent, (parent) => parent && [document.createTextNode(`A copy of another session from its step ${parent.step} on · `),
      sessionLink(this, parent.session, "back to the original")]);
    this.part("undo").disabled = !head.undo;
    this.part("undo").title = head.undo;
    this.begun = Date.now() - head.running_seconds * 1000;
    redraw(this.part("notes"), this.parts.notes, (notes) => notes.map((note) => el("li", {}, note)));
    redraw(this.part("chart-box"), this.parts.chart, scoreChart);
    redraw(this.part("settings-form"), this.parts.settings, settingsForm);
    drawPools(this);
    drawRounds(this);
    redraw(this.part("outcome"), this.parts.outcome, (outcome) => outcome && outcomePanel(this, outcome));
    this.streams.expect(head.passages);
    if (this.part("versions").open && changed.outcome) drawFamily(this);
    this.tick();
    if (before !== head.position) this.typed.offer(before, this.sending);
    clampEarlier(this.part("rounds"), (row) => this.followed.along || !this.followed.inView(row));
    this.followed.step();
  }

  tick() {
    if (!this.head) return;
    const running = this.head.state === "running" ? Math.round((Date.now() - this.begun) / 1000) : 0;
    this.part("doing").textContent = this.head.doing;
    this.part("clock").textContent = running >= 2 ? `${running} s` : "";
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
      case "t": return focusForm(this);
      case "g": return press(this.part("jump"));
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

window.redraftBoard = (element, props, trigger, watch) => {
  const root = element.querySelector(".rd-board");
  const leaving = new AbortController();
  const board = new Board(root, leaving.signal);
  for (const example of root.querySelectorAll(".rd-example"))
    example.addEventListener("click", () => {
      trigger("example", { index: Number(example.dataset.index) });
      document.querySelector("#task")?.scrollIntoView({ block: "start" });
    });
  const followValue = () => {
    const session = (props.value || {}).session || null;
    if (session && new URL(location).searchParams.get("session") !== session) {
      board.followed.along = true;
      board.goTo(session);
      forgetTyped();
    } else board.open(session);
  };
  window.redraftPreset = (name) => showExamples(root, name);
  window.addEventListener("popstate", () => location.reload(), { signal: leaving.signal });
  listen(board, leaving.signal);
  watch("value", followValue);
  followValue();
  keepTyped(leaving.signal);
  root.dataset.ready = "1";
  root.redraft = board;  // for a look from the browser's console
};
