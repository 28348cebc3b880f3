// The tree of forks: which session was forked from which step of another, with the best path marked.
import { address, el, number } from "./dom.js";

const words = (s) => [`${s.steps} step${s.steps === 1 ? "" : "s"}`, s.forked_at === null ? "" : `from step ${s.forked_at}`, s.state, s.score === null ? "" : number(s.score)].filter(Boolean).join(" · ");

const node = (s) => el("span", { class: s.on_best_path ? "rd-best-path" : "" },
  s.here ? el("b", {}, `This session: ${words(s)}`) : el("a", { href: address("/session/", { id: s.session }) }, words(s)),
  s.best ? el("span", { class: "rd-chip up" }, "best score") : null);

export const familyTree = (sessions) => {
  const known = new Set(sessions.map((s) => s.session));
  const branch = (parent) => {
    const children = sessions.filter((s) => (parent === null ? !known.has(s.parent) : s.parent === parent));
    return children.length ? el("ul", { class: "rd-tree" }, children.map((s) => el("li", {}, node(s), branch(s.session)))) : null;
  };
  return branch(null);
};
