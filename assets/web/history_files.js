// Files into the history and training data out of it. The server reads and makes them; this asks for it.
import { button, count, el, once } from "./dom.js";
import { saveBlob } from "./saving.js";

const KINDS = [["sft", "SFT: texts to write"], ["dpo", "DPO: a better and a worse text"], ["gsr", "GSR: write at once, and refine from candidates"]];

const told = ({ new: fresh, known, deleted, alone }) => [`${count(fresh, "session")} imported`, known && `${known.toLocaleString("en")} here already`,
  deleted && `${deleted.toLocaleString("en")} of these deleted, which they stay`, alone && `${alone.toLocaleString("en")} without the session they were forked from`]
  .filter(Boolean).join(", ");

// -- in ----------------------------------------------------------------------------------------

export const importForm = (page, box) => {
  const file = el("input", { type: "file", id: "rd-import-file", accept: ".jsonl,.json,.csv,.tsv" });
  const source = el("input", { type: "text", id: "rd-import-source", maxlength: "200", autocomplete: "off", placeholder: "the file's name" });
  const model = el("input", { type: "text", id: "rd-import-model", maxlength: "200", autocomplete: "off", placeholder: "imported" });
  const submit = el("button", { type: "submit" }, "Import");
  const take = async (event) => {
    event.preventDefault();
    const [chosen] = file.files;
    if (!chosen) { page.fail("Choose a file first."); return; }
    submit.disabled = true;
    page.say(`Importing ${chosen.name} …`);
    const query = new URLSearchParams({ name: source.value.trim() || chosen.name, model: model.value });
    const answer = await page.ask(async () => (await fetch(`/api/history/import?${query}`, { method: "POST", body: chosen })).json());
    submit.disabled = false;
    if (!answer) { page.say(""); return; }
    await page.search();  // what was chosen is chosen no more: the list has others now
    await page.choices();
    page.say(`${chosen.name}: ${told(answer)}.`);
  };
  box.append(el("p", { class: "rd-hint-line" }, "An export of Redraft, Self-Refine trajectories, or a table (CSV or JSON lines) with the columns draft and revision. All of a file, or nothing of it. Files of one source hold the same records: another file of the same name needs a source of its own."),
    el("form", { class: "rd-tagging", onsubmit: once(take) }, el("label", { for: "rd-import-file" }, "File"), file,
      el("label", { for: "rd-import-source" }, "Source"), source, el("label", { for: "rd-import-model" }, "Model that wrote the texts"), model, submit));
};

// -- out ---------------------------------------------------------------------------------------

export const trainingForm = (page, chosen, closed) => {
  const kind = el("select", { name: "kind", id: "rd-training-kind" }, KINDS.map(([value, label]) => el("option", { value }, label)));
  const scorer = el("select", { name: "scorer", id: "rd-training-scorer" }, el("option", { value: "" }, "no score"), page.scores.map(([value, label]) => el("option", { value }, label)));
  const tick = (name, label, checked) => el("label", {}, el("input", { type: "checkbox", name, checked }), " ", label);
  const field = (name, label, more) => el("label", {}, label, " ", el("input", { name, type: "number", step: "any", ...more }));
  const submit = el("button", { type: "submit" }, "Make the files");
  const make = async (event) => {
    event.preventDefault();
    const { elements } = event.target;
    const ticked = Object.fromEntries(["accepted", "verifier", "by_person"].map((name) => [name, elements[name].checked]));
    const threshold = elements.threshold.value === "" ? null : Number(elements.threshold.value);
    submit.disabled = true;
    page.say("Making training data …");
    const answer = await page.ask(() => packed({ ...chosen(), ...ticked, kind: kind.value, scorer: scorer.value, threshold, held_out: Number(elements.held_out.value) }));
    submit.disabled = false;
    page.say(answer ? answer.said : "");
    if (answer) saveBlob(`redraft-${kind.value}.zip`, answer.blob);
  };
  return el("form", { class: "rd-training", onsubmit: once(make) },
    el("label", { for: "rd-training-kind" }, "Kind"), kind,
    el("fieldset", {}, el("legend", {}, "Learn texts that"), tick("accepted", "were accepted", true), tick("verifier", "passed a verifier", true)),
    el("label", { for: "rd-training-scorer" }, "or by"), scorer, field("threshold", "of at least", {}),
    tick("by_person", "only what a person ruled", false), field("held_out", "Share of tasks held out", { min: "0", max: "0.95", step: "0.05", value: "0.1" }),
    el("div", { class: "rd-tagging" }, submit, button("Close", closed)));
};

// The packed files, or the refusal as {"error": words}.
const packed = async (asked) => {
  const answer = await fetch("/api/history/training", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
  if (!answer.headers.has("Redraft-Said")) return answer.json();
  return { blob: await answer.blob(), said: answer.headers.get("Redraft-Said") };
};
