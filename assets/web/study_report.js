// The report of a locked study: sentences first, then every figure. Words come from the server; nothing is computed here.
import { button, el } from "./dom.js";
import { progressPart } from "./study_live.js";
import { section } from "./study_setup.js";

const FILES = [["csv", "Votes (CSV)"], ["jsonl", "Votes (JSON lines)"], ["fastchat", "FastChat battles"], ["preferences", "Preference rows"], ["protocol", "Protocol"], ["report", "Report (JSON)"]];

export const reportPart = (page, study) => {
  const box = el("div", { class: "rd-report" }, el("p", {}, "The report is worked out …"));
  fill(page, box);
  const files = FILES.filter(([form]) => form !== "preferences" || study.status === "unblinded");
  return [section("Report", box), section("Files", el("div", { class: "rd-buttons" }, page.download("/report.html", "Report (HTML)"), files.map(([form, label]) => page.download(`/export?form=${form}`, label))),
    study.status === "unblinded" ? null : el("p", { class: "rd-soft" }, "Names are masked in every file; rows with the texts can be had after the unblinding.")), progressPart(page)];
};

const fill = async (page, box) => {
  const found = await page.get("/report");
  if (!found) { box.replaceChildren(); return; }
  box.replaceChildren(el("ul", { class: "rd-summary" }, found.summary.map((sentence) => el("li", {}, sentence))),
    found.masked ? el("p", { class: "rd-note" }, "System A, System B … are masks, drawn anew for each study.") : "",
    ...found.sections.map((one, place) => sectionOf(one, place)));
};

const sectionOf = (one, place) => el("details", { open: place === 0, class: "rd-votes" }, el("summary", {}, one.title), el("div", { class: "rd-plots" }, one.plots.map((plot) => plotOf(plot, place))), one.tables.map(tableOf));

const tableOf = ({ title, columns, rows, note }) => el("section", {}, el("h3", {}, title),
  rows.length ? el("div", { class: "rd-wide-table", tabindex: "0", role: "region", "aria-label": title }, el("table", {}, columns.some(Boolean) ? el("thead", {}, el("tr", {}, columns.map((c) => (c ? el("th", { scope: "col" }, c) : el("td", {}))))) : null,
    el("tbody", {}, rows.map(([first, ...rest]) => el("tr", {}, el(rest.length ? "th" : "td", rest.length ? { scope: "row" } : {}, first), rest.map((cell) => el("td", {}, cell))))))) : el("p", {}, "–"), note && el("p", { class: "rd-soft" }, note));

// -- plots ------------------------------------------------------------------------------------------

const plotOf = ({ name, title, svg }, place) => {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), file = place ? `${name}-all` : name;
  const picture = el("img", { src: url, alt: `${title}. The figures stand in the tables below.` });
  return el("figure", {}, picture, el("figcaption", { class: "rd-buttons" }, el("a", { class: "rd-file", href: url, download: `${file}.svg`, "aria-label": `${title}: SVG` }, "SVG"), button("PNG", () => savePng(picture, `${file}.png`), { "aria-label": `${title}: PNG` })));
};

// Drawn by the browser at three times its size, as for print.
const savePng = (picture, name) => {
  const canvas = el("canvas", { width: picture.naturalWidth * 3, height: picture.naturalHeight * 3 });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => {
    const link = el("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
};
