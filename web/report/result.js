/* The result in the page, and small helpers that every panel uses. */

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
const percent = share => share === 0 ? "0%" : share >= 0.9995 && share < 1 ? "99.9%" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
const bytes = number => number < 1000 ? `${number} B` : number < 999500 ? `${(number / 1e3).toFixed(number < 9950 ? 1 : 0)} kB`
  : number < 999.5e6 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(1)} GB`;

/* Truncated, not rounded: a similarity below the threshold must not look like the threshold. */
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
