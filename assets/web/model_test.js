// The test of one model: asks the server for it, and shows what comes back. Every word of the model
// goes through textContent.
import { button, el } from "./dom.js";

export const LOST = "The server could not be reached. Look whether it still runs, and try again.";
const ABILITIES = [
  ["logprobs", "Scores its words as it writes"],
  ["top_logprobs", "Tells the words it might have written instead"],
  ["scoring", "Scores any given text"],
  ["seed", "Repeats itself with the same seed"],
  ["n", "Several answers to one request"],
  ["streaming", "Shows text while it is written"],
];
const SAYS = new Map([[true, "yes"], [false, "no"], [null, "not known before it is used"]]);

// Hears each line of a test as it comes; a test whose last line is missing broke off.
async function check(name, signal, hear) {
  const response = await fetch("/api/models/check", { method: "POST", signal,
    headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name }) });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    text += value || "";
    const lines = text.split("\n");
    text = done ? "" : lines.pop();
    for (const line of lines) if (line.trim()) hear(JSON.parse(line));
    if (done) return;
  }
}

const token = ([text, logprob]) => {
  if (logprob === null) return text;
  const share = Math.exp(logprob);
  const level = [0.5, 0.2, 0.05].filter((limit) => share < limit).length;
  return el("span", { class: "rd-token", "data-level": level,
    title: `${share < 0.01 ? "under 1" : Math.round(share * 100)} %, logprob ${logprob.toFixed(2)}` }, text);
};

const reportOf = (report) => {
  const rows = ABILITIES.map(([name, words]) => [words, SAYS.get(report.capabilities[name])]);
  const context = report.capabilities.context_tokens;
  rows.push(["Context", context === null ? "not stated" : `${context} tokens`]);
  const mean = report.mean_logprob === null ? "" : ` Mean ${report.mean_logprob.toFixed(2)}.`;
  const scored = report.condition
    ? [el("div", { class: "rd-text rd-scored" }, report.tokens.map(token)),
       el("p", { class: "rd-models-hint" }, `Scored ${report.condition}; the darker, the less likely. Point at a word for its number.${mean}`)]
    : [el("div", { class: "rd-text rd-scored" }, report.reply),
       el("p", { class: "rd-models-hint" }, report.reply ? "No scores of its words." : "It answered without any text; it may have spent the few words of this test on thinking.")];
  return [el("p", { class: "rd-reached" }, `Reached: ${report.reached_as} answered in ${report.seconds} s.`), scored,
    el("dl", {}, rows.map(([words, value]) => el("div", {}, el("dt", {}, words), el("dd", {}, value)))),
    report.notes.length ? el("ul", {}, report.notes.map((note) => el("li", {}, note))) : null];
};

// One row's test: at most one at a time, shown where it was asked for.
export class Test {
  constructor(name) {
    this.name = name;
    this.panel = el("div", { class: "rd-test", "aria-live": "polite" });
  }

  show(...children) { this.panel.replaceChildren(...children.flat(Infinity).filter(Boolean)); }

  async run() {
    if (this.running) return;
    const stop = (this.running = new AbortController());
    const seconds = el("span", { "aria-hidden": "true" });
    const notice = el("p", { class: "rd-models-hint" });
    const begun = Date.now();
    const clock = setInterval(() => { seconds.textContent = ` ${Math.round((Date.now() - begun) / 1000)} s`; }, 1000);
    this.show(el("p", {}, "Testing…", seconds), notice, button("Stop the test", () => stop.abort()));
    let last = { error: "The test broke off. Look whether the server still runs, and try again." };
    try {
      await check(this.name, stop.signal, (line) => { if (line.notice) notice.textContent = line.notice; else last = line; });
    } catch {
      last = { error: stop.signal.aborted ? "Stopped." : LOST };
    }
    clearInterval(clock);
    this.running = null;
    if (last.report) this.show(reportOf(last.report));
    else this.show(el("p", { class: "rd-failed" }, last.error));
  }
}
