// A study before its opening: its texts, names found in them, the protocol, how many votes it needs.
import { button, el, getJson } from "./dom.js";
import { protocolForm } from "./study_protocol.js";

const FLAGS = { refusal: "refusals", "meta-text": "about the text instead of the text", "cut off": "cut off", filtered: "held back by a filter" };
const DECISIONS = [["redact", "Redact"], ["keep", "Keep"], ["drop", "Drop the item"]];

export const section = (title, ...children) => el("section", { class: "rd-part" }, el("h2", {}, title), ...children);

export const setupPart = (page, study) => [
  section("1. Texts to compare", contents(study), ...sources(page)),
  study.elsewhere ? null : section("2. Names that would give a system away", ...leaks(page, study)),
  section(study.elsewhere ? "2. Protocol" : "3. Protocol", protocolForm(page, study)),
  study.elsewhere ? null : section("4. How many votes", ...planner(page, study)),
].filter(Boolean);

// -- texts --------------------------------------------------------------------------------------

const contents = ({ contents: c, elsewhere }) => {
  const items = Object.entries(c.items).map(([kind, number]) => `${number} ${kind === "item" ? "items" : `${kind} items`}`).join(", ");
  if (!items) return el("p", {}, "Nothing yet. Bring texts from a file or from sessions.");
  const flags = Object.entries(c.flags).map(([flag, number]) => `${number} ${FLAGS[flag] || flag}`).join(", ");
  return el("div", {}, el("p", {}, `${items} of ${c.systems} systems: `, c.names.map((name, n) => [n ? ", " : "", el("bdi", {}, name)]), "."),
    el("p", { class: "rd-soft" }, elsewhere ? "Votes from elsewhere: lock the study, then read its report." : `${c.pairings.asked} pairs will be asked; ${c.pairings.identical} with identical texts are not; ${c.dropped} items are dropped.`),
    flags && el("p", { class: "rd-note" }, `Flagged among the texts: ${flags}.`),
    c.shown.length ? el("details", {}, el("summary", {}, "Show the items"), el("ol", { class: "rd-items" }, c.shown.map((item) => el("li", {}, el("b", {}, item.key), item.stratum ? ` [${item.stratum}]` : "", item.kind === "item" ? "" : ` (${item.kind})`, " ", item.prompt)))) : null);
};

const sources = (page) => {
  const added = async (answer) => {
    if (!answer) return;
    await page.show();
    page.say([`${answer.new} new ${answer.what}, ${answer.repeated} that were there already.`, ...answer.notes].join(" "));
  };
  return [fromFile(page, added), fromSessions(page, added), fromRecipes(page, added)];
};

const fromFile = (page, added) => {
  const file = el("input", { type: "file", id: "rd-study-file", accept: ".csv,.tsv,.json,.jsonl,text/csv,application/json" });
  const systems = el("input", { id: "rd-study-systems", autocomplete: "off", placeholder: "all that are left over" });
  const bring = async () => {
    if (!file.files.length) { page.fail("Choose a file first."); return; }
    const path = page.url(`/file?${new URLSearchParams({ systems: systems.value })}`);
    await added(await page.ask(async () => (await fetch(path, { method: "POST", body: file.files[0] })).json()));
  };
  return el("details", { open: true }, el("summary", {}, "From a file"), el("p", { class: "rd-soft" }, "CSV or JSON lines: a prompt, and a column (or a row) for each system. Self-Refine trajectories. Votes of others too: FastChat and MT-Bench battles, or rater, item, system_a, system_b, winner."),
    el("label", { for: "rd-study-file" }, "File"), file, el("label", { for: "rd-study-systems" }, "Columns that are systems, with commas between"), systems,
    el("div", { class: "rd-buttons" }, button("Bring the file in", bring, { class: "rd-primary" })));
};

const picker = (page, label) => {
  const list = el("div", { class: "rd-pick" }), ids = new Set();
  const search = el("input", { type: "search", "aria-label": `Search sessions: ${label}`, placeholder: "Search sessions" });
  const load = async () => {
    const answer = await page.ask(() => getJson(`/api/studies/sessions?${new URLSearchParams({ q: search.value })}`));
    if (!answer) return;
    list.replaceChildren(...answer.sessions.map((s) => {
      const box = el("input", { type: "checkbox", onchange: () => (box.checked ? ids.add(s.id) : ids.delete(s.id)) });
      box.checked = ids.has(s.id);
      return el("label", {}, box, el("bdi", {}, s.title), el("span", { class: "rd-soft" }, ` ${s.strategy}, ${s.model}`));
    }));
    if (!answer.sessions.length) list.replaceChildren(el("p", {}, "No session that has ended."));
  };
  search.addEventListener("change", load);
  return { ids, load, node: el("fieldset", {}, el("legend", {}, label), search, list) };
};

const fromSessions = (page, added) => {
  const pick = picker(page, "Sessions");
  const bring = async () => added(await page.post("/sessions", { sessions: [...pick.ids] }));
  return el("details", { ontoggle: (e) => e.target.open && pick.load() }, el("summary", {}, "From sessions: first draft against outcome"), pick.node,
    el("div", { class: "rd-buttons" }, button("Bring the ticked sessions in", bring, { class: "rd-primary" })));
};

const fromRecipes = (page, added) => {
  const arms = ["first", "second"].map((which) => ({ name: el("input", { autocomplete: "off", maxlength: 100, "aria-label": `Name of the ${which} recipe` }), pick: picker(page, `Sessions of the ${which} recipe`) }));
  const bring = async () => added(await page.post("/arms", { arms: Object.fromEntries(arms.map(({ name, pick }) => [name.value.trim(), [...pick.ids]])) }));
  return el("details", { ontoggle: (e) => e.target.open && arms.forEach(({ pick }) => pick.load()) }, el("summary", {}, "From two recipes: outcomes on the same tasks"),
    arms.map(({ name, pick }) => [el("span", { class: "rd-soft" }, "Name"), name, pick.node]), el("div", { class: "rd-buttons" }, button("Bring both in", bring, { class: "rd-primary" })));
};

// -- names --------------------------------------------------------------------------------------

const leaks = (page, { leaks: found, contents: c }) => {
  const decide = (decision, leak) => async () => { if (await page.post("/leak", leak === undefined ? { decision } : { decision, leak })) await page.show(); };
  const done = Object.entries(found.decided).map(([decision, number]) => `${number} ${decision === "drop" ? "dropped" : decision === "keep" ? "kept" : "redacted"}`).join(", ");
  const row = (leak) => el("li", {}, el("p", {}, el("b", {}, leak.alias), `${leak.times > 1 ? `, ${leak.times} times` : ""} in ${leak.where === "prompt" ? "the prompt" : "a text"} of `, el("bdi", {}, leak.item), ": ", el("q", {}, leak.context)),
    leak.decision === "open" ? el("div", { class: "rd-buttons" }, DECISIONS.map(([value, label]) => button(label, decide(value, leak.id), { "aria-label": `${label}: ${leak.alias} in ${leak.item}` }))) : el("p", { class: "rd-soft" }, `${leak.decision} by ${leak.by}`));
  return [el("p", {}, found.waiting ? `${found.waiting} wait for a decision.` : "Nothing waits for a decision.", done ? ` ${done}.` : ""),
    c.unsearched.length ? el("p", { class: "rd-note" }, `Too short to be looked for: ${c.unsearched.join(", ")}.`) : null,
    found.waiting > 1 ? el("div", { class: "rd-buttons" }, DECISIONS.map(([value, label]) => button(`${label}: all that wait`, decide(value)))) : null,
    el("ol", { class: "rd-leaks" }, found.shown.map(row))].filter(Boolean);
};

// -- power ----------------------------------------------------------------------------------------

const planner = (page, study) => {
  const field = (label, id, value, more) => [el("label", { for: id }, label), el("input", { id, value, type: "number", step: "any", ...more })];
  const inputs = [field("Preference to be found (0.5 to 1)", "rd-plan-preference", study.protocol.preference), field("Power", "rd-plan-power", study.protocol.power),
    field("Votes of one rater", "rd-plan-rater", study.protocol.per_rater || Math.max(study.contents.pairings.asked, 1)), field("Likeness of one rater's votes (ICC, 0 to 1)", "rd-plan-icc", 0.05), field("Share of ties", "rd-plan-ties", 0.15)];
  const answer = el("p", { class: "rd-plan", role: "status" });
  const value = (id) => page.root.querySelector(`#${id}`).value;
  const compute = async () => {
    const asked = { preference: value("rd-plan-preference"), power: value("rd-plan-power"), per_rater: value("rd-plan-rater"), icc: value("rd-plan-icc"), ties: value("rd-plan-ties") };
    const plan = await page.get(`/plan?${new URLSearchParams(asked)}`);
    if (!plan) return;
    const each = plan.pairings ? ` With ${plan.pairings} pairs that is a target of ${plan.target} votes a pair.` : "";
    answer.textContent = `${plan.decided} votes that are no ties, were they independent; with the ties and votes of one rater being alike (design effect ${plan.design_effect.toFixed(2)}), ${plan.votes} votes: ${plan.raters} raters of ${plan.votes_per_rater} each.${each}`;
  };
  return [el("p", { class: "rd-soft" }, "For the exact sign test, two-sided, 5 %."), el("div", { class: "rd-grid" }, inputs.map((pair) => el("div", {}, pair))), el("div", { class: "rd-buttons" }, button("Work it out", compute)), answer];
};
