// Getting a rater's answers to the server, each once, whatever the network does.
// An answer has an id of its own and is kept in this browser until the server has it: it may be sent any number of times.
const KEPT = "unsent ";
const LONGEST = 20, PATIENCE = 20000;

export const memory = (where) => ({
  get: (name) => { try { return JSON.parse(where().getItem(name)); } catch { return null; } },
  set: (name, value) => { try { where().setItem(name, JSON.stringify(value)); } catch { /* a private window keeps nothing */ } },
  drop: (name) => { try { where().removeItem(name); } catch { /* likewise */ } },
  names: () => { try { return Object.keys(where()); } catch { return []; } },
});
export const lasting = memory(() => localStorage);
export const passing = memory(() => sessionStorage);

export const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// The server's answer, or null where there was none: no network, a proxy's error page, a server that is restarting.
export const ask = async (path, body) => {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  try {
    const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(`/rate/${path}`, { ...(body ? post : {}), cache: "no-store", signal: stop.signal });
    return answer.status >= 500 || answer.status === 429 ? null : await answer.json();
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
};

const pause = (seconds) => new Promise((done) => {
  const timer = setTimeout(done, seconds * 1000);
  addEventListener("online", () => { clearTimeout(timer); done(); }, { once: true });
});

// Asks until there is an answer; `tell` hears whether it has to try again.
export const insist = async (path, body, tell) => {
  for (let wait = 1; ; wait = Math.min(wait * 2, LONGEST)) {
    const answer = await ask(path, body);
    if (answer) { tell(false); return answer; }
    tell(true);
    await pause(wait);
  }
};

export const send = async (path, body, tell) => {
  const name = KEPT + (body.id || path);
  lasting.set(name, { path, body });
  const answer = await insist(path, body, tell);
  lasting.drop(name);
  return answer;
};

// What an earlier visit could not send; gives the last answer to it, or null where there was nothing.
export const sendKept = async (tell) => {
  let last = null;
  for (const name of lasting.names().filter((each) => each.startsWith(KEPT))) {
    const kept = lasting.get(name);
    if (kept) last = await send(kept.path, kept.body, tell);
    lasting.drop(name);
  }
  return last;
};
