# Search across languages: an index of one language is asked in another and takes documents of both, against plain loops.
here=$(dirname "$0")/..
python3 "$here/two_languages.py" write .
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
python3 -c "
import json
for side in ('from', 'to'):
    with open(f'unnamed_{side}.jsonl', 'w') as out:
        for line in open(f'{side}.jsonl'):
            record = json.loads(line)
            print(json.dumps({'id': record['id'], 'text': record['text']}), file=out)"
compare() {
    python3 - "$@" <<'PYTHON'
import sys
brute, found = ([line.split("\t") for line in open(name).read().splitlines()] for name in sys.argv[1:3])
found = found[1:] if found[0][0] == "query" else found
# Names may change places where cosines are equal but for rounding.
names = sum(x[:3] != y[:3] and abs(float(x[3]) - float(y[3])) > 3e-6 for x, y in zip(brute, found))
print(len(brute) == len(found) == 450, names, max(abs(float(x[3]) - float(y[3])) for x, y in zip(brute, found)) < 3e-6)
PYTHON
}
# Queries of another language to an index that knows no lexicon.
"$COGNATE" index build eo.index to.jsonl --quiet
python3 "$here/two_languages.py" search . >brute.tsv
"$COGNATE" search eo.index from.jsonl --lexicon vo-eo.lex -k 3 --method exact --quiet >exact.tsv
echo "exit $?"
compare brute.tsv exact.tsv
"$COGNATE" search to.jsonl unnamed_from.jsonl --lexicon vo-eo.lex -k 3 --method exact --quiet | cmp - exact.tsv &&
    echo "index in memory, languages not named: same"
"$COGNATE" search eo.index - --lexicon vo-eo.lex -k 3 --method exact --quiet <from.jsonl | cut -f 1-4 |
    cmp - <(cut -f 1-4 exact.tsv) && echo "one by one: same"
"$COGNATE" search eo.index from.jsonl --lexicon vo-eo.lex -k 3 --method exact --threads 1 --quiet | cmp - exact.tsv &&
    echo "one thread: same"
head -n 5 to.jsonl >own.jsonl
cat own.jsonl from.jsonl >mixed_queries.jsonl
"$COGNATE" search eo.index mixed_queries.jsonl --lexicon vo-eo.lex -k 3 --method exact --quiet >mixed.tsv
"$COGNATE" search eo.index own.jsonl -k 3 --method exact --quiet | cat - <(tail -n +2 exact.tsv) | cmp - mixed.tsv &&
    echo "queries of both languages: same"
# Signatures are those of sign by the same statistics.
"$COGNATE" sign to.jsonl -o to.npy --min-frequency 1 --save-statistics eo.stat --quiet
"$COGNATE" sign from.jsonl -o from.npy --min-frequency 1 --lexicon vo-eo.lex --statistics eo.stat --quiet
"$COGNATE" search eo.index from.jsonl --lexicon vo-eo.lex -k 150 --method flat --no-verify --quiet | tail -n +2 |
    cut -f 1,3,5 | sort >index.tsv
"$COGNATE" search to.npy from.npy -k 150 --quiet | tail -n +2 | awk -F '\t' '{print "from" $1 "\tto" $3 "\t" $5}' |
    sort | cmp - index.tsv && echo "sign: $(wc -l <index.tsv) distances, the same"
# Documents of both languages beside each other; frequencies as weights need no statistics.
"$COGNATE" index build tf.index to.jsonl --weighting tf --quiet
"$COGNATE" index add tf.index from.jsonl --lexicon vo-eo.lex --quiet
python3 "$here/two_languages.py" beside . >brute.tsv
"$COGNATE" search tf.index from.jsonl --lexicon vo-eo.lex -k 3 --method exact --quiet >both.tsv
compare brute.tsv both.tsv
# Statistics grow: whatever way documents came, the index is the same.
cat to.jsonl from.jsonl >both.jsonl
"$COGNATE" index build whole.index both.jsonl --lexicon vo-eo.lex --quiet
"$COGNATE" index build grown.index to.jsonl --quiet
head -n 40 from.jsonl >part1.jsonl
sed -n 41,60p from.jsonl >part2.jsonl
tail -n +61 from.jsonl >part3.jsonl
for part in 1 2 3; do
    "$COGNATE" index add grown.index part$part.jsonl --lexicon vo-eo.lex --quiet
done
"$COGNATE" search whole.index both.jsonl --lexicon vo-eo.lex -k 5 --method exact --quiet >whole.tsv
"$COGNATE" search grown.index both.jsonl --lexicon vo-eo.lex -k 5 --method exact --quiet >grown.tsv
cut -f 1-4 grown.tsv | cmp - <(cut -f 1-4 whole.tsv) && echo "added: same"
"$COGNATE" index info grown.index | grep -c '^in the log'
"$COGNATE" index compact grown.index --quiet
cmp grown.index/segment-* whole.index/segment-* && echo "compacted: the same bytes"
"$COGNATE" index check grown.index
# What was removed or replaced leaves nothing behind.
sed 's/"from1"/"gone1"/; s/"from2"/"gone2"/' part1.jsonl >gone.jsonl
"$COGNATE" index add grown.index gone.jsonl --lexicon vo-eo.lex --quiet 2>&1 | tail -n 1
"$COGNATE" index add grown.index part1.jsonl --lexicon vo-eo.lex --upsert --quiet
"$COGNATE" index remove grown.index gone1 gone2 --quiet
"$COGNATE" search grown.index both.jsonl --lexicon vo-eo.lex -k 5 --method exact --quiet >grown.tsv
python3 - <<'PYTHON'
whole, grown = (sorted(line.split("\t") for line in open(name) if not line.startswith("query"))
                for name in ("whole.tsv", "grown.tsv"))
print(len(whole) == len(grown), max(abs(float(x[3]) - float(y[3])) for x, y in zip(whole, grown)) < 3e-6)
PYTHON
# Near-duplicates are found across languages before they are added.
"$COGNATE" index add eo.index from.jsonl --lexicon vo-eo.lex --unless-similar 0.5 --quiet 2>&1
"$COGNATE" index add whole.index part1.jsonl --lexicon vo-eo.lex --unless-similar 0.99 --quiet 2>/dev/null | cut -f 1,2 |
    sed -n 2p
# An index remembers its lexicons and asks for them.
"$COGNATE" index info whole.index | grep lexicon
"$COGNATE" index info whole.index --json | grep -o '"lexicons": {[^}]*}'
"$COGNATE" index info eo.index --json | grep -o '"lexicons": {[^}]*}'
asks() {
    "$COGNATE" search "$@" --quiet 2>&1 >/dev/null
    echo "exit $?"
}
asks whole.index from.jsonl
asks whole.index own.jsonl
asks whole.index - <from.jsonl
sed 's/0.625/0.5/' table.tsv >other.tsv
"$COGNATE" lexicon convert other.tsv --from vo --to eo --mass 1 -o other.lex --quiet
asks whole.index from.jsonl --lexicon other.lex
asks whole.index from.jsonl --lexicon vo-eo.lex --unknown drop
"$COGNATE" lexicon convert table.tsv --from vo --to ia --mass 1 -o vo-ia.lex --quiet
asks whole.index from.jsonl --lexicon vo-ia.lex
"$COGNATE" lexicon convert table.tsv --from ie --to eo --mass 1 -o ie-eo.lex --quiet
asks whole.index from.jsonl --lexicon ie-eo.lex
asks whole.index unnamed_from.jsonl --lexicon ie-eo.lex
"$COGNATE" index build --lang en en.index to.jsonl --quiet
asks en.index from.jsonl --lexicon vo-eo.lex
asks eo.index from.jsonl --unknown drop
asks to.npy from.npy --lexicon vo-eo.lex
"$COGNATE" index build n.index from.jsonl --lexicon vo-eo.lex --signature minhash --quiet 2>&1
echo "exit $?"
"$COGNATE" index build n.index from.jsonl --lexicon vo-eo.lex --ngram 2 --quiet 2>&1
echo "exit $?"
"$COGNATE" index add eo.index to.npy --lexicon vo-eo.lex --quiet 2>&1
echo "exit $?"
# Guesses of the language: texts that name none.
python3 -c "
import json
german = 'Der Hund lief am Abend durch den alten Wald und suchte seinen Herrn, der nicht nach Hause gekommen war.'
english = 'The dog ran through the old forest in the evening and looked for his master who had not come home.'
for name, text in (('hund', german), ('dog', english)):
    print(json.dumps({'id': name, 'text': text}), file=open(name + '.jsonl', 'w'))
pairs = [line.split() for line in 'hund dog|wald forest|abend evening|alt old|herr master|haus home'.split('|')]
with open('words.tsv', 'w') as out:
    for x, y in pairs:
        print(x, y, 1.0, sep='\t', file=out)"
"$COGNATE" lexicon convert words.tsv --from de --to en -o de-en.lex --quiet
"$COGNATE" index build pets.index hund.jsonl --lexicon de-en.lex --quiet
asks pets.index hund.jsonl
"$COGNATE" search pets.index dog.jsonl --quiet | cut -f 1-3
