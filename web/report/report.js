"use strict";
/* The report of cognate dedup. The result stands in the page as JSON (src/jobs/dedup/report_page.c): documents are
   positions in its lists, clusters come first, cluster by cluster, the survivor first. Ids and texts come from the
   input and only ever become text nodes. */
(() => {

const MILLION = 1e6;
const BINS = 1000;
const ROW_HEIGHT = 52;
const HEIGHT_MOST = 12e6; /* px: browsers cut off taller elements */
const MEMBERS_SHOWN = 200;

const result = JSON.parse(document.getElementById("result").textContent);
const docs = result.documents;
const threshold = result.threshold / MILLION;
const thresholdText = threshold.toFixed(3).replace(/0$/, "");
const removedTotal = result.identical + result.near;
const measureName = { jaccard: "Jaccard", containment: "Containment", cosine: "Cosine" }[result.measure] ?? result.measure;
const asTexts = list => new Map(list.map(([at, whole, text]) => [at, { whole, text }]));
const texts = asTexts(result.texts);
const referenceTexts = asTexts(result.referenceTexts); /* by row of the reference collection */

/* ---- Small helpers ---- */

const $ = id => document.getElementById(id);

/* An element with attributes and children; on* attributes are listeners, strings become text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const svgElement = (tag, attributes = {}, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.append(text);
  return element;
};

const formatter = new Intl.NumberFormat("en");
const count = number => formatter.format(number);
const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;
const percent = share => share >= 0.9995 && share < 1 ? "99.9%" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
const bytes = number => number < 1000 ? `${number} B` : number < 999500 ? `${(number / 1e3).toFixed(number < 9950 ? 1 : 0)} kB`
  : number < 999.5e6 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(1)} GB`;

/* Cut off, not rounded: what is below the threshold must not look like it. */
const similarityText = millionths => (Math.floor(millionths / 1000) / 1000).toFixed(3);

/* An id that is cut in its middle if there is no room: ids often differ at their ends. */
const TAIL = 14;
function shortName(id, before = "") {
  if (id.length <= 2 * TAIL) return [make("span", { class: "front" }, before + id)];
  const low = id.charCodeAt(id.length - TAIL) >> 10 === 0x37; /* not between the halves of a character */
  const at = id.length - TAIL - (low ? 1 : 0);
  return [make("span", { class: "front" }, before + id.slice(0, at)), make("span", { class: "tail" }, id.slice(at))];
}

/* ---- Clusters ---- */

const clusterCount = result.clusters.size.length;
const clusterFirst = new Int32Array(clusterCount + 1);
for (let c = 0; c < clusterCount; c++) clusterFirst[c + 1] = clusterFirst[c] + result.clusters.listed[c];
const clusterOf = new Int32Array(docs.row.length).fill(-1);
for (let c = 0; c < clusterCount; c++) clusterOf.fill(c, clusterFirst[c], clusterFirst[c + 1]);
const nearCount = c => result.clusters.listed[c] - 1 - result.clusters.identical[c];
const worstOf = c => nearCount(c) ? docs.similarity[clusterFirst[c] + 1] : MILLION;

/* ---- Verdicts ---- */

/* By what they are about, in the order in which they were given: "keep:CLUSTER", or "pair:A:B". */
const verdicts = new Map();
/* Lines of an imported file about documents that this page does not list; they are exported again. */
let foreign = [];

const keepKey = at => clusterOf[at] >= 0 ? `keep:${clusterOf[at]}` : `keep:document:${at}`;
const pairKey = (a, b) => `pair:${Math.min(a, b)}:${Math.max(a, b)}`;
const survivorOf = c => verdicts.get(`keep:${c}`)?.at ?? clusterFirst[c];
const pairVerdict = (a, b) => verdicts.get(pairKey(a, b));

function give(key, verdict) {
  verdicts.delete(key);
  verdicts.set(key, verdict);
}

function verdictLine(verdict) {
  if (verdict.kind === "keep")
    return JSON.stringify({ verdict: "keep", id: docs.id[verdict.at], row: docs.row[verdict.at] });
  return JSON.stringify({ verdict: verdict.kind, a: docs.id[verdict.a], a_row: docs.row[verdict.a],
    b: docs.id[verdict.b], b_row: docs.row[verdict.b] });
}

const verdictLines = () => [...foreign, ...[...verdicts.values()].map(verdictLine)].map(line => line + "\n").join("");

/* Positions by id, made when they are needed first. */
let positions = null;
function findDocument(id, row) {
  if (!positions) {
    positions = new Map();
    docs.id.forEach((name, at) => positions.has(name) ? positions.get(name).push(at) : positions.set(name, [at]));
  }
  const found = positions.get(String(id)) ?? [];
  return found.length === 1 ? found[0] : found.find(at => docs.row[at] === row) ?? -1;
}

function takeLine(line) {
  const given = JSON.parse(line);
  if (given.verdict === "keep") {
    const at = findDocument(given.id, given.row);
    if (at < 0) return false;
    give(keepKey(at), { kind: "keep", at });
    return true;
  }
  if (given.verdict !== "different" && given.verdict !== "duplicate") throw new Error("not a verdict");
  const a = findDocument(given.a, given.a_row), b = findDocument(given.b, given.b_row);
  if (a < 0 || b < 0 || a === b) return false;
  give(pairKey(a, b), { kind: given.verdict, a, b });
  return true;
}

/* Returns how many lines were taken and how many are about other documents; throws with the number of a bad line. */
function takeLines(text) {
  const taken = { known: 0, foreign: 0 };
  text.replace(/^\ufeff/, "").split("\n").forEach((line, i) => {
    if (!line.trim()) return;
    try {
      if (takeLine(line)) taken.known++;
      else { foreign.push(line.trim()); taken.foreign++; }
    } catch (problem) {
      throw new Error(`line ${i + 1} is no verdict (${problem.message})`);
    }
  });
  return taken;
}

/* A browser may give a file no storage: verdicts then live as long as the page. */
const storageName = `cognate-report-${result.key}`;
let stored = true;
function store() {
  try {
    if (verdicts.size || foreign.length) localStorage.setItem(storageName, verdictLines());
    else localStorage.removeItem(storageName);
  } catch { stored = false; }
}

function restore() {
  try {
    const text = localStorage.getItem(storageName);
    if (text) takeLines(text);
  } catch { stored = false; }
}

let unsaved = false;
function verdictsChanged() {
  unsaved = verdicts.size > 0;
  store();
  showVerdictCount();
  list.draw();
  drawDetail();
}

function showVerdictCount() {
  const number = verdicts.size + foreign.length;
  $("verdict-count").textContent = number ? counted(number, "verdict", "verdicts") : "no verdicts yet";
  $("verdict-count").classList.toggle("some", number > 0);
  $("export").disabled = number === 0;
  $("export").classList.toggle("strong", number > 0);
}

function say(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

function exportVerdicts() {
  if (!verdicts.size && !foreign.length) return;
  const url = URL.createObjectURL(new Blob([verdictLines()], { type: "application/x-ndjson" }));
  make("a", { href: url, download: "verdicts.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  unsaved = false;
}

async function importVerdicts(file) {
  try {
    const taken = takeLines(await file.text());
    say(`${counted(taken.known, "verdict", "verdicts")} read from ${file.name}.` +
      (taken.foreign ? ` ${counted(taken.foreign, "more is", "more are")} about documents that this page does not list; the export keeps them.` : ""));
  } catch (problem) {
    say(`${file.name}: ${problem.message}.`);
  }
  verdictsChanged();
}

/* ---- Overview ---- */

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

/* About how many documents a run at that threshold (in thousandths) would remove. */
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
  $("chart-rest").textContent = rest ? `${count(rest)} kept below ${known[0].at.toFixed(2)}, not shown` : "";
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

/* ---- What differs ---- */

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}\p{M}_])+|[^\s]/gu;
const EDITS_MOST = 1200;

const words = text => [...text.matchAll(WORD)].map(match => ({ text: match[0], at: match.index, end: match.index + match[0].length }));

/* Whole numbers for words, the same for the same word on both sides. */
function numbered(a, b) {
  const numbers = new Map();
  const number = word => {
    let found = numbers.get(word.text);
    if (found === undefined) numbers.set(word.text, found = numbers.size);
    return found;
  };
  return [Int32Array.from(a, number), Int32Array.from(b, number)];
}

/* Myers' greedy search for the fewest edits: pairs of equal places, or null if there are more than EDITS_MOST. */
function fewestEdits(a, b) {
  const most = Math.min(a.length + b.length, EDITS_MOST), reach = new Int32Array(2 * most + 3), trace = [];
  for (let d = 0; d <= most; d++) {
    trace.push(reach.slice(most + 1 - d - 1, most + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[most + k] < reach[most + 2 + k]);
      let x = down ? reach[most + 2 + k] : reach[most + k] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[most + 1 + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace, d);
    }
  }
  return null;
}

function walkBack(a, b, trace, edits) {
  const equal = [];
  let x = a.length, y = b.length;
  for (let d = edits; d > 0; d--) {
    const before = trace[d], at = k => before[k + d + 1];
    const k = x - y, down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromK = down ? k + 1 : k - 1, fromX = at(fromK), startX = down ? fromX : fromX + 1;
    while (x > startX) equal.push([--x, --y]);
    x = fromX;
    y = fromX - fromK;
  }
  while (x > 0 && y > 0) equal.push([--x, --y]);
  return equal.reverse();
}

/* Places of words that stand once on each side, in the same order on both: where long texts are cut. */
function anchors(a, b) {
  const places = new Map();
  a.forEach((word, i) => places.set(word, places.has(word) ? null : { a: i, b: -1 }));
  b.forEach((word, i) => {
    const place = places.get(word);
    if (place) place.b = place.b === -1 ? i : -2;
  });
  const once = [...places.values()].filter(place => place && place.b >= 0).sort((p, q) => p.a - q.a);
  const tails = [], before = new Array(once.length);
  once.forEach((place, i) => {
    let low = 0, high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (once[tails[middle]].b < place.b) low = middle + 1; else high = middle;
    }
    before[i] = low ? tails[low - 1] : -1;
    tails[low] = i;
  });
  const chain = [];
  for (let i = tails.length ? tails[tails.length - 1] : -1; i >= 0; i = before[i]) chain.push([once[i].a, once[i].b]);
  return chain.reverse();
}

/* Pairs of equal places, rising on both sides. */
function equalPlaces(a, b, depth = 0) {
  let front = 0, back = 0;
  while (front < a.length && front < b.length && a[front] === b[front]) front++;
  while (back < a.length - front && back < b.length - front && a[a.length - 1 - back] === b[b.length - 1 - back]) back++;
  const middleA = a.subarray(front, a.length - back), middleB = b.subarray(front, b.length - back);
  const equal = Array.from({ length: front }, (_, i) => [i, i]);
  const between = middleA.length && middleB.length ? fewestEdits(middleA, middleB) ?? cutAtAnchors(middleA, middleB, depth) : [];
  for (const [x, y] of between) equal.push([x + front, y + front]);
  for (let i = back; i > 0; i--) equal.push([a.length - i, b.length - i]);
  return equal;
}

function cutAtAnchors(a, b, depth) {
  const equal = [];
  let fromA = 0, fromB = 0;
  if (depth > 3) return equal;
  const cuts = anchors(a, b);
  if (!cuts.length) return equal;
  for (const [x, y] of [...cuts, [a.length, b.length]]) {
    for (const [i, j] of equalPlaces(a.subarray(fromA, x), b.subarray(fromB, y), depth + 1)) equal.push([i + fromA, j + fromB]);
    if (x < a.length) equal.push([x, y]);
    [fromA, fromB] = [x + 1, y + 1];
  }
  return equal;
}

/* Runs of words of the two sides: {equal, a, aEnd, b, bEnd}. */
function compare(wordsA, wordsB) {
  const [a, b] = numbered(wordsA, wordsB), runs = [];
  let x = 0, y = 0;
  const add = (equal, toX, toY) => {
    if (toX === x && toY === y) return;
    const last = runs[runs.length - 1];
    if (last && last.equal === equal) { last.aEnd = toX; last.bEnd = toY; }
    else runs.push({ equal, a: x, aEnd: toX, b: y, bEnd: toY });
    [x, y] = [toX, toY];
  };
  for (const [i, j] of equalPlaces(a, b)) { add(false, i, j); add(true, i + 1, j + 1); }
  add(false, a.length, b.length);
  return runs;
}

/* Jaccard of word 3-grams of two texts, for pairs whose similarity the run did not compute. */
function aboutSimilarity(a, b) {
  const grams = text => {
    const list = (text.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []), set = new Set();
    for (let i = 0; i + 3 <= list.length; i++) set.add(list.slice(i, i + 3).join(" "));
    return set;
  };
  const x = grams(a), y = grams(b);
  let shared = 0;
  for (const gram of x) shared += y.has(gram);
  return x.size + y.size ? shared / (x.size + y.size - shared) : 0;
}

/* ---- The list ---- */

/* What can be reviewed: a tab has items, and each item a document that stays and others. */
const asReferences = list => list.map(([id, at, similarity, identical, row]) => ({ id, at, similarity, identical, row }));
const references = asReferences(result.references);
const tabs = [
  { name: "Clusters", count: clusterCount, total: result.clusterCount, orders: ["size", "worst pair", "input order"] },
  { name: `Below ${thresholdText}`, count: result.below.length, total: result.belowFound, orders: ["similarity"],
    ...(result.hasReference ? { references: asReferences(result.below), note: "They stay: just below the threshold." }
      : { pairs: result.below, note: "Both stay: pairs just below the threshold." }) },
  { name: "Removals", count: result.sample.length, total: result.sampleFound, orders: ["random"], pairs: result.sample,
    note: "Drawn at random, near ones before identical ones." },
  { name: "References", count: references.length, total: result.referencesFound, orders: ["similarity"], references,
    note: "Removed for a document of the reference collection." },
];
const CLUSTERS = 0, BELOW = 1, SAMPLE = 2, REFERENCES = 3;
/* The reference and the document of an item, in the tabs that have such. */
const referenceOf = item => tabs[state.tab].references?.[item];
const state = { tab: CLUSTERS, order: 0, filter: "", items: [], selected: 0, member: 0, folded: true };

function orderedClusters() {
  const items = Int32Array.from({ length: clusterCount }, (_, i) => i);
  if (state.order === 1) {
    const worst = Float64Array.from(items, worstOf);
    items.sort((p, q) => worst[p] - worst[q] || p - q);
  }
  if (state.order === 2) {
    const row = Float64Array.from(items, c => docs.row.slice(clusterFirst[c], clusterFirst[c + 1]).reduce((p, q) => p < q ? p : q));
    items.sort((p, q) => row[p] - row[q]);
  }
  return items;
}

function itemDocuments(item) {
  if (state.tab === CLUSTERS) return docs.id.slice(clusterFirst[item], clusterFirst[item + 1]);
  if (referenceOf(item)) return [referenceOf(item).id, docs.id[referenceOf(item).at]];
  return tabs[state.tab].pairs[item].slice(0, 2).map(at => docs.id[at]);
}

function fillItems() {
  const all = state.tab === CLUSTERS ? orderedClusters() : Int32Array.from({ length: tabs[state.tab].count }, (_, i) => i);
  const wanted = state.filter.toLowerCase();
  state.items = wanted ? all.filter(item => itemDocuments(item).some(id => id.toLowerCase().includes(wanted))) : all;
  const tab = tabs[state.tab];
  $("list-note").textContent = wanted ? `${count(state.items.length)} of ${count(tab.count)} have an id with \u201c${state.filter}\u201d`
    : [tab.note, tab.count < tab.total ? `${count(tab.count)} of ${count(tab.total)} are in this page.` : ""].filter(Boolean).join(" ");
}

/* Only the rows in view exist. Above HEIGHT_MOST the scroll bar moves in proportion. */
const list = {
  height() { return Math.min(state.items.length * ROW_HEIGHT, HEIGHT_MOST); },
  scale() { return state.items.length * ROW_HEIGHT / Math.max(1, this.height()); },
  draw() {
    const view = $("list"), rows = $("list-rows"), scale = this.scale();
    $("list-space").style.height = `${this.height()}px`;
    const top = view.scrollTop * scale;
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4);
    const last = Math.min(state.items.length, Math.ceil((top + view.clientHeight) / ROW_HEIGHT) + 4);
    rows.style.transform = `translateY(${view.scrollTop + first * ROW_HEIGHT - top}px)`;
    rows.replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, i) => drawItem(first + i)));
    view.setAttribute("aria-activedescendant", state.items.length ? `item-${state.selected}` : "");
  },
  reveal() {
    const view = $("list"), top = state.selected * ROW_HEIGHT, shown = view.scrollTop * this.scale();
    if (top < shown) view.scrollTop = top / this.scale();
    else if (top + ROW_HEIGHT > shown + view.clientHeight) view.scrollTop = (top + ROW_HEIGHT - view.clientHeight) / this.scale();
  },
};

const clusterMark = c => {
  const marks = [];
  if (verdicts.has(`keep:${c}`)) marks.push("survivor chosen");
  if (verdicts.size < 5000)
    for (const verdict of verdicts.values())
      if (verdict.kind === "different" && clusterOf[verdict.a] === c && clusterOf[verdict.b] === c) { marks.push("told apart"); break; }
  return marks.join(", ");
};

const verdictNames = { different: "not duplicates", duplicate: "duplicates" };

function itemTexts(item) {
  if (state.tab === CLUSTERS) {
    const identical = result.clusters.identical[item], absent = result.clusters.size[item] - result.clusters.listed[item];
    const parts = [nearCount(item) ? `${count(nearCount(item))} near` : "", identical ? `${count(identical)} identical` : "",
      absent ? `${count(absent)} not listed` : ""];
    return { name: docs.id[survivorOf(item)], number: `\u00d7${count(result.clusters.size[item])}`,
      sub: `${parts.filter(Boolean).join(", ")}${nearCount(item) ? ` \u00b7 worst ${similarityText(worstOf(item))}` : ""}`, mark: clusterMark(item) };
  }
  if (referenceOf(item)) {
    const pair = referenceOf(item);
    return { name: docs.id[pair.at], number: similarityText(pair.similarity), sub: "reference ", of: pair.id, mark: verdicts.has(keepKey(pair.at)) ? "stays" : "" };
  }
  const [a, b, similarity] = tabs[state.tab].pairs[item];
  const verdict = pairVerdict(a, b), kept = verdicts.get(keepKey(b));
  return { name: docs.id[b], number: similarityText(similarity), sub: state.tab === BELOW ? "nearest " : "kept ", of: docs.id[a],
    mark: verdict ? verdictNames[verdict.kind] : kept && kept.at === b ? "survivor" : "" };
}

function drawItem(index) {
  const shown = itemTexts(state.items[index]);
  return make("div", { class: "item", role: "option", id: `item-${index}`, "aria-selected": index === state.selected ? "true" : "false",
    "aria-posinset": index + 1, "aria-setsize": state.items.length, onclick: () => select(index, true) },
  make("span", { class: "name", dir: "auto", title: shown.name }, ...shortName(shown.name)), make("span", { class: "number" }, shown.number),
  make("span", { class: "sub", dir: "auto" }, ...(shown.of === undefined ? [shown.sub] : shortName(shown.of, shown.sub))), make("span", { class: "mark" }, shown.mark));
}

function select(index, byHand = false) {
  if (!state.items.length) return;
  state.selected = Math.max(0, Math.min(state.items.length - 1, index));
  state.member = 0;
  list.reveal();
  list.draw();
  drawDetail();
  if (byHand && matchMedia("(max-width: 900px)").matches) $("detail").scrollIntoView();
}

function refill() {
  fillItems();
  state.selected = 0;
  state.member = 0;
  $("list").scrollTop = 0;
  list.draw();
  drawDetail();
}

function openTab(number) {
  if (!tabs[number].count && number !== CLUSTERS) return;
  Object.assign(state, { tab: number, order: 0, filter: "" });
  $("filter").value = "";
  [...$("tabs").children].forEach(button => {
    const chosen = Number(button.dataset.tab) === number;
    button.setAttribute("aria-selected", chosen ? "true" : "false");
    button.tabIndex = chosen ? 0 : -1;
  });
  $("panel").setAttribute("aria-labelledby", `tab-${number}`);
  $("sort").replaceChildren(...tabs[number].orders.map((name, i) => make("option", { value: i }, name)));
  $("sort").disabled = tabs[number].orders.length < 2;
  refill();
}

function openCluster(c, at) {
  openTab(CLUSTERS);
  select(state.items.indexOf(c));
  state.member = Math.max(0, membersOf(c).indexOf(at));
  drawDetail();
}

function drawTabs() {
  tabs.forEach((tab, i) => {
    if (tab.count || i === BELOW || (i === CLUSTERS && !result.hasReference))
      $("tabs").append(make("button", { type: "button", role: "tab", id: `tab-${i}`, "data-tab": i, "aria-controls": "panel",
        disabled: tab.count === 0 && i !== CLUSTERS, onclick: () => openTab(i) }, tab.name, make("span", {}, count(tab.total))));
  });
  $("tabs").addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const shown = [...$("tabs").children].filter(button => !button.disabled);
    const next = shown[(shown.indexOf(document.activeElement) + step + shown.length) % shown.length];
    next.focus();
    openTab(Number(next.dataset.tab));
    event.preventDefault();
  });
}

/* ---- Details ---- */

/* The documents of a cluster without its survivor. If another one survives, the first survivor takes its place. */
function membersOf(c) {
  const survivor = survivorOf(c), first = clusterFirst[c];
  const members = Array.from({ length: result.clusters.listed[c] - 1 }, (_, i) => first + 1 + i);
  return survivor === first ? members : members.map(at => at === survivor ? first : at);
}

/* The pair that is shown: documents a (left) and b, what the run did, and what is known of their similarity. */
function shownPair() {
  if (!state.items.length) return null;
  const item = state.items[state.selected];
  if (referenceOf(item)) return { reference: referenceOf(item), below: state.tab === BELOW, b: referenceOf(item).at };
  if (state.tab === CLUSTERS) {
    const members = membersOf(item), b = members[state.member];
    return b === undefined ? null : { cluster: item, a: survivorOf(item), b, similarity: knownSimilarity(item, survivorOf(item), b) };
  }
  const [a, b, similarity] = tabs[state.tab].pairs[item];
  if (state.tab === SAMPLE) {
    const survivor = verdicts.get(keepKey(b))?.at ?? a;
    return survivor === b ? { cluster: clusterOf[b], a: b, b: a, similarity }
      : { cluster: clusterOf[b], a: survivor, b, similarity: survivor === a ? similarity : null };
  }
  const verdict = pairVerdict(a, b), turned = verdict && verdict.a === b;
  return { below: true, a: turned ? b : a, b: turned ? a : b, similarity };
}

/* The run compared members with the survivor that it chose. */
function knownSimilarity(c, a, b) {
  const first = clusterFirst[c];
  return a === first ? docs.similarity[b] : b === first ? docs.similarity[a] : null;
}

function isIdentical(pair) {
  if (pair.reference) return pair.reference.identical;
  const c = pair.cluster ?? -1;
  if (c < 0) return false;
  const first = clusterFirst[c], other = pair.a === first ? pair.b : pair.b === first ? pair.a : -1;
  return other >= 0 && other - first > nearCount(c);
}

/* What happens to the two by the run and the verdicts. */
function fates(pair) {
  if (pair.reference) return { a: "reference", b: pair.below || verdicts.has(keepKey(pair.b)) ? "stays" : "goes" };
  const verdict = pairVerdict(pair.a, pair.b);
  if (verdict?.kind === "different") return { a: "stays", b: "stays" };
  if (verdict?.kind === "duplicate") return { a: verdict.a === pair.a ? "stays" : "goes", b: verdict.a === pair.b ? "stays" : "goes" };
  return pair.below ? { a: "stays", b: "stays" } : { a: "stays", b: "goes" };
}

/* Shares of each document's n-grams that the other has; null if the measure does not give them. */
function shares(pair) {
  const a = docs.terms[pair.a], b = docs.terms[pair.b], s = pair.similarity / MILLION;
  const shared = { jaccard: s * (a + b) / (1 + s), containment: s * Math.min(a, b) }[result.measure];
  return shared === undefined || !a || !b ? null : { a: Math.min(1, shared / a), b: Math.min(1, shared / b) };
}

const detailBack = () => make("button", { type: "button", class: "back", onclick: () => { $("tabs").scrollIntoView(); $("list").focus(); } }, "\u2190 List");

function drawDetail() {
  const pair = shownPair(), parts = [];
  if (!state.items.length) {
    $("detail").replaceChildren(make("p", { class: "empty" }, state.filter ? "No id matches." : "Nothing to review here."));
    return;
  }
  const item = state.items[state.selected];
  if (state.tab === CLUSTERS) parts.push(...drawCluster(item));
  else parts.push(make("div", { class: "head" }, detailBack(), make("h2", {}, ["", result.hasReference ? "Below the threshold" : "Pair below the threshold", "Removed document", "Removed for a reference"][state.tab]),
    make("span", { class: "note" }, `${count(state.selected + 1)} of ${count(state.items.length)}`),
    state.tab === SAMPLE && pair.cluster >= 0 ? make("button", { type: "button", class: "quiet", onclick: () => openCluster(pair.cluster, pair.b) }, `Open its cluster of ${count(result.clusters.size[pair.cluster])}`) : null));
  if (pair) parts.push(drawPair(pair));
  const open = [...$("detail").querySelectorAll("details")].map(fold => fold.open);
  const sameItem = $("detail").dataset.item === `${state.tab}:${item}`;
  const scroll = sameItem ? [...$("detail").querySelectorAll(".members")].map(box => box.scrollTop) : [];
  $("detail").replaceChildren(...parts);
  $("detail").dataset.item = `${state.tab}:${item}`;
  if (sameItem) {
    $("detail").querySelectorAll("details").forEach((fold, i) => { if (open[i]) fold.open = true; });
    $("detail").querySelectorAll(".members").forEach((box, i) => { box.scrollTop = scroll[i] ?? 0; });
  }
  const current = $("detail").querySelector(".member[aria-current=true]");
  if (current) {
    const box = current.closest(".members"), at = current.offsetTop - box.offsetTop;
    if (at < box.scrollTop || at + current.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = at - box.clientHeight / 2;
  }
}

function drawCluster(c) {
  const size = result.clusters.size[c], members = membersOf(c), survivor = survivorOf(c);
  const near = members.slice(0, nearCount(c)), identical = members.slice(nearCount(c));
  const parts = [make("div", { class: "head" }, detailBack(), make("h2", {}, `Cluster of ${count(size)}`),
    make("span", { class: "note", dir: "auto" }, "survivor ", make("b", {}, docs.id[survivor])),
    survivor === clusterFirst[c] ? null : make("span", { class: "tag stays" }, "your choice"))];
  if (near.length) parts.push(drawFold("Near", near, 0, c));
  if (identical.length) parts.push(drawFold("Identical", identical, near.length, c));
  if (size > result.clusters.listed[c])
    parts.push(make("p", { class: "note" }, `${count(size - result.clusters.listed[c])} more documents of this cluster are not in this page.`));
  if (survivor !== clusterFirst[c])
    parts.push(make("p", { class: "note" }, "Similarities in the list are to the survivor that the run chose. The next run computes those to yours."));
  return parts;
}

function drawFold(name, members, offset, c) {
  const open = state.member >= offset && state.member < offset + members.length;
  const start = open ? Math.max(0, Math.min(state.member - offset - MEMBERS_SHOWN / 2, members.length - MEMBERS_SHOWN)) : 0;
  const shown = members.slice(start, start + MEMBERS_SHOWN);
  const rest = members.length - shown.length;
  return make("details", { class: "fold", open: open || offset === 0 },
    make("summary", {}, name, make("span", {}, count(members.length))),
    make("ul", { class: "members" }, ...shown.map((at, i) => drawMember(at, offset + start + i, c)),
      rest ? make("li", { class: "more note" }, `${count(rest)} more; n and p go through them.`) : null));
}

function drawMember(at, index, c) {
  const fate = fates({ cluster: c, a: survivorOf(c), b: at }).b, known = at === clusterFirst[c] ? null : docs.similarity[at];
  return make("li", {}, make("button", { type: "button", class: "member", "aria-current": index === state.member ? "true" : null,
    onclick: () => { state.member = index; drawDetail(); } },
  make("span", { class: "name", dir: "auto", title: docs.id[at] }, ...shortName(docs.id[at])),
  make("span", { class: `tag ${fate}` }, fate === "stays" ? "stays" : at === clusterFirst[c] ? "goes, was kept" : "goes"),
  make("span", { class: "number" }, known === null ? "\u2013" : similarityText(known)),
  make("span", { class: "number bytes note" }, bytes(docs.bytes[at]))));
}

function drawSimilarity(pair) {
  if (pair.reference) return [make("span", { class: "similarity" }, similarityText(pair.reference.similarity), make("small", {}, measureName))];
  if (pair.similarity === null) {
    const a = texts.get(pair.a), b = texts.get(pair.b);
    const whole = a && b && !isCut(a) && !isCut(b);
    return [make("span", { class: "similarity" }, whole ? `\u2248 ${aboutSimilarity(a.text, b.text).toFixed(2)}` : "\u2013",
      make("small", {}, whole ? "by word 3-grams, here" : "not compared by the run"))];
  }
  const share = shares(pair), parts = [make("span", { class: "similarity" }, similarityText(pair.similarity),
    make("small", {}, isIdentical(pair) ? "identical n-grams" : measureName + (result.estimates ? ", estimated" : "")))];
  if (share) {
    const line = (side, value, text) => make("div", {}, make("span", { class: `share ${side}`, "aria-hidden": "true" },
      fillBar(value)), make("span", {}, make("b", {}, percent(value)), ` ${text}`));
    parts.push(make("div", { class: "shares" }, line("a", share.a, "of the left one is in the right one"), line("b", share.b, "of the right one is in the left one")));
  }
  return parts;
}

function fillBar(value) {
  const bar = make("i");
  bar.style.width = `${100 * value}%`;
  return bar;
}

const textBytes = text => new TextEncoder().encode(text.text).length;
const isCut = text => text !== undefined && textBytes(text) < text.whole;

function drawButtons(pair) {
  const button = (key, text, action, strong = false, disabled = false) =>
    make("button", { type: "button", class: strong ? "strong" : null, onclick: action, disabled }, make("kbd", {}, key), ` ${text}`);
  const verdict = pair.reference ? verdicts.get(keepKey(pair.b)) : pairVerdict(pair.a, pair.b);
  const buttons = [];
  if (pair.reference && !pair.below) buttons.push(button("s", "Keep it all the same", actions.s, !verdict));
  if (!pair.reference) {
    buttons.push(button("s", pair.below ? "Turn: the right one survives" : "The right one survives", actions.s));
    buttons.push(button("d", "Not duplicates", actions.d, false, verdict?.kind === "different"));
    if (pair.below || verdict?.kind === "different") buttons.push(button("x", "Duplicates", actions.x, false, verdict?.kind === "duplicate"));
  }
  if (!pair.reference || !pair.below) buttons.push(button("u", "Take back", actions.u, false, !takenBackKeys(pair).some(key => verdicts.has(key))));
  buttons.push(make("button", { type: "button", class: "quiet", "aria-pressed": state.folded ? "true" : "false", onclick: actions.f }, make("kbd", {}, "f"), state.folded ? " Show all text" : " Fold what is equal"));
  return make("div", { class: "buttons" }, ...buttons);
}

function drawPair(pair) {
  const fate = fates(pair), other = pair.reference ? referenceTexts.get(pair.reference.row) : texts.get(pair.a);
  const [leftNodes, rightNodes] = sidesOf(other?.text, texts.get(pair.b)?.text);
  const left = pair.reference ? drawReferenceSide(pair.reference, other, leftNodes) : drawSide("a", pair.a, fate.a, leftNodes);
  const right = drawSide("b", pair.b, fate.b, rightNodes);
  return make("section", { class: "pair", "aria-label": "The two documents" }, make("div", { class: "bar-row" }, ...drawSimilarity(pair)),
    drawButtons(pair), make("div", { class: "sides" }, left, right));
}

const fateNames = { stays: "stays", goes: "goes", reference: "reference" };

function drawSide(side, at, fate, content) {
  const text = texts.get(at);
  return make("section", { class: `side ${side}` },
    make("header", {}, make("h3", { dir: "auto" }, docs.id[at]),
      make("p", {}, make("span", { class: `tag ${fate}` }, fateNames[fate]), make("span", {}, bytes(docs.bytes[at])),
        make("span", {}, counted(docs.terms[at], "n-gram", "n-grams")), make("span", {}, `row ${count(docs.row[at])}`))),
    ...drawText(text, content));
}

const drawReferenceSide = (reference, text, content) => make("section", { class: "side a" },
  make("header", {}, make("h3", { dir: "auto" }, reference.id),
    make("p", {}, make("span", { class: "tag plain" }, "reference"), text ? make("span", {}, bytes(text.whole)) : null)),
  ...drawText(text, content));

function drawText(text, content) {
  if (!text) return [make("div", { class: "text absent" }, "The text of this document is not in the report, which holds a limited choice of texts.")];
  return [make("div", { class: "text", dir: "auto", tabindex: "0", "aria-label": "Text" }, ...content),
    isCut(text) ? make("p", { class: "cut" }, `Cut: the first ${bytes(textBytes(text))} of ${bytes(text.whole)}.`) : null].filter(Boolean);
}

/* The nodes of both texts, differences marked, long equal runs folded. */
const EQUAL_SHOWN = 30;
function sidesOf(left, right) {
  if (left === undefined || right === undefined) return [[left ?? ""], [right ?? ""]];
  const wordsA = words(left), wordsB = words(right), runs = compare(wordsA, wordsB);
  return [sideNodes(left, wordsA, runs.map(run => [run.equal, run.a, run.aEnd]), "del"), sideNodes(right, wordsB, runs.map(run => [run.equal, run.b, run.bEnd]), "ins")];
}

function sideNodes(text, list, runs, tag) {
  const nodes = [];
  let at = 0;
  const upTo = end => { if (end > at) nodes.push(text.slice(at, end)); at = Math.max(at, end); };
  runs.forEach(([equal, from, to], i) => {
    if (from === to) return;
    const begin = list[from].at, end = list[to - 1].end;
    upTo(begin);
    if (!equal) {
      nodes.push(make(tag, {}, text.slice(begin, end)));
      at = end;
      return;
    }
    const first = i === 0 ? from : from + EQUAL_SHOWN, last = i === runs.length - 1 ? to : to - EQUAL_SHOWN;
    if (state.folded && runs.length > 1 && last - first > EQUAL_SHOWN) {
      upTo(i === 0 ? begin : list[first - 1].end);
      const hidden = text.slice(at, i === runs.length - 1 ? end : list[last].at);
      nodes.push(make("button", { type: "button", class: "gap", title: "Show", onclick: event => event.currentTarget.replaceWith(hidden) }, `\u2026 ${counted(last - first, "equal word", "equal words")} \u2026`));
      at += hidden.length;
    }
    upTo(end);
  });
  upTo(text.length);
  return nodes;
}

/* ---- Keys ---- */

function takenBackKeys(pair) {
  const keys = [keepKey(pair.b)];
  if (!pair.reference) keys.push(pairKey(pair.a, pair.b), keepKey(pair.a));
  return keys;
}

const onPair = action => () => {
  const pair = shownPair();
  if (pair) action(pair);
};

/* b survives in place of a. In a cluster that the page has, the first survivor is no verdict. */
function survive(pair) {
  if (pair.below && pair.reference) return;
  if (pair.below) {
    give(pairKey(pair.a, pair.b), { kind: "duplicate", a: pair.b, b: pair.a });
    return;
  }
  verdicts.delete(pairKey(pair.a ?? -1, pair.b));
  const key = keepKey(pair.b);
  if (pair.cluster >= 0 && pair.b === clusterFirst[pair.cluster]) verdicts.delete(key);
  else give(key, { kind: "keep", at: pair.b });
}

const actions = {
  j: () => select(state.selected + 1),
  k: () => select(state.selected - 1),
  n: () => moveMember(1),
  p: () => moveMember(-1),
  s: onPair(pair => { survive(pair); verdictsChanged(); }),
  d: onPair(pair => {
    if (pair.reference) return;
    give(pairKey(pair.a, pair.b), { kind: "different", a: pair.a, b: pair.b });
    verdictsChanged();
  }),
  x: onPair(pair => {
    if (pair.reference) return;
    if (pair.below) give(pairKey(pair.a, pair.b), { kind: "duplicate", a: pair.a, b: pair.b });
    else verdicts.delete(pairKey(pair.a, pair.b));
    verdictsChanged();
  }),
  u: onPair(pair => { takenBackKeys(pair).forEach(key => verdicts.delete(key)); verdictsChanged(); }),
  f: () => { state.folded = !state.folded; drawDetail(); },
  o: () => {
    state.order = (state.order + 1) % tabs[state.tab].orders.length;
    $("sort").value = state.order;
    refill();
  },
  e: exportVerdicts,
  "/": () => { $("filter").focus(); $("filter").select(); },
  "?": () => $("help").showModal(),
  1: () => openTab(0), 2: () => openTab(1), 3: () => openTab(2), 4: () => openTab(3),
};

function moveMember(step) {
  if (state.tab !== CLUSTERS || !state.items.length) return;
  const most = membersOf(state.items[state.selected]).length - 1;
  state.member = Math.max(0, Math.min(most, state.member + step));
  drawDetail();
}

const listKeys = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const typing = event.target.closest("input:not([type=range]), select, textarea");
  if (event.key === "Escape" && event.target === $("filter")) $("list").focus();
  if (typing) return;
  if (event.target === $("list") && event.key in listKeys) select(Math.max(0, Math.min(state.items.length - 1, state.selected + listKeys[event.key])));
  else if (event.key in actions) actions[event.key]();
  else return;
  event.preventDefault();
}

function start() {
  drawTiles();
  drawChart();
  drawChartTable();
  drawOthers();
  drawTabs();
  restore();
  showVerdictCount();
  openTab(clusterCount || !references.length ? CLUSTERS : REFERENCES);
  document.addEventListener("keydown", onKey);
  $("list").addEventListener("scroll", () => requestAnimationFrame(() => list.draw()), { passive: true });
  new ResizeObserver(() => { drawChart(); showOther(); list.draw(); }).observe($("chart"));
  $("sort").addEventListener("change", () => { state.order = Number($("sort").value); refill(); });
  $("filter").addEventListener("input", () => { state.filter = $("filter").value; refill(); });
  $("export").addEventListener("click", exportVerdicts);
  $("import").addEventListener("click", () => $("import-file").click());
  $("import-file").addEventListener("change", () => { if ($("import-file").files[0]) importVerdicts($("import-file").files[0]); $("import-file").value = ""; });
  $("help-button").addEventListener("click", actions["?"]);
  addEventListener("beforeunload", event => { if (unsaved && !stored) event.preventDefault(); });
}

start();
document.documentElement.dataset.ready = Math.round(performance.now());
})();
