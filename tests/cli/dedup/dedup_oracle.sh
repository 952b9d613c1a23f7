# What dedup keeps is what a Python program finds that compares the sets of all documents.
here=$(dirname "$0")
python3 "$here/../set_oracle.py" made.jsonl 3000 11
for threshold in 0.3 0.5 0.75 0.8 0.9 1; do python3 "$here/dedup_oracle.py" "$COGNATE" made.jsonl $threshold jaccard containment; done
