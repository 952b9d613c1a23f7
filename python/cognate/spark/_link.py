"""Links between two languages on a cluster, with the results of `cognate link`.

The stages, from documents with their rows (places in the order of the input): terms of both sides, with statistics,
unknown words and languages that merge; the mean lengths of the rows, added in the order of the input; vectors over the
terms of the target language; the nearest rows of the other side, for both sides, by brute force between blocks of rows,
by posting lists (`_link_lists.py`) or by windows (`_link_windows.py`); the decision, which one task makes from the
neighbours of all documents. Every number is the same as on one machine.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, get_args

import numpy as np

from .. import link_batch
from .._inputs import LinkRule
from .._lexicon import Lexicon
from ..batch import Statistics
from . import _link_lists, _link_windows
from ._arrow import Array, batch_of, byte_rows, lists, map_batches, map_partitions, numbers, packed
from ._cells import BLOCK_BYTES, place, tables_of_cells
from ._frames import Documents
from ._hits import FOUND, HIT, best_hits, packed_hits, unpacked_hits
from ._rows import documents_in
from ._stages import Stage, Stages, hash_of
from ._tables import blocks_of
from .signatures import merge_statistics

if TYPE_CHECKING:
    import pyarrow

Method = Literal["exact", "lists", "flat", "window"]
#: Weighted terms below which the links of a document are weak, as on one machine.
_SHORT_TERMS = 5
_PROJECTION = ("source_given_target", "keep_unknown", "linkers", "k1", "b")
#: What the report of the decision says, of the report of one machine.
_DECIDED = ("wanted_precision", "partnerless_share", "least_probability", "expected_precision", "expected_precision_low",
            "expected_precision_high", "expected_recall", "expected_recall_low", "expected_recall_high", "links")


class Settings(NamedTuple):
    """Everything that the links depend on, except the data."""
    options: dict[str, Any]  #: of the C library
    lexicon: Lexicon
    block_rows: int | None = None  #: of exact and flat, and of source rows of lists; None: by the bytes of the vectors
    partitions: int | None = None

    def projection(self) -> dict[str, Any]:
        return {name: value for name, value in self.options.items() if name in _PROJECTION}


def settings_of(lexicon: Any, *, one_to_one: bool = False, precision: float | None = None,
                threshold: float | None = None, k: int | None = None, method: str = "exact",
                block_rows: int | None = None, partitions: int | None = None, knobs: Mapping[str, int] | None = None,
                **options: Unpack[LinkRule]) -> Settings:
    """The settings, checked. The lexicon may be a path."""
    if method not in get_args(Method):
        raise ValueError(f"method {method!r}: on a cluster links are found by the methods {', '.join(get_args(Method))}")
    if unknown := {*(knobs or {})} - ({*_link_windows.KNOBS} if method == "window" else set()):
        raise ValueError(f"method {method} has no {sorted(unknown)[0]!r}: leave it out")
    if sum(rule is not None for rule in (precision, threshold)) > 1 or (k is not None and precision is not None):
        raise ValueError("links are kept by one rule: precision, threshold, or the k best of each document")
    given: dict[str, Any] = {"one_to_one": one_to_one, "precision": precision, "threshold": threshold,
                             "k": k, "calibrated": None if threshold is None else False, "method": method,
                             **(knobs or {}), **options}
    own = {name: value for name, value in given.items() if value is not None}
    if block_rows is not None and block_rows < 1:
        raise ValueError(f"blocks of {block_rows} rows: give 1 or more")
    link_batch.plan(**own)
    return Settings(own, lexicon if isinstance(lexicon, Lexicon) else Lexicon.open(lexicon), block_rows, partitions)


# ---- Terms -----------------------------------------------------------------------------------------------------------

#: Rows of documents; and for each partition a row with statistics and languages, and rows of unknown words.
_TERMS = "side int, row long, terms binary, data binary, languages array<long>, word string"
_BAGS = "row is not null"


def read_terms(stages: Stages, documents: list[Stage], lexicon: Lexicon, kind: str = "link") -> Stage:
    """The terms of both sides. ``kind`` begins the names of stages."""
    data = lexicon.to_bytes()

    def make() -> Any:
        first, second = (map_partitions(stage.table, _read, _TERMS, data, side) for side, stage in enumerate(documents))
        return first.union(second)
    measures = {f"language_{side}_{number}": f"sum(if(side = {side}, languages[{number}], 0))"
                for side in (0, 1) for number in range(3)}
    measures.update({f"documents_{side}": f"count_if(side = {side} and {_BAGS})" for side in (0, 1)})
    return stages.table(f"{kind}-terms", make, documents, measures, lexicon=lexicon.checksum)


def _read(batches: Iterator[pyarrow.RecordBatch], lexicon: bytes, side: int) -> Iterator[pyarrow.Table]:
    import pyarrow
    opened, statistics, languages, words = lexicon_of(lexicon), None, np.zeros(3, np.int64), []
    for rows in batches:
        with documents_in(rows) as (documents, _):
            own = link_batch.terms(documents, opened, side, threads=1)
        table = pyarrow.table(own.rows)
        places = numbers(table, "row")
        yield _terms_table(len(places), side=np.full(len(places), side, np.int32), row=numbers(rows, "row")[places],
                           terms=packed(table["terms"]))
        languages += own.languages
        words.append(pyarrow.table(own.words)["word"].cast(pyarrow.string()))
        if statistics is None:
            statistics = own.statistics
        else:
            statistics.merge(own.statistics)
    if statistics is None:
        return
    kind = pyarrow.list_(pyarrow.int64())
    yield _terms_table(1, side=np.full(1, side, np.int32), data=[statistics.to_bytes()],
                       languages=pyarrow.array([languages.tolist()], kind))
    known = pyarrow.chunked_array([chunk for part in words for chunk in part.chunks], pyarrow.string()).unique()
    yield _terms_table(len(known), side=np.full(len(known), side, np.int32), word=known)


def _terms_table(rows: int, **columns: Any) -> pyarrow.Table:
    import pyarrow
    kinds = {"side": pyarrow.int32(), "row": pyarrow.int64(), "terms": pyarrow.binary(), "data": pyarrow.binary(),
             "languages": pyarrow.list_(pyarrow.int64()), "word": pyarrow.string()}
    return pyarrow.table({name: columns.get(name, pyarrow.nulls(rows, kind)) for name, kind in kinds.items()})


_opened: dict[str, tuple[Any, Any]] = {}


def lexicon_of(data: bytes) -> Lexicon:
    """Opened once in a process."""
    if "lexicon" not in _opened or _opened["lexicon"][0] != data:
        _opened["lexicon"] = (data, Lexicon.from_bytes(data))
    opened: Lexicon = _opened["lexicon"][1]
    return opened


# ---- Vectors ---------------------------------------------------------------------------------------------------------

class Knowledge(NamedTuple):
    """The input of a projector; it travels to the executors."""
    key: str
    lexicon: bytes
    statistics: tuple[bytes, bytes]
    languages: tuple[link_batch.Languages, link_batch.Languages]
    words: tuple[Array, Array]  #: offsets and bytes
    options: dict[str, Any]

    def projector(self, threads: int = 1) -> link_batch.Projector:
        """Made once in a process."""
        if "projector" not in _opened or _opened["projector"][0] != self.key:
            _opened.pop("projector", None)
            sides = [link_batch.Side(Statistics.from_bytes(self.statistics[side]), self.languages[side],
                                     *([self.words] if side == 0 else [])) for side in (0, 1)]
            made = link_batch.Projector(lexicon_of(self.lexicon), *sides, threads=threads, **self.options)
            _opened["projector"] = (self.key, made)
        projector: link_batch.Projector = _opened["projector"][1]
        return projector


def know(terms: Stage, settings: Settings) -> Knowledge:
    """Merges the terms of the parts of both sides."""
    import pyarrow
    from pyspark.sql import functions as f
    parts = [terms.table.filter(f"data is not null and side = {side}").select("data") for side in (0, 1)]
    merged = [merge_statistics(part, part.count()).select(f.lit(side).alias("side"), "data")
              for side, part in enumerate(parts)]
    found = {row["side"]: bytes(row["data"]) for row in merged[0].union(merged[1]).collect()}
    unknown = terms.table.filter("word is not null").select("word").distinct().orderBy("word").toArrow()
    words = byte_rows(unknown.cast(pyarrow.schema({"word": pyarrow.large_string()})), "word")
    lexicon, own = settings.lexicon.to_bytes(), settings.projection()
    statistics = _both(found, settings.lexicon)
    key = hash_of(own, [hashlib.sha256(bytes(part)).hexdigest() for part in (lexicon, *statistics, *words)])
    return Knowledge(key, lexicon, statistics, (_languages(terms, 0), _languages(terms, 1)), words, own)


def _both(found: dict[int, bytes], lexicon: Lexicon) -> tuple[bytes, bytes]:
    """Statistics of both sides, also of one without documents."""
    first, second = (found[side] if side in found else link_batch.terms([], lexicon, side).statistics.to_bytes()
                     for side in (0, 1))
    return first, second


def _languages(terms: Stage, side: int) -> link_batch.Languages:
    own, other, third = (int(terms.facts[f"language_{side}_{number}"] or 0) for number in range(3))
    return own, other, third


def mean_lengths(stages: Stages, terms: Stage, knowledge: Knowledge, kind: str = "link") -> dict[int, float]:
    """The mean length of the rows of each side: one task adds them in the order of the input."""
    def make() -> Any:
        lengths = map_batches(terms.table.filter(_BAGS).select("side", "row", "terms"), _lengths,
                              "side int, row long, length double", knowledge)
        return map_partitions(lengths.repartition(1).sortWithinPartitions("side", "row"), _sums,
                              "side int, rows long, total double")
    stage = stages.table(f"{kind}-lengths", make, [terms], **knowledge.options)
    return {row["side"]: link_batch.mean_length(row["total"], row["rows"]) for row in stage.table.collect()}


def _sides(rows: pyarrow.RecordBatch) -> Iterator[tuple[int, pyarrow.RecordBatch]]:
    import pyarrow
    side = numbers(rows, "side")
    for number in (0, 1):
        own = np.flatnonzero(side == number)
        if len(own):
            yield number, rows.take(pyarrow.array(own))


def _lengths(rows: pyarrow.RecordBatch, knowledge: Knowledge) -> Any:
    import pyarrow
    parts = [batch_of(side=own.column("side"), row=own.column("row"),
                      length=knowledge.projector().lengths(side, lists(own, "terms"))) for side, own in _sides(rows)]
    return pyarrow.Table.from_batches(parts)


def _sums(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Sums of lengths, added one after another as one machine does: accumulate does that, sum does not."""
    totals, counts = np.zeros(2), np.zeros(2, np.int64)
    for rows in batches:
        for side, own in _sides(rows):
            values = numbers(own, "length")
            totals[side] = np.add.accumulate(np.concatenate(([totals[side]], values)))[-1]
            counts[side] += len(values)
    yield batch_of(side=np.arange(2, dtype=np.int32), rows=counts, total=totals)


def make_vectors(stages: Stages, terms: Stage, knowledge: Knowledge, means: dict[int, float],
                 kind: str = "link") -> Stage:
    """The vectors of both sides: side, row, length, vector (int64 entries as bytes)."""
    def make() -> Any:
        return map_batches(terms.table.filter(_BAGS).select("side", "row", "terms"), _vectors,
                           "side int, row long, length double, vector binary", knowledge, means)
    measures = {"short": f"count_if(octet_length(vector) < {8 * _SHORT_TERMS})",
                **{f"bytes_{side}": f"coalesce(sum(if(side = {side}, octet_length(vector), 0)), 0)" for side in (0, 1)}}
    return stages.table(f"{kind}-vectors", make, [terms], measures, **knowledge.options)


def _vectors(rows: pyarrow.RecordBatch, knowledge: Knowledge, means: dict[int, float]) -> Any:
    import pyarrow
    parts = []
    for side, own in _sides(rows):
        rows_of_terms = lists(own, "terms")
        made = pyarrow.table(knowledge.projector().vectors(side, rows_of_terms, means[side]))
        parts.append(batch_of(side=own.column("side"), row=own.column("row"),
                              length=knowledge.projector().lengths(side, rows_of_terms), vector=packed(made["entries"])))
    return pyarrow.Table.from_batches(parts)


# ---- Neighbours ------------------------------------------------------------------------------------------------------

_ALL = 1 << 62  # proposals: all of them


class Neighbours(NamedTuple):
    """Rows with their nearest of the other side: side, row, hits (the nearest first)."""
    found: Stage
    beyond: float = 0  #: the cosine that neighbours which are not found are taken to have


def find_neighbours(stages: Stages, vectors: Stage, rows: tuple[int, int], settings: Settings) -> Neighbours:
    """The nearest rows of the other side of each row."""
    options = {name: value for name, value in settings.options.items() if name not in _PROJECTION}
    partitions = settings.partitions or int(stages.spark.conf.get("spark.sql.shuffle.partitions"))
    if options["method"] in ("window", "lists"):
        return _by_pairs(stages, vectors, rows, options, settings, partitions)
    return _by_blocks(stages, vectors, rows, options, _blocks(vectors, rows, settings.block_rows, partitions), partitions)


def _by_pairs(stages: Stages, vectors: Stage, rows: tuple[int, int], options: dict[str, Any], settings: Settings,
              partitions: int) -> Neighbours:
    """Of pairs that a method proposes, with their cosines."""
    plan = link_batch.plan(**options)._replace(proposals=(_ALL, _ALL))
    if options["method"] == "lists":
        pairs, beyond = _link_lists.find(stages, vectors, rows, options, partitions, settings.block_rows)
    else:
        pairs, beyond = _link_windows.find(stages, vectors, rows, options, partitions)

    def make() -> Any:
        hits = pairs.table if options["method"] == "lists" else _link_windows.cosines(vectors, pairs, FOUND, partitions)
        return _gathered(hits, plan, partitions)
    return Neighbours(stages.table("link-neighbours", make, [vectors, pairs], plan=list(plan)), beyond)


def _gathered(hits: Any, plan: link_batch.Plan, partitions: int) -> Any:
    """The best hits of each row, from all tasks."""
    return map_partitions(hits.repartition(partitions, "side", "row").sortWithinPartitions("side", "row"), best_hits, FOUND,
                          plan)


def _by_blocks(stages: Stages, vectors: Stage, rows: tuple[int, int], options: dict[str, Any], blocks: tuple[int, int],
               partitions: int) -> Neighbours:
    searched = {name: value for name, value in options.items() if name in ("method", "bits")}
    plan = link_batch.plan(**options)

    def make() -> Any:
        cells = map_batches(vectors.table.drop("length"), place, "cell int, side int, row long, vector binary", blocks)
        together = cells.repartition(min(partitions, blocks[0] * blocks[1]), "cell").sortWithinPartitions(
            "cell", "side", "row")
        found = map_partitions(together, _nearest, FOUND, options)
        return map_partitions(found, best_hits, FOUND, plan) if blocks == (1, 1) else _gathered(found, plan, partitions)
    stages.note(comparisons=rows[0] * rows[1], cells=blocks[0] * blocks[1])
    return Neighbours(stages.table("link-neighbours", make, [vectors], plan=list(plan), blocks=list(blocks), **searched))


def _blocks(vectors: Stage, rows: tuple[int, int], block_rows: int | None, partitions: int) -> tuple[int, int]:
    """Blocks of both sides: as few as memory allows, but at least a cell per partition if there are rows for it."""
    if block_rows is not None:
        return blocks_of(rows[0], block_rows), blocks_of(rows[1], block_rows)
    size = [max(1, int(vectors.facts[f"bytes_{side}"])) for side in (0, 1)]
    blocks = [-(-size[side] // BLOCK_BYTES) for side in (0, 1)]
    while blocks[0] * blocks[1] < min(partitions, rows[0] * rows[1]):
        larger = 0 if size[0] / blocks[0] > size[1] / blocks[1] else 1
        blocks[larger] += 1
    return blocks[0], blocks[1]


def _nearest(batches: Iterator[pyarrow.RecordBatch], options: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    for cell in tables_of_cells(batches, "cell"):
        yield from _nearest_in(cell, options)


def _nearest_in(cell: pyarrow.Table, options: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    """The rows of a cell come side by side, each side by row."""
    first = int((numbers(cell, "side") == 0).sum())
    halves = [cell.slice(0, first), cell.slice(first)]
    vectors = [lists(half, "vector") for half in halves]
    rows = [numbers(half, "row") for half in halves]
    for side in (0, 1):
        found = link_batch.nearest(vectors[side], vectors[1 - side], side, threads=1, **options)
        hits = np.empty(len(found), HIT)
        hits["row"], hits["distance"] = rows[1 - side][found["row"]], found["distance"]
        hits["similarity"] = found["similarity"]
        if len(hits):
            yield packed_hits(side, rows[side], found["query"], hits)


# ---- The decision ----------------------------------------------------------------------------------------------------

#: ``place``: the links of a document stand the best first.
_LINKS = "place long, `from` long, `to` long, similarity double, score double, probability double"


def decide(stages: Stages, vectors: Stage, neighbours: Neighbours, settings: Settings) -> Stage:
    """The links of rows: place, from, to, similarity, score, probability. One task decides."""
    options = {name: value for name, value in settings.options.items() if name not in _PROJECTION}

    def make() -> Any:
        lengths = vectors.table.selectExpr("side", "row", "length", "cast(null as binary) as hits")
        found = neighbours.found.table.selectExpr("side", "row", "cast(null as double) as length", "hits")
        together = lengths.union(found).repartition(1).sortWithinPartitions("side", "row")
        return map_partitions(together, _decide, _LINKS + ", report string", neighbours.beyond, options)
    stage = stages.table("link-decision", make, [vectors, neighbours.found], {"report": "max(report)"}, **options)
    report = json.loads(stage.facts["report"] or "{}")
    stages.note(**{name: report[name] for name in _DECIDED if name in report},
                **({"notices": report["notices"]} if report.get("notices") else {}))
    return Stage(stage.table.filter("report is null").drop("report"), stage.hash, stage.facts)


def _decide(batches: Iterator[pyarrow.RecordBatch], beyond: float, options: dict[str, Any]) -> Iterator[pyarrow.Table]:
    """A row with the length of each document, and one with its hits, if it has any. Rows may have gaps: for the library
    documents are numbered on from 0."""
    import pyarrow
    import pyarrow.compute
    held = list(batches)
    if not held:
        return
    table = pyarrow.Table.from_batches(held)
    halves = [table.filter(pyarrow.compute.equal(table["side"], side)) for side in (0, 1)]
    documents = [half.filter(half["length"].is_valid()) for half in halves]
    known = [numbers(own, "row") for own in documents]
    sides = []
    for side, half in enumerate(halves):
        own = half.filter(half["hits"].is_valid())
        found, lengths = unpacked_hits(own) if own.num_rows else (np.empty(0, HIT), np.empty(0, np.int64))
        counts = np.zeros(len(known[side]), np.int64)
        counts[np.searchsorted(known[side], numbers(own, "row"))] = lengths
        sides.append(link_batch.Neighbours(numbers(documents[side], "length"), np.concatenate(([0], np.cumsum(counts))),
                                           np.searchsorted(known[1 - side], found["row"]), found["similarity"]))
    made = link_batch.decide(*sides, beyond=beyond, threads=1, **options)
    links = {"place": np.arange(len(made)), "from": known[0][made["from"]], "to": known[1][made["to"]]}
    links.update({name: made[name] for name in ("similarity", "score", "probability")})
    yield pyarrow.table({**links, "report": pyarrow.nulls(len(made), pyarrow.string())})
    yield pyarrow.table({**{name: pyarrow.nulls(1, pyarrow.array(values).type) for name, values in links.items()},
                         "report": pyarrow.array([json.dumps(made.report)])})


# ---- The job ---------------------------------------------------------------------------------------------------------

def find_links(stages: Stages, sides: list[Documents], settings: Settings) -> tuple[list[Stage], Stage]:
    """Numbered documents, and the links of their rows."""
    documents = [side.rows(stages, f"documents-{number}") for number, side in enumerate(sides)]
    terms = read_terms(stages, documents, settings.lexicon)
    rows = int(terms.facts["documents_0"]), int(terms.facts["documents_1"])
    stages.note(method=settings.options["method"], from_documents=rows[0], to_documents=rows[1])
    knowledge = know(terms, settings)
    report = knowledge.projector(threads=0).report  # refuses sides that were exchanged
    stages.note(**{name: report[name] for name in ("known_terms", "split_terms", "unknown_terms") if name in report})
    _opened.pop("projector")
    vectors = make_vectors(stages, terms, knowledge, mean_lengths(stages, terms, knowledge))
    stages.note(short_documents=int(vectors.facts["short"]))
    neighbours = find_neighbours(stages, vectors, rows, settings)
    return documents, decide(stages, vectors, neighbours, settings)


def name_links(stages: Stages, documents: list[Stage], links: Stage) -> Any:
    """Links of ids in place of rows."""
    first = documents[0].table.selectExpr("row as from_row", "id as `from`")
    second = documents[1].table.selectExpr("row as to_row", "id as `to`")

    def make() -> Any:
        return links.table.withColumnsRenamed({"from": "from_row", "to": "to_row"}).join(first, "from_row").join(
            second, "to_row").select("from", "to", "similarity", "score", "probability")
    return stages.table("links", make, [links, *documents]).table
