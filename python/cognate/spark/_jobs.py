"""The public functions: dedup, clusters, pairs and links of DataFrames."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Unpack

from .._index import Index
from .._inputs import LinkRule, TermOptions, WeightOptions
from .._lexicon import Lexicon
from . import _against, _dedup, _link, _link_sentences, _one_task, _sets, signatures
from ._frames import Documents, numbered
from ._stages import Stage, Stages

Progress = bool | Callable[[str, int, int], object] | None


class JobOptions(TermOptions, total=False):
    """Options of all jobs over documents."""
    order: str  #: the column that has the order of the input (default: the ids)
    lang: str  #: the column that has the language (default "lang", if there is one)
    work: str  #: a folder for intermediate tables that all machines share; a later job takes them up
    resume: bool  #: False: make all tables anew
    data: str  #: names the version of the data, if the DataFrame itself does not tell (default: a hash of its plan)
    progress: Progress
    report: dict[str, Any]  #: receives what the job did
    block_rows: int  #: a key with more rows is cut into blocks of this size
    members_at_once: int  #: term sets with at most this many members together are joined in one task


class SparkOptions(JobOptions, total=False):
    """Options of dedup and clusters."""
    pairs_at_once: int  #: take documents in blocks if more pairs than this share a key
    documents_at_once: int  #: at most this many documents are ranked, and their clusters made, in one task


class CosineOptions(WeightOptions, total=False):
    """Options of pairs by cosine only."""
    recall: float  #: the share of pairs that settings which are not given are chosen for
    bits: int  #: of a signature
    seed: int
    gaussian: bool
    density: float
    knobs: Mapping[str, int]  #: settings of the method, such as tables and window
    partitions: int  #: of a shuffle (default: spark.sql.shuffle.partitions)
    recall_rows: int  #: rows that recall is measured by; 0: none


class LinkJobOptions(LinkRule, total=False):
    """Options of link. Terms are those of the lexicon."""
    order: str
    lang: str
    work: str
    resume: bool
    data: str
    progress: Progress
    report: dict[str, Any]
    block_rows: int  #: of a side that are compared with a block of the other in one task (default: 64 MB of vectors)
    knobs: Mapping[str, int]  #: of the method window: tables, window, shared_window
    partitions: int  #: of a shuffle (default: spark.sql.shuffle.partitions)


class PairOptions(JobOptions, CosineOptions, total=False):
    """Options of pairs."""


_TERMS = TermOptions.__annotations__.keys()
_COSINE = {*CosineOptions.__annotations__, *WeightOptions.__annotations__}
_LINK = {*LinkRule.__annotations__, "block_rows", "knobs", "partitions"}
_BOTH = {*JobOptions.__annotations__, *_TERMS}


def _begin(spark: Any, options: Any, own: Iterable[str], where: str = "", both: Iterable[str] = _BOTH) -> Stages:
    known = {*both, *own}
    for name in options:
        if name not in known:
            raise TypeError(f"{name!r} is no option of this job{where}; there are {', '.join(sorted(known))}")
    return Stages(spark, options.get("work"), resume=options.get("resume", True), progress=options.get("progress"))


def rule(threshold: float, measure: str, terms: dict[str, Any], block_rows: int = _sets.BLOCK_ROWS) -> _sets.Rule:
    """Which pairs are found, checked."""
    if measure not in ("jaccard", "containment"):
        raise ValueError(f"measure {measure!r}: jaccard or containment, and of pairs also cosine")
    if not 0 < threshold <= 1:
        raise ValueError(f"a threshold of {threshold}: choose above 0 and at most 1")
    return _sets.Rule(threshold, measure, {**terms, "measure": measure}, block_rows)


def _rule(threshold: float, measure: str, options: Any) -> _sets.Rule:
    terms = {name: value for name, value in options.items() if name in _TERMS}
    return rule(threshold, measure, terms, options.get("block_rows", _sets.BLOCK_ROWS))


def keep_field(keep: str) -> str | None:
    """The column of a rule such as field:NAME:min."""
    field = keep.partition(":")[2]
    return (field.rpartition(":")[0] if field.endswith((":min", ":max")) else field) or None


def _finish(stages: Stages, options: Any) -> None:
    report = stages.finish()
    options.get("report", {}).update(report, executors=stages.metrics.executors())


def _decide(df: Any, text: str, id: str, threshold: float, measure: str, keep: str, grouping: str,
            options: SparkOptions) -> tuple[Stages, Documents, Any, Stage]:
    if grouping not in ("representative", "connected"):
        raise ValueError(f"grouping {grouping!r}: representative or connected")
    stages = _begin(df.sparkSession, options, SparkOptions.__annotations__)
    documents = Documents(df, text, id, options.get("order"), options.get("lang", "lang"), keep_field(keep),
                          options.get("data"))
    decision = _dedup.decide(stages, documents, _rule(threshold, measure, options), keep, grouping,
                             options.get("pairs_at_once", _dedup.PAIRS_AT_ONCE),
                             options.get("members_at_once", _one_task.MEMBERS_AT_ONCE),
                             options.get("documents_at_once", _one_task.DOCUMENTS_AT_ONCE))
    gone = _dedup.removed(stages, decision, threshold)
    stages.note(removed=gone.rows, kept=stages.report["documents"] - gone.rows)
    return stages, documents, decision, gone


def _remove_against(df: Any, against: Any, text: str, id: str, threshold: float, measure: str,
                    options: SparkOptions) -> tuple[Stages, Documents, Stage]:
    stages = _begin(df.sparkSession, options, SparkOptions.__annotations__)

    def documents_in(frame: Any) -> Documents:
        return Documents(frame, text, id, options.get("order"), options.get("lang", "lang"), None, options.get("data"))
    documents, reference = documents_in(df), against if isinstance(against, Index) else documents_in(against)
    gone = _against.removed(stages, documents, reference, _rule(threshold, measure, options),
                            options.get("pairs_at_once", _dedup.PAIRS_AT_ONCE),
                            options.get("members_at_once", _one_task.MEMBERS_AT_ONCE))
    return stages, documents, gone


def dedup(df: Any, text: str = "text", id: str = "id", *, against: Any = None, threshold: float = 0.8,
          measure: Literal["jaccard", "containment"] = "jaccard", keep: str = "longest",
          grouping: Literal["representative", "connected"] = "representative", **options: Unpack[SparkOptions]) -> Any:
    """The kept rows with all their columns, as cognate.dedup decides; rows without a text are dropped.

    ``keep`` is longest, first, last, or field:NAME (the greatest value of a column) or field:NAME:min. With
    ``against``, a DataFrame with the same columns of ids and texts, or an index of the same measure, only rows near one
    of its documents are removed. An index is opened on the driver.
    """
    if against is not None:
        stages, documents, gone = _remove_against(df, against, text, id, threshold, measure, options)
    else:
        stages, documents, _, gone = _decide(df, text, id, threshold, measure, keep, grouping, options)
    _finish(stages, options)
    return documents.rows_without(gone.table)


def clusters(df: Any, text: str = "text", id: str = "id", *, against: Any = None, threshold: float = 0.8,
             measure: Literal["jaccard", "containment"] = "jaccard", keep: str = "longest",
             grouping: Literal["representative", "connected"] = "representative",
             **options: Unpack[SparkOptions]) -> Any:
    """Clusters of two documents or more: cluster, id, representative, similarity, kept.

    With ``against``, the removed rows, grouped by their representative: the first row of that DataFrame, or document of
    that index, that they are near.
    """
    if against is not None:
        stages, _, gone = _remove_against(df, against, text, id, threshold, measure, options)
        table = _against.cluster_table(gone)
    else:
        stages, _, decision, gone = _decide(df, text, id, threshold, measure, keep, grouping, options)
        table = _dedup.cluster_table(stages, decision, gone)
    _finish(stages, options)
    return table.select("cluster", "id", "representative", "similarity", "kept")


def pairs(a: Any, against: Any = None, text: str = "text", id: str = "id", *, threshold: float = 0.8,
          measure: Literal["jaccard", "containment", "cosine"] = "jaccard",
          method: Literal["exact", "window", "lsh", "flat"] | None = None, **options: Unpack[PairOptions]) -> Any:
    """All pairs at or above the threshold within a collection, or between two: a, b (ids), similarity, distance.

    Within a collection ``a`` is the document that comes first in the input. Sets are joined exactly. For the cosine,
    signatures propose pairs by the method (default: window), and distance is the distance of the two signatures in
    bits.
    """
    check_method(measure, method)
    is_cosine = measure == "cosine"
    stages = _begin(a.sparkSession, options, _COSINE if is_cosine else (), f" with measure {measure}")
    sides = [Documents(frame, text, id, options.get("order"), options.get("lang", "lang"), None,
                       options.get("data")) for frame in ([a] if against is None else [a, against])]
    if is_cosine:
        own = {name: value for name, value in options.items() if name in _COSINE or name in (*_TERMS, "block_rows")}
        documents, near = cosine_pairs(stages, sides, method=method or "window", threshold=threshold, **own)
        table = signatures.name_rows(stages, documents, near)
    else:
        table = find_pairs(stages, sides, _rule(threshold, measure, options),
                           options.get("members_at_once", _one_task.MEMBERS_AT_ONCE)).selectExpr(
            "a", "b", "similarity", "cast(null as int) as distance")
    _finish(stages, options)
    return table


def link(de: Any, en: Any, text: str = "text", id: str = "id", *, lexicon: Lexicon | str, one_to_one: bool = False,
         precision: float | None = None, threshold: float | None = None, k: int | None = None,
         method: Literal["exact", "lists", "flat", "window"] = "exact", sentences: bool = False,
         sentence_threshold: float | None = None, **options: Unpack[LinkJobOptions]) -> Any:
    """The partner of each document of ``de`` among those of ``en``: from, to (ids), similarity, score, probability.

    The links are those of `cognate.link` by the same method. ``de`` is in the source language of the lexicon, which is
    a Lexicon or the path of its file on the driver. Links are kept by the wanted precision (0.98) or, with a threshold,
    by their cosine; k lists the k best of each document, whatever their probability.

    With ``sentences``, the sentence pairs of the linked documents instead, each pair of texts once: from, to (texts),
    similarity, from_id, to_id, score; ``sentence_threshold`` is the least score (0.5).
    """
    if sentence_threshold is not None and not sentences:
        raise ValueError("sentence_threshold belongs to sentences=True")
    least = _link_sentences.THRESHOLD if sentence_threshold is None else sentence_threshold
    _link_sentences.check_threshold(least)
    own: dict[str, Any] = {name: value for name, value in options.items() if name in _LINK}
    settings = _link.settings_of(lexicon, one_to_one=one_to_one, precision=precision, threshold=threshold, k=k,
                                 method=method, **own)
    stages = _begin(de.sparkSession, options, (), both={*LinkJobOptions.__annotations__, *_LINK})
    sides = [Documents(frame, text, id, options.get("order"), options.get("lang", "lang"), None, options.get("data"))
             for frame in (de, en)]
    documents, links = _link.find_links(stages, sides, settings)
    if sentences:
        pairs = _link_sentences.find_pairs(stages, documents, links, settings, least)
        table = _link_sentences.name_pairs(stages, documents, pairs)
    else:
        table = _link.name_links(stages, documents, links)
    _finish(stages, options)
    return table


def check_method(measure: str, method: str | None) -> None:
    """Refuses a method that the measure does not have."""
    if measure != "cosine" and method not in (None, "exact"):
        raise ValueError(f"method {method!r} with measure {measure}: sets are joined exactly; give no method, or take the "
                         "cosine")
    if measure == "cosine" and method == "exact":
        raise ValueError("method 'exact' with the cosine: on a cluster pairs by cosine come from signatures; choose window, "
                         "lsh or flat")


def cosine_pairs(stages: Stages, sides: list[Documents], **options: Any) -> tuple[list[Stage], Stage]:
    """Numbered documents, and the pairs of their rows: a, b, distance, similarity."""
    documents = [side.rows(stages, f"documents-{number}") for number, side in enumerate(sides)]
    stages.note(documents=sum(stage.rows for stage in documents))
    return documents, signatures.join(stages, documents, **options)


def find_pairs(stages: Stages, sides: list[Documents], rule: _sets.Rule,
               members_at_once: int = _one_task.MEMBERS_AT_ONCE) -> Any:
    """Pairs with their places in the input: a, b, similarity, a_rank, b_rank."""
    sets, ranks = [], []
    for number, documents in enumerate(sides):
        name = "sets" if number == 0 else "sets-against"
        sets.append(_sets.term_sets(stages, documents.frame, rule, documents.data, name))
    stages.note(documents=sum(stage.rows for stage in sets))
    if _one_task.fits(sets, members_at_once) and _one_task.have_one_type(sets):
        table = _one_task.pairs(stages, sets, rule)
        if table is not None:
            return _single(table)
    for number, (documents, made) in enumerate(zip(sides, sets, strict=True)):
        documents.check_ids(stages, made)
        facts = made.table.select("doc", "id", "ord")
        ranks.append(numbered(stages, "rows" if number == 0 else "rows-against", facts, documents.order(), "rank", [made]))
    counts_stage, counts = _sets.count_members(stages, sets)
    keys = [_sets.set_keys(stages, f"keys-{number}", sets[number], ranks[number], counts_stage, counts, rule, number)
            for number in range(len(sides))]
    key_counts = _sets.frequent_keys(stages, keys, rule)
    across = len(sides) == 2
    rows = keys[0].table if not across else keys[0].table.unionByName(keys[1].table)
    rows, _ = _sets.without_idle(stages, rows, key_counts, keys)
    found = _sets.candidates(stages, "candidates", rows, key_counts, rule, keys, across)
    near = _sets.verify(stages, "near", found, sets, rule)
    stages.note(candidates=found.rows, pairs=near.rows)

    def named() -> Any:
        first = ranks[0].table.selectExpr("rank as a_rank", "id as a")
        second = ranks[-1].table.selectExpr("rank as b_rank", "id as b")
        return near.table.selectExpr("a as a_rank", "b as b_rank", "similarity").join(first, "a_rank").join(
            second, "b_rank").select("a", "b", "similarity", "a_rank", "b_rank")
    return _single(stages.table("pairs", named, [near, *ranks]).table)


def _single(pairs: Any) -> Any:
    """Similarities in single precision, as one machine holds and prints them."""
    return pairs.withColumn("similarity", pairs["similarity"].cast("float").cast("double"))
