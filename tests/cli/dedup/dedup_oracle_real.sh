# The same as dedup_oracle.sh on revisions of real pages.
here=$(dirname "$0")
[ -e "$DATA/neardup/revisions_mdn_en/docs.jsonl.zst" ] || { echo "SKIP no pages in $DATA"; exit; }
zstdcat "$DATA/neardup/revisions_mdn_en/docs.jsonl.zst" 2>/dev/null | head -n 1500 >pages.jsonl
python3 "$here/dedup_oracle.py" "$COGNATE" pages.jsonl 0.8 jaccard
