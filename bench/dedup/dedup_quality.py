#!/usr/bin/env python3
"""Quality of deduplication on labelled documents, cognate and its peers in one table; and a check of cognate's promise.

    dedup_quality.py [DATA] [--limit SECONDS] [--only NAME...] [--sets NAME...] [--common] [--work FOLDER]

DATA is the folder of real documents (../shared/data, or COGNATE_DATA). Sets: revisions of web pages and of statutes (the
revisions of one page belong together), plagiarised Java programs (an original and its copies belong together), and
planted copies (pairs with a Jaccard coefficient of 0.8 or more belong together).

A system's matches are joined to clusters. Pairs are all pairs of documents in one cluster: precision, recall and F1 of
pairs, and the adjusted Rand index (ARI) of the clusters. Each system has a row with the same settings for all (3-grams,
threshold 0.8, peers 128 hashes) and one with its best settings by F1: all thresholds and n-gram lengths of the set's
grid with 256 hashes, then with the best of them 128 and 512 hashes, and chains of matches (connected). Of programs, which are disguised
step by step, chains are tried with all of the grid. The choice sees the labels, for everybody alike. With --common the best ones are not looked for.

The promise, for --tokens regex, if cognate is among the systems: each removed document has a kept one at or above the threshold, no two kept ones are.
An exact join written here in Python judges it, on documents of more than 20 words (shorter ones are compared by words)."""
import argparse
import collections
import fractions
import json
import pathlib
import re
import subprocess
import sys

from dedup_data import DATA, PLANTER, ROOT, plant, unpack
from dedup_peers import COGNATE, PEERS, SETTINGS, Cognate, Unavailable, grams, ids_of
from dedup_speed import judge_pairs, progress_of

SHORT_WORDS = 20
PROSE = {"thresholds": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9), "ngrams": (1, 3, 5)}
GRIDS = {"revisions_mdn_en": PROSE, "revisions_gesetze_de": PROSE,
         "plagiarism_java": {"thresholds": (0.2, 0.3, 0.4, 0.5, 0.6, 0.8), "ngrams": (1, 2, 3, 4, 5),
                             "groupings": ("representative", "connected")},
         "planted": {"thresholds": (0.75, 0.8, 0.85), "ngrams": (3,)}}


# ---- Sets -------------------------------------------------------------------------------------------------------------


class Labelled:
    """`path`: JSONL. `labels`: for each row a label; rows of one label belong together."""

    def __init__(self, name, path, label_of):
        self.name, self.path = name, path
        self.ids = list(ids_of(path))
        self.labels = [label_of.get(document, document) for document in self.ids]


def unpacked(source, work):
    target = work / (source.parent.name + ".jsonl")
    unpack(target, source)
    return target


def table(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def revisions(name, data, work):
    folder = data / "neardup" / name
    return Labelled(name, unpacked(folder / "docs.jsonl.zst", work),
                    {row[0]: "page " + row[1] for row in table(folder / "clusters.tsv")})


def plagiarism(name, data, work):
    folder = data / name
    labels = {document: "copies of " + row[0] for row in table(folder / "truth.tsv") for document in row[:2]}
    return Labelled(name, unpacked(folder / "docs.jsonl.zst", work), labels)


def planted(name, data, work):
    """20,000 documents made of Wikipedia articles by the generator of planted copies."""
    path, truth = work / "planted.jsonl", work / "planted.tsv"
    if not PLANTER.exists():
        raise Unavailable(f"no generator of planted copies ({PLANTER.name})")
    if not pathlib.Path(f"{truth}.jaccard").exists():
        base = unpacked(data / "wikipedia_en" / "docs.jsonl.zst", work)
        plant(base, path, truth, 20_000)
        base.unlink()
        judge_pairs(path, truth)
    near = [row for row in table(pathlib.Path(f"{truth}.jaccard")) if float(row[3]) >= 0.8]
    return Labelled(name, path, {document: "copies of " + row[0] for row in near for document in row[:2]})


SETS = {"revisions_mdn_en": revisions, "revisions_gesetze_de": revisions, "plagiarism_java": plagiarism, "planted": planted}


# ---- Scores -----------------------------------------------------------------------------------------------------------


def clusters_of(count, matches):
    """For each row the smallest row of its cluster: matches joined."""
    parent = list(range(count))

    def find(row):
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    for line in matches.read_text().splitlines():
        a, b = sorted(find(int(row)) for row in line.split("\t"))
        parent[b] = a
    return [find(row) for row in range(count)]


def pairs_in(counts):
    return sum(count * (count - 1) // 2 for count in counts.values())


def scores(found, labels):
    """Precision, recall and F1 of pairs in one cluster, ARI. What finds nothing is precise."""
    together = pairs_in(collections.Counter(zip(found, labels)))
    listed, true = pairs_in(collections.Counter(found)), pairs_in(collections.Counter(labels))
    everything = len(labels) * (len(labels) - 1) // 2
    precision, recall = together / listed if listed else 1.0, together / true
    expected = listed * true / everything
    return {"precision": precision, "recall": recall, "f1": 2 * together / (listed + true),
            "ari": (together - expected) / ((listed + true) / 2 - expected)}


# ---- Settings ---------------------------------------------------------------------------------------------------------


def bands_for(threshold, hashes):
    """The fewest bands that propose 95% of the pairs at the threshold; verification decides."""
    rows = max((rows for rows in (1, 2, 4, 8, 16) if 1 - (1 - threshold ** rows) ** (hashes // rows) >= 0.95), default=1)
    return hashes // rows


def peer_settings(threshold, ngram, hashes, grouping="representative"):
    return {"threshold": threshold, "ngram": ngram, "hashes": hashes, "bands": bands_for(threshold, hashes),
            "grouping": grouping}


def our_settings(threshold, ngram, grouping):
    return {"threshold": threshold, "ngram": ngram, "options": ["--ngram", str(ngram), "--grouping", grouping]}


def first_grid(system, grid):
    groupings = ("connected",) if system.joins_chains else grid.get("groupings", ("representative",))
    combinations = [(threshold, ngram, grouping) for grouping in groupings
                    for ngram in grid["ngrams"] for threshold in grid["thresholds"]]
    if isinstance(system, Cognate):
        return [our_settings(*combination) for combination in combinations]
    return [peer_settings(threshold, ngram, 256, grouping) for threshold, ngram, grouping in combinations]


def second_grid(system, best):
    if isinstance(system, Cognate):
        return [our_settings(best["threshold"], best["ngram"], "connected")]
    more = dict.fromkeys(((128, best["grouping"]), (512, best["grouping"]), (256, "connected"), (512, "connected")))
    return [peer_settings(best["threshold"], best["ngram"], *each) for each in more]


def our_systems():
    """cognate by what the built program can do."""
    text = subprocess.run([COGNATE, "dedup", "--help-all"], stdout=subprocess.PIPE, text=True, check=True).stdout
    measures = re.search(r"--measure\s+(\S+)", text)[1].split("|")
    tokens = re.search(r"--tokens\s+(\S+)", text)[1].split("|")
    systems = [Cognate("cognate"), Cognate("cognate regex", "--tokens", "regex")]
    if "code" in tokens:
        systems.append(Cognate("cognate code", "--tokens", "code"))
    if "containment" in measures:
        systems.append(Cognate("cognate containment", "--measure", "containment"))
        if "code" in tokens:
            systems.append(Cognate("cognate containment code", "--measure", "containment", "--tokens", "code"))
    return systems


# ---- Runs -------------------------------------------------------------------------------------------------------------


class Judge:
    """Runs systems on one set."""

    def __init__(self, labelled, options):
        self.set, self.options = labelled, options
        self.output, self.matches = options.work / "kept.jsonl", options.work / "matches.tsv"
        self.failures = []

    def try_settings(self, system, settings):
        """Scores with the settings in them; None if it failed or took too long."""
        self.matches.write_text("")
        result = system.run(self.set.path, self.output, settings, self.matches, limit=self.options.limit)
        if result["late"] or result["status"]:
            reason = f"more than {self.options.limit:.0f} s" if result["late"] else progress_of(result)
            self.failures.append(f"{self.set.name}, {system.name}, {self.describe(system, settings)}: {reason}")
            return None
        found = scores(clusters_of(len(self.set.labels), self.matches), self.set.labels)
        return {**found, "settings": settings}

    @staticmethod
    def describe(system, settings):
        return f"{settings['threshold']}, {system.settings_text(settings)}"

    def rows(self, system):
        """The row of common settings and the row of the best ones."""
        plain = self.try_settings(system, SETTINGS)
        grid = [] if self.options.common else first_grid(system, GRIDS[self.set.name])
        tried = [self.try_settings(system, settings) for settings in grid]
        tried = [entry for entry in tried if entry]
        if tried:
            best = max(tried, key=lambda entry: entry["f1"])
            tried += [self.try_settings(system, settings) for settings in second_grid(system, best["settings"])]
        rows = [("common", plain)] if plain else []
        if not self.options.common and (tried := [entry for entry in tried + [plain] if entry]):
            rows.append(("best", max(tried, key=lambda entry: entry["f1"])))
        return [(kind, system, entry) for kind, entry in rows]

    def print_row(self, kind, system, entry):
        print(f"| {self.set.name} | {system.name} | {kind}: {self.describe(system, entry['settings'])} | "
              f"{entry['precision']:.3f} | {entry['recall']:.3f} | {entry['f1']:.3f} | {entry['ari']:.3f} |", flush=True)


# ---- The promise ------------------------------------------------------------------------------------------------------


def near_pairs(sets, threshold):
    """All pairs of rows at or above the threshold: an exact join by the rarest members of each set."""
    counts = collections.Counter(gram for members in sets.values() for gram in members)
    lists = collections.defaultdict(list)
    for row, members in sorted(sets.items(), key=lambda entry: len(entry[1])):
        ordered = sorted(members, key=lambda gram: (counts[gram], gram))
        needed = -(-threshold.numerator * len(members) // threshold.denominator)
        candidates = set()
        for gram in ordered[:len(ordered) - needed + 1]:
            candidates.update(lists[gram])
            lists[gram].append(row)
        for other in candidates:
            if at_least(sets[other], members, threshold):
                yield other, row


def at_least(a, b, threshold):
    shared = len(a & b)
    return shared * threshold.denominator >= threshold.numerator * (len(a) + len(b) - shared)


def check_promise(labelled, text, work):
    """Prints one line; True if the promise is kept."""
    output, clusters = work / "promise.jsonl", work / "promise.tsv"
    subprocess.run([COGNATE, "dedup", labelled.path, "-o", output, "--tokens", "regex", "--threshold", text, "--clusters",
                    clusters, "--quiet"], check=True)
    threshold, sets, lines = fractions.Fraction(text), {}, []
    with open(labelled.path, encoding="utf-8") as file:
        for document, line in zip(labelled.ids, file):
            lines.append(line)
            words = re.findall(r"\w+", json.loads(line)["text"].lower())
            if len(words) > SHORT_WORDS:
                sets[document] = grams(" ".join(words), 3)
    kept = set(ids_of(output))
    representative = {row[1]: row[2] for row in table(clusters)[1:]}
    removed = [document for document in sets if document not in kept]
    alone = [document for document in removed if representative.get(document) not in kept or
             not at_least(sets.get(representative[document], set()), sets[document], threshold)]
    left = list(near_pairs({document: members for document, members in sets.items() if document in kept}, threshold))
    same = output.read_text() == "".join(line for document, line in zip(labelled.ids, lines) if document in kept)
    print(f"{labelled.name} at {text}: {len(removed)} of {len(sets)} removed, {len(alone)} of them without a kept one at the "
          f"threshold, {len(left)} kept pairs at it, records {'unchanged and in order' if same else 'CHANGED'}", flush=True)
    return not alone and not left and same


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path, nargs="?", default=DATA)
    parser.add_argument("--limit", type=float, default=180, help="seconds for one run of a peer")
    parser.add_argument("--only", nargs="*", help="systems whose names contain one of these words")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--common", action="store_true", help="only the settings that are the same for all")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "dedup_quality")
    options = parser.parse_args()
    if not options.data.is_dir():
        return print("skipped: no folder of documents")
    options.work.mkdir(parents=True, exist_ok=True)
    systems, sets, failures, kept = [], [], [], True
    for system in our_systems() + PEERS:
        if options.only is None or any(word in system.name for word in options.only):
            try:
                system.prepare()
                systems.append(system)
            except Unavailable as problem:
                failures.append(f"{system.name}: {problem}")
    for name in options.sets:
        try:
            sets.append(SETS[name](name, options.data, options.work))
        except Unavailable as problem:
            failures.append(f"{name}: {problem}")
    print("Versions: " + ", ".join(f"{system.name} {system.version()}" for system in systems) + "\n")
    print("| set | system | settings | precision | recall | F1 | ARI |\n|---|---|---|---|---|---|---|")
    for labelled in sets:
        judge = Judge(labelled, options)
        for system in systems:
            for row in judge.rows(system):
                judge.print_row(*row)
        failures += judge.failures
    print("\nNot run:" if failures else "", *failures, sep="\n")
    if not any(isinstance(system, Cognate) for system in systems):
        return 0
    print("The promise:")
    for labelled in sets:
        for threshold in "0.8", "0.5":
            kept &= check_promise(labelled, threshold, options.work)
    print("kept" if kept else "BROKEN")
    return not kept


if __name__ == "__main__":
    sys.exit(main())
