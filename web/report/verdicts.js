/* Verdicts: given, stored in the browser, exported to a file and imported again. */

/* By subject ("keep:CLUSTER" or "pair:A:B"), in the order in which they were given. */
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

/* A browser may refuse storage to files: verdicts are then lost with the page. */
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
