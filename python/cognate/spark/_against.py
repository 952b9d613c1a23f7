"""Decontamination on a cluster: removes documents that are near a document of a reference collection, as `cognate dedup
--against` does.

The twin of a removed document is the first near document of the reference collection, in input order; documents of the
input are not compared with each other. If all sets fit one task, it decides. Otherwise equal documents are joined as
one, and documents of the input without an equal one in the reference collection are joined with it. If many pairs share
keys, the reference collection is processed in blocks: a document near one of a block is not compared with later blocks.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dedup, _one_task, _sets
from ._arrow import map_partitions, numbers
from ._frames import Documents, numbered
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

_LEAST_PAIRS = 1000  # that share a key in a block
_REMOVED = "similarity double, reason string, cluster long, counts array<long>"


def removed(stages: Stages, documents: Documents, reference: Documents, rule: _sets.Rule,
            pairs_at_once: int = _dedup.PAIRS_AT_ONCE, members_at_once: int = _one_task.MEMBERS_AT_ONCE) -> Stage:
    """All removed documents: doc, id, ord, kept (the id of the reference document), kept_doc, similarity, reason,
    cluster. Documents with the same twin are a cluster; clusters are numbered in input order."""
    sets = [_sets.term_sets(stages, side.frame, rule, side.data, name)
            for side, name in ((documents, "sets"), (reference, "sets-against"))]
    stages.note(documents=sets[0].rows, reference_documents=sets[1].rows)
    found = None
    if _one_task.fits(sets, members_at_once):
        found = _in_one_task(stages, sets, rule)
    if found is None:
        documents.check_ids(stages, sets[0])
        reference.check_ids(stages, sets[1])
        found = _by_many(stages, sets, reference, rule, pairs_at_once)
    stages.note(removed=found.rows, kept=sets[0].rows - found.rows)
    return found


def cluster_table(gone: Stage) -> Any:
    """Removed documents with their reference documents: cluster, doc, id, representative, similarity, kept, ord.
    Reference documents are not members."""
    return gone.table.selectExpr("cluster", "doc", "id", "kept as representative", "similarity", "false as kept", "ord")


# ---- Many tasks ------------------------------------------------------------------------------------------------------

def _by_many(stages: Stages, sets: list[Stage], reference: Documents, rule: _sets.Rule, pairs_at_once: int) -> Stage:
    references = _reference_ranks(stages, sets[1], reference)
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


def _reference_ranks(stages: Stages, sets: Stage, reference: Documents) -> Stage:
    """The first of equal documents of the reference collection, ranked in the order of its input: rank, doc, id,
    fingerprint."""
    from pyspark.sql import functions as f
    first = sets.table.groupBy("fingerprint").agg(f.min_by(f.struct("doc", "id", "ord"), "ord").alias("first"))
    return numbered(stages, "reference-ranks", first.select("fingerprint", "first.*"), reference.order(), "rank", [sets])


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
        from pyspark.sql import functions as f
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
    """None if more pairs share keys than a task should have."""
    from pyspark.sql import functions as f
    kinds = {field.name: field.dataType.simpleString() for field in sets[0].table.schema.fields}
    schema = f"doc long, id {kinds['id']}, ord {kinds['ord']}, kept_doc long, kept {kinds['id']}, {_REMOVED}"

    def make() -> Any:
        rows = _sets._union([stage.table.select(f.lit(side).alias("side"), "doc", "id", "ord", "fingerprint", "terms",
                                                "words") for side, stage in enumerate(reversed(sets))])
        return map_partitions(rows.repartition(1).sortWithinPartitions("side", "ord"), _decide, schema, rule.threshold,
                              rule.measure)
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
    for own in (places[:references], places[references:]):
        if double := _one_task.double_ids(rows.take(own)):
            yield _removed(rows, None, _one_task.Counts(double[0]), tuple(own[list(double[1:])]))
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


def _removed(rows: pyarrow.Table, gone: Any, counts: _one_task.Counts, double: tuple[int, ...] = ()) -> pyarrow.Table:
    """Removed documents by place, and a row with the counts (and two repeated ids)."""
    import pyarrow
    none = np.empty(0, np.int64)
    place, kept, similarity, reason = gone or (none, none, np.empty(0), np.empty(0, str))
    _, first, cluster = np.unique(kept, return_index=True, return_inverse=True)
    cluster = np.argsort(np.argsort(first))[cluster.reshape(-1)]
    own, other = _one_task.with_counts(place, double[:1]), _one_task.with_counts(kept, double[1:])
    columns = {"doc": rows["doc"].take(own), "id": rows["id"].take(own), "ord": rows["ord"].take(own),
               "kept_doc": rows["doc"].take(other), "kept": rows["id"].take(other), "similarity": similarity,
               "reason": pyarrow.array(reason.astype(object), pyarrow.string()), "cluster": cluster.astype(np.int64)}
    return _one_task.table_with(columns, len(own), counts)
