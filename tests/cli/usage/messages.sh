# A message says where, what is wrong and what to do: mistakes that people make with files and options.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 20 3 60 >d.jsonl
try() {
    echo "\$ cognate $*"
    "$COGNATE" "$@" 2>&1 | sed 's/; [0-9.]* s$/; ... s/'
    echo "exit ${PIPESTATUS[0]}"
}
mkdir folder
try pairs d.jsonl -o folder
try dedup d.jsonl -o no/such/kept.jsonl
try dedup d.jsonl -o kept.csv
printf 'id,body,lang\n1,one two three,en\n' >columns.csv
try pairs columns.csv
printf 'PAR1\025\004\025more bytes' >table.parquet
try pairs table.parquet
try pairs - <table.parquet
printf '[\n {"id": 1, "text": "one two"},\n {"id": 2,' >array.json
try pairs array.json
try index build I d.jsonl
try pairs I
printf '%s\n' '<tmx version="1.4"><header srclang="fr"/><body>' '<tu><tuv xml:lang="fr"><seg>bonjour monde</seg></tuv>' \
    '<tuv xml:lang="EN-us"><seg>hello world</seg></tuv></tu>' '</body></tmx>' >memory.tmx
try lexicon train memory.tmx --from de --to en -o de-en.lex
printf 'Haus und Baum\thouse and tree\nkein Tab\nBaum und Haus\ttree and house\n' >pairs.tsv
try lexicon train pairs.tsv --from de --to en --min-count 1 -o de-en.lex
# Words and knobs that would do nothing are refused.
try link stray.jsonl --from d.jsonl --to d.jsonl --lexicon de-en.lex
try index build J d.jsonl --method flat --slice-bits 12
try index build J d.jsonl --radius 3
try index build J d.jsonl --margins m.npy
try index build J d.jsonl --method flat --margins m.npy
# The memory of a job is announced if it matters.
"$COGNATE" pairs d.jsonl 2>&1 >/dev/null | grep -c needs
"$COGNATE" pairs d.jsonl --memory 100M 2>&1 >/dev/null | grep needs
# The older name of --margins.
"$COGNATE" sign d.jsonl --bits 64 -o s.npy --margins a.npy --quiet
"$COGNATE" sign d.jsonl --bits 64 -o t.npy --weights b.npy --quiet
cmp a.npy b.npy && echo "the same by the older name"
# Tables of sentences, a language twice, links by the name of sentence pairs, actions that do not exist with options of others.
printf 'Haus und Baum\thouse and tree\nBaum und Haus\ttree and house\nHaus\thouse\n' >sentences.tsv
try lexicon convert sentences.tsv --from de --to en -o words.lex
try lexicon train pairs.tsv --from de --to de -o same.lex
try lexicon train pairs.tsv --from auto --to de -o same.lex
try link --from d.jsonl --to d.jsonl --lexicon de-en.lex -o links.tmx.gz
try lexicon import pairs.tsv --from de --to en -o words.lex
try index ad I d.jsonl --upsert
# What an addition did.
printf '{"id": "new", "text": "quite another text"}\n{"id": "new", "text": "once more"}\n' >new.jsonl
try index add I new.jsonl
try index add I new.jsonl --upsert
try index add I new.jsonl --stats -
"$COGNATE" dedup d.jsonl --dry-run --stats - --quiet | grep -c '"documents"'

# In a folder without write permission a device, a pipe and a link to a file elsewhere can be written. Root needs to lose
# its rights for that.
echo '{"text": "one text of a few words"}' >one.jsonl
mkdir locked
touch outside.tsv
ln -s ../outside.tsv locked/link
mkfifo locked/pipe
chmod 555 locked
as_user=()
[ "$(id -u)" = 0 ] && as_user=(setpriv --inh-caps=-all --bounding-set=-all)
"${as_user[@]}" "$COGNATE" pairs one.jsonl --quiet -o locked/new 2>&1
"${as_user[@]}" "$COGNATE" pairs one.jsonl --quiet -o locked/link
echo "exit $?: $(cat outside.tsv)"
cat locked/pipe >piped &
"${as_user[@]}" "$COGNATE" pairs one.jsonl --quiet -o locked/pipe
echo "exit $?"
wait
cat piped
chmod 755 locked
TMPDIR=/no/such/folder "$COGNATE" pairs one.jsonl --measure jaccard --quiet 2>&1
# A file of lines that is read as one document.
printf 'a text of one line\na text of one line\n' >lines.txt
"$COGNATE" pairs lines.txt 2>&1
"$COGNATE" pairs lines.txt --quiet 2>&1
"$COGNATE" pairs lines.txt --lines 2>&1
