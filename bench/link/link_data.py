"""Collections in two languages with known partners, out of Debian's packages and the folder of real documents.

usage: link_data.py DATA_FOLDER OUT_FOLDER [LANG...]

Writes OUT/SET/from.jsonl, to.jsonl and gold.tsv, and the lexicons OUT/NAME.lex; what is there already stays. Sets:

    dev, mdn, europarl        of DATA_FOLDER, German to English; left out if there is no such folder
    pages-LANG                manual pages in French, Spanish and Polish, or the given languages, and all English ones
    packages-LANG             descriptions of 3,000 packages, and 1,500 English ones without a partner

Lexicons: de (parliament without every 40th sentence, and program messages), de-parliament (100,000 sentences),
de-messages, de-words and fr-words (bitextor's dictionaries), and LANG (message catalogues of Debian's packages).
"""
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COGNATE = os.environ.get("COGNATE") or ROOT / "build" / "cognate"

LANGUAGES = ["fr", "es", "pl"]
PACKAGES = """manpages manpages-dev coreutils util-linux util-linux-locales bash tar gzip bzip2 xz-utils systemd apt dpkg
wget git-man binutils-common gettext make findutils grep sed diffutils login passwd procps psmisc e2fsprogs e2fsprogs-l10n
iproute2 man-db debianutils mount openssh-client gpg gnupg-l10n cpio file less bsdextrautils eject fdisk nano cron kbd
groff-base hostname mtools nfs-common texinfo aptitude-common vlc-l10n gimp-data inkscape evolution-common nautilus-data
iso-codes""".split()


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, **more)


def lines_of(path):
    path = str(path)
    command = ["zstdcat", path] if path.endswith(".zst") else ["cat", path]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode().splitlines()


def write_set(folder, sides, gold):
    folder.mkdir(parents=True, exist_ok=True)
    for name, documents in zip(("from", "to"), sides):
        with open(folder / f"{name}.jsonl", "w") as out:
            for key, lang, text in documents:
                print(json.dumps({"id": key, "lang": lang, "text": text}), file=out)
    with open(folder / "gold.tsv", "w") as out:
        for source, target in gold:
            print(source, target, sep="\t", file=out)


# ---- The folder of real documents ----


def copy_sets(data, out):
    for name, path in (("dev", "xling_de_en/dev"), ("mdn", "xling_de_en/mdn"), ("europarl", "europarl_10sent")):
        folder = out / name
        if folder.exists() or not (data / path).exists():
            continue
        folder.mkdir(parents=True)
        for lang, side in (("de", "from"), ("en", "to")):
            (folder / f"{side}.jsonl").write_text("\n".join(lines_of(data / path / f"{lang}.jsonl.zst")) + "\n")
        aligned = [line for line in lines_of(data / path / "align.tsv") if not line.startswith("de_id\t")]
        (folder / "gold.tsv").write_text("\n".join(aligned) + "\n")


def train(out, name, lang, pairs):
    """A lexicon out of lines `LANG TAB English`; the language's region does not count."""
    target = out / f"{name}.lex"
    if target.exists():
        return
    text = out / f"{name}.tsv"
    text.write_text("\n".join(pairs()) + "\n")
    run(COGNATE, "lexicon", "train", text, "--from", lang.split("_")[0], "--to", "en", "-o", target, "--quiet")
    text.unlink()


def german_lexicons(data, out):
    def parliament():
        return [line for i, line in enumerate(lines_of(data / "europarl_sent/train.de-en.tsv.zst"), 1) if i % 40 != 7]

    def messages():
        return lines_of(data / "gettext_sent/de-en.tsv.zst")

    train(out, "de", "de", lambda: parliament() + messages())
    train(out, "de-parliament", "de", lambda: parliament()[3::4][:100000])
    train(out, "de-messages", "de", messages)


def dictionaries(data, out):
    for lang in ("de", "fr"):
        target = out / f"{lang}-words.lex"
        if not target.exists():
            run(COGNATE, "lexicon", "convert", data / f"bitextor_dic/{lang}-en.dic", "--from", lang, "--to", "en", "-o",
                target, "--quiet")


# ---- Debian's packages ----


def fetch_packages(out, languages):
    folder = out / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    (out / "unpacked").mkdir(exist_ok=True)
    manuals = [f"manpages-{lang.split('_')[0]}{kind}" for lang in languages for kind in ("", "-dev")]
    for package in PACKAGES + manuals:
        if (out / "unpacked" / package).exists():
            continue
        found = list(folder.glob(f"{package}_*.deb"))
        if not found and subprocess.run(["apt-get", "download", "-qq", package], cwd=folder,
                                        capture_output=True, check=False).returncode == 0:
            found = list(folder.glob(f"{package}_*.deb"))
        if not found:
            print(f"package {package} cannot be had; going on without it", file=sys.stderr)
            continue
        run("dpkg-deb", "-x", found[0], out / "unpacked" / package)


def printed(call, *arguments):
    """What a function of demo_texts prints, as lines."""
    command = [sys.executable, ROOT / "tools" / "demo_texts.py", call, *arguments]
    return subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout.decode().splitlines()


def pages(out, lang):
    folder = out / f"pages-{lang}"
    if folder.exists():
        return
    folder.mkdir()
    ids = []
    for side, code in (("from", lang), ("to", "en")):
        documents = printed("pages", out / "unpacked", code)
        (folder / f"{side}.jsonl").write_text("\n".join(documents) + "\n")
        ids.append([json.loads(document)["id"] for document in documents])
    both = set(ids[1])
    (folder / "gold.tsv").write_text("".join(f"{key}\t{key}\n" for key in ids[0] if key in both))


def lists_of(lists, lang):
    """apt writes an underscore of a name as %5f."""
    return sorted(lists.glob(f"*dists_*_main_i18n_Translation-{lang.replace('_', '%5f')}*"))


def fetch_lists(out, languages):
    """The tables of package descriptions, kept apart from those of the system."""
    lists = out / "lists"
    if not all(lists_of(lists, lang) for lang in ["en", *languages]):
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        run("apt-get", "-qq", "-o", f"Dir::State::lists={lists}", "-o", "Acquire::Languages=en," + ",".join(languages),
            "update", capture_output=True)
    return lists


def descriptions(lists, lang):
    """Package -> (hash of the English description, text). Of packages with the same description, the first."""
    found, seen = {}, set()
    for path in lists_of(lists, lang):
        text = run("/usr/lib/apt/apt-helper", "cat-file", path, capture_output=True).stdout.decode()
        for block in text.split("\n\n"):
            head, mark, body = block.partition(f"Description-{lang}: ")
            fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
            if mark and "Package" in fields and fields["Package"] not in found and fields["Description-md5"] not in seen:
                seen.add(fields["Description-md5"])
                lines = [line[1:] if line.strip() != "." else "" for line in body.splitlines()[1:]]
                found[fields["Package"]] = (fields["Description-md5"], "\n".join(body.splitlines()[:1] + lines))
    return found


def package_sets(out, languages):
    missing = [lang for lang in languages if not (out / f"packages-{lang}").exists()]
    if not missing:
        return
    lists = fetch_lists(out, missing)
    english = descriptions(lists, "en")
    for lang in missing:
        other = descriptions(lists, lang)
        names = sorted(name for name in other if name in english and other[name][0] == english[name][0])
        chosen = random.Random(1).sample(names, min(3000, len(names)))
        alone = random.Random(2).sample(sorted(set(english) - set(chosen)), 1500)
        write_set(out / f"packages-{lang}",
                  ([(name, lang.split("_")[0], other[name][1]) for name in chosen],
                   [(name, "en", english[name][1]) for name in sorted(chosen + alone)]),
                  [(name, name) for name in chosen])


def prepare(data, out, languages=LANGUAGES):
    """Makes what is missing in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    if data.exists():
        copy_sets(data, out)
        german_lexicons(data, out)
        dictionaries(data, out)
    else:
        print(f"no folder {data}: going on without its documents", file=sys.stderr)
    fetch_packages(out, languages)
    for lang in languages:
        pages(out, lang)
        train(out, lang, lang, lambda code=lang: printed("parallel", out / "unpacked", code))
    package_sets(out, languages)


if __name__ == "__main__":
    prepare(*(pathlib.Path(word).resolve() for word in sys.argv[1:3]), sys.argv[3:] or LANGUAGES)
