"""The exact join of term sets on a cluster: the stages that dedup and pairs share.

Documents are numbers (`doc`, of their ids) and have a rank: their place in the order in which a job takes them. The
stages: term sets of documents; equal documents, and ranks of the first of each; counts of members; keys of sets;
candidates, which share a key; pairs, which reach the threshold. Functions that run in executors are at the end.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import batch
from ._arrow import batch_of, lists, map_batches, map_partitions, numbers, packed, runs
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

#: A key with more than the square of this many pairs to compare is cut into blocks of as many rows; each pair of blocks
#: is joined on its own.
BLOCK_ROWS = 8192
_PAIRS_IN_MEMORY = 4_000_000  # candidates that a task lists at a time, at most
_IDLE = "count > 64 and reach < largest"  # keys whose idle rows are left out of the shuffle
_IDLE_KEYS_MOST = 1_000_000
_BLOCKS_MOST = 100  # pairs of blocks are numbered in 14 bits of a key
_CHUNK_BITS = 20  # tables of counts travel in pieces of 2^20 bytes
_SLOT_BITS_MOST = 28
FREQUENT_BITS = 20
_PART_SHIFT = 49
_SIDE, _ACROSS, _HAS_TERMS, _LARGER = 1, 2, 4, 8
#: A row that may be the smaller of two near sets whose first common member is its key.
SMALLER = 16
#: Flags that a row keeps when its side changes.
OWN_FLAGS = _HAS_TERMS | SMALLER
_WORDS = 1 << 48
_SIZE_MOST = (1 << 31) - 1

#: What is known about a table of sets.
SET_FACTS = {"members": "coalesce(sum(octet_length(terms) + octet_length(words)), 0) div 8"}
KEY_COLUMNS = "key long, place int, size int, first long, second long, flags int"


class Rule(NamedTuple):
    """Which pairs are found."""
    threshold: float
    measure: str
    terms: dict[str, Any]  #: options of term_sets
    block_rows: int = BLOCK_ROWS


# ---- Stages ----------------------------------------------------------------------------------------------------------

def term_sets(stages: Stages, frame: Any, rule: Rule, data: str, name: str = "sets") -> Stage:
    """Term sets of a frame with doc, id, ord, keep and text (and lang): doc, id, ord, keep, text_bytes, fingerprint,
    terms, words. Documents without a text are left out."""
    carried = [field for field in frame.schema.fields if field.name in ("doc", "id", "ord", "keep")]
    schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in carried)
    schema += ", text_bytes long, fingerprint binary, terms binary, words binary"
    return stages.table(name, lambda: map_batches(frame, _term_sets, schema, rule.terms), [data, "packed"],
                        SET_FACTS, terms=rule.terms)


def count_members(stages: Stages, sets: list[Stage], slot_bits: int | None = None) -> tuple[Stage, Any]:
    """Counts of the members of all sets: the stage, and the counts, ready for executors."""
    spark = stages.spark
    frame = _union([stage.table.select("terms", "words") for stage in sets])
    if slot_bits is None:
        members = sum(stage.facts["members"] for stage in sets)
        slot_bits = min(max(math.ceil(math.log2(2 * members + 1)), 12), _SLOT_BITS_MOST)
    pieces = frame.coalesce(max(1, cores(spark)))  # each task has a table of counts, which travels
    chunks = map_partitions(pieces, _count_members, "chunk int, data binary", slot_bits).repartition("chunk")
    stage = stages.table("counts", lambda: map_partitions(chunks.sortWithinPartitions("chunk"), _merge_counts,
                                                          "chunk int, data binary", slot_bits), sets,
                         slot_bits=slot_bits)
    counts = batch.MemberCounts(slot_bits, FREQUENT_BITS)
    for row in stage.table.collect():
        _put_chunk(counts, row["chunk"], row["data"])
    return stage, _shared(spark, counts)


def set_keys(stages: Stages, name: str, sets: Stage, ranks: Stage, counts_stage: Stage, counts: Any, rule: Rule,
             side: int = 0) -> Stage:
    """Keys of the sets of ranked documents: doc, rank and the columns of KEY_COLUMNS."""
    def make() -> Any:
        keys = map_batches(sets.table.select("doc", "terms", "words"), _set_keys, f"doc long, {KEY_COLUMNS}", counts,
                           rule.threshold, rule.measure, side)
        return keys.join(ranks.table.select("doc", "rank"), "doc")
    return stages.table(name, make, [sets, ranks, counts_stage, "flags of smaller sets"], threshold=rule.threshold,
                        measure=rule.measure, side=side)


def frequent_keys(stages: Stages, keys: list[Stage], rule: Rule) -> Stage:
    """Counts keys that occur at least twice: key, count, smaller (rows that may be the smaller of a pair), largest (the
    size of the largest set with the key), reach (the largest size that the larger set of a pair may have; -1: none).
    Facts: pairs of rows to compare, the most pairs of one key, and the number of keys with many idle rows, which are
    larger than the reach."""
    from pyspark.sql import functions as f
    t, is_smaller = rule.threshold, f"(flags & {SMALLER}) != 0"
    reach = f"floor((size - place) * {(1 + t) / t!r}D + 1e-6D) - size" if rule.measure == "jaccard" else f"{_SIZE_MOST}L"

    def make() -> Any:
        rows = _union([stage.table.select("key", "flags", "size", "place") for stage in keys])
        return rows.groupBy("key").agg(
            f.count(f.lit(1)).alias("count"), f.expr(f"count_if({is_smaller})").alias("smaller"),
            f.max("size").alias("largest"),
            f.expr(f"max(if({is_smaller}, {reach}, -1L))").alias("reach")).filter("count > 1")
    measures = {"sharing": "coalesce(sum(smaller * count - smaller * (smaller + 1) div 2), 0)",
                "most": "coalesce(max(smaller * count), 0)", "shared": "coalesce(sum(count), 0)",
                "idle_keys": f"count(if({_IDLE}, 1, null))"}
    counts = stages.table("key_counts", make, keys, measures, threshold=t, measure=rule.measure)
    rows = sum(stage.rows for stage in keys)
    stages.note(keys=rows, lone_keys=rows - counts.facts["shared"])  # of one document: its slot of the counts has others
    return counts


def without_idle(stages: Stages, rows: Any, key_counts: Stage, inputs: list[Stage]) -> tuple[Any, int]:
    """Rows of keys without idle rows, which propose no pair: they share boilerplate that is too small a part of their
    documents to make any two of them near. Also the number of pairs of rows left to compare."""
    from pyspark.sql import functions as f
    keys, sharing = key_counts.facts["idle_keys"], key_counts.facts["sharing"]
    stages.note(idle_keys=keys, idle_rows=0)
    if not 0 < keys <= _IDLE_KEYS_MOST:
        return rows, sharing
    idle = f.broadcast(key_counts.table.filter(_IDLE).select("key", "reach"))
    left = stages.table("idle", lambda: rows.select("key", "size", "flags").join(idle, "key").groupBy("key").agg(
        f.count(f.lit(1)).alias("with_idle"), f.expr("count_if(size <= reach)").alias("count"),
        f.expr(f"count_if((flags & {SMALLER}) != 0)").alias("smaller")), [key_counts, *inputs],
        {"sharing": "coalesce(sum(smaller * (with_idle - count)), 0)", "idle_rows": "coalesce(sum(with_idle - count), 0)"})
    stages.note(idle_rows=left.facts["idle_rows"])
    return (rows.join(idle, "key", "left").filter("reach is null or size <= reach").drop("reach"),
            sharing - left.facts["sharing"])


def candidates(stages: Stages, name: str, rows: Any, key_counts: Stage, rule: Rule, inputs: list[Stage], across: bool,
               **settings: Any) -> Stage:
    """Pairs of ranks a < b that share a key (across: a of side 0, b of side 1), with their docs: a, b, a_doc, b_doc.

    A pair may come several times.
    """
    def make() -> Any:
        split = _split_heavy(stages, rows, key_counts, rule, across)
        together = split.repartition("key").sortWithinPartitions("key", "size")
        return map_partitions(together, _find_candidates, "a long, b long, a_doc long, b_doc long", rule.threshold,
                              rule.measure, across)
    return stages.table(name, make, [*inputs, key_counts], threshold=rule.threshold, measure=rule.measure,
                        block_rows=rule.block_rows, **settings)


def verify(stages: Stages, name: str, found: Stage, sets: list[Stage], rule: Rule, threshold: float | None = None) -> Stage:
    """The candidates that reach the threshold: a, b, similarity. ``sets``: of a's side, and of b's if it is another."""
    from pyspark.sql import functions as f
    sides = [sets[0], sets[-1]]
    least = rule.threshold if threshold is None else threshold

    def needed(side: int, column: str) -> Any:
        docs = found.table.select(f.col(column).alias("doc")).distinct()
        names = [f.col(part).alias(f"{column[0]}_{part}") for part in ("doc", "terms", "words")]
        return sides[side].table.select("doc", "terms", "words").join(docs, "doc", "left_semi").select(*names)

    def make() -> Any:
        # Sets of b first: there are more of them, and sets of a few documents a are broadcast rather than shuffled.
        pairs = found.table.repartition("b_doc").dropDuplicates(["a_doc", "b_doc"])
        wide = pairs.join(needed(1, "b_doc"), "b_doc").join(needed(0, "a_doc"), "a_doc")
        return map_batches(wide.select("a", "b", "a_terms", "b_terms", "a_words", "b_words"), _measure,
                           "a long, b long, similarity double", rule.measure, least)
    return stages.table(name, make, [found, *sets], measure=rule.measure, threshold=least)


def _split_heavy(stages: Stages, rows: Any, key_counts: Stage, rule: Rule, across: bool) -> Any:
    """Rows of keys, with heavy keys cut into parts: every pair of blocks of a key becomes a separate key."""
    from pyspark.sql import functions as f
    most_pairs = rule.block_rows ** 2
    if key_counts.facts["most"] <= most_pairs:
        return rows
    suspects = key_counts.table.filter(f.col("count") * f.col("smaller") > most_pairs).select("key")
    heavy = rows.join(f.broadcast(suspects), "key", "left_semi").groupBy("key").agg(
        f.sum(f.expr(f"1 - (flags & {_SIDE})")).alias("a"), f.sum(f.expr(f"flags & {_SIDE}")).alias("b"),
        f.sum(f.expr(f"(flags & {SMALLER}) div {SMALLER}")).alias("smaller")).collect()
    blocks = {row["key"]: tuple(_blocks(row[side], rule.block_rows) for side in ("a", "b")) for row in heavy
              if (row["a"] * row["b"] if across else row["a"] * row["smaller"]) > most_pairs}
    if not blocks:
        return rows
    most = max(heavy, key=lambda row: row["a"] + row["b"])
    known = stages.report.get("heaviest_key", {"rows": 0})
    if most["a"] + most["b"] > known["rows"]:
        example = rows.filter(f.col("key") == most["key"]).select("doc").head()
        stages.note(heaviest_key={"rows": most["a"] + most["b"], "example": example["doc"]})
    stages.note(heavy_keys=stages.report.get("heavy_keys", 0) + len(blocks))
    schema = f"doc long, {KEY_COLUMNS}, rank long"
    ordered = rows.select(*(column.split()[0] for column in schema.split(", ")))  # a join may have moved columns
    return map_batches(ordered, _split_rows, schema, blocks, across)


def _blocks(rows: int, most: int) -> int:
    return min(max(1, math.ceil(rows / most)), _BLOCKS_MOST)


def _union(frames: list[Any]) -> Any:
    result = frames[0]
    for frame in frames[1:]:
        result = result.union(frame)
    return result


def cores(spark: Any) -> int:
    """Cores of the executors that run now."""
    try:
        executors = spark.sparkContext._jsc.sc().statusStore().executorList(True)
        known = [executors.apply(i) for i in range(executors.size())]
        own = sum(int(executor.totalCores()) for executor in known if executor.id() != "driver" or len(known) == 1)
    except Exception:  # Spark Connect has no context, and says so with an exception of its own
        own = 0
    return own or parallelism(spark)


def parallelism(spark: Any) -> int:
    """How many partitions the cluster likes, about its cores."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context, and says so with an exception of its own
        return int(spark.conf.get("spark.default.parallelism", "8"))


def _shared(spark: Any, value: Any) -> Any:
    """A broadcast variable, or the value itself if there are none (Spark Connect)."""
    try:
        return spark.sparkContext.broadcast(value)
    except Exception:
        return value


# ---- In executors ----------------------------------------------------------------------------------------------------

def _term_sets(documents: pyarrow.RecordBatch, terms: dict[str, Any]) -> pyarrow.Table:
    import pyarrow
    sets = batch.term_sets(documents.select([name for name in documents.schema.names if name in ("text", "lang")]),
                           threads=1, **terms).to_arrow()
    table = pyarrow.Table.from_batches([documents]).take(sets["row"])
    table = table.select([name for name in ("doc", "id", "ord", "keep") if name in table.schema.names])
    for name in ("text_bytes", "fingerprint", "terms", "words"):
        column = sets[name]
        table = table.append_column(name, column if name == "text_bytes" else column.cast(pyarrow.binary())
                                    if name == "fingerprint" else packed(column))
    return table


def _count_members(batches: Iterator[pyarrow.RecordBatch], slot_bits: int) -> Iterator[pyarrow.RecordBatch]:
    counts = batch.MemberCounts(slot_bits, FREQUENT_BITS)
    for piece in batches:
        for name in ("terms", "words"):
            counts.add(lists(piece, name))
    for kind, array in enumerate((counts.slots, counts.frequent.view(np.uint8))):
        for i, at in enumerate(range(0, len(array), 1 << _CHUNK_BITS)):
            yield batch_of(chunk=np.array([2 * i + kind], np.int32), data=[array[at:at + (1 << _CHUNK_BITS)].tobytes()])


def _merge_counts(batches: Iterator[pyarrow.RecordBatch], slot_bits: int) -> Iterator[pyarrow.RecordBatch]:
    merged: batch.MemberCounts | None = None
    current = -1
    for piece in batches:
        for chunk, data in zip(piece.column("chunk").to_pylist(), piece.column("data"), strict=True):
            part = _chunk(chunk, data.as_buffer())
            if merged is None or chunk != current:
                if merged is not None:
                    yield _chunk_row(current, merged)
                merged, current = part, chunk
            else:
                merged.merge(part)
    if merged is not None:
        yield _chunk_row(current, merged)


def _chunk(number: int, data: Any) -> batch.MemberCounts:
    """Counts that are a piece of the table: of slots if the number is even, of numbers if it is odd."""
    array = np.frombuffer(data, np.uint8).copy()
    bits = len(array).bit_length() - 1
    counts = batch.MemberCounts(1, bits - 2) if number % 2 else batch.MemberCounts(bits + 1, 0)
    if number % 2:
        counts.frequent = array.view(np.uint32)
    else:
        counts.slots = array
    return counts


def _chunk_row(number: int, counts: batch.MemberCounts) -> pyarrow.RecordBatch:
    array = counts.frequent.view(np.uint8) if number % 2 else counts.slots
    return batch_of(chunk=np.array([number], np.int32), data=[array.tobytes()])


def _put_chunk(counts: batch.MemberCounts, number: int, data: bytes) -> None:
    array = counts.frequent.view(np.uint8) if number % 2 else counts.slots
    at = number // 2 << _CHUNK_BITS
    array[at:at + len(data)] = np.frombuffer(data, np.uint8)


def _set_keys(piece: pyarrow.RecordBatch, counts: Any, threshold: float, measure: Any, side: int) -> Any:
    import pyarrow
    counts = getattr(counts, "value", counts)
    docs, tables = numbers(piece, "doc"), []
    terms, words = lists(piece, "terms"), lists(piece, "words")
    has_terms = np.diff(terms[0]) > 0
    for sets, bit in ((terms, 0), (words, _WORDS)):
        if len(sets[1]) == 0:
            continue
        keys = batch.set_keys(sets, counts, threshold=threshold, measure=measure).to_numpy()
        row = keys["row"]
        flags = np.full(len(row), side * _SIDE, np.int32) + np.where(has_terms[row], _HAS_TERMS, 0).astype(np.int32)
        flags += np.where(_may_be_smaller(keys["place"], keys["size"], threshold, measure), SMALLER, 0).astype(np.int32)
        tables.append(pyarrow.Table.from_batches([batch_of(
            doc=docs[row], key=keys["key"] | bit, place=keys["place"], size=keys["size"],
            first=np.where(keys["first"] < 0, -1, keys["first"] | bit),
            second=np.where(keys["second"] < 0, -1, keys["second"] | bit), flags=flags)]))
    return pyarrow.concat_tables(tables) if tables else None


def _may_be_smaller(places: Any, sizes: Any, threshold: float, measure: Any) -> Any:
    """Whether enough members come after a key for the set to be near one of at least its size."""
    least = 2 * threshold / (1 + threshold) if measure == "jaccard" else threshold
    return sizes - places >= np.ceil(least * sizes - 1e-6)


def _split_rows(piece: pyarrow.RecordBatch, blocks: dict[int, tuple[int, int]], across: bool) -> pyarrow.Table:
    """Copies of the rows of heavy keys, one per pair of blocks that contains the row."""
    import pyarrow
    keys, ranks, sides = numbers(piece, "key"), numbers(piece, "rank"), numbers(piece, "flags") & _SIDE
    table = pyarrow.Table.from_batches([piece])
    heavy_keys = np.array(sorted(blocks), np.int64)
    at = np.searchsorted(heavy_keys, keys)
    at[at == len(heavy_keys)] = 0
    heavy = heavy_keys[at] == keys
    if not heavy.any():
        return table
    of_key = np.array([blocks[key] for key in heavy_keys.tolist()], np.int64)
    where = np.flatnonzero(heavy)
    mine = of_key[at[where], sides[where] if across else 0]
    block = _mix(ranks[where]) % mine
    others = of_key[at[where], 1 - sides[where] if across else 0]
    take = np.repeat(where, others)
    other = np.arange(len(take)) - np.repeat(np.cumsum(others) - others, others)
    own = np.repeat(block, others)
    flags = numbers(piece, "flags")[take].astype(np.int32)
    if across:
        side = sides[take]
        part = np.where(side == 0, own * _BLOCKS_MOST + other, other * _BLOCKS_MOST + own)
    else:
        part = np.minimum(own, other) * _BLOCKS_MOST + np.maximum(own, other)
        flags = flags | np.where(own != other, _ACROSS + np.where(own > other, _SIDE, 0), 0).astype(np.int32)
    split = table.take(pyarrow.array(take))
    for name, values in (("key", keys[take] | (part + 1) << _PART_SHIFT), ("flags", flags)):
        place = split.schema.get_field_index(name)
        split = split.set_column(place, split.schema.field(place), pyarrow.array(values))  # nullable or not, as it was
    return pyarrow.concat_tables([table.filter(pyarrow.array(~heavy)), split])


def _mix(values: Any) -> Any:
    mixed = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(33)).astype(np.int64)


def _find_candidates(batches: Iterator[pyarrow.RecordBatch], threshold: float, measure: Any,
                     across: bool) -> Iterator[pyarrow.RecordBatch]:
    for table in runs(batches, ["key"], 50_000):
        names = ("key", "first", "second", "place", "size", "flags")
        columns = [numbers(table, name) for name in names]
        ranks, docs = numbers(table, "rank"), numbers(table, "doc")
        pairs = pairs_of_rows(columns[0], *columns[3:], threshold=threshold, measure=measure)
        for begin, end, last in _stretches(columns[0], pairs, _PAIRS_IN_MEMORY):
            part = [column[begin:last] for column in columns]
            part[5] = (part[5] | (_ACROSS if across else 0)).astype(np.uint8)
            part[5][end - begin:] |= _LARGER
            a, b, _ = batch.key_pairs(*part, threshold=threshold, measure=measure)
            a, b = a + begin, b + begin
            if not across:
                turned = ranks[a] > ranks[b]
                a, b = np.where(turned, b, a), np.where(turned, a, b)
            found = batch_of(a=ranks[a], b=ranks[b], a_doc=docs[a], b_doc=docs[b])
            for at in range(0, found.num_rows, 100_000):
                yield found.slice(at, 100_000)


def pairs_of_rows(keys: Any, places: Any, sizes: Any, flags: Any, *, threshold: float, measure: Any) -> Any:
    """How many later rows of its key each row is compared with. Rows are sorted by key, then size."""
    run = np.cumsum(np.append(False, keys[1:] != keys[:-1])) << 32
    reach = np.full(len(keys), _SIZE_MOST)
    if measure == "jaccard":
        reach = np.floor((sizes - places) * ((1 + threshold) / threshold) + 1e-6).astype(np.int64) - sizes
    ends = np.searchsorted(run + sizes, run + np.clip(reach, 0, _SIZE_MOST), side="right")
    return np.where(flags & SMALLER, np.maximum(ends - np.arange(1, len(keys) + 1), 0), 0)


def _stretches(keys: Any, pairs: Any, most: int) -> Iterator[tuple[int, int, int]]:
    """Cuts sorted rows of keys so that a stretch has about ``most`` pairs: its first row, the row after its last, and the
    row after the run that its last belongs to."""
    count = len(keys)
    ends = np.append(np.flatnonzero(keys[1:] != keys[:-1]) + 1, count)
    end_of = np.repeat(ends, np.diff(ends, prepend=0))
    cuts = np.append(np.flatnonzero(np.diff(np.cumsum(pairs) // most, prepend=0)) + 1, count)
    begin = 0
    for end in np.unique(cuts).tolist():
        yield begin, end, int(end_of[end - 1])
        begin = end


def _measure(piece: pyarrow.RecordBatch, measure: Any, threshold: float) -> pyarrow.RecordBatch:
    import pyarrow
    sets = [lists(piece, name) for name in ("a_terms", "b_terms", "a_words", "b_words")]
    similarities = batch.measure_sets(*sets, measure=measure)
    return batch_of(a=piece.column("a"), b=piece.column("b"), similarity=similarities).filter(
        pyarrow.array(similarities >= threshold))
