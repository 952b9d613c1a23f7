/* Finds the differences between two texts, word by word. */

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

/* Places of words that occur once on each side, in the same order on both: long texts are cut there. */
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

/* Pairs of equal places, ascending on both sides. */
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
