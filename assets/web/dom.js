// Building the page: every text goes through text nodes and attributes, never through markup.

export const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
};

export const svg = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

// What a click begins is not begun again before it has ended: the second click of a double click does nothing.
export const button = (label, act, attributes = {}) => el("button", { type: "button", onclick: once(act), ...attributes }, label);

export const once = (act) => {
  let under = null;
  return (event) => {
    if (under) return;
    under = Promise.resolve(act(event)).finally(() => { under = null; });
  };
};

// Draws into `cell` only when `data` is new, so that a later view never touches what a person is
// reading, selecting or typing in.
export const redraw = (cell, data, draw) => {
  const signature = JSON.stringify(data ?? null);
  if (cell.dataset.drawn === signature) return;
  cell.dataset.drawn = signature;
  cell.replaceChildren(...[draw(data)].flat(Infinity).filter(Boolean));
};

export const number = (value) =>
  (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString()).replace("-", "−");

export const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// What a person chose for this browser (how diffs are shown, whether single keys work).
export const choices = {
  get: (name, usual) => { try { return localStorage.getItem(`redraft:${name}`) ?? usual; } catch { return usual; } },
  set: (name, value) => { try { localStorage.setItem(`redraft:${name}`, value); } catch { /* private window: not kept */ } },
};

export const getJson = async (url) => (await fetch(url)).json();

export const postJson = async (url, body) =>
  (await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();

export const THEME = "__theme";  // Gradio's name for it in an address

// An address of this app; a theme that the address of this page asks for is asked for there too.
export const address = (path, query = {}) => {
  const theme = new URL(location).searchParams.get(THEME);
  const asked = new URLSearchParams({ ...query, ...(theme ? { [THEME]: theme } : {}) }).toString();
  return asked ? `${path}?${asked}` : path;
};
