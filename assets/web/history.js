// The History page: draws the list of sessions, and searches, marks, forks, deletes and restores them.
// It keeps no session: the server's list is the truth. What is asked for stands in the address (history_filter.js);
// what is done with several sessions is history_bulk.js.
import { button, count, el, getJson, number, postJson } from "./dom.js";
import { Bulk } from "./history_bulk.js";
import { importForm } from "./history_files.js";
import { Filters } from "./history_filter.js";

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
// Isolated, so that a text which turns the direction of writing turns nothing around it.
const quoted = (text) => el("bdi", {}, text);
const address = (id) => `/?session=${encodeURIComponent(id)}`;

// The whole of what a row says besides its title; a change within a minute of the start is none.
const facts = (session) => {
  const changed = Date.parse(session.changed_at) - Date.parse(session.created_at) > 60000;
  const parts = [
    el("span", {}, "started ", when(session.created_at)), changed && el("span", {}, "changed ", when(session.changed_at)),
    session.preset && el("span", {}, session.preset), el("span", { class: "rd-model" }, session.model), el("span", {}, session.strategy),
    el("span", {}, session.rounds ? `${count(session.rounds, "round")}, ${count(session.steps, "step")}` : count(session.steps, "step")), score(session),
    session.money !== null && el("span", {}, `cost ${number(session.money)}`),
    session.parent && el("span", {}, "forked from ", el("a", { href: address(session.parent) }, `step ${session.forked_at} of another`)),
    el("span", { class: "rd-state", "data-state": session.state }, session.why ? `${session.state}: ${session.why}` : session.state),
    session.tags.map((tag) => el("span", { class: "rd-tag" }, tag)),
  ];
  return el("p", { class: "rd-facts" }, parts);
};

// The gate's score at first and now; the sign says which way it went, not a colour alone.
const score = ({ first, last, change }) => {
  if (first === null && last === null) return false;
  const told = (value) => (value === null ? "unknown" : number(value));
  const sign = change > 0 ? "+" : "";
  return el("span", { class: "rd-change" }, first === last || first === null ? `score ${told(last)}` : `score ${told(first)} → ${told(last)}`,
    change ? ` (${sign}${number(change)})` : "");
};

class History {
  constructor(root) {
    this.root = root;
    this.turn = 0;
    this.counted = "";
    this.scores = [];
    this.box = root.querySelector("#rd-query");
    this.rows = this.part("sessions");
    this.filters = new Filters(root, () => this.search());
    this.filters.onSave = (name, query) => this.keep("saved", { name, query }, `Saved: ${name}`);
    this.filters.onForget = (name) => this.keep("saved/forget", { name }, `Dropped: ${name}`);
    this.bulk = new Bulk(this, this.part("bulk"));
    importForm(this, this.part("import"));
    this.box.value = this.filters.state.get("q");
    this.part("search").addEventListener("submit", (e) => { e.preventDefault(); this.typed(); });
    this.box.addEventListener("input", () => { clearTimeout(this.typing); this.typing = setTimeout(() => this.typed(), PAUSE); });
    this.part("show-more").addEventListener("click", () => this.showMore());
    this.root.addEventListener("keydown", (e) => this.arrow(e));
    this.part("all").addEventListener("click", () => { this.filters.clear(); this.box.focus(); });
    // A page that comes back out of the browser's memory may show an old list.
    window.addEventListener("pageshow", (e) => { if (e.persisted) this.search(); });
    this.filters.draw();
    this.search();
    this.choices();
    this.deletions();
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }
  say(...parts) { this.part("list-status").replaceChildren(...parts); }
  fail(words) { this.part("list-error").textContent = words; }

  // The server's answer, or null after its refusal was shown.
  async ask(request) {
    const error = this.part("list-error");
    error.textContent = "";
    try {
      const answer = await request();
      if (!answer.error && !answer.detail) return answer;
      error.textContent = answer.error || answer.detail;
    } catch {
      error.textContent = LOST;
    }
    return null;
  }

  post(path, body = {}) { return this.ask(() => postJson(path, body)); }
  of(session, what) { return this.post(`/api/history/${encodeURIComponent(session.id)}/${what}`); }

  // -- what there is to filter by -----------------------------------------------------------------

  async choices() {
    const found = await this.ask(() => getJson("/api/history/choices"));
    if (!found) return;
    this.scores = found.scores;
    this.filters.know(found);
  }

  async keep(path, body, said) {
    if (!(await this.post(`/api/history/${path}`, body))) return;
    await this.choices();
    this.say(said);
  }

  // -- what was deleted -----------------------------------------------------------------------------

  // The latest deletions, each to be undone as a whole, after a reload too.
  async deletions() {
    const found = await this.ask(() => getJson("/api/history/deletions"));
    if (!found) return;
    const box = this.part("deletions");
    box.hidden = !found.deletions.length;
    box.querySelector("ul").replaceChildren(...found.deletions.map(({ undo, at, sessions, title }) => el("li", {}, when(at), ": ",
      sessions === 1 ? quoted(title || "(without a title)") : count(sessions, "session"), " ", button("Bring back", () => this.bulk.undo(undo), { "aria-label": `Bring back what was deleted ${ago(at)}` }))));
  }

  // -- the list ---------------------------------------------------------------------------------

  // The arrows go from the search to the titles and from title to title, past everything that stands between.
  arrow(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const titles = [this.box, ...this.rows.querySelectorAll("h2 a")];
    const here = titles.indexOf(document.activeElement);
    const next = step && here >= 0 && titles[here + step];
    if (!next || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    next.focus();
  }

  typed() {
    clearTimeout(this.typing);
    this.filters.set({ q: this.box.value.trim() });
  }

  // A new list: what was chosen in the old one is chosen no more.
  async search() {
    this.bulk.clear();
    await this.refresh();
  }

  async refresh() {
    const page = await this.page("");
    if (!page) return;
    this.rows.replaceChildren(...page.sessions.map((session) => this.row(session)));
    this.root.dataset.state = page.sessions.length ? "list" : this.filters.active ? "no-match" : "none";
    await this.tell(page);
  }

  async showMore() {
    const page = await this.page(this.last);
    if (!page) return;
    const rows = page.sessions.map((session) => this.row(session));
    this.rows.append(...rows);
    rows[0]?.querySelector("h2 a").focus();
    await this.tell(page);
  }

  // One page of the list; null when it was refused or a later search has taken its place.
  async page(before) {
    const turn = ++this.turn;
    const page = await this.ask(() => getJson(`/api/history?${new URLSearchParams({ ...this.filters.query(), before })}`));
    return turn === this.turn ? page : null;
  }

  shown() { return [...this.rows.querySelectorAll("[data-id]")].map((row) => row.dataset.id); }
  tick() { for (const box of this.rows.querySelectorAll(".rd-choose")) box.checked = this.bulk.ids.has(box.value); }

  // The list is on the page before it is counted; a list that is whole needs no counting.
  async tell({ sessions, more }) {
    const turn = this.turn;
    this.last = sessions.at(-1)?.id ?? this.last;
    this.more = more;
    this.part("show-more").hidden = !more;
    const shown = this.shown().length;
    const query = this.filters.state.get("q");
    const having = query ? [" with “", quoted(query), "”"] : [];
    const filtered = Object.keys(this.filters.filter()).length > (query ? 1 : 0) ? [" by these filters"] : [];
    if (!this.rows.children.length) {
      if (query && !filtered.length) this.say("No session has “", quoted(query), "” in it.");
      else this.say(this.filters.active ? "No session matches these filters." : "There are no sessions yet.");
      return;
    }
    this.counted = String(shown);
    if (!more) { this.say(count(shown, "session"), ...having, ...filtered, "."); return; }
    this.say(`${count(shown, "session")} shown`, ...having, ...filtered, ". There are more.");
    const found = await this.ask(() => getJson(`/api/history/count?${new URLSearchParams(this.filters.filter())}`));
    if (!found || turn !== this.turn) return;
    this.counted = (found.more ? "more than " : "") + found.count.toLocaleString("en");
    this.say(`${shown} of ${this.counted} sessions`, ...having, ...filtered, " shown.");
    this.bulk.draw();
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
    const choose = el("input", { type: "checkbox", class: "rd-choose", value: session.id, ...about("Choose"),
      onchange: (e) => this.bulk.toggle(session.id, e.target.checked) });
    choose.checked = this.bulk.ids.has(session.id);
    const star = button(session.starred ? "★" : "☆", () => this.star(row, session),
      { ...about("Star"), class: "rd-star", "aria-pressed": String(session.starred) });
    const heading = el("h2", {}, el("a", { href: address(session.id), dir: "auto" }, title));
    const buttons = el("div", { class: "rd-row-buttons" },
      el("a", { class: "rd-open", href: address(session.id), ...about("Open") }, "Open"),
      el("a", { class: "rd-open", href: `/session/?id=${encodeURIComponent(session.id)}`, ...about("Steps") }, "Steps"),
      button("Fork", () => this.fork(session), { ...about("Fork"), title: "A copy with all its steps, to go on with differently" }),
      button("Delete", () => this.remove(row, session), { ...about("Delete"), class: "rd-delete" }));
    row.className = "";
    row.dataset.id = session.id;
    row.replaceChildren(el("div", { class: "rd-row-marks" }, choose, star), heading, facts(session), buttons);
  }

  async star(row, session) {
    const starred = !session.starred;
    if (!(await this.post(`/api/sessions/${encodeURIComponent(session.id)}/stars`, { on: starred }))) return;
    this.draw(row, { ...session, starred });
    this.say(starred ? "Starred: " : "No star any more: ", quoted(session.title));
    row.querySelector(".rd-star").focus();
  }

  async fork(session) {
    const answer = await this.of(session, "fork");
    if (answer) location.assign(address(answer.session));
  }

  // The notice with Undo stays in the row's place until something else is done.
  async remove(row, session) {
    if (!(await this.of(session, "delete"))) return;
    for (const old of this.rows.querySelectorAll(".rd-deleted")) old.remove();
    const undo = button("Undo", () => this.undo(row, session), { "aria-label": `Undo: delete ${session.title}` });
    this.bulk.toggle(session.id, false);
    row.className = "rd-deleted";
    delete row.dataset.id;
    row.replaceChildren(el("p", {}, "Deleted. “", quoted(session.title), "” is out of this list, and kept."), undo);
    this.say("Deleted: ", quoted(session.title));
    undo.focus();
    this.deletions();
  }

  async undo(row, session) {
    if (!(await this.of(session, "restore"))) return;
    this.draw(row, session);
    this.deletions();
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
