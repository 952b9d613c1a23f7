# Random changes of indexes of each measure: search, pairs, pairs against the index and explain print the same similarities.
python3 "$(dirname "$0")/index_model.py" "$COGNATE" 2
