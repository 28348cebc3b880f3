// One question drawn: a line a group, a point and its interval a series, the number and n beside it; and the same
// figures as a table.
import { el, number, svg } from "./dom.js";

const HIGH = 22, GAP = 14, NAME = 18, TOP = 30, FOOT = 26, EDGE = 12;
const UNITS = { share: "%", score: "", seconds: " s", tokens: " tokens", money: "" };

// A figure's number as it is read.
export const spoken = (unit, value) => {
  if (value === null) return "";
  if (unit === "share") return `${number(100 * value)} %`;
  const sign = unit === "score" && value > 0 ? "+" : "";
  return `${sign}${number(value)}${UNITS[unit]}`;
};

const nice = (span, most) => {
  const power = 10 ** Math.floor(Math.log10(span));
  return [0.1, 0.2, 0.5, 1, 2, 5, 10].map((step) => step * power).find((step) => span / step <= most) || span;
};

// The ends of the axis and its marks; shares start at 0, scores hold 0.
const axis = (chart, pixels) => {
  const values = chart.lines.flatMap((line) => line.figures.flatMap(({ value, low, high }) => [value, low, high])).filter((value) => value !== null);
  let low = Math.min(0, ...values), high = Math.max(0, ...values);
  if (chart.unit === "share") high = Math.max(high, 0.1);
  if (high - low < 1e-12) high = low + 1;
  const step = nice(high - low, Math.min(5, Math.max(1.5, pixels / 90)));
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  const marks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, index) => low + index * step);
  return { low, high, marks: marks.map((mark) => (Math.abs(mark) < step / 1e6 ? 0 : mark)) };
};

const told = (chart, figure) => (figure.value === null ? `undefined: ${figure.why}` : `${spoken(chart.unit, figure.value)}, n ${figure.n.toLocaleString("en")}`);

const words = (chart) => `${chart.question} ${chart.lines.map((line) => `${line.name}: ${line.figures.map((figure, index) => `${chart.series.length > 1 ? `${chart.series[index]} ` : ""}${told(chart, figure)}`).join(", ")}`).join("; ")}`;

const whisker = (x, y, { low, high }, series) => (low === null ? [] : [
  svg("line", { class: `rd-ins-whisker rd-ins-s${series}`, x1: x(low), x2: x(high), y1: y, y2: y }),
  ...[low, high].map((end) => svg("line", { class: `rd-ins-whisker rd-ins-s${series}`, x1: x(end), x2: x(end), y1: y - 4, y2: y + 4 }))]);

const point = (x, y, value, series) => (series
  ? svg("rect", { class: `rd-ins-point rd-ins-s${series}`, x: x(value) - 4.5, y: y - 4.5, width: 9, height: 9 })
  : svg("circle", { class: `rd-ins-point rd-ins-s${series}`, cx: x(value), cy: y, r: 5 }));

const text = (content, attributes) => svg("text", attributes, content);

// What fits into so many pixels; the whole is in the table.
const cut = (content, pixels) => { const most = Math.floor(pixels / 7); return content.length > most ? `${content.slice(0, Math.max(most - 1, 1))}…` : content; };

// The drawing, so many pixels wide; its title is the question, so that a saved file says what it answers.
export const drawing = (chart, width) => {
  const right = width < 480 ? 118 : 150, several = chart.series.length > 1;
  const { low, high, marks } = axis(chart, width - right - 2 * EDGE);
  const x = (value) => EDGE + ((value - low) / (high - low)) * (width - right - 2 * EDGE);
  const nodes = [text(cut(chart.question, width), { class: "rd-ins-title", x: EDGE, y: 16 })];
  let y = TOP + (several ? 16 : 0);
  if (several) {
    let at = EDGE + 5;
    chart.series.forEach((name, series) => {
      nodes.push(point(() => at, TOP + 2, 0, series), text(name, { class: "rd-ins-word", x: at + 10, y: TOP + 6 }));
      at += 10 + 7 * name.length + 24;
    });
  }
  const first = y;
  for (const line of chart.lines) {
    nodes.push(text(cut(line.name, width - EDGE), { class: "rd-ins-name", x: EDGE, y: y + NAME - 4 }));
    y += NAME;
    line.figures.forEach((figure, series) => {
      const middle = y + HIGH / 2;
      if (figure.value === null) nodes.push(text(cut(`undefined: ${figure.why}`, width - 2 * EDGE), { class: "rd-ins-word", x: EDGE, y: middle + 4 }));
      else nodes.push(...whisker(x, middle, figure, series), point(x, middle, figure.value, series),
        text(spoken(chart.unit, figure.value), { class: "rd-ins-value", x: width - right + 6, y: middle + 4 }), text(`n ${figure.n.toLocaleString("en")}`, { class: "rd-ins-word", x: width - 2, y: middle + 4, "text-anchor": "end" }));
      y += HIGH;
    });
    y += GAP / 2;
  }
  const grid = marks.flatMap((mark) => [svg("line", { class: mark === 0 ? "rd-ins-zero" : "rd-ins-grid", x1: x(mark), x2: x(mark), y1: first, y2: y }),
    text(spoken(chart.unit, mark), { class: "rd-ins-word", x: x(mark), y: y + 14, "text-anchor": mark === marks[0] ? "start" : mark === marks.at(-1) ? "end" : "middle" })]);
  const unit = chart.scorer ? [text(cut(chart.scorer, width), { class: "rd-ins-word", x: width - 2, y: y + 14, "text-anchor": "end" })] : [];
  return svg("svg", { viewBox: `0 0 ${Math.round(width)} ${y + FOOT}`, width: Math.round(width), height: y + FOOT, role: "img", "aria-label": words(chart) }, ...grid, ...nodes, ...unit);
};

// The same figures as a table.
export const table = (chart) => {
  const several = chart.series.length > 1;
  const heads = ["", ...(several ? [""] : []), "value", "95 % interval", "n", "how"];
  const row = (line, figure, index) => el("tr", {}, el("th", { scope: "row" }, line.name), several && el("td", {}, chart.series[index]),
    figure.value === null ? el("td", { colspan: 4 }, `undefined: ${figure.why}`) : [el("td", {}, spoken(chart.unit, figure.value)),
      el("td", {}, figure.low === null ? `none: ${figure.why}` : `${spoken(chart.unit, figure.low)} to ${spoken(chart.unit, figure.high)}`), el("td", {}, figure.n.toLocaleString("en")), el("td", {}, figure.method)]);
  return el("div", { class: "rd-ins-table-box", tabindex: "0", role: "region", "aria-label": `Figures: ${chart.question}` }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => (head ? el("th", { scope: "col" }, head) : el("td", {}))))),
    el("tbody", {}, chart.lines.flatMap((line) => line.figures.map((figure, index) => row(line, figure, index))))));
};
