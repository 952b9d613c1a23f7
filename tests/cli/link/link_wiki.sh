# Two small wikis: links between their articles, known ones from the pages themselves, which are no part of the text.
here=$(dirname "$0")
python3 "$here/../two_languages.py" write .
python3 - <<'PYTHON'
import json
from xml.sax.saxutils import escape

def page(title, text, namespace=0):
    return (f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>1</id><revision>"
            f"<text xml:space=\"preserve\">{escape(text)}</text></revision></page>\n")

def dump(path, pages):
    head = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/"><siteinfo></siteinfo>\n'
    open(path, "w").write(head + "".join(pages) + "</mediawiki>\n")

# Each text twice, so that none is taken for a stub.
sides = [[json.loads(line) for line in open(f"{name}.jsonl")] for name in ("from", "to")]
for name, side in zip(("from", "to"), sides):
    with open(f"{name}.jsonl", "w") as file:
        for document in side:
            document["text"] += "\n" + document["text"]
            print(json.dumps(document), file=file)
# Articles of the one side name their partners: with markup, underscores, a small first letter, a section.
forms = ["[[eo:{}]]", "[[eo:{}|label]]", "[[eo:{}#part]]"]
pages = []
for number, document in enumerate(sides[0]):
    title = sides[1][number]["id"].capitalize() + " & co"
    written = [title.replace(" ", "_"), title[0].lower() + title[1:], title][number % 3]
    link = forms[number % 3].format(written) if number < 100 else ""
    other = "\n[[de:Nichts]] [[zh-min-nan:Bo]] [[Category:X]]"
    pages.append(page(f"From {number}", document["text"] + other + "\n" + link))
pages.append(page("Talk:From 1", sides[0][1]["text"] + " [[eo:To1 & co]]", 1))
dump("vo.xml", pages)
dump("eo.xml", [page(document["id"].capitalize() + " & co",
                     document["text"] + (f"\n[[vo:From {number}]]" if number % 2 else ""))
                for number, document in enumerate(sides[1])])
PYTHON
gzip -k vo.xml
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
wiki() { "$COGNATE" link --from vo.xml --to eo.xml --lexicon vo-eo.lex --one-to-one --quiet "$@"; }
wiki --gold vo.xml 2>&1 >links.tsv
wiki --gold vo.xml.gz 2>&1 >/dev/null
wiki --gold eo.xml 2>&1 >/dev/null
head -n 3 links.tsv | cut -f 1-2
# What the pages say of other languages is in no vector: the same cosines as without it.
"$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --quiet | cut -f 3-4 |
    cmp - <(cut -f 3-4 links.tsv) && echo "cosines: same"
# Known links as a list of titles, with underscores and a small first letter, where pages do not name their partners.
for number in $(seq 0 99); do printf 'from_%d\tTo%d_&_co\n' "$number" "$number"; done >langlinks.tsv
wiki --gold langlinks.tsv 2>&1 >/dev/null
sed 's/\[\[eo:[^]]*\]\]//' vo.xml >silent.xml
wiki --gold silent.xml 2>&1 >/dev/null
echo "exit $?"
