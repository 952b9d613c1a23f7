"""The public functions: dedup, clusters and pairs of DataFrames."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypedDict, Unpack

from .._inputs import TermOptions
from . import _dedup, _sets
from ._frames import Documents
from ._stages import Stages

Progress = bool | Callable[[str, int, int], object] | None


class SparkOptions(TermOptions, total=False):
    """Options of jobs on Spark."""
    order: str  #: the column that has the order of the input (default: the ids)
    lang: str  #: the column that has the language (default "lang", if there is one)
    work: str  #: a folder for intermediate tables that all machines share; a later job takes them up
    resume: bool  #: False: make all tables anew
    data: str  #: names the version of the data, if the DataFrame itself does not tell (default: a hash of its plan)
    progress: Progress
    report: dict[str, Any]  #: receives what the job did
    block_rows: int  #: a key with more rows is cut into blocks of this size
    pairs_at_once: int  #: take documents in blocks if more pairs than this share a key


_TERMS = TermOptions.__annotations__.keys()


def _begin(spark: Any, options: SparkOptions) -> Stages:
    known = {*SparkOptions.__annotations__, *_TERMS}
    for name in options:
        if name not in known:
            raise TypeError(f"{name!r} is no option of this job; there are {', '.join(sorted(known))}")
    return Stages(spark, options.get("work"), resume=options.get("resume", True), progress=options.get("progress"))


def rule(threshold: float, measure: str, terms: dict[str, Any], block_rows: int = _sets.BLOCK_ROWS) -> _sets.Rule:
    """Which pairs are found, checked."""
    if measure not in ("jaccard", "containment"):
        raise ValueError(f"measure {measure!r}: jaccard or containment")
    if not 0 < threshold <= 1:
        raise ValueError(f"a threshold of {threshold}: choose above 0 and at most 1")
    return _sets.Rule(threshold, measure, {**terms, "measure": measure}, block_rows)


def _rule(threshold: float, measure: str, options: SparkOptions) -> _sets.Rule:
    terms = {name: value for name, value in options.items() if name in _TERMS}
    return rule(threshold, measure, terms, options.get("block_rows", _sets.BLOCK_ROWS))


def keep_field(keep: str) -> str | None:
    """The column of a rule such as field:NAME:min."""
    field = keep.partition(":")[2]
    return (field.rpartition(":")[0] if field.endswith((":min", ":max")) else field) or None


def _finish(stages: Stages, options: SparkOptions) -> None:
    report = stages.finish()
    options.get("report", {}).update(report, executors=stages.metrics.executors())


def _decide(df: Any, text: str, id: str, threshold: float, measure: str, keep: str, grouping: str,
            options: SparkOptions) -> tuple[Stages, Documents, _dedup.Decision, Any]:
    if grouping not in ("representative", "connected"):
        raise ValueError(f"grouping {grouping!r}: representative or connected")
    stages = _begin(df.sparkSession, options)
    documents = Documents(df, text, id, options.get("order"), options.get("lang", "lang"), keep_field(keep),
                          options.get("data"))
    decision = _dedup.decide(stages, documents, _rule(threshold, measure, options), keep, grouping,
                             options.get("pairs_at_once", _dedup.PAIRS_AT_ONCE))
    gone = _dedup.removed(stages, decision, threshold)
    stages.note(removed=gone.rows, kept=stages.report["documents"] - gone.rows)
    return stages, documents, decision, gone


def dedup(df: Any, text: str = "text", id: str = "id", *, threshold: float = 0.8,
          measure: Literal["jaccard", "containment"] = "jaccard", keep: str = "longest",
          grouping: Literal["representative", "connected"] = "representative", **options: Unpack[SparkOptions]) -> Any:
    """The rows that stay, with all their columns; rows without a text go. As cognate.dedup decides.

    ``keep`` is longest, first, last, or field:NAME (the greatest value of a column) or field:NAME:min.
    """
    stages, documents, _, gone = _decide(df, text, id, threshold, measure, keep, grouping, options)
    _finish(stages, options)
    return documents.rows_without(gone.table)


def clusters(df: Any, text: str = "text", id: str = "id", *, threshold: float = 0.8,
             measure: Literal["jaccard", "containment"] = "jaccard", keep: str = "longest",
             grouping: Literal["representative", "connected"] = "representative",
             **options: Unpack[SparkOptions]) -> Any:
    """Clusters of two documents or more: cluster, id, representative, similarity, kept."""
    stages, _, decision, gone = _decide(df, text, id, threshold, measure, keep, grouping, options)
    table = _dedup.cluster_table(stages, decision, gone)
    _finish(stages, options)
    return table.table.select("cluster", "id", "representative", "similarity", "kept")


def pairs(a: Any, against: Any = None, text: str = "text", id: str = "id", *, threshold: float = 0.8,
          measure: Literal["jaccard", "containment"] = "jaccard", **options: Unpack[SparkOptions]) -> Any:
    """All pairs at or above the threshold inside a collection, or between two: a, b (ids), similarity.

    Inside a collection ``a`` is the document that comes first in the input.
    """
    stages = _begin(a.sparkSession, options)
    rule = _rule(threshold, measure, options)
    sides = [Documents(frame, text, id, options.get("order"), options.get("lang", "lang"), None,
                       options.get("data")) for frame in ([a] if against is None else [a, against])]
    table = find_pairs(stages, sides, rule)
    _finish(stages, options)
    return table.select("a", "b", "similarity")


def find_pairs(stages: Stages, sides: list[Documents], rule: _sets.Rule, unique: bool = False) -> Any:
    """Pairs with their places in the input: a, b, similarity, a_rank, b_rank. ``unique``: ids are known to be so."""
    sets, ranks = [], []
    for number, documents in enumerate(sides):
        name = "sets" if number == 0 else "sets-against"
        made = _sets.term_sets(stages, documents.frame, rule, documents.data, name)
        if not unique:
            documents.check_ids(stages, made)
        sets.append(made)
        facts = made.table.select("doc", "id", "ord")
        ranks.append(_sets.numbered(stages, "rows" if number == 0 else "rows-against", facts, documents.order(), "rank",
                                    [made]))
    stages.note(documents=sum(stage.rows for stage in sets))
    counts_stage, counts = _sets.count_members(stages, sets)
    keys = [_sets.set_keys(stages, f"keys-{number}", sets[number], ranks[number], counts_stage, counts, rule, number)
            for number in range(len(sides))]
    key_counts = _sets.frequent_keys(stages, keys)
    across = len(sides) == 2
    rows = keys[0].table if not across else keys[0].table.unionByName(keys[1].table)
    found = _sets.candidates(stages, "candidates", rows, key_counts, rule, keys, across)
    near = _sets.verify(stages, "near", found, sets, rule)
    stages.note(keys=sum(stage.rows for stage in keys), candidates=found.rows, pairs=near.rows)

    def named() -> Any:
        first = ranks[0].table.selectExpr("rank as a_rank", "id as a")
        second = ranks[-1].table.selectExpr("rank as b_rank", "id as b")
        return near.table.selectExpr("a as a_rank", "b as b_rank", "similarity").join(first, "a_rank").join(
            second, "b_rank").select("a", "b", "similarity", "a_rank", "b_rank")
    return stages.table("pairs", named, [near, *ranks]).table
