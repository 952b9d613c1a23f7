/* The actions of keys and buttons, and the start of the page. */

function takenBackKeys(pair) {
  const keys = [keepKey(pair.b)];
  if (!pair.reference) keys.push(pairKey(pair.a, pair.b), keepKey(pair.a));
  return keys;
}

const onPair = action => () => {
  const pair = shownPair();
  if (pair) action(pair);
};

/* b is kept instead of a. In a cluster of the page, choosing the original survivor is no verdict. */
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

// The list stands below the charts: the first key that moves in it, or decides, brings it into view.
function revealBrowser() {
  if ($("tabs").getBoundingClientRect().top > innerHeight / 2) $("tabs").scrollIntoView({ behavior: "instant" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const typing = event.target.closest("input:not([type=range]), select, textarea");
  if (event.key === "Escape" && event.target === $("filter")) $("list").focus();
  if (typing) return;
  if (event.target === $("list") && event.key in listKeys) select(Math.max(0, Math.min(state.items.length - 1, state.selected + listKeys[event.key])));
  else if (event.key in actions) actions[event.key]();
  else return;
  if ("jknpsdxu".includes(event.key)) revealBrowser();
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
