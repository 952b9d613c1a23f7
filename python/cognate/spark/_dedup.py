"""Near-duplicates on a cluster: which documents are kept and removed, exactly as on one machine.

Documents are considered in the order of ``keep``. A document that is near no kept document is kept; any other is
removed, and its twin is the first kept document that it is near. If few pairs share keys, all near pairs are found at
once, and one task applies the rule, or also joins the sets if they fit it (`_one_task.py`). Otherwise documents are
processed in blocks in which few pairs share keys: pairs inside the block first, then the block's representatives with
all later documents, which removes those near one of them. A family of near-duplicates then costs one pair per member,
except in the block where it begins.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import batch
from . import _one_task, _sets
from ._arrow import batch_of, map_partitions, numbers
from ._frames import Documents, numbered
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

#: Beyond this many pairs of rows that share a key, and this many per row, documents are taken in blocks.
PAIRS_AT_ONCE = 20_000_000
_PAIRS_PER_KEY = 20
#: The pairs of rows that share a key in a block are this part of PAIRS_AT_ONCE.
_BLOCK_PART, _BLOCK_PAIRS_LEAST = 10, 1000
#: A round should rid the rest of this many times the pairs of its block, and of this part of all; else blocks grow.
_WORTH, _WORTH_PART, _GROWTH = 4, 16, 4
_STEPS = 4096  # places at which a block may end
_PARTNERS = "rank long, partner long, similarity double"


class Decision(NamedTuple):
    """The decision: a table of documents (doc, id, leader, rank) and one of removed ranks (rank, partner,
    similarity)."""
    members: Stage
    ranks: Stage
    partners: Stage


def decide(stages: Stages, documents: Documents, rule: _sets.Rule, keep: str, grouping: str,
           pairs_at_once: int = PAIRS_AT_ONCE, members_at_once: int = _one_task.MEMBERS_AT_ONCE,
           documents_at_once: int = _one_task.DOCUMENTS_AT_ONCE) -> Decision | Stage:
    """Decides which documents are kept; also a table of clusters if one task could make it."""
    order = _keep_order(documents, keep)
    sets = _sets.term_sets(stages, documents.frame, rule, documents.data)
    stages.note(documents=sets.rows)
    if _one_task.fits([sets], members_at_once):
        decided = _one_task.decide(stages, sets, documents, rule, keep, order, grouping)
        if decided is not None:
            return decided
    is_small = sets.rows <= documents_at_once
    if is_small:
        members, ranks = _one_task.order(stages, sets, documents, rule, keep, order)
    else:
        documents.check_ids(stages, sets)
        members = _group_equal(stages, sets, documents, keep)
        ranks = _rank(stages, members, documents, keep, rule)
    stages.note(distinct_documents=ranks.rows)
    counts_stage, counts = _sets.count_members(stages, [sets])
    keys = _sets.set_keys(stages, "keys", sets, ranks, counts_stage, counts, rule)
    key_counts = _sets.frequent_keys(stages, [keys], rule)
    rows, expected = _sets.without_idle(stages, keys.table, key_counts, [keys])
    job = _Join(stages, sets, ranks, Stage(rows, keys.hash, keys.facts), key_counts, rule)
    stages.note(pairs_sharing_keys=expected)
    if grouping == "connected":
        partners = job.connected()
    elif expected <= pairs_of_a_block(pairs_at_once, keys.rows):
        partners = job.at_once()
    else:
        partners = job.in_blocks(max(pairs_at_once // _BLOCK_PART, _BLOCK_PAIRS_LEAST))
    stages.note(candidates=job.candidates, pairs=job.pairs, rounds=job.rounds)
    return _one_task.conclude(stages, members, partners, rule.threshold) if is_small else Decision(members, ranks, partners)


# ---- Order -----------------------------------------------------------------------------------------------------------

def _keep_order(documents: Documents, keep: str) -> list[Any]:
    from pyspark.sql import functions as f
    rule = keep.partition(":")[0]
    if rule == "longest":
        return [f.col("text_bytes").desc(), *documents.order()]
    if rule == "first":
        return documents.order()
    if rule == "last":
        return documents.order(falling=True)
    if rule == "field":
        value = f.col("keep")
        return [value.asc_nulls_last() if keep.endswith(":min") else value.desc_nulls_last(), *documents.order()]
    raise ValueError(f"keep {keep!r}: longest, first, last, field:NAME or field:NAME:min")


def _group_equal(stages: Stages, sets: Stage, documents: Documents, keep: str) -> Stage:
    """Documents with equal sets: all columns except the sets, and ``leader``, the first of them."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    def make() -> Any:
        facts = sets.table.withColumn("terms", f.expr("octet_length(terms) div 8")).drop("words")
        window = Window.partitionBy("fingerprint").orderBy(*_keep_order(documents, keep))
        return facts.withColumn("leader", f.first("doc").over(window)).drop("fingerprint")
    return stages.table("members", make, [sets], keep=keep)


def _rank(stages: Stages, members: Stage, documents: Documents, keep: str, rule: _sets.Rule) -> Stage:
    """Leaders, ranked in keep order; for containment the larger set comes first."""
    from pyspark.sql import functions as f
    order = _keep_order(documents, keep)
    if rule.measure == "containment":
        order = [f.col("terms").desc(), *order]
    leaders = members.table.filter("doc = leader")
    ranked = numbered(stages, "ranks", leaders, order, "rank", [members], measure=rule.measure, keep=keep)
    return Stage(ranked.table.select("doc", "rank"), ranked.hash, ranked.facts)


# ---- The join --------------------------------------------------------------------------------------------------------

class _Join:
    def __init__(self, stages: Stages, sets: Stage, ranks: Stage, keys: Stage, key_counts: Stage, rule: _sets.Rule):
        self.stages, self.sets, self.ranks, self.keys, self.key_counts = stages, sets, ranks, keys, key_counts
        self.rule = rule
        self.candidates = self.pairs = self.rounds = 0

    def _near(self, name: str, rows: Any, inputs: list[Stage], across: bool = False, **settings: Any) -> Stage:
        found = _sets.candidates(self.stages, f"candidates-{name}", rows, self.key_counts, self.rule, inputs, across,
                                 **settings)
        near = _sets.verify(self.stages, f"pairs-{name}", found, [self.sets], self.rule)
        self.candidates += found.rows
        self.pairs += near.rows
        return near

    def at_once(self) -> Stage:
        self.rounds = 1
        near = self._near("all", self.keys.table, [self.keys])
        return self._solve("partners", near, 0, self.ranks.rows, "representative")

    def connected(self) -> Stage:
        """Connected components, with the similarity of each document to the kept one."""
        self.rounds = 1
        near = self._near("all", self.keys.table, [self.keys])
        chains = self._solve("components", near, 0, self.ranks.rows, "connected")

        def docs() -> Any:
            ranks = self.ranks.table
            pairs = chains.table.selectExpr("partner as a", "rank as b")
            return (pairs.join(ranks.selectExpr("doc as a_doc", "rank as a"), "a")
                    .join(ranks.selectExpr("doc as b_doc", "rank as b"), "b"))
        asked = self.stages.table("component-docs", docs, [chains, self.ranks])
        measured = _sets.verify(self.stages, "component-pairs", asked, [self.sets], self.rule, 0.0)
        return self.stages.table("partners", lambda: measured.table.selectExpr(
            "b as rank", "a as partner", "cast(cast(similarity as float) as double) as similarity"), [measured])

    def in_blocks(self, most_pairs: int) -> Stage:
        from pyspark.sql import functions as f
        total, parts = self.ranks.rows, []
        rest, done, before = self.keys, 0, math.inf
        while done < total:
            number = str(self.rounds)
            sharing = self._sharing(f"sharing-{number}", rest, done)
            pairs = sum(sharing.values())
            most_pairs = grown(most_pairs, before, pairs)
            end, before = block_end(sharing, self._width(done), done, total, most_pairs), pairs
            inside = rest.table.filter(f"rank < {end}")
            near = self._near(f"inside-{number}", inside, [rest], end=end)
            gone = self._solve(f"partners-{number}", near, done, end - done, "representative")
            parts.append(gone)
            if end < total:
                stays = inside.join(gone.table.select("rank"), "rank", "left_anti").withColumn(
                    "flags", f.expr(f"flags & {_sets.OWN_FLAGS}"))
                later = rest.table.filter(f"rank >= {end}").withColumn(
                    "flags", f.expr(f"(flags & {_sets.OWN_FLAGS}) | 1"))
                reached = self._near(f"later-{number}", stays.unionByName(later), [rest, gone], True, end=end)
                first = first_partners(self.stages, f"removed-{number}", reached)
                parts.append(first)
                rest = self._without(f"rest-{number}", rest, first, end)
            done = end
            self.rounds += 1
        return self.stages.table("partners", lambda: _sets._union([part.table for part in parts]), parts)

    def _width(self, done: int) -> int:
        return step_width(self.ranks.rows - done)

    def _sharing(self, name: str, rest: Stage, done: int) -> dict[int, int]:
        """How many pairs of rows that share a key end in each step of ranks from ``done`` on."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f
        earlier = f.row_number().over(Window.partitionBy("key").orderBy("rank")) - 1
        steps = self.stages.table(name, lambda: rest.table.select("rank", earlier.alias("earlier")).filter(
            "earlier > 0").groupBy(f.expr(f"(rank - {done}) div {self._width(done)}").alias("step")).agg(
            f.sum("earlier").alias("pairs")), [rest], done=done)
        return {row["step"]: row["pairs"] for row in steps.table.collect()}

    def _without(self, name: str, rest: Stage, gone: Stage, end: int) -> Stage:
        return self.stages.table(name, lambda: rest.table.filter(f"rank >= {end}").join(
            gone.table.select("rank"), "rank", "left_anti"), [rest, gone], end=end)

    def _solve(self, name: str, near: Stage, begin: int, count: int, grouping: str) -> Stage:
        return self.stages.table(name, lambda: map_partitions(near.table.coalesce(1), _solve, _PARTNERS, begin, count,
                                                              grouping), [near], grouping=grouping)


def step_width(ranks: int) -> int:
    """How many ranks a step has: blocks end between steps."""
    return max(1, -(-ranks // _STEPS))


def grown(most_pairs: int, before: float, pairs: int) -> int:
    """The pairs of the next block: more if the last round removed too few of the remaining pairs that share keys."""
    return most_pairs * _GROWTH if before - pairs < max(_WORTH * most_pairs, before / _WORTH_PART) else most_pairs


def block_end(sharing: dict[int, int], width: int, done: int, total: int, most_pairs: int) -> int:
    """Where a block that begins at rank ``done`` ends: before the step with too many pairs, but after at least one
    step."""
    pairs = 0
    for step in sorted(sharing):
        pairs += sharing[step]
        if pairs > most_pairs:
            return min(total, done + max(1, step) * width)
    return total


def first_partners(stages: Stages, name: str, near: Stage) -> Stage:
    """The first representative (a) that each later document (b) is near: rank, partner, similarity."""
    from pyspark.sql import functions as f
    return stages.table(name, lambda: near.table.groupBy(f.col("b").alias("rank")).agg(
        f.min(f.struct("a", "similarity")).alias("first")).selectExpr(
        "rank", "first.a as partner", "cast(cast(first.similarity as float) as double) as similarity"), [near])


def pairs_of_a_block(pairs_at_once: int, keys: int) -> int:
    """How many pairs of rows may share a key in a single join."""
    return max(pairs_at_once, _PAIRS_PER_KEY * keys if pairs_at_once else 0)


def _solve(batches: Iterator[pyarrow.RecordBatch], begin: int, count: int,
           grouping: Any) -> Iterator[pyarrow.RecordBatch]:
    """Applies the rule in one task: the removed ranks and their partners."""
    columns: list[list[Any]] = [[np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float64)]]
    for piece in batches:
        for name, held in zip(("a", "b", "similarity"), columns, strict=True):
            held.append(numbers(piece, name))
    a, b, similarities = (np.concatenate(held) for held in columns)
    table = batch.clusters(count, a - begin, b - begin, similarities, grouping=grouping)
    gone = table["row"] != table["representative"]
    found = batch_of(rank=table["row"][gone] + begin, partner=table["representative"][gone] + begin,
                     similarity=table["similarity"][gone])
    for at in range(0, found.num_rows, 100_000):
        yield found.slice(at, 100_000)


# ---- Tables ----------------------------------------------------------------------------------------------------------

def removed(stages: Stages, decision: Decision | Stage, threshold: float) -> Stage:
    """All removed documents: doc, id, ord, kept (the id of the kept one), kept_doc, similarity, reason."""
    if isinstance(decision, Stage):
        return Stage(decision.table.filter("not stays").drop("stays", "cluster", "counts"), decision.hash,
                     {**decision.facts, "rows": decision.facts["removed"]})

    def make() -> Any:
        ranks, partners, members = decision.ranks.table, decision.partners.table, decision.members.table
        stays = (partners.join(ranks.selectExpr("doc as leader", "rank"), "rank")
                 .join(ranks.selectExpr("doc as kept_doc", "rank as partner"), "partner")
                 .select("leader", "kept_doc", "similarity"))
        named = members.selectExpr("doc as kept_doc", "id as kept")
        gone = members.join(stays, "leader", "left").selectExpr(
            "doc", "id", "ord", "coalesce(kept_doc, leader) as kept_doc", "coalesce(similarity, 1.0D) as similarity",
            f"case when kept_doc is null then 'identical' when similarity < {threshold!r}D - 1e-6 then 'chain' "
            "else 'near' end as reason").filter("doc != kept_doc")
        return gone.join(named, "kept_doc")
    return stages.table("removed", make, [decision.members, decision.partners, decision.ranks], threshold=threshold)


def cluster_table(stages: Stages, decision: Decision | Stage, gone: Stage) -> Any:
    """All members of clusters of two and more: cluster, doc, id, representative, similarity, kept, ord. Clusters are
    numbered in the order of their first members in the input."""
    from pyspark.sql import functions as f
    if isinstance(decision, Stage):
        return decision.table.selectExpr("cluster", "doc", "id", "kept as representative", "similarity", "stays as kept",
                                         "ord")

    def first() -> Any:
        kept = gone.table.select("kept_doc").distinct().withColumnRenamed("kept_doc", "doc")
        ords = decision.members.table.select("doc", "ord").join(kept, "doc").selectExpr("doc as kept_doc", "ord")
        return gone.table.select("kept_doc", "ord").unionByName(ords).groupBy("kept_doc").agg(f.min("ord").alias("ord"))
    firsts = stages.table("firsts", first, [gone, decision.members])
    clusters = numbered(stages, "cluster-numbers", firsts.table, [f.col("ord")], "cluster", [firsts])

    def make() -> Any:
        members = gone.table.selectExpr("kept_doc", "doc", "id", "kept as representative", "similarity",
                                        "false as kept", "ord")
        stay = clusters.table.select("kept_doc").join(decision.members.table.withColumnRenamed("doc", "kept_doc"),
                                                      "kept_doc")
        members = members.unionByName(stay.selectExpr("kept_doc", "kept_doc as doc", "id", "id as representative",
                                                      "1.0D as similarity", "true as kept", "ord"))
        return members.join(clusters.table.select("kept_doc", "cluster"), "kept_doc").drop("kept_doc").select(
            "cluster", "doc", "id", "representative", "similarity", "kept", "ord")
    return stages.table("clusters", make, [gone, clusters, decision.members]).table
