/* The list of items to review: its tabs, order, filter, and the rows in view. */

/* Items to review: each tab has items, and each item a kept document and others. */
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
/* The reference and the document of an item, in the tabs that have them. */
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
