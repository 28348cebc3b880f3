// The raters' page. Shows the one view that the server gives, and sends what is chosen. Knows nothing of who wrote what.
import { insist, lasting, newId, passing, send, sendKept } from "./rate_post.js";

const $ = (id) => document.getElementById(id);
const NAMES = { left: "Left", right: "Right", tie: "Tie", both_bad: "Both bad", skip: "Skip", unsure: "Not sure" };
const KEYS = { 1: "left", ArrowLeft: "left", 2: "right", ArrowRight: "right", 0: "tie", b: "both_bad", s: "skip" };
const TITLES = { consent: "About this study", done: "Done", waiting: "Nothing to judge at the moment", paused: "A pause", closed: "The study has ended", closing: "A last question", refused: "This does not lead to a study" };
const UNSENT = "Not sent yet, trying again. Your answer is kept on this device; the page may stay open or be closed.";
const UNSEEN = "The server can't be reached at the moment, trying again.";
const START = Date.now();

let view = null, busy = false, active = 0, since = null;

// -- drawing ------------------------------------------------------------------------------------

const text = (id, words) => { $(id).textContent = words; };

const option = (group, value, words) => {
  const input = Object.assign(document.createElement("input"), { type: "radio", name: group, value });
  const label = document.createElement("label"), span = document.createElement("span");
  span.textContent = words;
  label.append(input, span);
  return label;
};

const criterion = (name, place, choices) => {
  const field = document.createElement("fieldset"), legend = document.createElement("legend"), row = document.createElement("div");
  legend.textContent = name;
  row.className = "options";
  row.append(...choices.filter((c) => c !== "skip").map((c) => option(`criterion ${place}`, c, NAMES[c])));
  field.append(legend, row);
  return field;
};

const show = (next, refusal = "") => {
  const same = view?.pair && next.pair?.token === view.pair.token && next.state === view.state;
  view = next;
  document.body.dataset.state = next.state;
  text("notice", refusal);
  const { done, of } = next.progress;
  const number = next.pair?.practice ? "A pair for practice" : `Pair ${done + 1} of about ${Math.max(of, done + 1)}`;
  text("title", TITLES[next.state] || number);
  Object.assign($("bar"), { max: Math.max(of, 1), value: done });
  text("left-over", timeLeft(of - done));
  $("undo").hidden = !next.can_undo;
  if (same) return;
  if (next.pair) drawPair(next);
  else drawWords(next);
  since = next.pair && !document.hidden ? performance.now() : null;
  active = 0;
  if (Date.now() - START > 300 || next.state !== "pair") $("title").focus();
  scrollTo(0, 0);
};

const drawWords = (next) => {
  text("about", next.instructions);
  text("consent", next.consent);
  text("message", next.message);
  text("code", next.completion_code);
  $("code-line").hidden = !next.completion_code;
  $("return").hidden = !next.return_url;
  if (next.return_url) $("return").href = next.return_url;
  $("again").hidden = !["waiting", "paused"].includes(next.state);
};

const drawPair = ({ state, pair, question, choices, criteria, ask_reason, instructions }) => {
  const closing = state === "closing";
  text("instructions", instructions);
  $("practice").hidden = !pair.practice;
  $("asked").hidden = !pair.prompt.trim();
  text("prompt", pair.prompt);
  for (const side of ["left", "right"]) $(side).querySelector(".words").textContent = pair[side];
  text("question", question);
  $("choices").replaceChildren(...(closing ? ["left", "right", "unsure"] : choices).map((c) => option("choice", c, NAMES[c])));
  $("strength").replaceChildren(option("strength", 1, "Slightly"), option("strength", 2, "Clearly"));
  $("criteria").replaceChildren(...(closing ? [] : criteria).map((name, place) => criterion(name, place, choices)));
  $("reason").value = "";
  $("reason-line").hidden = !(closing || ask_reason);
  text("reason-label", closing ? "Did you recognise anything? (you need not say)" : "Why? (you need not say)");
  $("ballot").querySelector("[type=submit]").textContent = closing ? "Finish" : "Next";
  restore();
  settle();
};

// The strength of a preference is asked where there is one.
const settle = () => { $("strength-line").hidden = !(view.ask_strength && ["left", "right"].includes(chosen("choice"))); };

const timeLeft = (pairs) => {
  const pace = passing.get("pace");
  if (!pace || pace.answers < 3 || pairs < 1) return "";
  const minutes = Math.ceil((pace.ms / pace.answers) * pairs / 60000);
  return `about ${minutes} ${minutes === 1 ? "minute" : "minutes"} left`;
};

// -- what is chosen -------------------------------------------------------------------------------

const chosen = (group) => document.querySelector(`input[name="${group}"]:checked`)?.value ?? null;
const choose = (group, value) => { const input = document.querySelector(`input[name="${group}"][value="${value}"]`); if (input) input.checked = true; return Boolean(input); };

const filled = () => ({
  choice: chosen("choice"), strength: chosen("strength"), reason: $("reason").value,
  criteria: Object.fromEntries((view.criteria || []).map((name, place) => [place, chosen(`criterion ${place}`)]).filter(([, value]) => value)),
});

// What is filled in outlives a reload.
const keep = () => { if (view?.pair) passing.set("draft", { pair: view.pair.token, state: view.state, ...filled() }); settle(); };
const restore = () => {
  const draft = passing.get("draft");
  if (!draft || draft.pair !== view.pair.token || draft.state !== view.state) return;
  if (draft.choice) choose("choice", draft.choice);
  if (draft.strength) choose("strength", draft.strength);
  for (const [place, value] of Object.entries(draft.criteria)) choose(`criterion ${place}`, value);
  $("reason").value = draft.reason;
};

const ballot = () => {
  const { choice, strength, reason, criteria } = filled();
  const sided = view.ask_strength && ["left", "right"].includes(choice);
  return {
    pair: view.pair.token, id: newId(), choice, strength: sided ? Number(strength) : 0, reason: view.ask_reason ? reason : "",
    criteria: Object.fromEntries(Object.entries(criteria).map(([place, value]) => [view.criteria[place], value])), active_ms: activeTime(),
  };
};

const activeTime = () => Math.round(active + (since === null ? 0 : performance.now() - since));

// -- asking and sending ----------------------------------------------------------------------------

const unsent = (trying) => text("unsent", trying ? UNSENT : "");
const unseen = (trying) => text("unsent", trying ? UNSEEN : "");

const working = async (work) => {
  if (busy) return;
  busy = true;
  document.body.dataset.busy = "";
  try { await take(await work()); } finally { busy = false; delete document.body.dataset.busy; }
};

// A view is shown; after a refusal its words, with what the server says is next.
const take = async (answer) => {
  if (!answer.error) return show(answer);
  const next = ["link", "join"].includes(answer.kind) ? null : await insist("now", null, unseen);
  if (next && !next.error) show(next, answer.error);
  else show({ state: "refused", message: (next || answer).error, progress: { done: 0, of: 0 } });
};

const look = () => insist("now", null, unseen);
const refresh = () => working(look);

const submit = () => {
  if (busy || !view.pair) return;
  if (!chosen("choice")) {
    text("missing", "Choose an answer first.");
    document.querySelector("#choices input").focus();
    return;
  }
  text("missing", "");
  text("notice", "");
  if (view.state === "closing") { working(() => send("close", { guess: chosen("choice"), recognised: $("reason").value }, unsent)); return; }
  const body = ballot(), pace = passing.get("pace") || { answers: 0, ms: 0 };
  passing.set("pace", { answers: pace.answers + 1, ms: pace.ms + body.active_ms });
  working(async () => { const answer = await send("answer", body, unsent); passing.drop("draft"); return answer; });
};

const undo = () => { if (view?.can_undo && !busy) working(() => send("undo", { id: newId() }, unsent)); };

// By a link for everybody this page is shown at the link's own address, and asks to be let in.
const begin = async () => {
  const link = location.pathname.match(/^\/r\/([^/]+)$/);
  if (!link) return (await sendKept(unsent)) || look();
  const answer = await insist("enter", { token: decodeURIComponent(link[1]), crowd: Object.fromEntries(new URLSearchParams(location.search)) }, unseen);
  if (!answer.error) history.replaceState(null, "", "/rate/");
  return answer;
};

// -- hands ----------------------------------------------------------------------------------------

$("ballot").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
$("ballot").addEventListener("input", keep);
$("undo").addEventListener("click", undo);
$("again").addEventListener("click", refresh);
$("agree").addEventListener("click", () => working(() => insist("agree", {}, unsent)));
$("copy").addEventListener("click", async () => {
  try { await navigator.clipboard.writeText(view.completion_code); text("copy", "Copied"); } catch { getSelection().selectAllChildren($("code")); }
});
$("switch").addEventListener("click", ({ target }) => {
  if (!target.dataset.show) return;
  document.body.dataset.shown = target.dataset.show;
  for (const button of $("switch").children) button.setAttribute("aria-pressed", String(button === target));
});
$("keys").checked = lasting.get("keys") !== false;
$("keys").addEventListener("change", () => lasting.set("keys", $("keys").checked));

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !view?.pair || busy) return;
  if (target.matches("textarea") || (key.startsWith("Arrow") && target.matches("input[type=radio]:not([name=choice])"))) return;
  if (key === "Enter") {
    if (target.matches("button, summary, a")) return;
    event.preventDefault();
    submit();
  } else if ($("keys").checked && key === "u") undo();
  else if ($("keys").checked && KEYS[key] && choose("choice", KEYS[key])) { event.preventDefault(); keep(); }
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) { active = activeTime(); since = null; return; }
  since = view?.pair ? performance.now() : null;
  // Another tab may have gone on meanwhile.
  if (view?.pair && !chosen("choice") && !$("reason").value) refresh();
});
addEventListener("pageshow", (event) => { if (event.persisted) refresh(); });
setInterval(() => { if (["waiting", "paused"].includes(view?.state) && !document.hidden) refresh(); }, 30000);

working(begin);
