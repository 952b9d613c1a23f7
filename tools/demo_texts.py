"""Documents and parallel text for the demo, out of unpacked Debian packages.

usage: demo_texts.py mixed FOLDER          manual pages and copyright files, one JSON line each
       demo_texts.py pages FOLDER LANG     manual pages of a language (en: those without one); the id is the page's name
       demo_texts.py parallel FOLDER LANG  "LANG TAB English" pairs: message catalogues (.mo) and the Ding dictionary
"""
import gzip
import json
import os
import re
import struct
import sys


def files(root, wanted):
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if wanted(path) and not os.path.islink(path):
                yield path


def read(path):
    data = gzip.open(path).read() if path.endswith(".gz") else open(path, "rb").read()
    return data.decode("utf-8", "replace")


def plain(page):
    """The words of a manual page's source, without its markup."""
    lines = []
    for line in page.splitlines():
        if line.startswith((".", "'")):
            line = re.sub(r"^[.'](\\\"|[A-Za-z]{1,2}\s?)", "", line)
        lines.append(re.sub(r"\\f[A-Z]|\\[&^|]|\\-", lambda m: "-" if m[0] == "\\-" else "", line))
    return "\n".join(lines)


def write(name, lang, text):
    print(json.dumps({"id": name, "lang": lang, "text": text}))


def mixed(root):
    for path in files(root, lambda p: "/share/man/man" in p or p.endswith("/copyright")):
        text = read(path)
        if not text.startswith(".so "):
            write(os.path.relpath(path, root), "en", plain(text) if "/share/man/man" in path else text)


def pages(root, lang):
    folder = "/share/man/man" if lang == "en" else f"/share/man/{lang}/man"
    seen = set()
    for path in files(root, lambda p: folder in p):
        name = os.path.basename(path).removesuffix(".gz")
        text = read(path)
        if name not in seen and not text.startswith(".so "):
            seen.add(name)
            write(name, lang, plain(text))


def catalogue(data):
    """The pairs (message, translation) of a compiled message catalogue."""
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    count, sources, targets = struct.unpack(order + "3I", data[8:20])
    for i in range(count):
        pair = []
        for table in (sources, targets):
            size, at = struct.unpack(order + "2I", data[table + 8 * i:table + 8 * i + 8])
            pair.append(data[at:at + size].decode("utf-8", "replace").split("\0")[0].split("\4")[-1])
        if pair[0] and pair[1]:
            yield pair[0], pair[1]


def dictionary(text):
    """Ding: "Haus {n}; Heim {n} | Häuser {pl} :: house; home | houses": parts behind bars belong together."""
    note = re.compile(r"\{[^}]*\}|\[[^]]*\]|\([^)]*\)|/[^/]*/")
    for line in text.splitlines():
        left, _, right = line.partition(" :: ")
        for source, target in zip(left.split("|"), right.split("|")):
            for one in note.sub("", source).split(";")[:3]:
                for other in note.sub("", target).split(";")[:3]:
                    if one.strip() and other.strip():
                        yield one, other


def parallel(root, lang):
    def say(source, target):
        print(*(" ".join(text.replace("_", "").replace("&", "").split()) for text in (source, target)), sep="\t")

    for path in files(root, lambda p: f"/locale/{lang}/LC_MESSAGES/" in p and p.endswith(".mo")):
        for message, translation in catalogue(open(path, "rb").read()):
            say(translation, message)
    for path in files(root, lambda p: p.endswith(f"/share/trans/{lang}-en")):
        for source, target in dictionary(read(path)):
            say(source, target)


if __name__ == "__main__":
    {"mixed": mixed, "pages": pages, "parallel": parallel}[sys.argv[1]](*sys.argv[2:])
