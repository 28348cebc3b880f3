// The board: draws one session from its event stream. Every text from a model, a person or a file
// goes through textContent. It keeps no state of the session: the server's view is the truth, and
// what is typed but not yet sent is kept in localStorage under the step it was typed for.
"use strict";
(() => {
  const SAVE = "redraft:";

  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick" || name === "oninput" || name === "onchange") node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
    return node;
  };

  // Draws into `cell` only when `data` is new, so that a later view never touches what a person is
  // reading, selecting or typing in.
  const redraw = (cell, data, draw) => {
    const signature = JSON.stringify(data);
    if (cell.dataset.drawn === signature) return;
    cell.dataset.drawn = signature;
    cell.replaceChildren(...[draw(data)].flat().filter(Boolean));
  };

  const number = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString()).replace("-", "−");

  const chip = (score) => {
    const change = score.change === null ? "" : ` (${score.change >= 0 ? "+" : "−"}${number(Math.abs(score.change))})`;
    const known = score.value !== null;
    const text = known ? `${score.label} ${number(score.value)}${change}` : `${score.label}: not scored`;
    const kind = !known ? "unknown" : score.change === null ? "" : score.change >= 0 ? "up" : "down";
    const body = el("div", { class: "rd-chip-body" }, score.help, score.why ? ` ${score.why}` : "",
      score.condition ? ` Conditioned: ${score.condition}.` : "", score.details ? ` ${score.details}` : "");
    return el("details", { class: `rd-chip ${kind}` }, el("summary", {}, text), body);
  };

  const badges = (draft) => el("div", { class: "rd-chips" },
    draft.flags.map((flag) => el("span", { class: "rd-flag" }, flag)), draft.scores.map(chip));

  const signature = (by) => (by === "model" ? null : el("div", { class: "rd-by" }, `written by ${by}`));

  const plain = (text) => el("div", { class: "rd-text" }, text || "(empty)");

  const difference = (pieces) => {
    const box = el("div", { class: "rd-text" });
    for (const [kind, text] of pieces) {
      if (kind === "same") box.append(text);
      else box.append(el(kind === "added" ? "ins" : "del", {}, text));
    }
    return box;
  };

  const drawDraft = (draft) => [signature(draft.by), plain(draft.text), badges(draft)];

  class Board {
    constructor(root) {
      this.root = root;
      this.session = null;
      this.view = null;
      this.passage = -1;
      this.received = 0;
      this.streamed = "";
      root.querySelector(".rd-stop").addEventListener("click", () => this.post("stop", {}));
      root.querySelector(".rd-continue").addEventListener("click", () => this.post("run", {}));
      root.querySelector(".rd-mode").addEventListener("change", (e) => this.post("mode", { mode: e.target.value }));
      setInterval(() => this.tick(), 1000);
    }

    part(name) { return this.root.querySelector(`.rd-${name}`); }

    open(session) {
      if (session === this.session) return;
      this.session = session;
      this.view = null;
      if (this.events) this.events.close();
      this.part("rounds").replaceChildren();
      this.root.dataset.state = session ? "loading" : "empty";
      if (session) this.follow();
    }

    follow() {
      if (this.events) this.events.close();
      const session = this.session;
      const events = (this.events = new EventSource(`/api/sessions/${encodeURIComponent(session)}/events`));
      events.addEventListener("view", (e) => { this.connection(""); this.show(JSON.parse(e.data)); });
      events.addEventListener("text", (e) => this.hear(JSON.parse(e.data)));
      events.addEventListener("notice", (e) => { this.part("notice").textContent = JSON.parse(e.data).text; });
      events.addEventListener("gone", (e) => { events.close(); this.root.dataset.state = "gone"; this.say(JSON.parse(e.data).text); });
      events.onerror = () => {
        if (events.readyState === EventSource.CLOSED) this.retryLater(session);
        if (this.root.dataset.state !== "gone") this.connection("The connection to the server is lost. What is recorded is safe; trying again…");
      };
    }

    // The browser gives up for good when a connection is refused while the server restarts.
    retryLater(session) {
      setTimeout(() => { if (this.session === session) this.follow(); }, 1000);
    }

    connection(text) { this.part("connection").textContent = text; }
    say(text) { this.part("message").textContent = text; }

    async post(what, body) {
      if (this.busy) return;
      this.busy = true;
      this.root.dataset.busy = "1";
      try {
        const response = await fetch(`/api/sessions/${encodeURIComponent(this.session)}/${what}`, {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
        const answer = await response.json();
        this.say(answer.error || "");
        if (answer.error) this.follow();  // what is shown may be old: show the truth
        return !answer.error;
      } catch {
        this.say("The server could not be reached. Nothing was sent; try again.");
        return false;
      } finally {
        this.busy = false;
        delete this.root.dataset.busy;
      }
    }

    async rule(ruling, more = {}) {
      const position = this.view.position;
      if (await this.post("decisions", { position, ruling, ...more })) localStorage.removeItem(this.draftKey(position));
    }

    draftKey(position = this.view.position) { return `${SAVE}${this.session}:${position}`; }
    saved() { try { return JSON.parse(localStorage.getItem(this.draftKey())) || {}; } catch { return {}; } }
    save(changes) { localStorage.setItem(this.draftKey(), JSON.stringify({ ...this.saved(), ...changes })); }

    // -- what the server says ---------------------------------------------------------------

    show(view) {
      this.view = view;
      this.root.dataset.state = view.state;
      this.part("title").textContent = view.title;
      this.part("mode").value = view.mode;
      this.part("problem").textContent = view.problem;
      this.part("notice").textContent = view.notice;
      this.begun = Date.now() - view.running_seconds * 1000;
      redraw(this.part("notes"), view.notes, (notes) => notes.map((note) => el("li", {}, note)));
      this.drawRounds(view);
      redraw(this.part("outcome"), view.outcome, (outcome) => outcome && this.outcome(outcome));
      if (view.passage !== this.passage) this.hear({ passage: view.passage, from: 0, text: "" });
      else this.drawStream();
      this.tick();
    }

    hear({ passage, from, text }) {
      if (from === 0) { this.passage = passage; this.streamed = ""; this.received = 0; }
      if (passage !== this.passage || from !== this.received) return;
      this.streamed += text;
      this.received += [...text].length;
      this.drawStream();
    }

    tick() {
      const view = this.view;
      if (!view) return;
      const running = view.state === "running" ? Math.round((Date.now() - this.begun) / 1000) : 0;
      const doing = running >= 2 ? `${view.doing} · ${running} s` : view.doing;
      this.part("doing").textContent = doing;
      this.part("figures").textContent = view.figures;
    }

    drawStream() {
      const role = this.view && this.view.state === "running" ? this.view.streaming : null;
      for (const box of this.root.querySelectorAll(".rd-stream")) if (!role || box.dataset.for !== role) box.remove();
      if (!role) return;
      let box = this.root.querySelector(".rd-stream");
      if (!box) {
        const cell = this.root.querySelector(`[data-cell="${role}"]`);
        if (!cell) return;
        box = el("div", { class: "rd-text rd-stream", "data-for": role });
        cell.append(box);
      }
      if (!box.firstChild) box.append("");
      const node = box.firstChild;
      if (this.streamed.startsWith(node.data)) node.appendData(this.streamed.slice(node.data.length));
      else node.data = this.streamed;
    }

    // -- rounds -----------------------------------------------------------------------------

    drawRounds(view) {
      const box = this.part("rounds");
      view.rows.forEach((row, index) => {
        const node = box.children[index] || box.appendChild(this.emptyRow());
        this.drawRow(node, row, view);
      });
      while (box.children.length > view.rows.length) box.lastChild.remove();
    }

    emptyRow() {
      const column = (name, label) => el("section", { class: `rd-cell rd-${name}`, "aria-label": label },
        el("h3", {}, label), el("div", { class: "rd-body" }), el("div", { class: "rd-gate" }), el("div", { class: "rd-live" }));
      return el("article", { class: "rd-round" }, el("h2", { class: "rd-round-name" }),
        el("div", { class: "rd-columns" }, column("base", "Draft"), column("critique", "Critique"), column("revision", "Revision")));
    }

    drawRow(node, row, view) {
      node.querySelector(".rd-round-name").textContent = row.name;
      node.classList.toggle("rd-single", row.single);
      const cell = (name) => node.querySelector(`.rd-${name} .rd-body`);
      redraw(cell("base"), row.base, (draft) => draft && drawDraft(draft));
      redraw(cell("critique"), row.critique, (critique) => critique && this.critique(critique));
      redraw(cell("revision"), row.attempts, (attempts) => attempts.map((attempt) => this.attempt(attempt)));
      node.querySelector(".rd-base .rd-live").dataset.cell = row.single || row.number === 1 ? "draft" : "";
      node.querySelector(".rd-critique .rd-live").dataset.cell = row.number === view.round ? "critique" : "";
      node.querySelector(".rd-revision .rd-live").dataset.cell = row.number === view.round ? "revise" : "";
      const open = (kind) => (view.gate && view.gate.kind === kind && row.number === view.round ? { ...view.gate, position: view.position } : null);
      redraw(node.querySelector(".rd-critique .rd-gate"), open("critique"), (gate) => gate && this.critiqueGate(gate));
      redraw(node.querySelector(".rd-revision .rd-gate"), open("revision"), (gate) => gate && this.revisionGate(gate));
    }

    critique(critique) {
      if (!critique.ruled) return null;
      const points = critique.points.map((point) => el("li", { class: point.kept ? "" : "rd-left-out" },
        point.severity === "unstated" ? null : el("span", { class: `rd-severity ${point.severity}` }, point.severity),
        point.quote ? el("q", {}, point.quote) : null, el("span", {}, point.problem),
        point.action ? el("span", { class: "rd-action" }, point.action) : null,
        point.by === "model" ? null : el("span", { class: "rd-by" }, `by ${point.by}`)));
      return [points.length ? el("ul", { class: "rd-points" }, points) : plain(critique.raw || "No points."),
        el("div", { class: "rd-verdict" }, critique.verdict), el("div", { class: "rd-ruling" }, critique.ruled)];
    }

    attempt(attempt) {
      const proposed = attempt.proposed;
      return el("div", { class: `rd-attempt ${attempt.ruling || ""}` }, signature(proposed.by),
        proposed.diff ? difference(proposed.diff) : plain(proposed.text), badges(proposed),
        attempt.verdict ? el("div", { class: "rd-verdict" }, attempt.verdict) : null,
        attempt.ruled ? el("div", { class: "rd-ruling" }, attempt.ruled) : null,
        attempt.written ? el("div", { class: "rd-written" }, drawDraft(attempt.written)) : null);
    }

    outcome(outcome) {
      return [el("h2", {}, "Outcome"), el("p", {}, outcome.why), outcome.text === null ? null : plain(outcome.text),
        outcome.text === null ? null : el("button", { type: "button", onclick: (e) => this.copy(e.target, outcome.text) }, "Copy")];
    }

    async copy(button, text) {
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
      catch { button.textContent = "Select the text to copy it"; }
    }

    // -- gates ------------------------------------------------------------------------------

    critiqueGate(gate) {
      const points = this.saved().points || gate.points.map((point) => ({ ...point, kept: true }));
      const list = el("ol", { class: "rd-edit-points" });
      const keep = () => this.save({ points });
      const row = (point, index) => {
        const field = (name, label, rows) => {
          const box = el("textarea", { rows, "aria-label": `${label} of point ${index + 1}`, placeholder: label,
            oninput: (e) => { point[name] = e.target.value; keep(); } });
          box.value = point[name];
          return box;
        };
        const tick = el("input", { type: "checkbox", "aria-label": `Follow point ${index + 1}`,
          onchange: (e) => { point.kept = e.target.checked; keep(); } });
        tick.checked = point.kept;
        return el("li", {}, el("label", { class: "rd-tick" }, tick, point.quote ? el("q", {}, point.quote) : `Point ${index + 1}`),
          field("problem", "What is wrong", 2), field("action", "What to do", 1));
      };
      const draw = () => list.replaceChildren(...points.map(row));
      draw();
      const add = () => {
        points.push({ problem: "", action: "", quote: "", severity: "unstated", by: "person", kept: true });
        keep(); draw(); list.lastChild.querySelector("textarea").focus();
      };
      const chosen = () => points.filter((p) => p.kept && (p.problem.trim() || p.action.trim()))
        .map(({ kept, ...point }) => point);
      const finish = gate.done ? el("button", { type: "button", onclick: () => this.rule("accept") }, "Finish: nothing left to do") : null;
      return [el("p", { class: "rd-hint" }, gate.hint), list,
        el("div", { class: "rd-buttons" },
          el("button", { type: "button", class: "rd-primary", onclick: () => this.rule("accept", { points: chosen() }) }, "Revise with the ticked points"),
          finish,
          el("button", { type: "button", onclick: add }, "Add a point"),
          el("button", { type: "button", onclick: () => this.rule("retry") }, "Ask for another critique"),
          el("button", { type: "button", onclick: () => this.rule("stop") }, "Stop"))];
    }

    revisionGate(gate) {
      const panel = el("div", { class: "rd-panel" });
      const box = (label, value, key, button, act) => {
        const area = el("textarea", { rows: 6, "aria-label": label, oninput: () => this.save({ [key]: area.value }) });
        area.value = this.saved()[key] ?? value;
        panel.replaceChildren(el("label", {}, label), area, el("button", { type: "button", class: "rd-primary", onclick: () => act(area.value) }, button));
        area.focus();
      };
      const edit = () => box("Your text", gate.text, "text", "Save as my text", (text) => this.rule("edit", { text }));
      const retry = () => box("What should be different?", "", "note", "Ask again with this note", (note) => this.rule("retry", { note }));
      const saved = this.saved();
      const buttons = el("div", { class: "rd-buttons" },
        el("button", { type: "button", class: "rd-primary", onclick: () => this.rule("accept") }, "Accept"),
        el("button", { type: "button", onclick: () => this.rule("reject") }, "Reject"),
        el("button", { type: "button", onclick: edit }, "Edit"),
        el("button", { type: "button", onclick: retry }, "Ask again…"),
        el("button", { type: "button", onclick: () => this.rule("stop") }, "Stop"));
      queueMicrotask(() => { if (saved.text !== undefined) edit(); else if (saved.note !== undefined) retry(); });
      return [buttons, panel];
    }
  }

  window.redraftBoard = (element, props, trigger, watch) => {
    const root = element.querySelector(".rd-board");
    const board = new Board(root);
    for (const button of root.querySelectorAll(".rd-example"))
      button.addEventListener("click", () => trigger("example", { index: Number(button.dataset.index) }));
    const follow = () => {
      const session = (props.value || {}).session || null;
      if (session && new URL(location).searchParams.get("session") !== session) {
        const url = new URL(location);
        url.searchParams.set("session", session);
        history.pushState(null, "", url);
      }
      board.open(session);
    };
    window.addEventListener("popstate", () => location.reload());
    watch("value", follow);
    follow();
    root.dataset.ready = "1";
    root.redraft = board;  // for a look from the browser's console
  };
})();
