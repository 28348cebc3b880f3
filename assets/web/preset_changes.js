// On the board: whether the session's preset has been changed since the session began with it, and how.
import { el, getJson } from "./dom.js";
import { difference } from "./difference.js";

export const presetChanges = async (box, url) => {
  box.replaceChildren();
  box.dataset.url = url || "";
  if (!url) return;
  let answer;
  try {
    answer = await getJson(url);
  } catch {
    return;  // the board says that the server is out of reach
  }
  if (!answer.changed || box.dataset.url !== url) return;
  box.append(el("details", {}, el("summary", {}, "The preset has changed since this session began · What changed"),
    el("p", {}, `This session goes on with the words that it began with. A new one uses ${answer.name} as it is now.`), difference(answer.lines)));
};
