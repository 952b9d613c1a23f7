"""Sentence pairs of links on a cluster: those of `cognate link --sentences`.

The sentences of all linked documents are a collection of their own, whose terms, statistics and vectors are made like
those of documents (`_link.py`). Then the sentences of a document come together, documents go to the cells that have a
link of theirs, and C aligns link by link. Of pairs with the same texts the first one stays, in the order of the links.

A sentence is identified by its row: that of its document in the upper bits, and its number there.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import link_batch
from . import _link, signatures
from ._arrow import Array, batch_of, binary, byte_rows, lists, map_batches, map_partitions, numbers, run_starts, runs
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

THRESHOLD = 0.5
_NUMBER_BITS = 31
_SENTENCES = "side int, row long, text string, joined int"
#: A document's sentences: the entries of all vectors, their numbers by sentence; all texts, their bytes by sentence.
_PACKED = {"vectors": "binary", "sizes": "binary", "texts": "binary", "lengths": "binary", "joined": "binary"}
#: Bytes of vectors and texts of a cell.
_CELL_BYTES = 32 << 20
#: Links are aligned together until their documents have this many sentences.
_SENTENCES_AT_ONCE = 1_000_000
#: A row for each pair, and (place -1) one with counts for each cell.
_PAIRS = ("place long, number int, from_row long, to_row long, `from` string, `to` string, similarity double, score double, "
          "hash long, compared long, found long")


def find_pairs(stages: Stages, documents: list[Stage], links: Stage, settings: _link.Settings, threshold: float) -> Stage:
    """The pairs: place (of the link), number (of the pair), from_row, to_row (of the documents), from, to (texts),
    similarity, score."""
    check_threshold(threshold)
    sentences = _split(stages, documents, links, settings)
    sides = [Stage(sentences.table.filter(f"side = {side}"), sentences.hash, sentences.facts) for side in (0, 1)]
    terms = _link.read_terms(stages, sides, settings.lexicon, "sentence")
    knowledge = _link.know(terms, settings)
    means = _link.mean_lengths(stages, terms, knowledge, "sentence")
    vectors = _link.make_vectors(stages, terms, knowledge, means, "sentence")
    partitions = settings.partitions or int(stages.spark.conf.get("spark.sql.shuffle.partitions"))
    size = sum(int(part) for part in (vectors.facts["bytes_0"], vectors.facts["bytes_1"], sentences.facts["bytes"] or 0))

    def make() -> Any:
        packed = _packed(vectors, sentences, partitions)
        frames = [packed.filter(f"side = {side}") for side in (0, 1)]
        asked = links.table.selectExpr("`from` as a", "`to` as b", "place as distance")
        cells = max(partitions, size // _CELL_BYTES)
        together = signatures.in_cells(asked, frames, _PACKED, partitions, (cells, 1))
        found = map_partitions(together, _align, _PAIRS, threshold)
        return map_partitions(found.repartition(partitions, "hash").sortWithinPartitions("hash", "place", "number"),
                              _first, _PAIRS)
    measures = {"pairs": "count_if(place >= 0)", "compared": "sum(compared)", "found": "sum(found)"}
    stage = stages.table("sentence-pairs", make, [links, vectors, sentences], measures, threshold=threshold)
    pairs = int(stage.facts["pairs"] or 0)
    stages.note(**{name: int(sentences.facts[name] or 0) for name in ("from_sentences", "to_sentences")},
                compared_sentences=int(stage.facts["compared"] or 0), sentence_pairs=pairs,
                repeated_sentence_pairs=int(stage.facts["found"] or 0) - pairs)
    return Stage(stage.table.filter("place >= 0").drop("hash", "compared", "found"), stage.hash, stage.facts)


def check_threshold(threshold: float) -> None:
    if not 0 <= threshold <= 2:
        raise ValueError(f"a sentence threshold of {threshold}: choose 0 to 2")


def name_pairs(stages: Stages, documents: list[Stage], pairs: Stage) -> Any:
    """Pairs with the ids of their documents, in the columns of `cognate link --sentences`."""
    first = documents[0].table.selectExpr("row as from_row", "id as from_id")
    second = documents[1].table.selectExpr("row as to_row", "id as to_id")

    def make() -> Any:
        return pairs.table.join(first, "from_row").join(second, "to_row").select("from", "to", "similarity", "from_id",
                                                                                 "to_id", "score")
    return stages.table("named-sentence-pairs", make, [pairs, *documents]).table


# ---- Sentences -------------------------------------------------------------------------------------------------------

def _split(stages: Stages, documents: list[Stage], links: Stage, settings: _link.Settings) -> Stage:
    """The sentences of the documents that have a link."""
    data = settings.lexicon.to_bytes()

    def make() -> Any:
        parts = []
        for side, stage in enumerate(documents):
            linked = links.table.selectExpr(f"`{('from', 'to')[side]}` as row").distinct()
            own = stage.table.join(linked, "row", "left_semi").select("row", "text")
            parts.append(map_batches(own, _split_batch, _SENTENCES, data, side))
        return parts[0].union(parts[1])
    measures = {"from_sentences": "count_if(side = 0)", "to_sentences": "count_if(side = 1)",
                "bytes": "sum(octet_length(text))"}
    return stages.table("sentences", make, [links, *documents], measures, lexicon=settings.lexicon.checksum)


def _split_batch(rows: pyarrow.RecordBatch, lexicon: bytes, side: int) -> pyarrow.Table:
    import pyarrow
    made = pyarrow.table(link_batch.sentences(rows.select(["text"]), _link.lexicon_of(lexicon), side, threads=1))
    document = numbers(made, "row")
    number = np.arange(len(document)) - np.searchsorted(document, document)
    return pyarrow.table({"side": np.full(len(document), side, np.int32),
                          "row": numbers(rows, "row")[document] << _NUMBER_BITS | number,
                          "text": made["text"], "joined": made["joined"]})


def _packed(vectors: Stage, sentences: Stage, partitions: int) -> Any:
    """A row for each document: side, row, and its sentences."""
    document = f"shiftright(row, {_NUMBER_BITS}) as document"
    made = vectors.table.selectExpr("side", document, "row", "0 as kind", "vector", "cast(null as binary) as text",
                                    "cast(null as int) as joined")
    said = sentences.table.selectExpr("side", document, "row", "1 as kind", "cast(null as binary) as vector",
                                      "cast(text as binary) as text", "joined")
    together = made.union(said).repartition(partitions, "side", "document").sortWithinPartitions("side", "row", "kind")
    columns = ", ".join(f"{name} {kind}" for name, kind in _PACKED.items())
    return map_partitions(together, _pack, f"side int, row long, {columns}")


def _pack(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Each sentence comes as its vector and then its text."""
    import pyarrow
    for table in runs(batches, ["side", "document"], rows=20_000):
        kind = numbers(table, "kind")
        made, said = (table.take(pyarrow.array(np.flatnonzero(kind == number))) for number in (0, 1))
        starts = run_starts(said, ["side", "document"])
        cuts = np.append(starts, said.num_rows)
        joined = numbers(said, "joined").astype(np.uint8)
        (entry_offsets, entries), (text_offsets, text) = lists(made, "vector"), byte_rows(said, "text")
        yield batch_of(side=numbers(said, "side")[starts], row=numbers(said, "document")[starts],
                       vectors=binary(entry_offsets[cuts] * 8, entries), sizes=binary(cuts * 8, np.diff(entry_offsets)),
                       texts=binary(text_offsets[cuts], text), lengths=binary(cuts * 8, np.diff(text_offsets)),
                       joined=binary(cuts, joined))


# ---- Alignment -------------------------------------------------------------------------------------------------------

def _unpacked(rows: pyarrow.Table) -> link_batch.Sentences:
    ends, sizes = lists(rows, "sizes")
    return link_batch.Sentences(ends, (_sums(sizes), lists(rows, "vectors")[1]),
                                (_sums(lists(rows, "lengths")[1]), byte_rows(rows, "texts")[1]),
                                byte_rows(rows, "joined")[1])


def _sums(sizes: Array) -> Array:
    return np.concatenate(([0], np.cumsum(sizes)))


def _align(batches: Iterator[pyarrow.RecordBatch], threshold: float) -> Iterator[pyarrow.Table]:
    for cell in signatures.cells_of(batches, 1, rows=1):
        first = int((numbers(cell.rows, "side") == 0).sum())
        sides = [_unpacked(cell.rows.slice(0, first)), _unpacked(cell.rows.slice(first))]
        a, b = cell.places[0], cell.places[1] - first
        sentences = np.diff(sides[0].offsets)[a] + np.diff(sides[1].offsets)[b]
        part = np.cumsum(sentences) // _SENTENCES_AT_ONCE
        for number in np.unique(part):
            links = np.flatnonzero(part == number)
            yield _aligned(cell, sides, links, a[links], b[links], threshold)


def _aligned(cell: signatures.Cell, sides: list[link_batch.Sentences], links: Array, a: Array, b: Array,
             threshold: float) -> pyarrow.Table:
    """The pairs of some links of a cell, each pair of texts once, and a row with counts."""
    import pyarrow
    made, compared = link_batch.align(sides[0], sides[1], a, b, threshold=threshold)
    pairs = pyarrow.table(made)
    link, hash = numbers(pairs, "link"), numbers(pairs, "hash")
    place = numbers(cell.pairs, "distance")[links][link]
    number = np.arange(len(link)) - np.searchsorted(link, link)
    order = np.lexsort((number, place, hash))
    kept = order[np.flatnonzero(np.diff(hash[order], prepend=hash[order][:1] - 1))] if len(order) else order
    columns = {"place": place, "number": number.astype(np.int32), "from_row": numbers(cell.pairs, "row")[links][link],
               "to_row": numbers(cell.pairs, "other")[links][link], "from": pairs["from"], "to": pairs["to"],
               "similarity": pairs["similarity"], "score": pairs["score"], "hash": hash,
               "compared": pyarrow.nulls(len(link), pyarrow.int64()), "found": pyarrow.nulls(len(link), pyarrow.int64())}
    table = pyarrow.table(columns).take(kept)
    counts = {"place": -1, "number": 0, "hash": 0, "compared": compared, "found": len(link)}
    return pyarrow.concat_tables([table, pyarrow.Table.from_pylist([counts], table.schema)])


def _first(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    """The first of the pairs of each hash; they come in order. Rows with counts stay."""
    import pyarrow
    for table in runs(batches, ["hash"], rows=20_000):
        pairs = numbers(table, "place") >= 0
        hash = numbers(table, "hash")[pairs]
        changed = np.ones(len(hash), bool)
        changed[1:] = hash[1:] != hash[:-1]
        kept = ~pairs
        kept[pairs] = changed
        yield table.take(pyarrow.array(np.flatnonzero(kept)))
