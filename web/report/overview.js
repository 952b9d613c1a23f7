/* The overview: tiles, the chart of similarities with its table, and the removals of other thresholds. */

function drawTiles() {
  const tile = (name, value, note) => make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, note)));
  const share = number => result.total ? percent(number / result.total) : "0%";
  $("tiles").append(
    tile("Documents", count(result.total), bytes(result.bytes) + " of text"),
    tile("Kept", count(result.kept), share(result.kept)),
    tile("Removed", count(removedTotal), `${share(removedTotal)}, ${bytes(result.removedBytes)}`),
    tile("Identical", count(result.identical), "same n-grams as the kept one"),
    tile("Near", count(result.near), "similar, not identical"),
    tile("Clusters", count(result.clusterCount), result.referred ? `${count(result.referred)} removed for a reference` : "one document of each stays"));
  const others = result.files - result.inputs.length;
  $("inputs").textContent = [result.inputs.join(", ") + (others > 0 ? ` and ${counted(others, "more file", "more files")}` : ""),
    `${measureName}${result.estimates ? ", estimated," : ""} from ${thresholdText} on`].filter(Boolean).join(" \u00b7 ");
  $("foot").textContent = `${result.program}. This file loads nothing from the network.`;
  for (const [text, documents] of result.boilerplate)
    $("boilerplate").append(make("li", {}, make("span", {}, counted(documents, "document", "documents")), make("q", { dir: "auto" }, text)));
  $("boilerplate-card").hidden = result.boilerplate.length === 0;
}

const sum = (bins, from, to) => {
  let total = 0;
  for (let i = from; i < to; i++) total += bins[i];
  return total;
};

/* The approximate number of documents that a run at this threshold (in thousandths) would remove. */
function removedAt(bin) {
  const now = Math.round(threshold * BINS);
  if (bin === now) return removedTotal;
  if (bin < now) return removedTotal + sum(result.bins.goes, bin, now);
  return Math.min(removedTotal, result.identical + sum(result.bins.removed, bin, BINS + 1));
}

/* Bars of a hundredth each, from the lowest similarity that is known. */
function chartBars() {
  const from = Math.floor(result.floor / MILLION * 100 + 1e-6), bars = [];
  for (let i = from; i <= 99; i++) {
    const last = i === 99 ? BINS + 1 : i * 10 + 10;
    bars.push({ at: i / 100, kept: sum(result.bins.kept, i * 10, last), removed: sum(result.bins.removed, i * 10, last) });
  }
  return bars;
}

function niceStep(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [0.25, 0.5, 1, 2].map(part => Math.max(1, part * power)).find(step => most / step <= 4.5) ?? power;
}

const chart = { width: 0, left: 46, right: 92, top: 18, bottom: 24, height: 0 };
const chartX = value => chart.left + (value - chart.from) / (1 - chart.from) * (chart.width - chart.left - chart.right);

function drawChart() {
  if (result.hasReference) $("chart-title").textContent = "Similarity to the nearest reference";
  const bars = chartBars();
  chart.from = bars[0]?.at ?? 0;
  chart.width = Math.max(280, $("chart").clientWidth);
  chart.height = chart.width < 500 ? 200 : 280;
  const near = Math.max(1, ...bars.map(bar => bar.kept + bar.removed));
  const broken = result.identical > 3 * near; /* its bar would flatten all others */
  const most = broken ? near : Math.max(near, result.identical);
  const base = chart.height - chart.bottom, scale = (base - chart.top) / most;
  const svg = svgElement("svg", { viewBox: `0 0 ${chart.width} ${chart.height}`, height: chart.height, role: "img",
    "aria-label": `Histogram of similarities, threshold ${thresholdText}; the table below has the numbers` });
  const step = niceStep(most);
  for (let value = 0; value <= most; value += step) {
    const y = base - value * scale;
    svg.append(svgElement("line", { class: value ? "grid" : "axis", x1: chart.left, x2: chart.width, y1: y, y2: y }),
      svgElement("text", { x: chart.left - 8, y: y + 4, "text-anchor": "end" }, count(value)));
  }
  const width = chartX(chart.from + 0.01) - chartX(chart.from);
  for (const bar of bars) {
    let y = base;
    for (const kind of ["removed", "kept"]) {
      if (!bar[kind]) continue;
      const height = Math.max(1, bar[kind] * scale);
      const box = svgElement("rect", { class: `bar ${kind}`, x: chartX(bar.at) + 0.5, width: Math.max(1, width - 1), y: y - height, height });
      box.append(svgElement("title", {}, `${bar.at.toFixed(2)} to ${(bar.at + 0.01).toFixed(2)}: ${counted(bar[kind], "document", "documents")} ${kind}`));
      svg.append(box);
      y -= height;
    }
  }
  drawIdenticalBar(svg, base, scale, broken, most);
  const every = width < 9 ? 10 : 5;
  for (let i = Math.round(chart.from * 100); i <= 100; i++)
    if (i % every === 0)
      svg.append(svgElement("text", { x: chartX(i / 100), y: chart.height - 8, "text-anchor": "middle" }, (i / 100).toFixed(2)));
  const x = chartX(threshold);
  svg.append(svgElement("line", { class: "limit", id: "chart-limit", x1: x, x2: x, y1: 4, y2: base }),
    svgElement("text", { class: "strong", x: x + (threshold > 0.85 ? -5 : 5), y: 12, "text-anchor": threshold > 0.85 ? "end" : "start" }, `threshold ${thresholdText}`),
    svgElement("line", { class: "other", id: "chart-other", x1: 0, x2: 0, y1: chart.top, y2: base, visibility: "hidden" }));
  $("chart").replaceChildren(svg);
}

function drawIdenticalBar(svg, base, scale, broken, most) {
  if (!result.identical) return;
  const height = Math.max(1, (broken ? most : result.identical) * scale), x = chart.width - 34;
  const box = svgElement("rect", { class: "bar identical", x: x - 12, width: 28, y: base - height, height });
  box.append(svgElement("title", {}, `identical: ${counted(result.identical, "document", "documents")} removed`));
  svg.append(box);
  if (broken) svg.append(svgElement("path", { class: "break", fill: "none", d: `M${x - 16} ${base - height * .72} l12 -6 l12 6 l12 -6` }));
  svg.append(svgElement("text", { class: "strong", x: x + 2, y: base - height - 5, "text-anchor": "middle" }, count(result.identical)),
    svgElement("text", { x: x + 2, y: chart.height - 8, "text-anchor": "middle" }, "identical"));
}

function drawChartTable() {
  const line = (name, kept, removed) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, count(kept)), make("td", {}, count(removed)));
  const known = chartBars();
  const keptKnown = known.reduce((total, bar) => total + bar.kept, 0), removedKnown = known.reduce((total, bar) => total + bar.removed, 0);
  const body = make("tbody", {}, ...known.map(bar => line(`${bar.at.toFixed(2)} to ${(bar.at + 0.01).toFixed(2)}`, bar.kept, bar.removed)),
    line("identical", 0, result.identical), line(`below ${known[0].at.toFixed(2)}`, result.kept - keptKnown, result.near - removedKnown));
  $("chart-table").replaceChildren(make("table", {}, make("thead", {}, make("tr", {},
    ...["Similarity", "Kept", "Removed"].map(name => make("th", { scope: "col" }, name)))), body));
  const rest = result.kept - keptKnown;
  const below = rest ? `${count(rest)} kept below ${known[0].at.toFixed(2)}, not shown` : "";
  const sampled = result.keptCompared < result.kept ? `kept: scaled up from ${count(result.keptCompared)}, drawn at random` : "";
  $("chart-rest").textContent = [below, sampled].filter(text => text).join("; ");
}

function showOther() {
  const bin = Number($("slider").value), value = bin / BINS, removed = removedAt(bin), change = removed - removedTotal;
  $("slider-value").textContent = value.toFixed(3);
  $("slider-text").textContent = change === 0 ? `${count(removed)} removed, ${bin === Math.round(threshold * BINS) ? "as in this run" : "as now"}.`
    : `About ${count(removed)} removed: ${counted(Math.abs(change), "document", "documents")} ${change > 0 ? "more" : "less"} than in this run.`;
  const line = $("chart-other");
  line.setAttribute("x1", chartX(value));
  line.setAttribute("x2", chartX(value));
  line.setAttribute("visibility", Math.abs(value - threshold) < 1e-9 ? "hidden" : "visible");
}

function drawOthers() {
  const now = Math.round(threshold * BINS), lowest = Math.ceil(result.floor / MILLION * BINS);
  Object.assign($("slider"), { min: lowest, max: BINS, step: 5, value: now });
  $("slider").addEventListener("input", showOther);
  for (const bin of [-100, -50, 0, 50, 100].map(step => now + step).filter(at => at >= lowest && at <= BINS)) {
    const change = removedAt(bin) - removedTotal;
    $("other-table").tBodies[0].append(make("tr", { class: bin === now ? "now" : null }, make("th", { scope: "row" }, (bin / BINS).toFixed(2)),
      make("td", {}, count(removedAt(bin))), make("td", {}, change > 0 ? `+${count(change)}` : change < 0 ? `\u2212${count(-change)}` : "\u2013")));
  }
  showOther();
}
