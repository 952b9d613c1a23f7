#!/usr/bin/env python3
"""The programs that remove near-duplicates from JSONL files, behind one interface: cognate and its peers.

Each peer runs as its own documentation shows, in an environment of its own (bench/peers.py), with word n-grams of
lower-cased text. A peer that is a library gets the shortest program that turns a file into a file: a document goes if
an earlier kept document matches it, all other lines are written as they are. With the grouping "connected" earlier
documents that have gone count too.

    dedup_peers.py NAME IN OUT MATCHES SETTINGS

is that program for the peer NAME, started by `System.run`. SETTINGS is JSON; MATCHES a file for lines "row TAB earlier
row", or "-"."""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

import measured

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
COGNATE = HERE.parents[1] / "build" / "cognate"
SETTINGS = {"threshold": 0.8, "ngram": 3, "hashes": 128, "bands": 16, "grouping": "representative"}


class Unavailable(Exception):
    """A peer that cannot run here; the text gives the reason."""


class System:
    """`name`; `version()`; `prepare()` makes the environment, or raises Unavailable; `slow`: takes hours for millions;
    `joins_chains`: it has no grouping but "connected"."""
    slow = joins_chains = False

    def __init__(self, name):
        self.name = name

    def prepare(self):
        pass

    def settings_text(self, settings):
        settings = {**SETTINGS, **settings}
        chains = ", connected" if settings["grouping"] == "connected" else ""
        return "{ngram}-grams, {hashes} hashes in {bands} bands".format(**settings) + chains

    def run(self, source, output, settings=None, matches=None, limit=None):
        """Deduplicates `source` into `output`; what measured.run returns. `matches` receives "row TAB earlier row"."""
        settings = {**SETTINGS, **(settings or {})}
        output.unlink(missing_ok=True)
        return self.start(source, output, settings, matches, limit)


class Cognate(System):
    """cognate with options; matches are read from its table of clusters."""

    def __init__(self, name="cognate", *options):
        super().__init__(name)
        self.options = options

    def prepare(self):
        if not COGNATE.exists():
            raise Unavailable(f"{COGNATE} is missing: run make")

    def version(self):
        return subprocess.run([COGNATE, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]

    def settings_text(self, settings):
        return " ".join([*self.options, *settings.get("options", [])]) or "defaults"

    def start(self, source, output, settings, matches, limit):
        clusters = ["--clusters", f"{matches}.clusters"] if matches else []
        own = settings.get("options", [])
        result = measured.run([COGNATE, "dedup", source, "-o", output, "--threshold", settings["threshold"], "--quiet",
                               *clusters, *self.options, *own], sync=[output], limit=limit)
        if matches and result["status"] == 0:
            self.read_clusters(source, pathlib.Path(f"{matches}.clusters"), matches)
        return result

    @staticmethod
    def read_clusters(source, clusters, matches):
        rows = {document: row for row, document in enumerate(ids_of(source))}
        with open(clusters) as table, open(matches, "w") as out:
            next(table)
            for line in table:
                _, document, representative = line.rstrip("\n").split("\t")[:3]
                if document != representative:
                    out.write(f"{rows[document]}\t{rows[representative]}\n")


class FromPyPI(System):
    """A library in its environment, used by a function of this file."""

    def __init__(self, name, package, find, slow=False):
        super().__init__(name)
        self.package, self.find, self.slow = package, find, slow

    def prepare(self):
        self.python = peers.python_with(self.package, self.package)

    def version(self):
        return peers.version_of(self.python, self.package)

    def start(self, source, output, settings, matches, limit):
        return measured.run([self.python, __file__, self.name, source, output, matches or "-", json.dumps(settings)],
                            sync=[output], limit=limit)


class TextDedup(System):
    """text-dedup's own program, `python -m text_dedup.minhash`, with a config.toml. Its result is a folder in the format
    of `datasets`; it becomes a JSONL file after the measurement."""
    slow, joins_chains, package, python = True, True, "text-dedup", None

    def prepare(self):
        self.python = peers.python_with(self.package, self.package, least=(3, 12))
        if not self.python:
            raise Unavailable("text-dedup needs Python 3.12 or later, and none is installed")

    def version(self):
        return peers.version_of(self.python, self.package)

    def settings_text(self, settings):
        return super().settings_text(settings) + ", candidates checked"

    def start(self, source, output, settings, matches, limit):
        folder = pathlib.Path(f"{output}.text-dedup")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "config.toml").write_text(f"""
[input]
input_type = "local_files"
file_type = "json"
[input.read_arguments]
path = "json"
data_files = {json.dumps(str(source.resolve()))}
split = "train"
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = {settings["hashes"]}
bands = {settings["bands"]}
rows = {settings["hashes"] // settings["bands"]}
threshold = {settings["threshold"]}
ngram_size = {settings["ngram"]}
min_length = 1
check_false_positive = true
[output]
output_dir = "out"
save_clusters = {"true" if matches else "false"}
[debug]
enable_profiling = false
""")
        result = measured.run([self.python, "-m", "text_dedup.minhash"], folder=folder, sync=[folder / "out"], limit=limit,
                              environment={"HF_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1", "COLUMNS": "200"})
        if result["status"] == 0:
            subprocess.run([self.python, __file__, "export", folder / "out", output, matches or "-", "{}"], check=True)
        shutil.rmtree(folder)
        return result


class Crate(System):
    """A crate with the driver of bench/dedup/peer_crates."""

    def __init__(self, name, crate, command, slow=False, settings=None):
        super().__init__(name)
        self.crate, self.command, self.slow, self.own = crate, command, slow, settings or {}
        self.program = peers.BUILD / "peer_crates" / "release" / "peer_crates"

    def prepare(self):
        if not shutil.which("cargo"):
            raise Unavailable("no cargo to build it with")
        built = subprocess.run(["cargo", "build", "-q", "--release", "--manifest-path", HERE / "peer_crates" / "Cargo.toml",
                                "--target-dir", self.program.parent.parent], stderr=subprocess.PIPE, text=True, check=False)
        if built.returncode:
            raise Unavailable("cargo cannot build it: " + built.stderr.strip().splitlines()[-1])

    def version(self):
        manifest = (HERE / "peer_crates" / "Cargo.toml").read_text()
        return re.search(rf'^{self.crate} = "=(.*)"', manifest, re.MULTILINE)[1]

    def settings_text(self, settings):
        if self.own:
            return "{ngram}-grams, sketches of {hashes} bits".format(**{**SETTINGS, **settings, **self.own})
        return super().settings_text(settings)

    def start(self, source, output, settings, matches, limit):
        settings = {**settings, **self.own}
        return measured.run([self.program, self.command, source, output, matches or "-", settings["threshold"],
                             settings["ngram"], settings["hashes"], settings["bands"], settings["grouping"]], sync=[output], limit=limit)


# ---- Programs of the libraries ----------------------------------------------------------------------------------------


def documents(path, batch):
    """Batches of (first row, lines, texts)."""
    with open(path, encoding="utf-8") as file:
        row = 0
        while lines := list(itertools.islice(file, batch)):
            yield row, lines, [json.loads(line)["text"] for line in lines]
            row += len(lines)
            print("progress", row, file=sys.stderr, flush=True)


def gram_list(text, n):
    """The word n-grams in their order; a text of fewer words is one n-gram."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < n:
        return [" ".join(words)]
    return list(map(" ".join, zip(*(words[i:] for i in range(n)))))


def grams(text, n):
    return set(gram_list(text, n))


def by_gaoya(path, threshold, ngram, hashes, bands, grouping):
    """All documents go into the index, then each is asked for: both by two threads."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(hash_size=32, jaccard_threshold=threshold, num_bands=bands, band_size=hashes // bands,
                               analyzer="word", lowercase=True, ngram_range=(ngram, ngram), id_container="smallvec")
    for row, _, texts in documents(path, 10_000):
        index.par_bulk_insert_docs(list(range(row, row + len(texts))), texts)
    counted = bytearray()
    for _, lines, texts in documents(path, 10_000):
        for line, hits in zip(lines, index.par_bulk_query(texts)):
            earlier = [hit for hit in hits if hit < len(counted) and counted[hit]]
            counted.append(not earlier or grouping == "connected")
            yield line, earlier


def by_rensa(path, threshold, ngram, hashes, bands, grouping):
    """RMinHashDeduplicator, given n-grams: its fastest way. The other pipeline of rensa (rho) flags all members of a group,
    the first too, so it does not tell what to keep."""
    from rensa import RMinHashDeduplicator

    if grouping == "connected":
        yield from by_rensa_tables(path, threshold, ngram, hashes, bands)
        return
    seen = RMinHashDeduplicator(threshold=threshold, num_perm=hashes, use_lsh=True, num_bands=bands, seed=42)
    for row, lines, texts in documents(path, 1000):
        kept = seen.add_pairs((str(row + i), gram_list(text, ngram)) for i, text in enumerate(texts))
        for i, (line, text, new) in enumerate(zip(lines, texts, kept)):
            yield line, [] if new else TwinsOnDemand(seen, text, ngram, row + i)


class TwinsOnDemand:
    """The earlier kept twins of a removed document, looked up only if they are wanted."""

    def __init__(self, seen, text, ngram, row):
        self.seen, self.text, self.ngram, self.row = seen, text, ngram, row

    def __iter__(self):
        found = self.seen.get_duplicate_sets([gram_list(self.text, self.ngram)])[0]
        return (hit for hit in map(int, found) if hit < self.row)


def by_rensa_tables(path, threshold, ngram, hashes, bands):
    """RMinHashLSH proposes, the estimate of RMinHash.jaccard decides: matches with documents that have gone, too."""
    from rensa import RMinHash, RMinHashLSH

    tables, values = RMinHashLSH(threshold, hashes, bands), []
    for _, lines, texts in documents(path, 1000):
        sets = [gram_list(text, ngram) for text in texts]
        for line, value in zip(lines, RMinHash.from_token_sets(sets, num_perm=hashes, seed=42)):
            hits = [hit for hit in tables.query(value) if values[hit].jaccard(value) >= threshold]
            tables.insert(len(values), value)
            values.append(value)
            yield line, hits


def by_datasketch(path, threshold, ngram, hashes, bands, grouping):
    """MinHashLSH proposes, the estimate of MinHash.jaccard decides; with a checksum instead of the slower default,
    SHA1."""
    from datasketch import MinHash, MinHashLSH

    tables, counted = MinHashLSH(num_perm=hashes, params=(bands, hashes // bands)), {}
    for row, lines, texts in documents(path, 1000):
        sets = ([gram.encode() for gram in grams(text, ngram)] for text in texts)
        for i, (line, value) in enumerate(zip(lines, MinHash.generator(sets, num_perm=hashes, hashfunc=zlib.crc32))):
            hits = [hit for hit in tables.query(value) if counted[hit].jaccard(value) >= threshold]
            if not hits or grouping == "connected":
                counted[row + i] = value
                tables.insert(row + i, value, check_duplication=False)
            yield line, hits


def export(folder, output, matches):
    """The folder that text-dedup wrote as a JSONL file."""
    import pickle

    from datasets import load_from_disk

    kept = load_from_disk(folder)
    with open(output, "w") as out:
        for name in kept["id"]:
            out.write(json.dumps({"id": name}) + "\n")
    if matches != "-":
        with open(pathlib.Path(folder, "clusters.pickle"), "rb") as file, open(matches, "w") as out:
            out.writelines(f"{row}\t{first}\n" for row, first in pickle.load(file).items() if row != first)


def main():
    name, source, output, matches, settings = sys.argv[1:]
    if name == "export":
        return export(source, output, matches)
    settings = json.loads(settings)
    find = {system.name: system.find for system in PEERS if isinstance(system, FromPyPI)}[name]
    listed = open(matches, "w") if matches != "-" else None
    with open(output, "w", encoding="utf-8") as out:
        for row, (line, hits) in enumerate(find(source, *(settings[key] for key in SETTINGS))):
            if hits == []:
                out.write(line)
            elif listed:
                listed.writelines(f"{row}\t{hit}\n" for hit in hits)


# ---- What scripts need of files ---------------------------------------------------------------------------------------

ID_FIRST = re.compile(r'\{"id": "([^"\\]*)"')


def ids_of(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            first = ID_FIRST.match(line)
            yield first[1] if first else str(json.loads(line)["id"])


PEERS = [
    FromPyPI("gaoya", "gaoya", by_gaoya),
    FromPyPI("rensa", "rensa", by_rensa),
    FromPyPI("datasketch", "datasketch", by_datasketch, slow=True),
    TextDedup("text-dedup"),
    Crate("gaoya crate", "gaoya", "gaoya"),
    Crate("find-simdoc crate", "find-simdoc", "simdoc", slow=True, settings={"hashes": 1024}),
]

if __name__ == "__main__":
    main()
