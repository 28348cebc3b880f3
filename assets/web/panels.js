// Around the rounds: how it ended, the settings for the steps to come, the tree of forks.
import { address, button, el, getJson, number, postJson } from "./dom.js";
import { plainText } from "./texts.js";

const FILES = [["txt", "the result only"], ["md", "Markdown"], ["html", "HTML"], ["csv", "CSV"], ["json", "JSON"]];
const ROLES = ["draft", "critique", "revise", "synthesise", "judge", "score", "reward"];

// -- the outcome ------------------------------------------------------------------------------

export const outcomePanel = (board, outcome) => {
  const copy = async (e) => {
    try { await navigator.clipboard.writeText(outcome.text); e.target.textContent = "Copied"; } catch { e.target.textContent = "Select the text to copy it"; }
  };
  const goOn = async () => { await board.branch("undo", {}); board.post("run", {}); };
  return [el("h2", {}, "Outcome"), el("p", {}, outcome.why), outcome.brought.map((line) => el("p", {}, line)),
    outcome.stopped ? button("Go on from here, in a copy", goOn, { class: "rd-primary", "data-key": "c" }) : null,
    outcome.text === null ? null : [plainText(outcome.text),
      el("div", { class: "rd-buttons" }, button("Copy", copy), button("Use as a new task", () => board.newTask(outcome.text)), button("Study this", () => study(board), { title: "A blind study of the first draft against this outcome" }))],
    el("p", {}, el("a", { href: address("/session/", { id: board.session }), class: "rd-link" }, "Every step, as it was asked and answered"), " · As a file: ", files(board, outcome))];
};

// A study of this session; more items can be brought into it there.
const study = async (board) => {
  const answer = await postJson("/api/studies", { name: "First draft against outcome", sessions: [board.session] }).catch(() => ({ error: "The server could not be reached. Try again." }));
  if (answer.id) location.assign(address("/studies/", { study: answer.id }));
  else board.part("message").textContent = answer.error || answer.detail;
};

const files = (board, outcome) => FILES.filter(([form]) => form !== "txt" || outcome.text !== null).map(([form, label], index) => [index ? " · " : "",
  el("a", { href: board.url(`export?form=${form}`), download: `session.${form}`, class: "rd-link" }, label)]);

// -- settings ---------------------------------------------------------------------------------

export const settingsForm = (settings) => {
  const field = (name, label, value, more = {}) => el("label", {}, label, el("input", { name, value: value ?? "", ...more }));
  const whole = { type: "number", min: 1, step: 1, placeholder: "no limit" };
  return [field("model", "Model", settings.model, { autocomplete: "off" }),
    ...ROLES.map((role) => el("label", {}, `For ${role}`, el("input", { "data-role": role, value: settings.models[role] ?? "", placeholder: "the same model", autocomplete: "off" }))),
    field("rounds", "Rounds at most", settings.rounds, { type: "number", min: 1, max: 50 }), field("calls", "Calls at most", settings.calls, whole),
    field("tokens", "Tokens at most", settings.tokens, whole), field("seconds", "Seconds of model time at most", settings.seconds, { ...whole, step: "any" }),
    el("label", { hidden: !settings.priced }, "Money at most", el("input", { name: "money", value: settings.money ?? "", type: "number", min: 0, step: "any" })),
    el("button", { class: "rd-primary" }, "Set for the steps to come")];
};

// What the form says, as the settings route takes it.
export const settingsOf = (form) => {
  const limit = (name) => (form.elements[name].value === "" ? null : Number(form.elements[name].value));
  const models = Object.fromEntries([...form.querySelectorAll("[data-role]")].map((input) => [input.dataset.role, input.value.trim()]));
  return { model: form.elements.model.value.trim(), models, rounds: limit("rounds"), calls: limit("calls"), tokens: limit("tokens"),
    seconds: limit("seconds"), money: limit("money") };
};

// -- forks ------------------------------------------------------------------------------------

export const drawFamily = async (board) => {
  if (!board.part("versions").open) return;
  const { sessions = [], error } = await getJson(board.url("family"));
  const items = (parent) => sessions.filter((s) => s.parent === parent || (parent === null && !sessions.some((other) => other.session === s.parent)));
  const tree = (parent) => {
    const children = items(parent);
    return children.length ? el("ul", { class: "rd-tree" }, children.map((s) => el("li", {}, version(board, s), tree(s.session)))) : null;
  };
  board.part("versions-body").replaceChildren(...[error ? el("p", {}, error) : tree(null)].filter(Boolean));
};

const version = (board, s) => {
  const words = `${s.strategy} · ${s.steps} steps${s.forked_at === null ? "" : `, from step ${s.forked_at}`} · ${s.state}${s.score === null ? "" : ` · ${number(s.score)}`}`;
  return el("span", { class: s.on_best_path ? "rd-best-path" : "" }, s.here ? el("b", {}, `this session: ${words}`) : sessionLink(board, s.session, words),
    s.best ? el("span", { class: "rd-chip up" }, "best score") : null);
};

// A link to another session, which this page then shows without being loaded anew.
export const sessionLink = (board, session, words) =>
  el("a", { href: address("/", { session }), onclick: (e) => { if (e.ctrlKey || e.metaKey || e.shiftKey) return; e.preventDefault(); board.goTo(session); } }, words);
