"""Links of the articles of the Declaration of Human Rights into English, one row per language.

usage: udhr_links.py DATA_FOLDER OUT_FOLDER

In: DATA/udhr/articles, 31 texts in each of 24 languages. The lexicon of a language is trained on the message catalogues of
Debian's packages (link_data.py, in the same OUT_FOLDER), a different domain. Out: a table with the messages in the
catalogues, the share of articles whose partner ranks first, and recall and precision of the links that
`link --one-to-one` keeps.
"""
import json
import pathlib
import subprocess
import sys

import link_data

CODES = {"arb": "ar", "ces": "cs", "cmn_hans": "zh_CN", "deu_1996": "de", "ell_monotonic": "el", "fin": "fi", "fra": "fr",
         "heb": "he", "hin": "hi", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "nld": "nl", "pol": "pl",
         "por_PT": "pt", "rus": "ru", "spa": "es", "swe": "sv", "tur": "tr", "ukr": "uk", "vie": "vi"}


def article_file(data, out, code, lang):
    path = out / f"udhr-{code}.jsonl"
    if not path.exists():
        items = [json.loads(line) for line in link_data.lines_of(data / f"udhr/articles/{code}.jsonl.zst")]
        path.write_text("".join(json.dumps({"id": item["id"], "lang": lang, "text": item["text"]}) + "\n" for item in items))
    return path


def lexicon(out, lang):
    """The catalogue's lexicon, and the number of its sentence pairs."""
    pairs = link_data.printed("parallel", out / "unpacked", lang)
    link_data.train(out, f"messages-{lang}", lang, lambda: pairs)
    return out / f"messages-{lang}.lex", len(pairs)


def linked(source, target, table, gold, *more):
    command = [link_data.COGNATE, "link", "--from", source, "--to", target, "--lexicon", table, "--quiet", *more]
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(done.stderr)
    pairs = [line.split("\t")[:2] for line in done.stdout.splitlines()[1:]]
    right = sum(gold.get(a) == b for a, b in pairs)
    return right, len(pairs)


def row(data, out, code, english):
    lang = CODES[code]
    table, pairs = lexicon(out, lang)
    source = article_file(data, out, code, lang.split("_")[0])
    ids = {json.loads(line)["id"] for line in source.read_text().splitlines()}
    gold = {key: key for key in ids & {json.loads(line)["id"] for line in english.read_text().splitlines()}}
    first = linked(source, english, table, gold, "-k", 1)[0] / len(gold)
    right, count = linked(source, english, table, gold, "--one-to-one")
    bar = "#" * round(20 * first)
    return first, (f"| {lang} | {pairs:,} | {first:.2f} `{bar:<20}` | {right / len(gold):.2f} | "
                   f"{f'{right / count:.2f}' if count else 'none'} |")


def main(data, out):
    out.mkdir(parents=True, exist_ok=True)
    link_data.fetch_packages(out, [])
    english = article_file(data, out, "eng", "en")
    print("| language | messages | partner first | recall of links kept | their precision |")
    print("|---|---|---|---|---|")
    for _, line in sorted((row(data, out, code, english) for code in CODES), reverse=True):
        print(line)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
