"""Decontamination on a cluster: removes documents that are near a document of a reference collection, as `cognate dedup
--against` does.

The twin of a removed document is the first near document of the reference collection, in input order; documents of the
input are not compared with each other. The reference collection may be an index, whose sets the driver reads. If all
sets fit one task, it decides. Otherwise equal documents are joined as one, and documents of the input without an equal
one in the reference collection are joined with it. If many pairs share keys, the reference collection is processed in
blocks: a document near one of a block is not compared with later blocks.
"""
from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Index, batch
from . import _dedup, _one_task, _sets
from ._arrow import map_partitions, numbers, packed
from ._frames import Documents, numbered
from ._stages import Stage, Stages, hash_of

if TYPE_CHECKING:
    import pyarrow

_LEAST_PAIRS = 1000  # that share a key in a block
#: Members of sets that the driver reads from an index at a time, about, and documents that it reads first.
_MEMBERS_AT_A_TIME, _FIRST_DOCUMENTS = 4_000_000, 1000
_REMOVED = "similarity double, reason string, cluster long, counts array<long>"


def removed(stages: Stages, documents: Documents, reference: Documents | Index, rule: _sets.Rule,
            pairs_at_once: int = _dedup.PAIRS_AT_ONCE, members_at_once: int = _one_task.MEMBERS_AT_ONCE) -> Stage:
    """All removed documents: doc, id, ord, kept (the id of the reference document), kept_doc, similarity, reason,
    cluster. Documents with the same twin are a cluster; clusters are numbered in input order."""
    other = (_sets_of_index(stages, reference, rule) if isinstance(reference, Index) else
             _sets.term_sets(stages, reference.frame, rule, reference.data, "sets-against"))
    sets = [_sets.term_sets(stages, documents.frame, rule, documents.data), other]
    stages.note(documents=sets[0].rows, reference_documents=sets[1].rows)
    found = None
    if _one_task.fits(sets, members_at_once):
        found = _in_one_task(stages, sets, rule)
    if found is None:
        documents.check_ids(stages, sets[0])
        if isinstance(reference, Documents):
            reference.check_ids(stages, sets[1])
        found = _by_many(stages, sets, rule, pairs_at_once)
    stages.note(removed=found.rows, kept=sets[0].rows - found.rows)
    return found


def _sets_of_index(stages: Stages, index: Index, rule: _sets.Rule) -> Stage:
    """The sets of an index, as `term_sets` makes them of documents; doc is the position in the index."""
    parts, first, rows, count = list[Stage](), 0, len(index), _FIRST_DOCUMENTS
    while first < rows or not parts:
        sets = batch.index_term_sets(index, first, count, **rule.terms).to_arrow()
        parts.append(_part_of_index(stages, sets, first))
        first += sets.num_rows
        members = max(1, parts[-1].facts["members"])
        count = min(4 * count, max(1, _MEMBERS_AT_A_TIME * count // members))
    facts = {name: sum(part.facts[name] for part in parts) for name in ("rows", "members")}
    return Stage(_sets._union([part.table for part in parts]), hash_of([part.hash for part in parts]), facts)


def _part_of_index(stages: Stages, sets: pyarrow.Table, first: int) -> Stage:
    import pyarrow
    own = pyarrow.table({"doc": sets["row"], "id": sets["id"], "ord": sets["row"],
                         "fingerprint": sets["fingerprint"].cast(pyarrow.binary()), "terms": packed(sets["terms"]),
                         "words": packed(sets["words"])})
    content = hashlib.sha256()
    for name in own.column_names:
        for chunk in own[name].chunks:
            for buffer in filter(None, chunk.buffers()):
                content.update(buffer)
    return stages.table(f"sets-of-index-{first}", lambda: stages.spark.createDataFrame(own), [content.hexdigest()],
                        _sets.SET_FACTS)


def cluster_table(gone: Stage) -> Any:
    """Removed documents with their reference documents: cluster, doc, id, representative, similarity, kept, ord.
    Reference documents are not members."""
    return gone.table.selectExpr("cluster", "doc", "id", "kept as representative", "similarity", "false as kept", "ord")


# ---- Many tasks ------------------------------------------------------------------------------------------------------

def _by_many(stages: Stages, sets: list[Stage], rule: _sets.Rule, pairs_at_once: int) -> Stage:
    references = _reference_ranks(stages, sets[1])
    leaders = _leaders(stages, sets[0], references)
    counts_stage, counts = _sets.count_members(stages, sets)
    asked = Stage(leaders.table.filter("rank is null").selectExpr("doc", "doc as rank"), leaders.hash, leaders.facts)
    keys = [_sets.set_keys(stages, "keys-reference", sets[1], references, counts_stage, counts, rule, 0),
            _sets.set_keys(stages, "keys", sets[0], asked, counts_stage, counts, rule, 1)]
    join = _Join(stages, sets, keys, rule)
    partners = join.run(references.rows, pairs_at_once)
    stages.note(pairs_sharing_keys=join.sharing, candidates=join.candidates, pairs=join.pairs, rounds=join.rounds)
    gone = _gone(stages, sets[0], leaders, references, partners)
    return _clustered(stages, gone)


def _reference_ranks(stages: Stages, sets: Stage) -> Stage:
    """The first of equal documents of the reference collection, ranked in the order of its input: rank, doc, id,
    fingerprint."""
    from pyspark.sql import functions as f
    first = sets.table.groupBy("fingerprint").agg(f.min_by(f.struct("doc", "id", "ord"), "ord").alias("first"))
    return numbered(stages, "reference-ranks", first.select("fingerprint", "first.*"), [f.col("ord")], "rank", [sets])


def _leaders(stages: Stages, sets: Stage, references: Stage) -> Stage:
    """One of equal documents of the input (any of them: all are removed or none), and the rank of the reference
    document that equals it: fingerprint, doc, rank."""
    def make() -> Any:
        from pyspark.sql import functions as f
        own = sets.table.groupBy("fingerprint").agg(f.min("doc").alias("doc"))
        return own.join(references.table.select("fingerprint", "rank"), "fingerprint", "left")
    return stages.table("leaders", make, [sets, references])


class _Join:
    """The near pairs of reference documents (a, by rank) and documents of the input (b, by doc)."""

    def __init__(self, stages: Stages, sets: list[Stage], keys: list[Stage], rule: _sets.Rule):
        self.stages, self.sets, self.rule, self.inputs = stages, sets, rule, keys
        self.key_counts = _sets.frequent_keys(stages, keys, rule)
        rows, _ = _sets.without_idle(stages, keys[0].table.unionByName(keys[1].table), self.key_counts, keys)
        self.references, self.rest = (rows.filter(f"flags & 1 = {side}") for side in (0, 1))
        self.candidates = self.pairs = self.rounds = self.sharing = 0

    def run(self, references: int, pairs_at_once: int) -> Stage:
        """The first reference document that each document is near: rank, partner, similarity."""
        done, before, parts = 0, math.inf, list[Stage]()
        most = max(_dedup.pairs_of_a_block(pairs_at_once, sum(keys.rows for keys in self.inputs)), _LEAST_PAIRS)
        while done < references or not parts:
            sharing = self._sharing(done, references)
            pairs = sum(sharing.values())
            self.sharing = self.sharing or pairs
            most = _dedup.grown(most, before, pairs)
            end = _dedup.block_end(sharing, _dedup.step_width(references - done), done, references, most)
            parts.append(self._round(done, end))
            self.rest = self.rest.join(parts[-1].table.select("rank"), "rank", "left_anti")
            self.inputs = [*self.inputs, parts[-1]]
            done, before = end, pairs
        return self.stages.table("partners", lambda: _sets._union([part.table for part in parts]), parts)

    def _sharing(self, done: int, references: int) -> dict[int, int]:
        """How many pairs of rows share a key with the reference documents of each step of ranks from ``done`` on."""
        from pyspark.sql import functions as f
        width = _dedup.step_width(references - done)

        def make() -> Any:
            asked = self.rest.groupBy("key").agg(f.count(f.lit(1)).alias("count"))
            return self.references.filter(f"rank >= {done}").join(asked, "key").groupBy(
                f.expr(f"(rank - {done}) div {width}").alias("step")).agg(f.sum("count").alias("pairs"))
        steps = self.stages.table(f"sharing-{self.rounds}", make, [*self.inputs, self.key_counts], done=done)
        return {row["step"]: row["pairs"] for row in steps.table.collect()}

    def _round(self, begin: int, end: int) -> Stage:
        block = self.references.filter(f"rank >= {begin} and rank < {end}")
        number = self.rounds
        self.rounds += 1
        found = _sets.candidates(self.stages, f"candidates-{number}", block.unionByName(self.rest), self.key_counts,
                                 self.rule, self.inputs, True, begin=begin, end=end)
        near = _sets.verify(self.stages, f"pairs-{number}", found, self.sets[::-1], self.rule)
        self.candidates += found.rows
        self.pairs += near.rows
        return _dedup.first_partners(self.stages, f"partners-{number}", near)


def _gone(stages: Stages, sets: Stage, leaders: Stage, references: Stage, partners: Stage) -> Stage:
    def make() -> Any:
        equal = leaders.table.filter("rank is not null").selectExpr("fingerprint", "rank", "1.0D as similarity",
                                                                    "'identical' as reason")
        near = leaders.table.select("fingerprint", "doc").join(
            partners.table.selectExpr("rank as doc", "partner as rank", "similarity", "'near' as reason"), "doc").drop("doc")
        kept = references.table.selectExpr("rank", "doc as kept_doc", "id as kept")
        return sets.table.select("doc", "id", "ord", "fingerprint").join(equal.unionByName(near), "fingerprint").join(
            kept, "rank").drop("fingerprint", "rank")
    return stages.table("removed", make, [sets, leaders, references, partners])


def _clustered(stages: Stages, gone: Stage) -> Stage:
    from pyspark.sql import functions as f
    firsts = stages.table("firsts", lambda: gone.table.groupBy("kept_doc").agg(f.min("ord").alias("ord")), [gone])
    clusters = numbered(stages, "cluster-numbers", firsts.table, [f.col("ord")], "cluster", [firsts])
    return stages.table("clusters", lambda: gone.table.join(clusters.table.select("kept_doc", "cluster"), "kept_doc"),
                        [gone, clusters])


# ---- One task --------------------------------------------------------------------------------------------------------

def _in_one_task(stages: Stages, sets: list[Stage], rule: _sets.Rule) -> Stage | None:
    """None if more pairs share keys than a task should have, or if ids repeat."""
    from pyspark.sql import functions as f
    own, other = (dict(stage.table.dtypes) for stage in sets)
    kinds = {"id": own["id"], "ord": own["ord"], "kept": other["id"], "kept_ord": other["ord"]}
    schema = f"doc long, id {own['id']}, ord {own['ord']}, kept_doc long, kept {other['id']}, {_REMOVED}"

    def rows_of(side: int, names: dict[str, str]) -> Any:
        """The sets of a side; its ids and order, which may have types of their own, in columns of their own."""
        carried = [f.col(names[name]).alias(name) if name in names else f.lit(None).cast(kind).alias(name)
                   for name, kind in kinds.items()]
        return sets[1 - side].table.select(f.lit(side).alias("side"), "doc", *carried, "fingerprint", "terms", "words")

    def make() -> Any:
        rows = rows_of(0, {"kept": "id", "kept_ord": "ord"}).union(rows_of(1, {"id": "id", "ord": "ord"}))
        together = rows.repartition(1).sortWithinPartitions("side", "kept_ord", "ord").drop("kept_ord")
        return map_partitions(together, _decide, schema, rule.threshold, rule.measure)
    stage = stages.table("decision", make, sets, {"counts": "max(counts)"}, threshold=rule.threshold, measure=rule.measure)
    counts = _one_task.counts_of(stage)
    if counts is None:
        return None
    _one_task.note(stages, counts)
    return Stage(stage.table.filter("counts is null").drop("counts"), stage.hash, {**stage.facts, "rows": counts.removed})


def _decide(batches: Iterator[pyarrow.RecordBatch], threshold: float, measure: Any) -> Iterator[pyarrow.Table]:
    """Rows come side by side, the reference collection first, each in the order of the input."""
    rows = _one_task.table_of(batches)
    if rows is None:
        return
    places, references = np.arange(rows.num_rows), int((numbers(rows, "side") == 0).sum())
    if any(_one_task.double_ids(rows.take(own)) for own in (places[:references], places[references:])):
        yield _removed(rows, None, _one_task.TOO_MANY)  # the ids are named elsewhere
        return
    leader = _one_task.leaders(rows, places)
    sides = [places[:references][leader[:references] == places[:references]],
             places[references:][leader[references:] == places[references:]]]
    near, counts = _one_task.Sets(rows, sides, measure).near(threshold)
    if near is None:
        yield _removed(rows, None, counts)
        return
    kept, similarity = np.where(leader < references, leader, -1), np.ones(rows.num_rows)
    order = np.lexsort((near.a, near.b))
    asked, at = np.unique(near.b[order], return_index=True)
    kept[sides[1][asked]] = sides[0][near.a[order][at]]
    similarity[sides[1][asked]] = near.similarity[order][at].astype(np.float32)
    gone = references + np.flatnonzero(kept[leader[references:]] >= 0)
    first = leader[gone]
    reason = np.where(first < references, "identical", "near")
    yield _removed(rows, (gone, kept[first], similarity[first], reason), counts._replace(removed=len(gone)))


def _removed(rows: pyarrow.Table, gone: Any, counts: _one_task.Counts) -> pyarrow.Table:
    """Removed documents by place, and a row with the counts."""
    import pyarrow
    none = np.empty(0, np.int64)
    place, kept, similarity, reason = gone or (none, none, np.empty(0), np.empty(0, str))
    _, first, cluster = np.unique(kept, return_index=True, return_inverse=True)
    cluster = np.argsort(np.argsort(first))[cluster.reshape(-1)]
    own, other = _one_task.with_counts(place, ()), _one_task.with_counts(kept, ())
    columns = {"doc": rows["doc"].take(own), "id": rows["id"].take(own), "ord": rows["ord"].take(own),
               "kept_doc": rows["doc"].take(other), "kept": rows["kept"].take(other), "similarity": similarity,
               "reason": pyarrow.array(reason.astype(object), pyarrow.string()), "cluster": cluster.astype(np.int64)}
    return _one_task.table_with(columns, len(own), counts)
