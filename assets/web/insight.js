// The Insight page: asks for the figures of the sessions chosen and draws a chart for each question. What is
// chosen stands in the address.
import { address, button, count, el, getJson } from "./dom.js";
import { drawing, table } from "./insight_chart.js";
import { csvOf, savePng, saveSvg, saveText } from "./saving.js";

const LOST = "The server could not be reached. Reload the page to try again.";
const FIELDS = ["preset", "strategy", "model", "scorer", "tag", "since", "until", "by"];
const HEADS = ["question", "group", "series", "value", "low", "high", "n", "interval", "undefined because"];

class Insight {
  constructor(root) {
    this.root = root;
    this.form = this.part("filter");
    this.form.addEventListener("change", () => { if (this.valid()) { this.keep(); this.ask(); } });
    this.form.addEventListener("submit", (e) => e.preventDefault());
    this.part("all").addEventListener("click", () => { for (const name of FIELDS.slice(0, -1)) this.form.elements[name].value = ""; this.keep(); this.ask(); });
    window.addEventListener("popstate", () => this.ask());
    new ResizeObserver(([entry]) => this.resized(entry.contentRect.width)).observe(this.part("charts"));
    this.ask();
  }

  part(name) { return this.root.querySelector(`.rd-ins-${name}`); }
  asked() { const query = new URL(location).searchParams; return Object.fromEntries(FIELDS.filter((name) => query.get(name)).map((name) => [name, query.get(name)])); }
  valid() { return ["since", "until"].every((name) => this.form.elements[name].validity.valid); }

  keep() {
    const chosen = FIELDS.map((name) => [name, this.form.elements[name].value]).filter(([name, value]) => value && !(name === "by" && value === "strategy"));
    history.pushState(null, "", address(location.pathname, Object.fromEntries(chosen)));
  }

  async ask() {
    const turn = (this.turn = (this.turn || 0) + 1);
    this.root.setAttribute("aria-busy", "true");
    this.part("error").textContent = "";
    const found = await getJson(`/api/insight?${new URLSearchParams(this.asked())}`).catch(() => ({ error: LOST }));
    if (turn !== this.turn) return;
    this.root.removeAttribute("aria-busy");
    if (found.error || found.detail) { this.part("error").textContent = found.error || found.detail; this.root.dataset.state = "failed"; return; }
    this.fill(found);
    this.tell(found);
    this.charts = found.charts;
    this.draw();
    this.root.dataset.state = found.sessions ? "ready" : "none";
  }

  fill(found) {
    const asked = this.asked();
    const options = (name, usual, pairs) => {
      const select = this.form.elements[name], chosen = asked[name] || "";
      const unknown = chosen && !pairs.some(([value]) => value === chosen) ? [[chosen, chosen]] : [];
      select.replaceChildren(el("option", { value: "" }, usual), ...[...pairs, ...unknown].map(([value, label]) => el("option", { value }, label)));
      select.value = chosen;
    };
    for (const name of ["preset", "strategy", "model"]) options(name, "all", found.choices[name]);
    options("tag", "any or none", found.choices.tag);
    options("scorer", "the most frequent", found.scorers.map(([value, label, number]) => [value, `${label} (${number.toLocaleString("en")})`]));
    for (const name of ["since", "until"]) this.form.elements[name].value = asked[name] || "";
    this.form.elements.by.value = asked.by || "strategy";
  }

  tell({ sessions, forks, rounds, behind, scorer, scorers }) {
    const label = scorers.find(([value]) => value === scorer)?.[1];
    this.part("about").textContent = [`${count(sessions, "session")}${forks ? `, ${count(forks, "fork")} among them` : ""}, ${count(rounds, "round")} with a revision (a fork's copied rounds are counted once).`,
      label ? `Scores are those of ${label}.` : "No session here has a score that its gate goes by.",
      behind ? `${count(behind, "session")} with new steps ${behind === 1 ? "is" : "are"} not counted up to the last step yet.` : ""].filter(Boolean).join(" ");
  }

  resized(width) {
    if (this.charts && Math.abs(width - (this.drawnAt || 0)) > 20) this.draw();
  }

  draw() {
    const box = this.part("charts");
    this.drawnAt = box.clientWidth || this.root.clientWidth;
    box.replaceChildren(...this.charts.map((chart) => this.chart(chart)));
  }

  chart(chart) {
    const known = chart.lines.some((line) => line.figures.some((figure) => figure.value !== null));
    const width = Math.min(Math.max(280, this.drawnAt > 900 ? (this.drawnAt - 32) / 2 : this.drawnAt), 720);
    const picture = known ? drawing(chart, width) : null;
    const why = chart.lines.flatMap((line) => line.figures.map((figure) => figure.why)).find(Boolean) || "there is nothing to count";
    const id = `rd-ins-${chart.key}`;
    return el("section", { class: "rd-ins-chart", "data-key": chart.key, "aria-labelledby": id }, el("h2", { id }, chart.question),
      picture || el("p", { class: "rd-ins-undefined" }, `Undefined: ${why}.`), chart.notes.map((note) => el("p", { class: "rd-hint" }, note)),
      known ? el("details", { class: "rd-ins-figures" }, el("summary", {}, "Figures"), table(chart)) : null,
      el("div", { class: "rd-buttons" }, picture && button("SVG", () => saveSvg(`insight-${chart.key}`, picture), { class: "rd-small", "aria-label": `Save as SVG: ${chart.question}` }),
        picture && button("PNG", () => savePng(`insight-${chart.key}`, picture), { class: "rd-small", "aria-label": `Save as PNG: ${chart.question}` }),
        button("CSV", () => saveText(`insight-${chart.key}.csv`, csvOf(HEADS, rows(chart)), "text/csv"), { class: "rd-small", "aria-label": `Save as CSV: ${chart.question}` })));
  }
}

const rows = (chart) => chart.lines.flatMap((line) => line.figures.map(({ value, low, high, n, method, why }, index) => [chart.question, line.name, chart.series[index], value, low, high, n, method, why]));

window.redraftInsight = (element) => {
  const root = element.querySelector(".rd-ins");
  if (root.dataset.ready) return;
  root.dataset.ready = "1";
  new Insight(root);
};

