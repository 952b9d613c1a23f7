"""Work that one task does for all documents, because a stage of Spark takes about a second whatever it does.

Sets that fit the memory of one task are collected there, joined and decided. Keys, measure and rule are those of the
join of many tasks, so the result is the same. For larger collections one task has the documents without their sets: it
ranks them before the join (`order`), and makes the clusters after it (`conclude`).
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import batch
from . import _sets
from ._arrow import Array, lists, map_partitions, numbers
from ._frames import Documents, number_rows, refuse_double
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

#: Collections with at most this many members of sets are joined in one task: 200 MB, and up to 1 GB in Python.
MEMBERS_AT_ONCE = 25_000_000
#: Collections with at most this many documents are ranked, and their clusters made, in one task: up to 1 GB in Python.
DOCUMENTS_AT_ONCE = 4_000_000
_PAIRS_MOST = 4_000_000  # above this number of pairs of rows that share a key, several tasks share the work
_PAIRS_MEASURED = 10_000  # at a time
_TOO_MANY = -1


class Counts(NamedTuple):
    """The counts of a task, which are sent in an extra row."""
    double: int = 0  #: how many documents have the id of that row, if ids repeat
    distinct: int = 0
    keys: int = 0
    sharing: int = 0  #: pairs of rows that share a key
    candidates: int = 0
    pairs: int = 0
    removed: int = 0


#: Of a task that gives up.
TOO_MANY = Counts(candidates=_TOO_MANY)


def decide(stages: Stages, sets: Stage, documents: Documents, rule: _sets.Rule, keep: str, keep_order: list[Any],
           grouping: str) -> Stage | None:
    """All members of clusters of two and more: cluster, doc, id, ord, kept_doc, kept, similarity, reason, stays.

    None if more pairs share keys than a task should have.
    """
    def make() -> Any:
        return map_partitions(_in_input_order(sets.table, documents, keep, keep_order), _decide, _cluster_schema(sets),
                              rule.threshold, rule.measure, keep.partition(":")[0], grouping)
    stage = stages.table("decision", make, [sets], {"counts": "max(counts)"}, threshold=rule.threshold,
                         measure=rule.measure, keep=keep, grouping=grouping)
    counts = counts_of(stage)
    if counts is None:
        return None
    stages.note(distinct_documents=counts.distinct, rounds=1)
    note(stages, counts)
    return Stage(stage.table.filter("counts is null"), stage.hash, {**stage.facts, "removed": counts.removed})


def order(stages: Stages, sets: Stage, documents: Documents, rule: _sets.Rule, keep: str,
          keep_order: list[Any]) -> tuple[Stage, Stage]:
    """All documents in the order of the input: place, doc, id, ord, leader (the place of the first in keep order that has an
    equal set), rank (in keep order; -1 of those that are not leaders); and the ranks alone: doc, rank."""
    kinds = _kinds(sets)

    def make() -> Any:
        facts = sets.table.selectExpr(*(name for name in sets.table.columns if name not in ("terms", "words")),
                                      "octet_length(terms) div 8 as terms")
        return map_partitions(_in_input_order(facts, documents, keep, keep_order), _order,
                              f"place long, doc long, id {kinds['id']}, ord {kinds['ord']}, leader long, rank long, "
                              f"times long, other {kinds['id']}", rule.measure, keep.partition(":")[0])
    stage = stages.table("order", make, [sets], {"distinct": "count(if(rank >= 0, 1, null))", "times": "max(times)"},
                         measure=rule.measure, keep=keep)
    if stage.facts["times"]:
        row = stage.table.head()
        refuse_double(row["id"], row["other"], row["times"])
    ranks = stage.table.filter("rank >= 0").select("doc", "rank")
    return stage, Stage(ranks, stage.hash, {"rows": stage.facts["distinct"]})


def conclude(stages: Stages, order: Stage, partners: Stage, threshold: float) -> Stage:
    """The table of `decide`, from the documents of `order` and from partners of ranks (rank, partner, similarity)."""
    kinds = _kinds(order)

    def make() -> Any:
        lines = order.table.selectExpr("0 as kind", "place", "doc", "id", "ord", "leader", "rank", "1.0D as similarity")
        near = partners.table.selectExpr(
            "1 as kind", "rank as place", *(f"cast(null as {kinds[name]}) as {name}" for name in ("doc", "id", "ord")),
            "partner as leader", "rank", "similarity")
        return map_partitions(lines.unionByName(near).repartition(1).sortWithinPartitions("kind", "place"), _conclude,
                              _cluster_schema(order), threshold)
    stage = stages.table("decision", make, [order, partners], {"counts": "max(counts)"}, threshold=threshold)
    counts = Counts(*(stage.facts["counts"] or ()))
    return Stage(stage.table.filter("counts is null"), stage.hash, {**stage.facts, "removed": counts.removed})


def _kinds(stage: Stage) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in stage.table.schema.fields}


def _cluster_schema(stage: Stage) -> str:
    kinds = _kinds(stage)
    return (f"cluster long, doc long, id {kinds['id']}, ord {kinds['ord']}, kept_doc long, kept {kinds['id']}, "
            "similarity double, reason string, stays boolean, counts array<long>")


def _in_input_order(frame: Any, documents: Documents, keep: str, keep_order: list[Any]) -> Any:
    """All rows in one partition; with ``place`` in keep order if a column decides it."""
    frame = frame.repartition(1)
    if keep.startswith("field"):
        frame = number_rows(frame.sortWithinPartitions(*keep_order))
    return frame.sortWithinPartitions(*documents.order())


def pairs(stages: Stages, sets: list[Stage], rule: _sets.Rule) -> Any:
    """Pairs with their places in the input: a, b, similarity, a_rank, b_rank. None as for `decide`."""
    from pyspark.sql import functions as f
    kind = sets[0].table.schema["id"].dataType.simpleString()
    frames = [stage.table.select(f.lit(side).alias("side"), "doc", "id", "ord", "terms", "words")
              for side, stage in enumerate(sets)]

    def make() -> Any:
        together = _sets._union(frames).repartition(1).sortWithinPartitions("side", "ord")
        return map_partitions(together, _pairs, f"a {kind}, b {kind}, similarity double, a_rank long, b_rank long, "
                              "counts array<long>", rule.threshold, rule.measure, len(sets) == 2)
    stage = stages.table("pairs", make, sets, {"counts": "max(counts)"}, threshold=rule.threshold, measure=rule.measure)
    counts = counts_of(stage)
    if counts is None:
        return None
    note(stages, counts)
    return stage.table.filter("counts is null").drop("counts")


def fits(sets: list[Stage], members_at_once: int) -> bool:
    """Whether one task may have these sets."""
    return 0 < sum(int(stage.facts["members"]) for stage in sets) <= members_at_once


def have_one_type(sets: list[Stage]) -> bool:
    """Whether ids, and the order of the input, have one type in all collections."""
    return len({tuple(_kinds(stage)[name] for name in ("id", "ord")) for stage in sets}) == 1


def counts_of(stage: Stage) -> Counts | None:
    counts = Counts(*(stage.facts["counts"] or ()))
    if counts.double:
        row = stage.table.filter("counts is not null").head()
        first, second = ("id", "kept") if "id" in stage.table.columns else ("a", "b")
        refuse_double(row[first], row[second], counts.double)
    return None if counts.candidates == _TOO_MANY else counts


def note(stages: Stages, counts: Counts) -> None:
    stages.note(keys=counts.keys, pairs_sharing_keys=counts.sharing, candidates=counts.candidates, pairs=counts.pairs)


# ---- In the task -----------------------------------------------------------------------------------------------------

def _decide(batches: Iterator[pyarrow.RecordBatch], threshold: float, measure: Any, keep: str,
            grouping: Any) -> Iterator[pyarrow.Table]:
    """Rows come in the order of the input."""
    rows = table_of(batches)
    if rows is None:
        return
    if double := double_ids(rows):
        yield _members(rows, _Members.none(), Counts(double[0]), double[1:])
        return
    leader, ranked = _ranked(rows, keep, np.diff(lists(rows, "terms")[0]) if measure == "containment" else None)
    sets = Sets(rows, [ranked], measure)
    rows = rows.drop_columns(["terms", "words"])
    near, counts = sets.near(threshold)
    counts = counts._replace(distinct=len(ranked))
    if near is None:
        yield _members(rows, _Members.none(), counts)
        return
    members = _clusters(leader, ranked, near, sets, threshold, grouping)
    yield _members(rows, members, counts._replace(removed=int((~members.stays).sum())))


def _order(batches: Iterator[pyarrow.RecordBatch], measure: Any, keep: str) -> Iterator[pyarrow.Table]:
    """Rows come in the order of the input, with the sizes of their sets. If ids repeat, one row has two of them."""
    import pyarrow
    rows = table_of(batches)
    if rows is None:
        return
    double = double_ids(rows)
    leader, ranked = _ranked(rows, keep, numbers(rows, "terms") if measure == "containment" else None)
    rank = np.full(rows.num_rows, -1)
    rank[ranked] = np.arange(len(ranked))
    table = pyarrow.table({"place": np.arange(rows.num_rows), "doc": rows["doc"], "id": rows["id"], "ord": rows["ord"],
                           "leader": leader, "rank": rank})
    if double:
        table = table.take([double[1]])
    times = pyarrow.array([double[0]] if double else [None] * table.num_rows, pyarrow.int64())
    others = pyarrow.array([double[2]] if double else [None] * table.num_rows, pyarrow.int64())
    yield table.append_column("times", times).append_column("other", rows["id"].take(others))


def _ranked(rows: pyarrow.Table, keep: str, size: Array | None) -> tuple[Array, Array]:
    """The leader of each document, and the leaders by rank: in keep order, or by their sizes, which then come first."""
    order = _keep_order(rows, keep)
    leader = leaders(rows, order)
    ranked = order[leader[order] == order]
    return leader, ranked if size is None else ranked[np.argsort(-size[ranked], kind="stable")]


def _conclude(batches: Iterator[pyarrow.RecordBatch], threshold: float) -> Iterator[pyarrow.Table]:
    """Documents come in the order of the input, then partners of ranks."""
    rows = table_of(batches)
    if rows is None:
        return
    near = int(numbers(rows, "kind").sum())
    lines, near_rows = rows.slice(0, rows.num_rows - near), rows.slice(rows.num_rows - near)
    rank, leader = numbers(lines, "rank"), numbers(lines, "leader")
    places = np.flatnonzero(rank >= 0)
    ranked = np.empty(len(places), np.int64)
    ranked[rank[places]] = places
    partner, similarity = np.arange(len(ranked)), np.ones(len(ranked))
    partner[numbers(near_rows, "rank")] = numbers(near_rows, "leader")
    similarity[numbers(near_rows, "rank")] = numbers(near_rows, "similarity")
    members = _members_of(leader, ranked, partner, similarity, threshold)
    yield _members(lines, members, Counts(removed=int((~members.stays).sum())))


def _pairs(batches: Iterator[pyarrow.RecordBatch], threshold: float, measure: Any,
           across: bool) -> Iterator[pyarrow.Table]:
    """Rows come side by side, each in the order of the input."""
    rows = table_of(batches)
    if rows is None:
        return
    side = numbers(rows, "side")
    places = [np.flatnonzero(side == number) for number in range(1 + across)]
    for own in places:
        if double := double_ids(rows.take(own)):
            yield _named_pairs(rows, places, _NO_PAIRS, Counts(double[0]), tuple(own[list(double[1:])]))
            return
    sets = Sets(rows, places, measure)
    rows = rows.select(["id"])
    near, counts = sets.near(threshold)
    yield _named_pairs(rows, places, near or _NO_PAIRS, counts)


class _Near(NamedTuple):
    """Pairs of ranks, and their measures."""
    a: Array
    b: Array
    similarity: Array


_NO_PAIRS = _Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


class Sets:
    """The sets of one collection, or of two; rows are ranks: places in ``sides``."""

    def __init__(self, rows: pyarrow.Table, sides: list[Array], measure: Any):
        self.sides = [rows.select(["terms", "words"]).take(places).combine_chunks() for places in sides]
        self.measure = measure

    def near(self, threshold: float) -> tuple[_Near | None, Counts]:
        """The pairs at or above the threshold; None if more share keys than a task should have."""
        keys = self._keys(threshold)
        if keys is None:
            return _NO_PAIRS, Counts()
        pairs = _sets.pairs_of_rows(*(numbers(keys, name) for name in ("key", "place", "size", "flags")),
                                    threshold=threshold, measure=self.measure)
        counts = Counts(keys=keys.num_rows, sharing=int(pairs.sum()))
        if counts.sharing > _PAIRS_MOST:
            return None, counts._replace(candidates=_TOO_MANY)
        found = list(_sets._find_candidates(iter(keys.to_batches()), threshold, self.measure, len(self.sides) == 2))
        rows = self.sides[-1].num_rows
        pairs = np.unique(np.concatenate([np.empty(0, np.int64),
                                          *(numbers(part, "a") * rows + numbers(part, "b") for part in found)]))
        a, b = pairs // rows, pairs % rows
        similarity = self.measured(a, b)
        kept = similarity >= threshold
        near = _Near(a[kept], b[kept], similarity[kept])
        return near, counts._replace(candidates=len(a), pairs=len(near.a))

    def measured(self, a: Array, b: Array) -> Array:
        parts = [np.empty(0)]
        for at in range(0, len(a), _PAIRS_MEASURED):
            sets = [lists(side.take(own[at:at + _PAIRS_MEASURED]), name) for name in ("terms", "words")
                    for side, own in ((self.sides[0], a), (self.sides[-1], b))]
            parts.append(batch.measure_sets(*sets, measure=self.measure))
        return np.concatenate(parts)

    def _keys(self, threshold: float) -> Any:
        """The keys of all sets, sorted; None if there are none."""
        import pyarrow
        members = sum(len(lists(side, name)[1]) for side in self.sides for name in ("terms", "words"))
        counts = batch.MemberCounts(max(math.ceil(math.log2(2 * members + 1)), 12), _sets.FREQUENT_BITS)
        for side in self.sides:
            for name in ("terms", "words"):
                counts.add(lists(side, name))
        tables = []
        for number, side in enumerate(self.sides):
            numbered = side.append_column("doc", pyarrow.array(np.arange(side.num_rows)))
            if (own := _sets._set_keys(numbered, counts, threshold, self.measure, number)) is not None:
                tables.append(own.append_column("rank", own["doc"]))
        if not tables:
            return None
        keys = pyarrow.concat_tables(tables).combine_chunks()
        return keys.take(np.lexsort((numbers(keys, "size"), numbers(keys, "key"))))


def table_of(batches: Iterator[pyarrow.RecordBatch]) -> pyarrow.Table | None:
    import pyarrow
    held = list(batches)
    return pyarrow.Table.from_batches(held) if held else None


def double_ids(rows: pyarrow.Table) -> tuple[int, int, int] | None:
    """How many rows have an id that repeats, and the places of two of them, with different ids if they only hash alike."""
    docs, times = np.unique(numbers(rows, "doc"), return_counts=True)
    if len(docs) == rows.num_rows:
        return None
    same = np.flatnonzero(numbers(rows, "doc") == docs[times.argmax()])
    ids = [rows["id"][int(place)].as_py() for place in same]
    other = next((place for place, id in zip(same, ids, strict=True) if id != ids[0]), same[-1])
    return len(same), int(same[0]), int(other)


def _keep_order(rows: pyarrow.Table, keep: str) -> Array:
    """Places of rows in keep order: preferred rows first."""
    places = np.arange(rows.num_rows)
    if keep == "longest":
        return np.argsort(-numbers(rows, "text_bytes"), kind="stable")
    if keep == "field":
        return np.argsort(numbers(rows, "place"), kind="stable")
    return places[::-1] if keep == "last" else places


def leaders(rows: pyarrow.Table, order: Array) -> Array:
    """For each place: the first, in this order, of the documents with equal sets."""
    prints = numbers(rows, "fingerprint").view(np.uint8).reshape(rows.num_rows, -1)
    words = np.ascontiguousarray(prints).view(np.uint64).reshape(rows.num_rows, -1)[order]
    by_print = np.lexsort(words.T)  # stable: in the order among equal ones
    changed = np.ones(len(order), bool)
    changed[1:] = (words[by_print[1:]] != words[by_print[:-1]]).any(1)
    first = by_print[np.flatnonzero(changed)][np.cumsum(changed) - 1]
    leader = np.empty(len(order), np.int64)
    leader[order[by_print]] = order[first]
    return leader


class _Members(NamedTuple):
    """Members of clusters: places of rows."""
    place: Array
    kept: Array
    similarity: Array
    reason: Array
    cluster: Array
    stays: Array

    @classmethod
    def none(cls) -> _Members:
        none = np.empty(0, np.int64)
        return cls(none, none, np.empty(0), np.empty(0, object), none, np.empty(0, bool))


def _clusters(leader: Array, ranked: Array, near: _Near, sets: Sets, threshold: float, grouping: Any) -> _Members:
    table = batch.clusters(len(ranked), *near, grouping=grouping)
    partner, similarity = np.arange(len(ranked)), np.ones(len(ranked))
    gone = table["row"] != table["representative"]
    rows = table["row"][gone]
    partner[rows] = table["representative"][gone]
    similarity[rows] = (table["similarity"][gone] if grouping == "representative"
                        else sets.measured(partner[rows], rows).astype(np.float32))
    return _members_of(leader, ranked, partner, similarity, threshold)


def _members_of(leader: Array, ranked: Array, partner: Array, similarity: Array, threshold: float) -> _Members:
    """Members from the partner of each rank, which is the rank itself if it is kept, and the similarity of the two."""
    rank = np.empty(len(leader), np.int64)
    rank[ranked] = np.arange(len(ranked))
    rank = rank[leader]  # by place
    kept, own = ranked[partner[rank]], similarity[rank]
    reason = np.where(partner[rank] == rank, "identical", np.where(own < threshold - 1e-6, "chain", "near"))
    goes = kept != np.arange(len(leader))
    place = np.flatnonzero(goes | np.isin(np.arange(len(leader)), kept[goes]))
    first = np.full(len(leader), len(leader))
    np.minimum.at(first, kept[place], place)
    cluster = np.unique(first[kept[place]], return_inverse=True)[1].reshape(-1)
    return _Members(place, kept[place], own[place], reason[place].astype(object), cluster, ~goes[place])


# ---- What a task gives back ------------------------------------------------------------------------------------------

def _members(rows: pyarrow.Table, members: _Members, counts: Counts,
             double: tuple[int, ...] = ()) -> pyarrow.Table:
    """Members with their documents, and a row with the counts (and two ids that repeat)."""
    import pyarrow
    place, kept = with_counts(members.place, double[:1]), with_counts(members.kept, double[1:])
    columns = {"cluster": members.cluster, "doc": rows["doc"].take(place), "id": rows["id"].take(place),
               "ord": rows["ord"].take(place), "kept_doc": rows["doc"].take(kept), "kept": rows["id"].take(kept),
               "similarity": members.similarity, "reason": pyarrow.array(members.reason, pyarrow.string()),
               "stays": members.stays}
    return table_with(columns, len(place), counts)


def _named_pairs(rows: pyarrow.Table, places: list[Array], near: _Near, counts: Counts,
                 double: tuple[int, ...] = ()) -> pyarrow.Table:
    a = with_counts(places[0][near.a], double[:1])
    b = with_counts(places[-1][near.b], double[1:])
    columns = {"a": rows["id"].take(a), "b": rows["id"].take(b), "similarity": near.similarity, "a_rank": near.a,
               "b_rank": near.b}
    return table_with(columns, len(a), counts)


def with_counts(places: Array, own: tuple[int, ...]) -> Any:
    """Places, and that of the row with the counts, which may have none."""
    import pyarrow
    return pyarrow.concat_arrays([pyarrow.array(places, pyarrow.int64()),
                                  pyarrow.array([int(own[0]) if own else None], pyarrow.int64())])


def table_with(columns: dict[str, Any], rows: int, counts: Counts) -> pyarrow.Table:
    """The columns as a table, each with a null at its end where the counts stand."""
    import pyarrow
    result = {}
    for name, values in columns.items():
        array = values if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)) else pyarrow.array(values)
        if len(array) < rows:
            array = pyarrow.concat_arrays([array, pyarrow.nulls(1, array.type)])
        result[name] = array
    kind = pyarrow.list_(pyarrow.int64())
    result["counts"] = pyarrow.concat_arrays([pyarrow.nulls(rows - 1, kind), pyarrow.array([list(counts)], kind)])
    return pyarrow.table(result)
