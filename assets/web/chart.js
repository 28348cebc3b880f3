// The gate's score by round, as a small drawing and as words.
import { el, number, svg } from "./dom.js";

const WIDTH = 320, HEIGHT = 80, EDGE = 14;

const named = (point) => (point.round ? `round ${point.round}` : "first draft");

export const scoreChart = (chart) => {
  if (!chart) return null;
  const { points } = chart;
  const values = points.map((point) => point.value);
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  const rounds = points[points.length - 1].round || 1;
  const x = (point) => EDGE + (point.round / rounds) * (WIDTH - 2 * EDGE);
  const y = (value) => high === low ? HEIGHT / 2 : HEIGHT - EDGE - ((value - low) / span) * (HEIGHT - 2 * EDGE);
  const best = points.reduce((a, b) => (b.kept && b.value > a.value ? b : a), points[0]);
  const kept = points.filter((point) => point.kept);
  const words = points.map((point) => `${named(point)}: ${number(point.value)}${point.kept ? "" : ", not kept"}`).join("; ");
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chart.scorer} by round. ${words}` },
    svg("line", { class: "rd-axis", x1: EDGE, x2: WIDTH - EDGE, y1: HEIGHT - 4, y2: HEIGHT - 4 }),
    svg("polyline", { class: "rd-line", points: kept.map((point) => `${x(point)},${y(point.value)}`).join(" ") }),
    ...points.map((point) => svg("circle", { class: `rd-point${point.kept ? "" : " rd-not-kept"}${point === best ? " rd-best" : ""}`,
      cx: x(point), cy: y(point.value), r: point === best ? 5 : 3.5 })));
  return el("figure", { class: "rd-chart" }, drawing,
    el("figcaption", {}, `${chart.scorer} by round: from ${number(points[0].value)}, best ${number(best.value)} (${named(best)}). A hollow point was not kept.`));
};
