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
# Language links from the table of a wiki's database: numbers of pages, titles with quotes, redirects on both sides.
python3 - <<'PYTHON'
import gzip, re
from xml.sax.saxutils import escape
def numbered(name, code, redirects):
    text, numbers = open(f"{name}.xml").read(), iter(range(1000, 9000))
    text = text.replace("<mediawiki ", f'<mediawiki xml:lang="{code}" ').replace("<id>1</id>", "<id>{}</id>")
    text = re.sub(r"<id>\{\}</id>", lambda _: f"<id>{next(numbers)}</id>", text)
    for title, target in redirects:
        page = f'<page><title>{escape(title)}</title><ns>0</ns><id>{next(numbers)}</id><redirect title="{escape(target)}" /></page>\n'
        text = text.replace("</mediawiki>", page + "</mediawiki>")
    open(f"{name}-numbered.xml", "w").write(text)
numbered("vo", "vo", [("Old 3", "From 3")])
numbered("eo", "eo", [("It's", "To5 & co"), ("Twice", "It's")])
titles = {number: f"To{number} & co" for number in range(100)} | {5: "Twice"}  # a redirect to a redirect
rows = [(1000 + number, "eo", title) for number, title in titles.items()] + [(1150, "eo", "Talk"), (7777, "eo", "To1 & co")]
rows += [(1000, "de", "Nichts"), (1151, "eo", "To99 & co")]  # the last one is a redirect to From 3
quoted = ",".join("(%d,'%s','%s')" % (page, code, title.replace("'", "\\'")) for page, code, title in rows)
table = "-- dump\nCREATE TABLE `langlinks` (\n);\nINSERT INTO `langlinks` VALUES " + quoted + ";\nUNLOCK TABLES;\n"
gzip.open("vowiki-langlinks.sql.gz", "wt").write(table)
open("cut.sql", "w").write(table[:1500])
back = ",".join("(%d,'vo','%s')" % (1000 + number, "Old 3" if number == 3 else f"from {number}") for number in range(100))
open("eowiki-langlinks.sql", "w").write("INSERT INTO `langlinks` VALUES " + back + ";\n")
PYTHON
known() { "$COGNATE" eval links links.tsv --from-pages vo-numbered.xml --to-pages eo-numbered.xml "$@" 2>&1; }
known --gold vowiki-langlinks.sql.gz
known --gold eowiki-langlinks.sql
known --gold cut.sql
echo "exit $?"
known --gold vo.xml
"$COGNATE" eval links links.tsv --gold vowiki-langlinks.sql.gz 2>&1
"$COGNATE" eval links links.tsv --gold vowiki-langlinks.sql.gz --from-pages vo-numbered.xml 2>&1
"$COGNATE" eval links links.tsv --gold vowiki-langlinks.sql.gz --from-pages vo.xml --to-pages eo-numbered.xml 2>&1
wiki --gold vowiki-langlinks.sql.gz 2>&1 >/dev/null
