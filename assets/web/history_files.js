// Files into the history and training data out of it. The server reads and makes them; this asks for it.
import { button, el } from "./dom.js";
import { saveBlob } from "./saving.js";

const KINDS = [["sft", "SFT: texts to write"], ["dpo", "DPO: a better and a worse text"], ["gsr", "GSR: write at once, and refine from candidates"]];
const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

const told = ({ new: fresh, known, deleted, alone }) => [`${count(fresh, "session")} imported`, known && `${known.toLocaleString("en")} here already`,
  deleted && `${deleted.toLocaleString("en")} of these deleted, which they stay`, alone && `${alone.toLocaleString("en")} without the session they were forked from`]
  .filter(Boolean).join(", ");

// -- in ----------------------------------------------------------------------------------------

export const importForm = (page, box) => {
  const file = el("input", { type: "file", id: "rd-import-file", accept: ".jsonl,.json,.csv,.tsv" });
  const model = el("input", { type: "text", id: "rd-import-model", maxlength: "200", autocomplete: "off", placeholder: "imported" });
  const submit = el("button", { type: "submit" }, "Import");
  const take = async (event) => {
    event.preventDefault();
    const [chosen] = file.files;
    if (!chosen) { page.fail("Choose a file first."); return; }
    submit.disabled = true;
    page.say(`Importing ${chosen.name} …`);
    const query = new URLSearchParams({ name: chosen.name, model: model.value });
    const answer = await page.ask(async () => (await fetch(`/api/history/import?${query}`, { method: "POST", body: chosen })).json());
    submit.disabled = false;
    if (!answer) { page.say(""); return; }
    await page.refresh();
    await page.choices();
    page.say(`${chosen.name}: ${told(answer)}.`);
  };
  box.append(el("p", { class: "rd-hint-line" }, "An export of Redraft, Self-Refine trajectories, or a table (CSV or JSON lines) with the columns draft and revision. All of a file, or nothing of it."),
    el("form", { class: "rd-tagging", onsubmit: take }, el("label", { for: "rd-import-file" }, "File"), file,
      el("label", { for: "rd-import-model" }, "Model that wrote the texts"), model, submit));
};

// -- out ---------------------------------------------------------------------------------------

export const trainingForm = (page, chosen) => {
  const kind = el("select", { id: "rd-training-kind" }, KINDS.map(([value, label]) => el("option", { value }, label)));
  const tick = (name, label, checked) => el("label", {}, el("input", { type: "checkbox", name, value: "1", checked }), " ", label);
  const field = (name, label, more) => el("label", {}, label, " ", el("input", { name, ...more }));
  const submit = el("button", { type: "submit" }, "Make the files");
  const make = async (event) => {
    event.preventDefault();
    const asked = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ""));
    submit.disabled = true;
    page.say("Making training data …");
    const answer = await page.ask(() => packed({ ...chosen(), ...asked, kind: kind.value }));
    submit.disabled = false;
    page.say(answer ? answer.said : "");
    if (answer) saveBlob(answer.name, answer.blob);
  };
  const form = el("form", { class: "rd-training", onsubmit: make },
    el("label", { for: "rd-training-kind" }, "Kind"), kind,
    el("fieldset", {}, el("legend", {}, "Learn texts that"), tick("accepted", "were accepted", true), tick("verifier", "passed a verifier", true)),
    field("scorer", "or by the score", { type: "text", placeholder: "judge", maxlength: "60", autocomplete: "off" }), field("threshold", "of at least", { type: "number", step: "any" }),
    tick("by_person", "only what a person ruled", false), field("held_out", "Share of tasks held out", { type: "number", min: "0", max: "0.9", step: "0.05", value: "0.1" }),
    el("div", { class: "rd-tagging" }, submit, button("Close", () => form.remove())));
  return form;
};

// The packed files, or the refusal as {"error": words}.
const packed = async (query) => {
  const answer = await fetch(`/api/history/training?${new URLSearchParams(query)}`);
  if (!answer.headers.has("Redraft-Said")) return answer.json();
  return { blob: await answer.blob(), name: `redraft-${query.kind}.zip`, said: answer.headers.get("Redraft-Said") };
};
