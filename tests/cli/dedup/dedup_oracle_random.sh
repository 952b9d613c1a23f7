# The same as dedup_oracle.sh on small collections with random thresholds, keep rules, groupings, reference collections, and
# work folders that answer several questions.
python3 "$(dirname "$0")/dedup_oracle.py" "$COGNATE" --random 60 1
