// A study that raters vote in: their links, and how it goes. Nothing here tells who wins.
import { button, choices, el } from "./dom.js";
import { section } from "./study_setup.js";

const EVERY = 5000;
const percent = (value) => (value?.undefined ? `undefined: ${value.undefined}` : `${(100 * value).toFixed(0)} %`);

export const livePart = (page, study) => {
  const box = el("div", { class: "rd-monitor" });
  page.look = () => refresh(page, box);
  page.look();
  // Only while the page is looked at.
  page.timer = setInterval(() => { if (!document.hidden) page.look(); }, EVERY);
  return [section("Links for raters", ...links(page, study)), section("How it goes", box)];
};

export const progressPart = (page) => {
  const box = el("div", { class: "rd-monitor" });
  return el("details", { class: "rd-part", ontoggle: (event) => event.target.open && refresh(page, box) }, el("summary", {}, "Raters, checks, exclusions and the log"), box);
};

// -- links --------------------------------------------------------------------------------------

const links = (page, study) => {
  const base = el("input", { id: "rd-base", autocomplete: "off" });
  base.value = study.rate_address || choices.get("rate-address", location.origin);
  base.addEventListener("change", () => choices.set("rate-address", base.value));
  const names = el("textarea", { id: "rd-names", rows: 3, placeholder: "one a line; or a number" });
  const made = el("div", { class: "rd-made" });
  const url = (token) => `${base.value.trim().replace(/\/+$/, "")}/r/${token}`;
  const show = (rows) => {
    const text = rows.map(([code, name, link]) => [code, link, name].filter(Boolean).join("\t")).join("\n");
    const copy = async (event) => { try { await navigator.clipboard.writeText(text); event.target.textContent = "Copied"; } catch { event.target.textContent = "Select them to copy"; } };
    made.replaceChildren(el("p", { class: "rd-note" }, "Links are shown this once: copy them now. Who has a link votes as its rater."), button("Copy all", copy),
      el("ol", {}, rows.map(([code, name, link]) => el("li", {}, code ? `${code} ` : "", el("a", { href: link }, link), name ? el("bdi", {}, ` ${name}`) : ""))));
  };
  const each = async () => {
    const said = names.value.trim();
    const wanted = /^\d+$/.test(said) ? Array(Math.min(Number(said), 2000)).fill("") : said.split("\n").map((name) => name.trim()).filter(Boolean);
    if (!wanted.length) { page.fail("Say for whom: names, or how many."); return; }
    const answer = await page.post("/links", { names: wanted });
    if (answer) { show(answer.links.map(({ code, name, token }) => [code, name, url(token)])); page.look(); }
  };
  const open = async () => { const answer = await page.post("/open-link", {}); if (answer) show([["", "for everybody; an earlier one has ended", url(answer.token)]]); };
  return [el("label", { for: "rd-base" }, "Where raters reach this server"), base,
    el("p", { class: "rd-soft" }, study.rate_address ? "Raters have an address of their own, which serves nothing else." : "Whoever reaches this address can open every page of it. For raters elsewhere start Redraft with --rate-port and publish that port alone."),
    el("label", { for: "rd-names" }, "Raters: names (for you alone), or a number"), names,
    el("div", { class: "rd-buttons" }, button("Make a link for each", each, { class: "rd-primary" }), button("One link for everybody", open)),
    el("p", { class: "rd-soft" }, "A crowd platform's parameters behind the link for everybody (?PROLIFIC_PID=…) are kept with the rater and known again."), made];
};

// -- the monitor ------------------------------------------------------------------------------------

const refresh = async (page, box) => {
  const found = await page.get("/monitor");
  if (!found) return;
  const focus = document.activeElement, key = box.contains(focus) ? focus.dataset.key : null;
  const typed = Object.fromEntries([...box.querySelectorAll("input[data-key]")].map((input) => [input.dataset.key, input.value]));
  const opened = [...box.querySelectorAll("details[open]")].map((one) => one.dataset.key);
  box.replaceChildren(...monitor(page, box, found));
  for (const [name, value] of Object.entries(typed)) { const input = box.querySelector(`input[data-key="${name}"]`); if (input) input.value = value; }
  for (const name of opened) { const one = box.querySelector(`details[data-key="${name}"]`); if (one) one.open = true; }
  if (key) box.querySelector(`[data-key="${key}"]`)?.focus();
};

const monitor = (page, box, found) => {
  const { pace, coverage, quality } = found;
  const facts = [["Votes", `${found.votes} of ${found.wanted}, ${found.reserved} under way`], ["Pace", `${pace.last_hour} in the last hour, ${pace.last_day} in the last day`],
    ["Complete at", pace.ready_at.undefined ? `undefined: ${pace.ready_at.undefined}` : `${pace.ready_at.slice(0, 16).replace("T", " ")} UTC at this pace`],
    ["Pairs", `${coverage.full} of ${coverage.pairings} have their votes; from ${coverage.least} to ${coverage.most} each; ${coverage.identical} with identical texts are not asked`],
    ["Sides", `${found.left} of ${found.decided} non-tied votes for the left; the two orders of a pair differ by ${found.side_gap} at most`],
    ["Gold items right", percent(quality.gold_right)], ["Attention items right", percent(quality.attention_right)], ["Same answer again", percent(quality.same_again)],
    ["Skipped, withdrawn, left out", `${quality.skipped}, ${quality.withdrawn}, ${quality.excluded}`], ["Refused posts", quality.refused]];
  return [el("progress", { max: Math.max(found.wanted, 1), value: found.votes, "aria-label": "Votes of those wanted" }),
    el("dl", { class: "rd-facts-list" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))])),
    raters(page, box, found), checks(quality.checks), marks(page, box, found), log(found.events)].filter(Boolean);
};

const table = (caption, columns, rows) => el("div", { class: "rd-wide-table", tabindex: "0", role: "region", "aria-label": caption }, el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col" }, c)))), el("tbody", {}, rows)));

const raters = (page, box, { raters: rows, marks: all }) => {
  const out = new Set(all.filter((mark) => mark.target === "rater" && !mark.lifted_at).map((mark) => mark.place));
  const row = (r) => el("tr", {}, el("th", { scope: "row" }, r.code), el("td", {}, el("bdi", {}, r.name)), el("td", {}, r.state), el("td", {}, r.answers?.votes ?? 0), el("td", {}, r.answers ? `${r.answers.left} of ${r.answers.decided}` : "–"),
    el("td", {}, r.answers && !r.answers.seconds.undefined ? r.answers.seconds.toFixed(1) : "–"), el("td", {}, r.last_seen?.slice(0, 16).replace("T", " ") ?? "–"), el("td", {}, r.crowd.map((pair) => pair.join("=")).join(" ")),
    el("td", {}, out.has(r.id) ? "left out" : leaveOut(page, box, r)));
  return rows.length ? table("Raters", ["Rater", "Name", "State", "Votes", "For the left", "Median s", "Last seen (UTC)", "Platform", ""], rows.map(row)) : el("p", {}, "There are no raters yet.");
};

const leaveOut = (page, box, rater) => {
  const act = async () => {
    const why = window.prompt(`Why are the answers of ${rater.code} left out? (kept with the study)`);
    if (why && await page.post("/exclude", { target: "rater", place: rater.id, why })) refresh(page, box);
  };
  return button("Leave out", act, { "data-key": `out-${rater.id}`, "aria-label": `Leave out ${rater.code}` });
};

const checks = (found) => (found.length ? table("Checks said beforehand", ["Rater", "Rule", "Verdict", "Value", "Limit"], found.map((c) => el("tr", {}, [c.rater, c.rule, c.verdict, c.value === null ? "–" : Number(c.value.toFixed(3)), c.limit].map((cell) => el("td", {}, String(cell)))))) : null);

const marks = (page, box, { marks: all }) => {
  const lift = (mark) => async () => { if (await page.post("/readmit", { mark: mark.id })) refresh(page, box); };
  return all.length ? el("div", {}, el("h3", {}, "Left out by you"), el("ul", {}, all.map((mark) => el("li", {}, `${mark.target} ${mark.place}: ${mark.why} (${mark.by}) `, mark.lifted_at ? "lifted" : button("Let back in", lift(mark), { "data-key": `mark-${mark.id}` }))))) : null;
};

const log = (events) => el("details", { "data-key": "log" }, el("summary", {}, "Log"), el("ol", { class: "rd-log" }, events.map((e) => el("li", {}, `${e.at.slice(0, 19).replace("T", " ")} ${e.actor} ${e.kind} `, el("span", { class: "rd-soft" }, JSON.stringify(e.detail))))));
