# Statistics travel as a file; other terms are refused with the difference.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 100 2 60 >d.jsonl
"$COGNATE" sign d.jsonl -o own.npy --save-statistics s.cog
"$COGNATE" sign d.jsonl -o given.npy --statistics s.cog && cmp own.npy given.npy && echo same
"$COGNATE" sign d.jsonl -o other.npy --statistics s.cog --ngram 2 2>&1
echo "exit $?"
head -c 100 s.cog >cut.cog
"$COGNATE" sign d.jsonl -o other.npy --statistics cut.cog 2>&1 | sed "s,says [0-9]*;,says N;,"
echo "exit ${PIPESTATUS[0]}"
"$COGNATE" sign d.jsonl -o other.npy --statistics d.jsonl 2>&1
echo "exit $?"
[ -e other.npy ] || echo "nothing written"
