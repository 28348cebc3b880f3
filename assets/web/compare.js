// The comparison: sessions beside each other by round, or a table of many of which a few are ticked. The address
// holds which sessions: ?ids=a,b,c; more than four are a table, and so are any with &view=table. Without ids the
// other names are a filter of the history.
import { address, button, el, getJson, number } from "./dom.js";
import { NAMES } from "./history_filter.js";
import { saveText, csvOf } from "./saving.js";
import { changedDraft, difference, plainText } from "./texts.js";

const BESIDE = 4;
const LOST = "The server could not be reached. Reload the page to try again.";
const LETTERS = "ABCD";
const COLUMNS = [["title", "Session"], ["preset", "Preset"], ["strategy", "Strategy"], ["model", "Model"], ["outcome", "Outcome"], ["rounds", "Rounds"], ["scorer", "Score"],
  ["first", "First score"], ["last", "Last score"], ["best", "Best score"], ["change", "Change"], ["tokens", "Tokens"], ["seconds", "Seconds"], ["money", "Cost"]];
const TEXTS = ["title", "preset", "strategy", "model", "outcome", "scorer"];

class Compare {
  constructor(root) {
    this.root = root;
    const query = new URL(location).searchParams;
    this.ids = [...new Set((query.get("ids") || "").split(",").map((id) => id.trim()).filter(Boolean))];
    this.part("beside").addEventListener("click", () => this.open(this.ticked()));
    this.part("csv").addEventListener("click", () => saveText("sessions.csv", csvOf(COLUMNS.map(([, name]) => name), this.rows.map((row) => COLUMNS.map(([key]) => row[key]))), "text/csv"));
    for (const name of ["old", "new"]) this.part(name).addEventListener("change", () => this.differ());
    this.asked = new URLSearchParams([...query].filter(([name, value]) => value && ["ids", ...NAMES].includes(name)));
    if (![...this.asked].length) this.nothing();
    else if (!this.ids.length) this.table();
    else if (this.ids.length === 1 || this.ids.length > BESIDE || query.get("view") === "table") this.table();
    else this.sides();
  }

  part(name) { return this.root.querySelector(`.rd-cmp-${name}, #rd-cmp-${name}`); }
  say(text) { this.part("status").textContent = text; }

  // The server's answer, or null after its refusal was shown.
  async ask(request) {
    const error = this.part("error");
    error.textContent = "";
    try {
      const answer = await request();
      if (!answer.error && !answer.detail) return answer;
      error.textContent = answer.error || answer.detail;
    } catch {
      error.textContent = LOST;
    }
    this.root.dataset.state = this.root.dataset.state === "loading" ? "none" : this.root.dataset.state;
    return null;
  }

  nothing() {
    this.root.dataset.state = "none";
    this.part("status").replaceChildren("No session is chosen. ", el("a", { href: address("/history/") }, "Choose some in the history."));
  }

  open(ids) { location.assign(address("/compare/", { ids: ids.join(",") })); }

  // -- the table --------------------------------------------------------------------------------

  async table() {
    const found = await this.ask(() => getJson(`/api/compare/table?${this.asked}`));
    if (!found) return;
    if (!found.rows.length) {
      this.root.dataset.state = "none";
      this.say(found.missing ? "None of these sessions is here: they were deleted, or never were here." : "No session matches this filter.");
      return;
    }
    this.rows = found.rows;
    const newest = found.more ? "The newest " : "";
    const missing = found.missing ? ` ${found.missing} more were deleted or are not here.` : "";
    this.say(`${newest}${found.rows.length} session${found.rows.length === 1 ? "" : "s"}.${missing} Tick two to ${BESIDE} to see them side by side.`);
    const table = this.part("table");
    table.tHead.replaceChildren(el("tr", {}, el("th", { scope: "col" }, el("span", { class: "rd-cmp-hidden" }, "Tick")), COLUMNS.map(([key, name]) => el("th", { scope: "col", "aria-sort": "none", "data-key": key },
      button(name, () => this.sort(key), { class: "rd-small" })))));
    this.draw();
    this.root.dataset.state = "table";
  }

  sort(key) {
    this.falling = this.sorted === key ? !this.falling : !TEXTS.includes(key);
    this.sorted = key;
    const known = (row) => row[key] !== null && row[key] !== "";
    const order = (a, b) => (TEXTS.includes(key) ? a[key].localeCompare(b[key]) : a[key] - b[key]) * (this.falling ? -1 : 1);
    this.rows.sort((a, b) => known(b) - known(a) || (known(a) ? order(a, b) : 0));
    for (const head of this.part("table").tHead.querySelectorAll("[data-key]")) head.setAttribute("aria-sort", head.dataset.key !== key ? "none" : this.falling ? "descending" : "ascending");
    this.draw();
  }

  draw() {
    const ticked = new Set(this.ticked());
    const shown = (row, key) => (row[key] === null ? "—" : typeof row[key] === "number" ? number(row[key]) : row[key]);
    const cell = (row, key) => key === "title" ? el("th", { scope: "row", dir: "auto" }, el("a", { href: address("/session/", { id: row.id }) }, row.title || "(without a title)"))
      : el("td", { class: TEXTS.includes(key) ? "" : "rd-cmp-figure" }, shown(row, key));
    this.part("table").tBodies[0].replaceChildren(...this.rows.map((row) => el("tr", {}, el("td", {}, el("input", { type: "checkbox", value: row.id,
      checked: ticked.has(row.id), "aria-label": `Tick ${row.title}`, onchange: () => this.count() })), COLUMNS.map(([key]) => cell(row, key)))));
    this.count();
  }

  ticked() { return [...this.part("table").querySelectorAll("input:checked")].map((box) => box.value); }
  count() { const count = this.ticked().length; this.part("beside").disabled = count < 2 || count > BESIDE; }

  // -- side by side -----------------------------------------------------------------------------

  async sides() {
    const view = await this.ask(() => getJson(`/api/compare?${new URLSearchParams({ ids: this.ids.join(",") })}`));
    if (!view) return;
    const { differing } = view.tasks;
    this.say(differing.length ? `The tasks differ (${differing.join(", ")}): scores of one task say nothing about another.` : "");
    this.part("status").classList.toggle("rd-warning", differing.length > 0);
    const box = this.part("sides");
    box.style.setProperty("--sides", view.sessions.length);
    const row = (name, cells) => el("section", { class: "rd-cmp-row" }, el("h2", {}, name),
      el("div", { class: "rd-cmp-cells" }, cells.map((cell, index) => el("div", { class: "rd-cell", role: "group", "aria-label": `${LETTERS[index]}, ${name}` },
        el("div", { class: "rd-cmp-letter" }, LETTERS[index]), cell))));
    box.replaceChildren(row("Sessions", view.sessions.map((session) => this.head(session))),
      view.tasks.shared.length ? el("details", { class: "rd-cmp-task" }, el("summary", {}, differing.length ? "What their tasks have in common" : "Their task"),
        view.tasks.shared.map(([name, text]) => [el("h3", {}, name), plainText(text)])) : "",
      this.settings(view),
      ...view.rows.map(({ name, cells }) => row(name, cells.map((parts, index) => (parts.length ? parts.map((part) => this.cell(view.sessions[index].id, part)) : el("p", { class: "rd-hint" }, "Nothing in this round."))))),
      row("Result", view.results.map(({ draft, why }, index) => [draft ? changedDraft(view.sessions[index].id, draft, null) : el("p", {}, "There is no draft."), el("p", { class: "rd-verdict" }, why)])));
    const options = () => view.sessions.map((session, index) => el("option", { value: session.id }, `${LETTERS[index]}: ${session.title}`));
    this.part("old").replaceChildren(...options());
    this.part("new").replaceChildren(...options());
    this.part("new").selectedIndex = 1;
    this.root.dataset.state = "sides";
    this.differ();
  }

  head(session) {
    const { calls, tokens, seconds, money } = session.spent;
    return [el("h3", { dir: "auto" }, el("a", { href: address("/session/", { id: session.id }) }, session.title || "(without a title)")),
      el("p", { class: "rd-figures" }, session.about.join(" · ")),
      el("p", { class: "rd-figures" }, `${calls} calls · ${tokens.toLocaleString("en")} tokens · ${number(seconds)} s${money === null ? "" : ` · cost ${money.toFixed(4)}`}`)];
  }

  settings(view) {
    if (!view.differences.length) return el("p", { class: "rd-hint" }, "They were made with the same settings.");
    const heads = view.sessions.map((_, index) => el("th", { scope: "col" }, LETTERS[index]));
    return el("details", { class: "rd-cmp-settings", open: true }, el("summary", {}, `Settings that differ: ${view.differences.length}`),
      el("div", { class: "rd-cmp-table-box", tabindex: "0", role: "region", "aria-label": "Settings that differ" }, el("table", { class: "rd-cmp-table" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Setting"), heads)),
        el("tbody", {}, view.differences.map(({ name, values }) => el("tr", {}, el("th", { scope: "row" }, name), values.map((value) => el("td", {}, value || "—"))))))));
  }

  cell(session, { heading, draft, points, text, remark, chosen }) {
    return el("div", { class: "rd-cmp-part" }, heading ? el("h3", {}, heading, chosen ? " (chosen)" : "") : null, draft ? changedDraft(session, draft, null) : null,
      points && points.length ? el("ul", { class: "rd-points" }, points.map(({ severity, problem, action }) => el("li", {}, severity === "unstated" ? null : el("span", { class: `rd-severity ${severity}` }, severity), " ", problem, action ? el("span", { class: "rd-action" }, action) : null))) : null,
      text ? plainText(text) : null, remark ? el("p", { class: "rd-ruling" }, remark) : null);
  }

  async differ() {
    const [old, now] = [this.part("old").value, this.part("new").value];
    const turn = (this.turn = (this.turn || 0) + 1);
    const found = await this.ask(() => getJson(`/api/compare/difference?${new URLSearchParams({ old, new: now })}`));
    if (!found || turn !== this.turn) return;
    const same = found.pieces && found.pieces.every(([kind]) => kind === "same");
    this.part("difference").replaceChildren(...[found.pieces === null && el("p", {}, "One of them has no text yet."), same && el("p", {}, "The two results are the same."), found.pieces && difference(found.pieces, null)].filter(Boolean));
  }
}

window.redraftCompare = (element) => {
  const root = element.querySelector(".rd-cmp");
  if (root.dataset.ready) return;
  root.dataset.ready = "1";
  new Compare(root);
};
