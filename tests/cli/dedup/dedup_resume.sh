# A job that is killed at random moments and resumed writes the bytes of an undisturbed one (tests/long/dedup_kills has
# the long form), and its work folder serves other thresholds.
"$(dirname "$0")/../../long/dedup_kills" "$COGNATE" --kills 5 --documents 6000
