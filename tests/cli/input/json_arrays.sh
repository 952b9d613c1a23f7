# A JSON array of objects is read like lines of objects, and what is kept of it is an array again.
cat >a.json <<'J'
[
  {"meta": {"id": "a"}, "doc": {"text": "one two three four five"}},
  {"meta": {"id": "b"}, "doc": {"text": "one two three four five"}},
  7,
  {
    "meta": {"id": "c"},
    "doc": {"text": "six seven eight nine ten"}
  }
]
J
printf '[{"meta":{"id":"d"},"doc":{"text":"eleven twelve thirteen fourteen"}}]' >b.json
dedup() { "$COGNATE" dedup --text-field doc.text --id-field meta.id "$@" 2>&1; }
dedup a.json b.json -o kept.json
cat kept.json
dedup - -o - <a.json
dedup a.json b.json -o kept/
cat kept/a.json kept/b.json
python3 -c 'import json; print(len(json.load(open("kept.json"))), len(json.load(open("kept/a.json"))))'
printf '{"meta":{"id":"e"},"doc":{"text":"fifteen sixteen seventeen eighteen"}}\n' >c.jsonl
dedup c.jsonl b.json -o mixed.json
echo "exit $?"
ls mixed.json 2>&1
