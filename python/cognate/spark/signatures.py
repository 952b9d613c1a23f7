"""Pairs by cosine on a cluster: signatures propose, the true measure decides, as in `cognate pairs`.

The stages, from documents with their rows (places in the order of the input): statistics of all terms, by aggregation;
signatures; candidates by windows, hash tables or brute force; pairs at or above the threshold, measured on the
candidate documents only. Rows, keys, orders of bits and radius are those of one machine, so the result is the same.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from .. import batch
from . import _tables, _windows
from ._arrow import batch_of, map_batches, map_partitions, numbers, run_starts, runs
from ._rows import measure_in, sign_in, signature_column, signatures_in, statistics_in
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

Method = Literal["window", "lsh", "flat"]
#: Rows that recall is measured by.
RECALL_ROWS = 200
_PART_ROWS = 200_000
_MERGED_AT_ONCE = 16


class Settings(NamedTuple):
    """Everything that a join depends on, except the data."""
    plan: batch.JoinPlan
    bits: int
    seed: int
    terms: dict[str, Any]  #: options of terms, weights and signatures
    cross: bool
    same: bool = False  #: the first side has some rows of the second, which has all: no row is paired with itself

    def hashed(self) -> dict[str, Any]:
        return {"bits": self.bits, "seed": self.seed, "terms": self.terms}


# ---- Statistics ------------------------------------------------------------------------------------------------------

def statistics_of(stages: Stages, documents: list[Stage], settings: Settings) -> Stage:
    """One row: the merged statistics of all documents."""
    terms = _term_options(settings.terms)

    def make() -> Any:
        parts = None
        for stage in documents:
            own = map_partitions(stage.table, _collect, "data binary", terms)
            parts = own if parts is None else parts.union(own)
        merged = stages.table("statistics-parts", lambda: parts, documents, terms=terms)
        return merge_statistics(merged.table, merged.rows)
    return stages.table("statistics", make, documents, terms=terms)


def merge_statistics(frame: Any, count: int) -> Any:
    """One row with the merged statistics of ``count`` rows: data."""
    while count > _MERGED_AT_ONCE:
        count = -(-count // _MERGED_AT_ONCE)
        frame = map_partitions(frame.repartition(count), _merge, "data binary")
    return map_partitions(frame.coalesce(1), _merge, "data binary")


def statistics_bytes(stage: Stage) -> bytes:
    found = stage.table.head(1)
    return bytes(found[0]["data"]) if found else batch.Statistics.collect([]).to_bytes()


def _sum(parts: Iterator[batch.Statistics]) -> Iterator[pyarrow.RecordBatch]:
    total = next(parts, None)
    if total is None:
        return
    for part in parts:
        total.merge(part)
    yield batch_of(data=[total.to_bytes()])


def _collect(batches: Iterator[pyarrow.RecordBatch], terms: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    return _sum(statistics_in(rows, terms) for rows in batches)


def _merge(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    return _sum(batch.Statistics.from_bytes(value.as_py()) for rows in batches for value in rows.column("data"))


# ---- Signatures ------------------------------------------------------------------------------------------------------

SIGNED = "side int, row long, signature binary, margins binary"


def sign_rows(stages: Stages, documents: list[Stage], statistics: Stage, settings: Settings) -> Stage:
    """Signatures of all rows with terms, and the margins that keys need."""
    data, margins = statistics_bytes(statistics), settings.plan.margins_per_row

    def make() -> Any:
        frames = [map_batches(stage.table, _sign, SIGNED, data, side, margins, settings.bits, settings.seed,
                              settings.terms) for side, stage in enumerate(documents)]
        return frames[0] if len(frames) == 1 else frames[0].union(frames[1])
    return stages.table("signatures", make, [*documents, statistics], margins=margins, **settings.hashed())


def _sign(rows: Any, statistics: bytes, side: int, margins: int, bits: int, seed: int, terms: dict[str, Any]) -> Any:
    signatures, sums, counts = sign_in(rows, bits, seed, _statistics(statistics), terms, margins > 0)
    kept = np.flatnonzero(counts)
    column = (signature_column(np.ascontiguousarray(sums[kept, :margins])) if sums is not None
              else signature_column(np.zeros((len(kept), 0), np.uint8)))
    return batch_of(side=np.full(len(kept), side, np.int32), row=numbers(rows, "row")[kept],
                    signature=signature_column(signatures[kept]), margins=column)


_opened: dict[int, tuple[bytes, batch.Statistics]] = {}


def _statistics(data: bytes) -> batch.Statistics:
    """Opened once in a process."""
    key = hash(data)
    if key not in _opened:
        _opened.clear()
        _opened[key] = (data, batch.Statistics.from_bytes(data))
    return _opened[key][1]


def _term_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items()
            if name in ("tokens", "ngram", "stem", "drop_stop_words", "language")}


# ---- Candidates ------------------------------------------------------------------------------------------------------

def find_candidates(stages: Stages, signatures: Stage, rows: int, settings: Settings, *, partitions: int,
                    block_rows: int) -> Stage:
    """Pairs (a, b, distance) within the radius that the method finds, each once."""
    if settings.plan.method == "window":
        return _by_windows(stages, signatures, rows, settings, partitions)
    return _by_keys(stages, signatures, settings, partitions, block_rows)


def _by_windows(stages: Stages, signatures: Stage, rows: int, settings: Settings, partitions: int) -> Stage:
    plan = settings.plan
    windows = _windows.Windows(plan.tables, plan.window, plan.shared_window, plan.radius, settings.seed, settings.cross)
    parts = max(-(-partitions // plan.tables), -(-rows // _PART_ROWS), 1)
    made = {**settings.hashed(), "tables": plan.tables, "parts": parts, "cross": settings.cross}
    facts = {**made, "windows": list(windows)}

    def generate() -> Any:
        sample = signatures.table.filter(f"row % {max(1, rows // 5000)} == 0").select("signature").toArrow()
        splits = _windows.splits_of(signatures_in(sample), plan.tables, settings.seed, parts if sample.num_rows else 1)
        emitted = map_partitions(signatures.table.select("side", "row", "signature"), _windows.emit, _windows.EMITTED,
                                 settings.seed, splits)
        sorted_parts = emitted.repartitionById(plan.tables * parts, "part").sortWithinPartitions(*_windows.ORDER)
        return map_partitions(sorted_parts, _windows.place, _windows.CHUNKS, settings.cross)
    chunks = stages.table("chunks", generate, [signatures], **made)  # other windows take them up
    sizes = {(row["part"], row["side"]): row["count"] for row in chunks.table.groupBy("part", "side").count().collect()}
    offsets, whole = _windows.offsets_of(sizes, plan.tables, parts)
    found = stages.table("detection", lambda: map_partitions(chunks.table, _windows.detect, _windows.FOUND, windows, whole),
                         [chunks], **facts)

    def meet() -> Any:
        rows_of_seams = found.table.filter(f"kind = {_windows.SEAM}").selectExpr(
            "*", f"cast(part div {parts} as int) as table", "rank + others as place")
        together = rows_of_seams.repartition(partitions, "table").sortWithinPartitions("table", "part", "place")
        return map_partitions(together, _windows.meet_at_seams, _windows.FOUND, windows, offsets)
    seams = stages.table("seams", meet, [found], **facts)
    both = found.table.filter(f"kind != {_windows.SEAM}").union(seams.table)
    _note_comparisons(stages, both.filter(f"kind = {_windows.COUNT}"), "a")
    return stages.table("candidates", lambda: both.filter(f"kind = {_windows.PAIR}").select(
        "a", "b", "distance").dropDuplicates(["a", "b"]), [found, seams])


def _by_keys(stages: Stages, signatures: Stage, settings: Settings, partitions: int, block_rows: int) -> Stage:
    from pyspark.sql import functions as f
    plan = settings.plan
    keys = _tables.Keys(plan.tables, plan.key_bits, plan.flips, plan.flip_mode, plan.flip_both, settings.seed,
                        settings.cross)
    facts = {**settings.hashed(), "method": plan.method, "keys": list(keys), "radius": plan.radius,
             "block_rows": block_rows}

    def emit() -> Any:
        rows = signatures.table.select("side", "row", "signature", "margins")
        if plan.method == "flat":
            return map_partitions(rows.drop("margins"), _tables.everything, _tables.KEYS)
        return map_partitions(rows, _tables.emit, _tables.KEYS, keys)
    emitted = stages.table("keys", emit, [signatures], **facts)
    side = f.sum(f.col("side")).alias("second")
    counted = emitted.table.groupBy("table", "key").agg(f.count(f.lit(1)).alias("rows"), side)
    heavy_rows = counted.filter(f"rows > {block_rows}").orderBy(f.desc("rows")).collect()
    heavy = {}
    for row in heavy_rows:
        sides = (row["rows"] - row["second"], row["second"]) if settings.cross else (row["rows"], 0)
        heavy[row["table"], row["key"]] = tuple(_tables.blocks_of(count, block_rows) for count in sides)
    stages.note(heavy_keys=len(heavy), heavy_key_rows=[row["rows"] for row in heavy_rows[:10]])

    def walk() -> Any:
        placed = map_partitions(emitted.table, _tables.place, _tables.CELLS, heavy, settings.cross)
        together = placed.repartition(partitions, "table", "key", "cell").sortWithinPartitions(*_tables.ORDER)
        return map_partitions(together, _tables.walk, _tables.FOUND, plan.radius, settings.cross, plan.flip_both)
    found = stages.table("met", walk, [emitted], **facts)
    _note_comparisons(stages, found.table.filter("a is null"), "b")
    return stages.table("candidates", lambda: found.table.filter("a is not null").dropDuplicates(["a", "b"]), [found])


def _note_comparisons(stages: Stages, counts: Any, column: str) -> None:
    total = counts.agg({column: "sum"}).collect()[0][0]
    stages.note(comparisons=int(total or 0))


# ---- The true measure ------------------------------------------------------------------------------------------------

MEASURED = "a long, b long, distance int, similarity double"


def verify(stages: Stages, documents: list[Stage], statistics: Stage, candidates: Stage, settings: Settings, *,
           partitions: int) -> Stage:
    """The candidates whose true measure reaches the threshold: a, b, distance, similarity."""
    data, last = statistics_bytes(statistics), len(documents) - 1
    carried = [name for name in ("text", "lang", "clicks") if any(name in stage.table.columns for stage in documents)]

    def make() -> Any:
        frames = [stage.table for stage in documents]
        together = in_cells(candidates.table, frames, dict.fromkeys(carried, "string"), partitions)
        return map_partitions(together, _measure, MEASURED, data, last, settings.terms, settings.plan.threshold)
    return stages.table("near", make, [*documents, statistics, candidates], threshold=settings.plan.threshold,
                        **settings.hashed())


def in_cells(candidates: Any, sides: list[Any], carried: Mapping[str, str], partitions: int,
             blocks: tuple[int, int] | None = None) -> Any:
    """Pairs (a, b, distance) grouped by cells with what their rows have in the frames of one side or two: the columns
    ``carried``, with their types. A row goes to the cells that have a pair with it, before the pairs of the cell.
    ``blocks`` of both sides: by the partitions if not given. ``distance`` may be any integer of the pair."""
    from pyspark.sql import functions as f
    first, second = blocks or (max(1, round(partitions ** 0.5)),) * 2
    last = len(sides) - 1

    def block(column: str, count: int) -> Any:
        return f.pmod(f.xxhash64(column), f.lit(count))
    pairs = candidates.withColumn("cell", (block("a", first) * second + block("b", second)).cast("int"))
    needed = pairs.select("cell", f.lit(0).alias("side"), f.col("a").alias("row")).union(
        pairs.select("cell", f.lit(last).alias("side"), f.col("b").alias("row"))).distinct()
    rows = None
    for side, frame in enumerate(sides):
        own = frame.select("row", *(f.col(name) if name in frame.columns else f.lit(None).cast(kind).alias(name)
                                    for name, kind in carried.items()), f.lit(side).alias("side"))
        rows = own if rows is None else rows.union(own)
    wanted = needed.join(rows, ["side", "row"]).select(
        "cell", f.lit(0).alias("kind"), "side", "row", f.lit(None).cast("long").alias("other"),
        f.lit(None).cast(candidates.schema["distance"].dataType).alias("distance"), *carried)
    asked = pairs.select("cell", f.lit(1).alias("kind"), f.lit(0).alias("side"), f.col("a").alias("row"),
                         f.col("b").alias("other"), "distance",
                         *(f.lit(None).cast(kind).alias(name) for name, kind in carried.items()))
    return wanted.union(asked).repartition(partitions, "cell").sortWithinPartitions("cell", "kind", "side", "row", "other")


class Cell(NamedTuple):
    """The rows of a cell, its pairs, and the places of their ends among the rows."""
    rows: Any
    pairs: Any
    places: tuple[Any, Any]


def cells_of(batches: Iterator[pyarrow.RecordBatch], last: int, rows: int = 20_000) -> Iterator[Cell]:
    """The cells of `in_cells`. ``last``: the second side, 0 if there is one alone. ``rows``: about as many rows are
    held, or those of one cell."""
    for table in runs(batches, ["cell"], rows=rows):
        kind, cuts = numbers(table, "kind"), run_starts(table, ["cell"])
        for begin, end in zip(cuts, [*cuts[1:], table.num_rows], strict=True):
            count = int((kind[begin:end] == 0).sum())
            own, pairs = table.slice(begin, count), table.slice(begin + count, end - begin - count)
            side, row = numbers(own, "side"), numbers(own, "row")
            first, second = np.flatnonzero(side == 0), np.flatnonzero(side == last)
            yield Cell(own, pairs, (first[np.searchsorted(row[first], numbers(pairs, "row"))],
                                     second[np.searchsorted(row[second], numbers(pairs, "other"))]))


def _measure(batches: Iterator[pyarrow.RecordBatch], statistics: bytes, last: int, terms: dict[str, Any],
             threshold: float) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow
    for cell in cells_of(batches, last):
        similarity = measure_in(cell.rows, *cell.places, _statistics(statistics), terms)
        kept = np.flatnonzero(similarity >= threshold)
        distance = cell.pairs.column("distance").combine_chunks().take(pyarrow.array(kept))
        yield batch_of(a=numbers(cell.pairs, "row")[kept], b=numbers(cell.pairs, "other")[kept], distance=distance,
                       similarity=similarity[kept])


# ---- Measured recall -------------------------------------------------------------------------------------------------

def measure_recall(stages: Stages, documents: list[Stage], statistics: Stage, signatures: Stage, near: Stage,
                   settings: Settings, rows: int) -> None:
    """Compares sampled rows with all by the true measure, and notes the share of their pairs that was found."""
    from pyspark.sql import functions as f
    data, last = statistics_bytes(statistics), len(documents) - 1
    drawn = signatures.table.filter("side = 0").select("row").orderBy(
        f.xxhash64("row", f.lit(settings.seed)), "row").limit(rows)
    sample = documents[0].table.join(f.broadcast(drawn), "row").toArrow()
    signed = signatures.table.filter(f"side = {last}").select("row")

    def make() -> Any:
        others = documents[last].table.join(signed, "row")
        return map_batches(others, _truth, "a long, b long", sample, data, settings.terms, settings.plan.threshold,
                           settings.same or not settings.cross)
    truth = stages.table("truth", make, [*documents, statistics, signatures], rows=rows,
                         threshold=settings.plan.threshold, **settings.hashed())
    ends = ["a", "b"] if settings.cross else [f.least("a", "b").alias("a"), f.greatest("a", "b").alias("b")]
    found = near.table.select("a", "b", f.lit(1).alias("found"))
    unit = truth.table.select(f.col("a").alias("unit"), *ends).join(found, ["a", "b"], "left")
    if not settings.cross:  # a pair of two sampled rows counts once
        unit = unit.groupBy("a", "b").agg(f.min("unit").alias("unit"), f.max("found").alias("found"))
    tally = unit.groupBy("unit").agg(f.count(f.lit(1)).alias("trials"), f.count("found").alias("hits")).toArrow()
    share = batch.measured_share(tally["hits"].to_numpy(), tally["trials"].to_numpy())
    trials = int(tally["trials"].to_numpy().sum())
    stages.note(recall_sample_rows=sample.num_rows, recall_sample_pairs=trials)
    if trials:
        stages.note(measured_recall=share.share, measured_recall_low=share.low, measured_recall_high=share.high)


def _truth(rows: Any, sample: Any, statistics: bytes, terms: dict[str, Any], threshold: float, same: bool) -> Any:
    ours, theirs = numbers(sample, "row"), numbers(rows, "row")
    x = np.repeat(np.arange(len(ours)), len(theirs))
    y = np.tile(np.arange(len(theirs)), len(ours))
    similarity = measure_in(sample, x, y, _statistics(statistics), terms, against=rows)
    kept = similarity >= threshold
    if same:
        kept &= ours[x] != theirs[y]
    return batch_of(a=ours[x[kept]], b=theirs[y[kept]])


# ---- The job ---------------------------------------------------------------------------------------------------------

def find_pairs(stages: Stages, documents: list[Stage], settings: Settings, rows: list[int], *, partitions: int,
               block_rows: int = _tables.BLOCK_ROWS, recall_rows: int = RECALL_ROWS) -> Stage:
    """Pairs of rows of numbered documents: a, b, distance, similarity."""
    statistics = statistics_of(stages, documents[-1:] if settings.same else documents, settings)
    signatures = sign_rows(stages, documents, statistics, settings)
    candidates = find_candidates(stages, signatures, sum(rows), settings, partitions=partitions, block_rows=block_rows)
    if settings.same:
        met = candidates
        candidates = stages.table("candidates-others", lambda: met.table.filter("a != b"), [met])
    near = verify(stages, documents, statistics, candidates, settings, partitions=partitions)
    stages.note(candidates=candidates.rows)
    if recall_rows:
        measure_recall(stages, documents, statistics, signatures, near, settings, recall_rows)
    stages.note(matches=near.rows)
    return near


def join(stages: Stages, documents: list[Stage], *, method: Method = "window", threshold: float = 0.8,
         recall: float = 0.95, bits: int = 1024, seed: int = 0, knobs: Mapping[str, int] | None = None,
         partitions: int | None = None, block_rows: int = _tables.BLOCK_ROWS, recall_rows: int = RECALL_ROWS,
         same: bool = False, **terms: Any) -> Stage:
    """Pairs of rows of one numbered collection, or of two, whose cosine reaches the threshold: a, b, distance, similarity.

    Settings that are not in ``knobs`` follow from threshold and recall.
    """
    if method not in get_args(Method):
        raise ValueError(f"method {method!r}: {', '.join(get_args(Method))}")
    rows = [stage.rows for stage in documents]
    plan = batch.plan_join(*rows, method=method, threshold=threshold, recall=recall, bits=bits, knobs=knobs)
    settings = Settings(plan, bits, seed, terms, len(rows) > 1, same)
    stages.note(method=method, threshold=threshold, tables=plan.tables, radius_bits=plan.radius, window_rows=plan.window,
                key_bits=plan.key_bits, flips=plan.flips, expected_recall=plan.expected_recall,
                expected_comparisons=plan.comparisons)
    return find_pairs(stages, documents, settings, rows, recall_rows=recall_rows, block_rows=block_rows,
                      partitions=partitions or int(stages.spark.conf.get("spark.sql.shuffle.partitions")))


def name_rows(stages: Stages, documents: list[Stage], near: Stage) -> Any:
    """Pairs of ids in place of rows."""
    first = documents[0].table.selectExpr("row as a_row", "id as a")
    second = documents[-1].table.selectExpr("row as b_row", "id as b")

    def make() -> Any:
        return near.table.withColumnsRenamed({"a": "a_row", "b": "b_row"}).join(first, "a_row").join(
            second, "b_row").select("a", "b", "similarity", "distance")
    return stages.table("pairs", make, [near, *documents]).table
