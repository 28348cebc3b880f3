// The values of a preset as a form. It holds none: what the text says is drawn, what a person changes is given to `change`.
import { button, el } from "./dom.js";

const field = (row, id, change) => {
  const common = { id, "data-path": JSON.stringify(row.path), onchange: (event) => change(row.path, event.target.value) };
  if (row.kind === "choice") {
    const known = row.choices.some(([value]) => value === row.value);
    const choices = known ? row.choices : [[row.value, row.value], ...row.choices];
    return el("select", common, choices.map(([value, label]) => el("option", { value, selected: value === row.value }, label)));
  }
  const box = row.kind === "long" ? el("textarea", { rows: 2, ...common }) : el("input", { type: "text", ...(row.kind === "number" ? { inputmode: "numeric" } : {}), ...common });
  box.value = row.value;
  return box;
};

const line = (row, place, { change, goTo }) => {
  const id = `rd-value-${place}`;
  return el("div", { class: `rd-row rd-row-${row.kind}` }, el("label", { for: id }, row.label), field(row, id, change),
    button(`line ${row.line}`, () => goTo(row.line), { class: "rd-to-line", "aria-label": `${row.label}: to line ${row.line}` }));
};

// Draws the groups anew, and gives the focus back to the field that had it. A field that someone is
// changing is left alone: the text follows it as soon as they are done.
export const drawValues = (box, groups, act) => {
  const active = document.activeElement;
  const path = box.contains(active) ? active.dataset.path : null;
  const kept = path ? { value: active.value, from: active.selectionStart } : null;
  let place = 0;
  box.replaceChildren(...groups.map((group) => el("fieldset", {}, el("legend", {}, group.title), group.rows.map((row) => line(row, place++, act)))));
  if (!path) return;
  const again = [...box.querySelectorAll("[data-path]")].find((each) => each.dataset.path === path);
  if (!again) return;
  if (again.tagName !== "SELECT") again.value = kept.value;
  again.focus({ preventScroll: true });
  if (kept.from !== null && again.setSelectionRange) again.setSelectionRange(kept.from, kept.from);
};
