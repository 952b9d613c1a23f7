/* The details of the selected item: its cluster, and two documents side by side. */

/* The documents of a cluster without its survivor. If another one survives, the first survivor takes its place. */
function membersOf(c) {
  const survivor = survivorOf(c), first = clusterFirst[c];
  const members = Array.from({ length: result.clusters.listed[c] - 1 }, (_, i) => first + 1 + i);
  return survivor === first ? members : members.map(at => at === survivor ? first : at);
}

/* The shown pair: documents a (left) and b, the decision of the run, and their similarity. */
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

/* The decision for the two, by the run and the verdicts. */
function fates(pair) {
  if (pair.reference) return { a: "reference", b: pair.below || verdicts.has(keepKey(pair.b)) ? "stays" : "goes" };
  const verdict = pairVerdict(pair.a, pair.b);
  if (verdict?.kind === "different") return { a: "stays", b: "stays" };
  if (verdict?.kind === "duplicate") return { a: verdict.a === pair.a ? "stays" : "goes", b: verdict.a === pair.b ? "stays" : "goes" };
  return pair.below ? { a: "stays", b: "stays" } : { a: "stays", b: "goes" };
}

/* Shares of each document's n-grams that the other has; null if the measure does not have them. */
function shares(pair) {
  const a = docs.terms[pair.a], b = docs.terms[pair.b], s = pair.similarity / MILLION;
  const shared = { jaccard: s * (a + b) / (1 + s), containment: s * Math.min(a, b) }[result.measure];
  return shared === undefined || !a || !b ? null : { a: Math.min(1, shared / a), b: Math.min(1, shared / b) };
}

const detailBack = () => make("button", { type: "button", class: "back", onclick: () => { $("tabs").scrollIntoView(); $("list").focus(); } }, "\u2190 List");

function drawDetail() {
  const pair = shownPair(), parts = [];
  if (!state.items.length) {
    $("detail").replaceChildren(make("p", { class: "empty" }, state.filter ? "No id matches." : state.tab === CLUSTERS ? "Nothing was removed." : "Nothing to review here."));
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
  ...drawText(text, content, referenceTexts.size ? undefined : "The reference collection is an index, which keeps no texts."));

function drawText(text, content, absent = "The text of this document is not in the report, which holds a limited choice of texts.") {
  if (!text) return [make("div", { class: "text absent" }, absent)];
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
