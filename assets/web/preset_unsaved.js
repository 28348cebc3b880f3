// Texts of presets that are not saved, kept by this browser. Every visit of the page writes under a mark of
// its own, so that two tabs do not write over each other; what any visit left is offered.
const PREFIX = "redraft:preset:";
const visit = `${Date.now()}-${Math.random().toString(36).slice(2, 8)}`;
const key = (name, of) => `${PREFIX}${name}:${of}`;

const safely = (act, without) => { try { return act(); } catch { return without; } };

export const keep = (name, text, base) => safely(() => localStorage.setItem(key(name, visit), JSON.stringify({ text, base, at: Date.now() })));
export const forget = (name, of = visit) => safely(() => localStorage.removeItem(key(name, of)));

// The newest that was left of this preset, or null.
export const left = (name) => safely(() => {
  const start = `${PREFIX}${name}:`;
  const kept = Object.keys(localStorage).filter((each) => each.startsWith(start));
  const found = kept.map((each) => ({ of: each.slice(start.length), ...JSON.parse(localStorage.getItem(each)) }));
  return found.filter((each) => typeof each.text === "string").sort((a, b) => b.at - a.at)[0] || null;
}, null);
