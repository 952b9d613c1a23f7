"""The steps of the join of term sets without a cluster: every near pair is proposed, however keys and runs are cut."""
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest

import cognate
from cognate import batch
from cognate.spark import _dedup, _one_task, _sets
from cognate.spark._arrow import numbers, packed, runs
from test_dedup import make_texts


def keys_of(texts, threshold, measure, sides=1):
    """Rows of keys of all documents; with two sides, odd documents are the second."""
    table = batch.term_sets(texts, measure=measure).to_arrow()
    sets = pa.table({"doc": table["row"], "terms": packed(table["terms"]), "words": packed(table["words"])})
    counts = batch.MemberCounts(18, 10)
    for name in ("terms", "words"):
        counts.add(_sets.lists(sets, name))
    rows = numbers(sets, "doc")
    parts = [_sets._set_keys(sets.filter(pa.array(rows % sides == side)), counts, threshold, measure, side)
             for side in range(sides)]
    keys = pa.concat_tables(parts)
    return keys.append_column("rank", keys["doc"])


def as_filtered(piece):
    """Rows as they come from a filter by their flags, which Spark marks as never null then."""
    schema = pa.schema([field.with_nullable(field.name != "flags") for field in piece.schema])
    return pa.RecordBatch.from_arrays(piece.columns, schema=schema)


def proposed(keys, threshold, measure, across):
    ordered = keys.sort_by([("key", "ascending"), ("size", "ascending")]).combine_chunks()
    found = list(_sets._find_candidates(iter(ordered.to_batches(max_chunksize=100)), threshold, measure, across))
    return {(int(a), int(b)) for part in found for a, b in zip(numbers(part, "a"), numbers(part, "b"), strict=True)}


@pytest.mark.parametrize("measure, sides, block_rows, most", [
    ("jaccard", 1, None, 40), ("jaccard", 2, 6, 10 ** 6), ("jaccard", 1, 5, 40), ("containment", 1, 9, 500),
    ("containment", 2, None, 30)])
def test_every_near_pair_is_proposed(monkeypatch, measure, sides, block_rows, most):
    texts = [text for text in make_texts(200) if text]
    keys = keys_of(texts, 0.6, measure, sides)
    counts = np.unique(numbers(keys, "key"), return_counts=True)
    if block_rows:
        heavy = {int(key): (-(-int(count) // block_rows),) * 2 for key, count in zip(*counts, strict=True)
                 if count > block_rows}
        assert heavy
        keys = _sets._split_rows(as_filtered(keys.combine_chunks().to_batches()[0]), heavy, sides == 2)
    monkeypatch.setattr(_sets, "_PAIRS_IN_MEMORY", most)
    found = proposed(keys, 0.6, measure, sides == 2)
    near = {(a, b) for a, b, *_ in cognate.pairs(texts, threshold=0.6, measure=measure).rows()}
    assert len(near) > 100
    asked = {tuple(sorted(pair, key=lambda row: row % 2)) for pair in near if sum(pair) % 2} if sides == 2 else near
    assert asked <= found


def test_stretches_have_few_pairs_and_all_rows():
    keys = np.repeat([3, 5, 9], [1, 4000, 50])
    pairs = np.concatenate([np.arange(count)[::-1] for count in (1, 4000, 50)])
    stretches = list(_sets._stretches(keys, pairs, 100_000))
    assert [begin for begin, _, _ in stretches] == [0, *(end for _, end, _ in stretches[:-1])]
    assert stretches[-1][1] == len(keys) and len(stretches) == 80  # of 4000 * 3999 / 2 pairs and some
    assert all(last == 4001 for _, end, last in stretches if 1 < end <= 4001)
    assert list(_sets._stretches(keys, pairs * 0, 10)) == [(0, len(keys), len(keys))]


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_pairs_of_rows_are_those_that_are_compared(measure):
    """Sizes and places by chance: the rows that the rule of overlaps allows, counted by brute force."""
    rng = np.random.default_rng(2)
    keys, sizes = np.sort(rng.integers(0, 5, 300)), rng.integers(1, 60, 300)
    order = np.lexsort((sizes, keys))
    keys, sizes = keys[order], sizes[order].astype(np.int32)
    places = (sizes * rng.random(300) * 0.3).astype(np.int32)
    flags = np.where(_sets._may_be_smaller(places, sizes, 0.8, measure), _sets.SMALLER, 0)
    found = _sets.pairs_of_rows(keys, places, sizes, flags, threshold=0.8, measure=measure)
    for i in range(300):
        behind, size = int(sizes[i] - places[i]), int(sizes[i])
        later = [int(other) for key, other in zip(keys[i + 1:], sizes[i + 1:], strict=True) if key == keys[i]]
        allowed = [other for other in later if (behind / (size + other - behind) if measure == "jaccard"
                                                else behind / size) >= 0.8]
        assert found[i] == len(allowed)


def test_boilerplate_below_the_threshold_has_no_smaller_rows():
    """A passage is most of each document, but too little for two of them to be near: its keys propose nothing."""
    rng = np.random.default_rng(3)
    passage = " ".join(f"p{i}" for i in range(104))
    texts = [passage + " " + " ".join(f"w{word}" for word in rng.integers(0, 10 ** 6, 16)) for _ in range(300)]
    keys = keys_of(texts, 0.8, "jaccard")
    shared = keys.filter(pa.array(np.isin(numbers(keys, "key"), [
        key for key, count in zip(*np.unique(numbers(keys, "key"), return_counts=True), strict=True) if count > 100])))
    assert shared.num_rows >= 300 and not (numbers(shared, "flags") & _sets.SMALLER).any()
    assert proposed(keys, 0.8, "jaccard", False) == set()
    near = keys_of([*texts, texts[0] + " more"], 0.8, "jaccard")
    assert (numbers(near, "flags") & _sets.SMALLER).any()
    assert (0, 300) in proposed(near, 0.8, "jaccard", False)


def test_long_runs_are_gathered_whole():
    table = pa.table({"key": np.repeat([1, 2, 3, 4], [5, 5000, 3, 700])})
    parts = list(runs(iter(table.to_batches(max_chunksize=50)), ["key"], 100))
    assert pa.concat_tables(parts)["key"].to_pylist() == table["key"].to_pylist()
    ends = [set(part["key"].to_pylist()) for part in parts]
    assert all(not (a & b) for i, a in enumerate(ends) for b in ends[i + 1:])


@pytest.mark.parametrize("options", [{"threshold": 0.7}, {"threshold": 0.5, "measure": "containment", "keep": "last"},
                                     {"threshold": 0.6, "grouping": "connected", "keep": "first"}])
def test_documents_are_ranked_and_clustered_in_one_task(options):
    """Order, near pairs of ranks, partners and conclusion, put together, are cognate.dedup."""
    texts = [text for text in make_texts(200) if text is not None]
    measure, keep = options.get("measure", "jaccard"), options.get("keep", "longest")
    sets = batch.term_sets(texts, measure=measure).to_arrow()
    rows = pa.table({"doc": sets["row"], "id": sets["row"], "ord": sets["row"], "text_bytes": sets["text_bytes"],
                     "fingerprint": sets["fingerprint"].cast(pa.binary()),
                     "terms": pa.compute.list_value_length(sets["terms"]).cast(pa.int64())})
    order = pa.concat_tables(_one_task._order(iter(rows.to_batches()), measure, keep))
    rank = numbers(order, "rank")
    assert order["times"].null_count == len(rank) == len(texts)
    near = cognate.pairs(texts, threshold=options["threshold"], measure=measure)
    a, b = rank[near["a"]], rank[near["b"]]
    both = (a >= 0) & (b >= 0)
    pairs = pa.record_batch({"a": np.minimum(a, b)[both], "b": np.maximum(a, b)[both],
                             "similarity": np.asarray(near["similarity"], float)[both]})
    partners = pa.concat_tables(pa.Table.from_batches([part]) for part in _dedup._solve(
        iter([pairs]), 0, int(rank.max()) + 1, options.get("grouping", "representative")))
    nulls = pa.nulls(partners.num_rows, pa.int64())
    lines = pa.table({"kind": np.zeros(len(rank), np.int32), **{name: order[name] for name in (
        "place", "doc", "id", "ord", "leader", "rank")}, "similarity": np.ones(len(rank))})
    gone = pa.table({"kind": np.ones(partners.num_rows, np.int32), "place": partners["rank"], "doc": nulls, "id": nulls,
                     "ord": nulls, "leader": partners["partner"], "rank": partners["rank"],
                     "similarity": partners["similarity"]})
    table = pa.concat_tables(_one_task._conclude(iter(pa.concat_tables([lines, gone]).to_batches()), options["threshold"]))
    members = table.filter(pa.compute.is_null(table["counts"]))
    expected = cognate.dedup(texts, **options)
    found = zip(*(members[name].to_pylist() for name in ("cluster", "id", "kept", "stays")), strict=True)
    assert sorted(found) == sorted((c, r, p, bool(k)) for c, r, p, _, k in expected.clusters.rows())
    assert table["counts"].to_pylist()[-1][-1] == len(expected.pairs)


def test_order_names_ids_that_repeat():
    rows = pa.table({"doc": [4, 5, 4], "id": ["x", "y", "x"], "ord": ["x", "y", "x"], "text_bytes": [3, 4, 5],
                     "fingerprint": [b"a" * 16, b"b" * 16, b"c" * 16], "terms": [1, 1, 1]})
    only = pa.concat_tables(_one_task._order(iter(rows.to_batches()), "jaccard", "first")).to_pylist()
    assert [(row["times"], row["id"], row["other"]) for row in only] == [(2, "x", "x")]
