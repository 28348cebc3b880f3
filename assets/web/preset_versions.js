// The versions of a preset: to look at, compare with the one in use, go back to and export.
import { button, el, getJson, postJson } from "./dom.js";
import { difference } from "./difference.js";

export const named = (version, newest) => (version ? `version ${version}` : "as it comes with Redraft") + (version === newest ? ", in use" : "");

export class Versions {
  constructor(page) {
    this.page = page;
    this.panel = page.part("compared");
  }

  draw(numbers) {
    const newest = numbers.at(-1);
    this.page.part("versions").hidden = !numbers.length;
    this.page.part("versions").querySelector("summary").textContent = `Versions (${numbers.length})`;
    this.page.part("version-list").replaceChildren(...[...numbers].reverse().map((number) => this.row(number, newest)));
  }

  row(number, newest) {
    const { page } = this;
    const query = new URLSearchParams({ name: page.name, version: number });
    const title = named(number, newest);
    const about = (what) => ({ "aria-label": `${what}: ${title}` });
    // Does something with the version's text, once it is here.
    const having = (act) => async () => {
      const answer = await page.ask(() => getJson(`/api/presets/text?${query}`));
      if (answer) act(answer.text);
    };
    const back = (text) => (page.dirty ? page.fail("Save or drop your changes first; then go back.") : page.save(page.base, text));
    return el("li", {}, el("span", {}, title), number !== newest && [
      button("What differs", having((text) => this.compare(text, page.saved, `From ${title} to the one in use`)), about("What differs")),
      button("Look at it", having((text) => this.look(text, title)), about("Look at it")),
      button("Go back to this", having(back), about("Go back to this")),
    ], el("a", { href: `/api/presets/file?${query}`, download: "", ...about("Export") }, "Export"));
  }

  look(text, title) { this.open(title, el("pre", { class: "rd-difference", tabindex: "0", role: "group", "aria-label": title }, text)); }

  async compare(old, now, title) {
    const answer = await this.page.ask(() => postJson("/api/presets/diff", { old, new: now }));
    if (answer) this.open(title, difference(answer.lines));
  }

  open(title, node) {
    const close = () => { this.panel.replaceChildren(); this.page.yaml.box.focus(); };
    this.panel.replaceChildren(el("h3", {}, title), node, button("Close", close));
    this.panel.focus();
  }
}
