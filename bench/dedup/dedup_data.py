#!/usr/bin/env python3
"""Documents for the benchmarks of deduplication.

Writes FOLDER/base.jsonl, the English documents of the data folder (../shared/data, or COGNATE_DATA), 38,813 of them; and
for each N planted-N.jsonl, N documents made of them with exact and near copies, and planted-N.tsv, the pairs. What is
there already is kept. The copies are made by ../shared/tools/plant_copies.py, in an environment with numpy."""
import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("COGNATE_DATA", ROOT.parent / "shared" / "data"))
PLANTER = ROOT.parent / "shared" / "tools" / "plant_copies.py"
ENGLISH = ("wikipedia_en/docs.jsonl.zst", "xling_de_en/mdn/en.jsonl.zst", "xling_de_en/distractors/en.jsonl.zst",
           "xling_de_en/dev/en.jsonl.zst", "neardup/revisions_mdn_en/docs.jsonl.zst", "europarl_10sent/en.jsonl.zst")


def unpack(target, *sources):
    """Writes the documents of compressed files into one."""
    part = pathlib.Path(f"{target}.part")
    with open(part, "wb") as out:
        for source in sources:
            subprocess.run(["zstd", "-dcq", source], stdout=out, check=True)
    part.rename(target)


def plant(base, documents, truth, count, seed=1):
    """Files with `count` documents made of those of `base`, and with the pairs."""
    part = pathlib.Path(f"{documents}.part")
    subprocess.run([peers.python_with("numpy", "numpy"), PLANTER, base, part, truth, str(count), str(seed)], check=True,
                   stdout=subprocess.DEVNULL)
    part.rename(documents)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("counts", metavar="N", type=int, nargs="*", help="documents of a planted collection")
    options = parser.parse_args()
    if not DATA.is_dir() or not PLANTER.exists():
        sys.exit(f"{DATA}, {PLANTER}: no documents, or no generator of copies; set COGNATE_DATA")
    options.folder.mkdir(parents=True, exist_ok=True)
    base = options.folder / "base.jsonl"
    if not base.exists():
        unpack(base, *(DATA / name for name in ENGLISH))
    for count in options.counts:
        documents, truth = options.folder / f"planted-{count}.jsonl", options.folder / f"planted-{count}.tsv"
        if not documents.exists():
            plant(base, documents, truth, count)


if __name__ == "__main__":
    main()
