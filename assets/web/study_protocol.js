// The protocol of a draft as a form. Values go to the server by the names that the protocol has.
import { el } from "./dom.js";

const CHOICES = [["tie", "Tie"], ["both_bad", "Both bad"], ["skip", "Skip"]];
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

const TEXTS = [["question", "Question", "input"], ["instructions", "Instructions", "area"], ["consent", "Consent (empty: not asked for)", "area"], ["criteria", "Criteria, one a line", "lines"]];
const NUMBERS = [["target", "Votes wanted for each pair"], ["per_rater", "Answers of one rater at most (0: no limit)"], ["stop_votes", "Stop at so many votes (0: never)"],
  ["gold_share", "Share of gold items"], ["attention_share", "Share of attention items"], ["retest_share", "Share asked again, sides turned"],
  ["reserve_minutes", "Minutes until an unanswered pair goes back"], ["preference", "Preference planned for"], ["power", "Power planned for"], ["draws", "Draws of the bootstrap"], ["seed", "Seed of all orders that are no secret"]];
const ENDS = [["stop_at", "Stop at this moment (2026-12-24T18:00:00+01:00)", "input"], ["completion_code", "Completion code", "input"], ["return_url", "Return URL ({code} and the platform's own parameters are filled in)", "input"],
  ["closing_question", "Closing question, about one pair", "input"], ["closing_system", "System that is its right answer", "input"], ["aliases", "Other names that would give a system away, one a line", "lines"]];

export const protocolForm = (page, { protocol, rules }) => {
  const fields = {};
  const field = ([name, label, kind]) => {
    const value = kind === "lines" ? protocol[name].join("\n") : protocol[name];
    const node = kind === "input" || kind === "number" ? el("input", { id: `rd-p-${name}`, autocomplete: "off", ...(kind === "number" ? { type: "number", step: "any" } : {}) }) : el("textarea", { id: `rd-p-${name}`, rows: 3 });
    node.value = value;
    fields[name] = () => (kind === "lines" ? lines(node.value) : kind === "number" ? Number(node.value) : node.value);
    return el("div", {}, el("label", { for: `rd-p-${name}` }, label), node);
  };
  const tick = (name, label, on) => { const box = el("input", { type: "checkbox", id: `rd-p-${name}` }); box.checked = on; return [box, el("label", { class: "rd-tick" }, box, label)]; };
  const choices = CHOICES.map(([name, label]) => [name, ...tick(`choice-${name}`, label, protocol.choices.includes(name))]);
  const strength = tick("ask_strength", "Ask how clear it is", protocol.ask_strength), reason = tick("ask_reason", "Ask for a reason", protocol.ask_reason);
  const dropped = tick("both_bad", "Both bad is no vote (otherwise it counts as a tie)", protocol.both_bad === "dropped");
  const exclusions = Object.entries(rules).map(([rule, meaning]) => {
    const node = el("input", { id: `rd-x-${rule}`, type: "number", step: "any", placeholder: "not used" });
    node.value = protocol.exclusions.find((one) => one.rule === rule)?.limit ?? "";
    return [rule, node, el("div", {}, el("label", { for: `rd-x-${rule}` }, meaning), node)];
  });
  const pairs = el("textarea", { id: "rd-p-pairs", rows: 2, placeholder: "all pairs" });
  pairs.value = protocol.pairs.map((pair) => pair.join(" | ")).join("\n");

  const values = () => ({
    ...Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, read()])),
    choices: ["left", "right", ...choices.filter(([, box]) => box.checked).map(([name]) => name)],
    ask_strength: strength[0].checked, ask_reason: reason[0].checked, both_bad: dropped[0].checked ? "dropped" : "tie",
    exclusions: exclusions.filter(([, node]) => node.value !== "").map(([rule, node]) => ({ rule, limit: Number(node.value) })),
    pairs: lines(pairs.value).map((line) => line.split("|").map((name) => name.trim())),
  });
  const save = async () => { if (await page.post("/protocol", { protocol: values() })) { page.unsaved = null; await page.show(); page.say("The protocol is saved."); } };

  const number = ([name, label]) => field([name, label, "number"]);
  return el("form", { class: "rd-protocol", oninput: () => { page.unsaved = page.id; }, onsubmit: (event) => { event.preventDefault(); save(); } },
    el("div", { class: "rd-wide" }, TEXTS.map(field)),
    el("fieldset", {}, el("legend", {}, "Choices beside left and right"), choices.map(([, , label]) => label)),
    el("fieldset", {}, el("legend", {}, "Beside the choice"), strength[1], reason[1], dropped[1]),
    el("div", { class: "rd-grid" }, NUMBERS.slice(0, 3).map(number)),
    el("details", {}, el("summary", {}, "Checks, exclusion rules, limits"), el("p", { class: "rd-soft" }, "Votes that break a rule are marked, never deleted; the report comes with and without them."),
      el("div", { class: "rd-grid" }, NUMBERS.slice(3).map(number), exclusions.map(([, , node]) => node))),
    el("details", {}, el("summary", {}, "End, closing question, pairs, names"), el("div", { class: "rd-wide" }, ENDS.map(field),
      el("div", {}, el("label", { for: "rd-p-pairs" }, "Pairs of systems, one a line: first | second"), pairs))),
    el("div", { class: "rd-buttons" }, el("button", { type: "submit", class: "rd-primary" }, "Save the protocol")));
};
