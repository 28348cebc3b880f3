// The values of a preset as a form. It holds none: what the text says is drawn, what a person changes is given to `change`.
import { button, el } from "./dom.js";

const field = (row, id, act) => {
  const common = { id, "data-path": JSON.stringify(row.path), onchange: (event) => act.change(row.path, event.target.value) };
  if (row.kind === "choice") return el("select", common, row.choices.map(([value, label]) => el("option", { value }, label)));
  if (row.kind === "long") return el("textarea", { rows: 2, ...common });
  return el("input", { type: "text", ...(row.kind === "number" ? { inputmode: "numeric" } : {}), ...common });
};

const line = (row, place, act) => {
  const id = `rd-value-${place}`;
  const to = button("", (event) => act.goTo(Number(event.target.dataset.line)), { class: "rd-to-line" });
  return el("div", { class: `rd-row rd-row-${row.kind}` }, el("label", { for: id }, row.label), field(row, id, act), to);
};

const fill = (box, row) => {
  const [input, to] = [box.querySelector("[data-path]"), box.querySelector(".rd-to-line")];
  to.hidden = !row.line;
  to.textContent = `line ${row.line}`;
  to.dataset.line = row.line;
  to.setAttribute("aria-label", `${row.label}: to line ${row.line}`);
  if (input === document.activeElement && input.value !== input.dataset.drawn) return;  // someone is typing there
  if (row.kind === "choice" && ![...input.options].some((each) => each.value === row.value)) input.append(el("option", { value: row.value }, row.value));
  input.value = row.value;
  input.dataset.drawn = input.value;
};

// Fills the form in, and builds it anew only where it has other fields than before.
export const drawValues = (box, groups, act) => {
  const signature = JSON.stringify(groups.map(({ title, rows }) => [title, rows.map(({ label, path, kind, choices }) => [label, path, kind, choices])]));
  if (box.dataset.drawn !== signature) {
    const active = box.contains(document.activeElement) ? document.activeElement : null;
    const typing = active?.dataset.path && active.value !== active.dataset.drawn;
    if (typing) return act.change(JSON.parse(active.dataset.path), active.value);
    let place = 0;
    box.dataset.drawn = signature;
    box.replaceChildren(...groups.map(({ title, rows }) => el("fieldset", {}, el("legend", {}, title), rows.map((row) => line(row, place++, act)))));
    if (active?.dataset.path) [...box.querySelectorAll("[data-path]")].find((each) => each.dataset.path === active.dataset.path)?.focus({ preventScroll: true });
  }
  const rows = groups.flatMap((group) => group.rows);
  [...box.querySelectorAll(".rd-row")].forEach((each, place) => fill(each, rows[place]));
};
