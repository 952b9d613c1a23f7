"""Indexes that are asked in another language and hold documents of several."""
import random

import numpy as np
import pyarrow as pa
import pytest

import cognate
from cognate import batch
from conftest import NOUNS


@pytest.fixture(scope="module", name="sides")
def make_sides():
    rng = random.Random(4)
    german = [[rng.choice(list(NOUNS)) for _ in range(12)] for _ in range(60)]
    return [" ".join(words) for words in german], [" ".join(NOUNS[word] for word in words) for words in german]


def test_search(lexicon, sides):
    german, english = sides
    index = cognate.Index.build(english)
    hits = index.search(german, k=1, lexicon=lexicon)
    assert np.mean(hits["row"] == np.arange(60)) > 0.95 and hits["similarity"].min() > 0.8
    single = index.search(german[7], k=3, lexicon=lexicon)
    many = index.search(german[7:8], k=3, lexicon=lexicon)
    assert list(single.rows()) == list(many.rows()) and not index.lexicons
    mixed = index.search(pa.table({"text": [german[3], english[4]], "lang": ["de", "en"]}), k=1, lexicon=lexicon)
    assert mixed["row"].tolist() == [3, 4] and mixed["similarity"][1] > 0.999


def test_documents_beside_each_other(lexicon, sides, tmp_path):
    german, english = sides
    index = cognate.Index.build(english)
    index.add(german[:30], lexicon=lexicon)
    index.add(german[30:], lexicon=lexicon)
    assert len(index) == 120 and list(index.lexicons) == ["de"]
    assert f"en {lexicon.checksum:016x} " in index.lexicons["de"]
    index.save(tmp_path / "index")
    opened = cognate.Index.open(tmp_path / "index")
    assert opened.lexicons == index.lexicons
    found = opened.search(german, k=1, lexicon=lexicon)
    assert (found["row"] % 60).tolist() == list(range(60)) and found["similarity"].min() > 0.999
    with pytest.raises(ValueError, match="index is in en: give the lexicon"):
        opened.search(pa.table({"text": german, "lang": ["de"] * 60}))
    other = cognate.Lexicon.train([("Haus Hund", "house dog")] * 5, "de", "en")
    with pytest.raises(ValueError, match="another lexicon"):
        opened.search(german[0], lexicon=other)
    assert opened.search(english[5], k=1)["similarity"][0] > 0.999


def test_signatures(lexicon, sides):
    german, english = sides
    statistics = batch.Statistics.collect(english, language="en")
    own = cognate.sign(english, "rp", 1024, statistics=statistics, language="en")
    projected = cognate.sign(german, "rp", 1024, statistics=statistics, language="en", lexicon=lexicon)
    bits = np.unpackbits(own[None] ^ projected[:, None], axis=2).sum(axis=2)
    assert np.mean(bits.argmin(axis=1) == np.arange(60)) > 0.9
    with pytest.raises(TypeError, match="no language"):
        cognate.Index.build(own, lexicon=lexicon)
    with pytest.raises(ValueError, match="minhash"):
        cognate.sign(german, "minhash", 256, lexicon=lexicon)
