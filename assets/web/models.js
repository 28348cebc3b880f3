// The models drawer: lists, adds, tests and chooses models. Every name and every word of a model or an
// endpoint goes through textContent. A key leaves its field only towards the server and never comes
// back; what this browser prefers (model, roles, names typed in) is kept in localStorage.
import { button, choices, el } from "./dom.js";
import { LOST, Test } from "./model_test.js";

const FEW = 12;
const ROLES = ["draft", "critique", "revise", "judge", "score"];
const ABOUT_STARTER = "Comes with Redraft. It shows how everything works and is far too small to refine well.";

const stored = (name, usual) => { try { return JSON.parse(choices.get(name, "")) ?? usual; } catch { return usual; } };
const keep = (name, value) => choices.set(name, JSON.stringify(value));

// The roles that have a model of their own: {critique: "name"}.
window.redraftRoles = () => {
  const kept = stored("roles", {});
  return Object.fromEntries(ROLES.filter((role) => typeof kept[role] === "string" && kept[role]).map((role) => [role, kept[role]]));
};

// Enter in a field does what its button does. Not the usual thing as well: that would press whatever
// button has the focus afterwards.
const onEnter = (field, act) => field.addEventListener("keydown", (e) => {
  if (e.key === "Enter" && !e.isComposing) { e.preventDefault(); act(); }
});

const isLocal = (name) => /^(hf|gguf):./.test(name);

async function ask(path, body) {
  try {
    const sent = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    return await (await fetch(`/api/models${path}`, sent)).json();
  } catch {
    return { error: LOST, lost: true };
  }
}

class Drawer {
  constructor(root, trigger) {
    this.root = root;
    this.trigger = trigger;
    this.listing = { names: ["starter"], endpoints: [] };
    this.own = stored("models", []).filter((name) => typeof name === "string");
    this.tests = new Map();
    this.said = new Map();
    this.wireAdding();
    this.wireLocal();
    for (const select of root.querySelectorAll("[data-role]"))
      select.addEventListener("change", () => this.setRole(select.dataset.role, select.value));
    root.addEventListener("toggle", () => { if (root.open) this.refresh(); });
  }

  part(name) { return this.root.querySelector(`.rd-${name}`); }
  say(text) { this.part("models-problem").textContent = ""; this.part("models-said").textContent = text; }
  complain(text) { this.part("models-said").textContent = ""; this.part("models-problem").textContent = text; }

  get chosen() { return choices.get("model", "starter"); }

  async refresh() { this.take(await ask("")); }

  // A listing from the server, or its refusal; whether it was a listing.
  take(answer) {
    if (answer.error) { this.complain(answer.error); return false; }
    this.listing = answer;
    this.settle();
    this.draw();
    return true;
  }

  knows(name) {
    return name === "starter" || isLocal(name) || this.listing.endpoints.some((endpoint) => name.startsWith(`${endpoint.name}:`));
  }

  // The form's model was chosen there, or came with a session: the drawer shows the same.
  follow(name) {
    if (name === this.chosen || !this.knows(name)) return;
    choices.set("model", name);
    this.draw();
  }

  // What was chosen from an endpoint that is gone is chosen no longer.
  settle() {
    this.own = this.own.filter((name) => this.knows(name));
    keep("models", this.own);
    keep("roles", Object.fromEntries(Object.entries(window.redraftRoles()).filter(([, name]) => this.knows(name))));
    if (!this.knows(this.chosen)) this.use("starter");
  }

  use(name) {
    choices.set("model", name);
    this.announce();
    this.say(`${name} is chosen for what is started next.`);
    this.draw();
  }

  announce() {
    const name = this.chosen;
    this.trigger("chosen", { name });
    window.dispatchEvent(new CustomEvent("redraft:model", { detail: { name } }));
  }

  setRole(role, name) { keep("roles", { ...window.redraftRoles(), [role]: name }); }

  addOwn(name) {
    if (!this.own.includes(name) && !this.listing.names.includes(name)) this.own.push(name);
    keep("models", this.own);
    this.draw();
    this.say(`${name} is in the list: test it, or use it.`);
    this.root.querySelector(`[data-model="${CSS.escape(name)}"] .rd-use`)?.focus();
  }

  dropOwn(name) {
    this.own = this.own.filter((each) => each !== name);
    keep("models", this.own);
    this.draw();
    this.say(`${name} is no longer in the list.`);
    this.root.querySelector("summary").focus();
  }

  // -- drawing ------------------------------------------------------------------------------

  draw() {
    const focused = document.activeElement;
    this.part("models-now").textContent = this.chosen;
    const local = this.own.concat(this.chosen).filter((name, at, all) => isLocal(name) && all.indexOf(name) === at);
    this.part("models-list").replaceChildren(this.row("starter", ABOUT_STARTER), ...local.map((name) => this.row(name, "Runs in this server.")),
      ...this.listing.endpoints.map((endpoint) => this.endpoint(endpoint)));
    this.drawRoles();
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus();
    else if (focused?.dataset.keep) this.root.querySelector(`[data-keep="${CSS.escape(focused.dataset.keep)}"]`)?.focus();
  }

  drawRoles() {
    const roles = window.redraftRoles();
    const names = [...new Set([...this.listing.names, ...this.own, ...Object.values(roles)])];
    for (const select of this.root.querySelectorAll("[data-role]")) {
      select.replaceChildren(el("option", { value: "" }, "same model"), ...names.map((name) => el("option", { value: name }, name)));
      select.value = roles[select.dataset.role] || "";
    }
  }

  test(name) {
    if (!this.tests.has(name)) this.tests.set(name, new Test(name));
    return this.tests.get(name);
  }

  // A button that says to what it belongs, and that the focus finds again after the list was drawn anew.
  act(words, rest, run, attributes = {}) {
    return button(words, run, { "aria-label": words + rest, "data-keep": words + rest, ...attributes });
  }

  row(name, about) {
    const test = this.test(name);
    const chosen = name === this.chosen;
    return el("li", { class: "rd-model", "data-model": name },
      el("span", { class: "rd-model-name" }, name), chosen ? el("span", { class: "rd-model-chosen" }, "chosen") : null,
      about ? el("p", { class: "rd-models-hint" }, about) : null,
      el("div", { class: "rd-buttons" },
        this.act("Use", ` ${name}`, () => this.use(name), { class: "rd-use", "aria-pressed": String(chosen) }),
        this.act("Test", ` ${name}`, () => test.run()),
        this.own.includes(name) ? this.act("Take off the list", `: ${name}`, () => this.dropOwn(name)) : null),
      test.panel);
  }

  endpoint(endpoint) {
    const of = (name) => name.startsWith(`${endpoint.name}:`);
    const listed = endpoint.models.map((model) => `${endpoint.name}:${model}`);
    const shown = listed.length <= FEW ? listed : [];
    const rows = [...new Set([...shown, ...this.own.filter(of), ...[this.chosen].filter(of)])];
    return el("li", { class: "rd-endpoint", "data-endpoint": endpoint.name },
      el("h4", {}, endpoint.name), el("p", { class: "rd-models-hint" }, endpoint.base_url),
      el("p", { class: "rd-models-hint" }, this.keyWords(endpoint)),
      el("div", { class: "rd-buttons" },
        this.act("List its models", `: ${endpoint.name}`, () => this.fetchModels(endpoint.name)),
        endpoint.added ? this.act("Remove", ` ${endpoint.name}`, () => this.remove(endpoint.name)) : null),
      el("p", { class: "rd-failed" }, this.said.get(endpoint.name) || ""),
      this.keyField(endpoint), rows.length ? el("ul", {}, rows.map((name) => this.row(name))) : null,
      this.picker(endpoint, listed));
  }

  keyWords({ key, key_env, added }) {
    if (key === "known") return "Its key is known.";
    if (key === "none") return "No key was entered.";
    return added ? "Its key was forgotten at the restart: enter its key again." : `No key is known: set ${key_env}, or enter its key.`;
  }

  keyField(endpoint) {
    const field = el("input", { type: "password", autocomplete: "off", spellcheck: "false" });
    const send = async () => {
      const answer = await ask(`/endpoints/${encodeURIComponent(endpoint.name)}/key`, { key: field.value });
      if (!answer.lost) field.value = "";
      if (this.take(answer)) this.say(`The key of ${endpoint.name} is known until the server stops.`);
    };
    onEnter(field, send);
    return el("details", { class: "rd-models-more", open: endpoint.key === "missing" && endpoint.added },
      el("summary", {}, "Enter its key"), el("label", {}, `Key of ${endpoint.name} `, field),
      this.act("Take this key", ` for ${endpoint.name}`, send));
  }

  picker(endpoint, listed) {
    const id = `rd-models-of-${endpoint.name}`;
    const field = el("input", { type: "text", list: id, autocomplete: "off", spellcheck: "false" });
    const add = () => { if (field.value.trim()) this.addOwn(`${endpoint.name}:${field.value.trim()}`); };
    onEnter(field, add);
    const words = listed.length > FEW ? `One of its ${listed.length} models ` : `Another model of ${endpoint.name} `;
    return el("div", { class: "rd-picker" }, el("label", {}, words, field),
      el("datalist", { id }, endpoint.models.map((model) => el("option", { value: model }))), this.act("Add to the list", `: a model of ${endpoint.name}`, add));
  }

  // -- endpoints ----------------------------------------------------------------------------

  async fetchModels(name) {
    this.say(`Asking ${name} for its models…`);
    const answer = await ask(`/endpoints/${encodeURIComponent(name)}/list`, {});
    this.said.set(name, answer.error ? `${answer.error} A model's name can also be typed in.` : "");
    if (answer.error) { this.say(""); this.draw(); return; }
    this.take(answer);
    const count = answer.endpoints.find((endpoint) => endpoint.name === name)?.models.length ?? 0;
    this.say(`${name} has ${count} ${count === 1 ? "model" : "models"}.`);
  }

  async remove(name) {
    if (!this.take(await ask(`/endpoints/${encodeURIComponent(name)}/remove`, {}))) return;
    this.said.delete(name);
    this.say(`${name} is removed.`);
    this.part("models-add").querySelector("summary").focus();
  }

  wireAdding() {
    const url = this.part("add-url"), name = this.part("add-name");
    url.addEventListener("change", () => {
      const usual = [...this.root.querySelectorAll("#rd-usual-addresses option")].find((option) => option.value === url.value);
      if (usual && !name.value) name.value = usual.dataset.name;
    });
    this.part("add-send").addEventListener("click", () => this.add());
    for (const field of this.part("models-add").querySelectorAll("input")) onEnter(field, () => this.add());
  }

  async add() {
    if (this.adding) return;
    this.adding = true;
    const field = (which) => this.part(`add-${which}`);
    const number = (which) => (field(which).value === "" ? null : Number(field(which).value));
    const priced = number("read") !== null || number("written") !== null;
    const name = field("name").value.trim();
    const answer = await ask("/endpoints", { name, base_url: field("url").value, key: field("key").value, context_tokens: number("context"),
      price: priced ? { prompt: number("read") || 0, completion: number("written") || 0 } : null });
    this.adding = false;
    if (!answer.lost) field("key").value = "";
    if (!this.take(answer)) return;
    for (const which of ["url", "name", "context", "read", "written"]) field(which).value = "";
    this.part("models-add").open = false;
    await this.fetchModels(name);
  }

  // -- models in this server ----------------------------------------------------------------

  wireLocal() {
    const kind = this.part("local-kind"), name = this.part("local-name");
    const example = () => { name.placeholder = kind.selectedOptions[0].dataset.example; };
    const add = () => {
      const typed = name.value.trim();
      if (typed) this.addOwn(isLocal(typed) ? typed : `${kind.value}:${typed}`);
    };
    example();
    kind.addEventListener("change", () => { example(); if (name.value === kind.options[0].dataset.example) name.value = ""; });
    onEnter(name, add);
    this.part("local-add").addEventListener("click", add);
    this.part("models-local").addEventListener("toggle", () => this.lookForHub(kind, name, example));
  }

  // The hub is asked for only once somebody looks at these fields.
  async lookForHub(kind, name, example) {
    if (this.looked || !this.part("models-local").open) return;
    this.looked = true;
    const hub = this.part("models-hub");
    hub.textContent = "Looking whether the hub can be reached…";
    const answer = await ask("/hub");
    const trouble = answer.error || answer.trouble;
    const there = kind.options[0].dataset.example;
    hub.textContent = trouble
      ? `The Hugging Face hub can't be reached from this server (${trouble}). Give a file or folder that is on this machine.`
      : "The Hugging Face hub can be reached. The file below is a good first one: 2.5 GB, fetched once, when it is first tested or used.";
    if (trouble) { kind.selectedIndex = 1; example(); this.looked = false; }
    else if (!name.value && kind.selectedIndex === 0) name.value = there;
  }
}

window.redraftModels = async (element, trigger) => {
  const root = element.querySelector(".rd-models");
  const drawer = new Drawer(root, trigger);
  const chosen = drawer.chosen;
  await drawer.refresh();
  // What was chosen in this browser before; a session that is opened brings its own model.
  if (drawer.chosen === chosen && chosen !== "starter" && !new URL(location).searchParams.get("session")) drawer.announce();
  window.redraftModel = (name) => drawer.follow(name);
  const inForm = document.querySelector("#model input")?.value;
  if (inForm && new URL(location).searchParams.get("session")) drawer.follow(inForm);
  root.dataset.ready = "1";
};
