#!/usr/bin/env python3
"""Text to word 3-grams by script: MB of text per second of one core, for languages that are not written like English.

    text_scripts.py [--work FOLDER] [--packages FOLDER]

The text is LibreOffice's help or, where there is none, its messages, from Debian's packages (apt-get download; or those
that lie in --packages): sentences that are mostly of the script, in pieces of up to 3,000 characters. `udhr` is the
Universal Declaration of Human Rights in all languages of the data folder (../shared/data, or COGNATE_DATA).
build/bench/bench_text measures; `make bench` builds it."""
import argparse
import gettext
import html
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("COGNATE_DATA", ROOT.parent / "shared" / "data"))
BENCH = ROOT / "build" / "bench" / "bench_text"
LANGUAGES = {  # package, characters of the script
    "Chinese": ("libreoffice-help-zh-cn", "\u3000-\u303f\u3400-\u9fff\uff00-\uffef"),
    "Japanese": ("libreoffice-help-ja", "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"),
    "Thai": ("libreoffice-l10n-th", "\u0e00-\u0e7f"),
    "Korean": ("libreoffice-help-ko", "\uac00-\ud7af"),
    "Hindi": ("libreoffice-help-hi", "\u0900-\u097f"),
    "Arabic": ("libreoffice-l10n-ar", "\u0600-\u06ff"),
    "English": ("libreoffice-help-en-us", "a-zA-Z"),
}
PIECE = 3000


def unpack(package, options):
    """The folder of a package's files; None if it cannot be had."""
    folder = options.work / package
    if not folder.is_dir():
        options.packages.mkdir(parents=True, exist_ok=True)
        if not list(options.packages.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=options.packages, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        files = list(options.packages.glob(f"{package}_*.deb"))
        if not files:
            return None
        subprocess.run(["dpkg", "-x", files[0], folder], check=True)
    return folder


def page_text(path):
    page = path.read_text(encoding="utf-8", errors="ignore")
    page = page[page.find('id="DisplayArea"') + 1:]
    page = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    return re.sub(r"[ \t\n]+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def message_text(path):
    with open(path, "rb") as file:
        messages = gettext.GNUTranslations(file)._catalog
    return "\n".join(text for key, text in messages.items() if key)


def write_documents(folder, script, path):
    with open(path, "w", encoding="utf-8") as out:
        for source in sorted(folder.rglob("*.html")) + sorted(folder.rglob("*.mo")):
            text = page_text(source) if source.suffix == ".html" else message_text(source)
            sentences = re.split(r"(?<=[.\u3002!?\uff01\uff1f\n])", text)
            text = "".join(s for s in sentences if 2 * len(re.findall(f"[{script}]", s)) > len(s))
            for at in range(0, len(text), PIECE):
                out.write(json.dumps({"id": f"{source.name}:{at}", "text": text[at:at + PIECE]}, ensure_ascii=False) + "\n")


def print_row(name, path):
    result = subprocess.run([BENCH, path], stdout=subprocess.PIPE, text=True, check=True).stdout
    rates = {kind: re.search(rf"^ +{kind} +([0-9.]+) MB/s", result, re.M)[1] for kind in ("words", "words, 3-grams", "regex")}
    print(f"| {name} | {path.stat().st_size / 1e6:.1f} MB | " + " | ".join(rates.values()) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "text_scripts")
    parser.add_argument("--packages", type=pathlib.Path)
    options = parser.parse_args()
    options.packages = options.packages or options.work
    options.work.mkdir(parents=True, exist_ok=True)
    if not BENCH.exists():
        return print(f"{BENCH} is missing: run make bench")
    print("| text | size | words | words, 3-grams | regex |\n|---|---|---|---|---|")
    for name, (package, script) in LANGUAGES.items():
        path, folder = options.work / f"{name}.jsonl", unpack(package, options)
        if not folder:
            print(f"| {name} | not run: no package {package} | | | |")
            continue
        write_documents(folder, script, path)
        print_row(name, path)
    declarations = DATA / "udhr" / "declarations.jsonl.zst"
    if declarations.exists():
        path = options.work / "udhr.jsonl"
        subprocess.run(["zstd", "-qdf", declarations, "-o", path], check=True)
        print_row("udhr, 529 languages", path)


if __name__ == "__main__":
    main()
