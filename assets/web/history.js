// The History page: draws the list of sessions, and searches, forks, deletes and restores them.
// It keeps no session: the server's list is the truth. What is searched for stands in the address.
import { button, el, getJson, postJson } from "./dom.js";

const PAUSE = 300;  // milliseconds without a key before what is typed is searched for
const LOST = "The server could not be reached. Nothing was changed; try again.";
const UNITS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const ago = (moment) => {
  const seconds = (Date.parse(moment) - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) || [];
  return unit ? relative.format(Math.trunc(seconds / size), unit) : "just now";
};

const when = (moment) => el("time", { datetime: moment, title: new Date(moment).toLocaleString() }, ago(moment));
const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
// Isolated, so that a text which turns the direction of writing turns nothing around it.
const quoted = (text) => el("bdi", {}, text);
const address = (id) => `/?session=${encodeURIComponent(id)}`;

// The whole of what a row says besides its title; a change within a minute of the start is none.
const facts = (session) => {
  const changed = Date.parse(session.changed_at) - Date.parse(session.created_at) > 60000;
  const parts = [
    el("span", {}, "started ", when(session.created_at)), changed && el("span", {}, "changed ", when(session.changed_at)),
    el("span", { class: "rd-model" }, session.model), el("span", {}, session.strategy), el("span", {}, count(session.steps, "step")),
    session.parent && el("span", {}, "forked from ", el("a", { href: address(session.parent) }, `step ${session.forked_at} of another`)),
    el("span", { class: "rd-state", "data-state": session.state }, session.why ? `${session.state}: ${session.why}` : session.state),
  ];
  return el("p", { class: "rd-facts" }, parts);
};

class History {
  constructor(root) {
    this.root = root;
    this.turn = 0;
    this.box = root.querySelector("#rd-query");
    this.rows = this.part("sessions");
    this.box.value = new URL(location).searchParams.get("q") || "";
    this.part("search").addEventListener("submit", (e) => { e.preventDefault(); this.search(); });
    this.box.addEventListener("input", () => { clearTimeout(this.typing); this.typing = setTimeout(() => this.search(), PAUSE); });
    this.part("show-more").addEventListener("click", () => this.more());
    this.part("all").addEventListener("click", () => { this.box.value = ""; this.box.focus(); this.search(); });
    // A page that comes back out of the browser's memory may show an old list.
    window.addEventListener("pageshow", (e) => { if (e.persisted) this.search(); });
    this.search();
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }
  say(...parts) { this.part("list-status").replaceChildren(...parts); }

  // The server's answer, or null after its refusal was shown.
  async ask(request) {
    const error = this.part("list-error");
    error.textContent = "";
    try {
      const answer = await request();
      if (!answer.error) return answer;
      error.textContent = answer.error;
    } catch {
      error.textContent = LOST;
    }
    return null;
  }

  post(session, what) { return this.ask(() => postJson(`/api/history/${encodeURIComponent(session.id)}/${what}`, {})); }

  // -- the list ---------------------------------------------------------------------------------

  async search() {
    clearTimeout(this.typing);
    const query = this.box.value.trim();
    const url = new URL(location);
    if (query) url.searchParams.set("q", query); else url.searchParams.delete("q");
    history.replaceState(history.state, "", url);
    this.query = query;
    const page = await this.page("");
    if (!page) return;
    this.rows.replaceChildren(...page.sessions.map((session) => this.row(session)));
    this.root.dataset.state = page.sessions.length ? "list" : query ? "no-match" : "none";
    this.tell(page);
  }

  async more() {
    const page = await this.page(this.last);
    if (!page) return;
    const rows = page.sessions.map((session) => this.row(session));
    this.rows.append(...rows);
    this.tell(page);
    rows[0]?.querySelector("a").focus();
  }

  // One page of the list; null when it was refused or a later search has taken its place.
  async page(before) {
    const turn = ++this.turn;
    const parameters = new URLSearchParams({ q: this.query, before });
    const page = await this.ask(() => getJson(`/api/history?${parameters}`));
    return turn === this.turn ? page : null;
  }

  tell({ sessions, more }) {
    this.last = sessions.at(-1)?.id;
    this.part("show-more").hidden = !more;
    const shown = this.rows.querySelectorAll(":scope > :not(.rd-deleted)").length;
    const having = this.query ? [" with “", quoted(this.query), "”"] : [];
    if (this.rows.children.length) this.say(more ? "The newest " : "", count(shown, "session"), ...having, more ? ". There are more." : ".");
    else if (this.query) this.say("No session has “", quoted(this.query), "” in it.");
    else this.say("There are no sessions yet.");
  }

  // -- a row ------------------------------------------------------------------------------------

  row(session) {
    const row = el("li", {});
    this.draw(row, session);
    return row;
  }

  draw(row, session) {
    const title = session.title || "(without a title)";
    const about = (what) => ({ "aria-label": `${what}: ${title}` });
    const heading = el("h2", {}, el("a", { href: address(session.id), dir: "auto" }, title));
    const buttons = el("div", { class: "rd-row-buttons" },
      el("a", { class: "rd-open", href: address(session.id), ...about("Open") }, "Open"),
      button("Fork", () => this.fork(session), { ...about("Fork"), title: "A copy with all its steps, to go on with differently" }),
      button("Delete", () => this.remove(row, session), { ...about("Delete"), class: "rd-delete" }));
    row.className = "";
    row.replaceChildren(heading, facts(session), buttons);
  }

  async fork(session) {
    const answer = await this.post(session, "fork");
    if (answer) location.assign(address(answer.session));
  }

  // The notice with Undo stays in the row's place until something else is done.
  async remove(row, session) {
    if (!(await this.post(session, "delete"))) return;
    for (const old of this.rows.querySelectorAll(".rd-deleted")) old.remove();
    const undo = button("Undo", () => this.undo(row, session), { "aria-label": `Undo: delete ${session.title}` });
    row.className = "rd-deleted";
    row.replaceChildren(el("p", {}, "Deleted. “", quoted(session.title), "” is out of this list, and kept."), undo);
    this.say("Deleted: ", quoted(session.title));
    undo.focus();
  }

  async undo(row, session) {
    if (!(await this.post(session, "restore"))) return;
    this.draw(row, session);
    this.say("Restored: ", quoted(session.title));
    row.querySelector(".rd-delete").focus();
  }
}

window.redraftHistory = (element) => {
  const root = element.querySelector(".rd-list");
  if (root.dataset.ready) return;
  root.dataset.ready = "1";
  new History(root);
};
