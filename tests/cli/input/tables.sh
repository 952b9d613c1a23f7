# Tables with other delimiters and without a header row: every command reads them, dedup writes them back unchanged.
one='"one text; of some words
that stands here twice"'
printf '\xef\xbb\xbf1;%s;en\r\n2;quite another row of the table;en\r\n3;%s;en' "$one" "$one" >a.csv
options='--delimiter ; --no-header --text-field 2 --id-field 1'
"$COGNATE" dedup a.csv -o kept.csv --clusters - $options
head -n 3 a.csv | cmp - kept.csv && echo "byte for byte"
"$COGNATE" dedup a.csv -o folder/ --quiet $options && cmp kept.csv folder/a.csv
"$COGNATE" dedup kept.csv a.csv -o both.csv --quiet $options && cmp kept.csv both.csv && echo "two files in one"
"$COGNATE" pairs a.csv --measure jaccard $options
"$COGNATE" sign a.csv -o s.npy --bits 64 --signature simhash --ids - --quiet $options
"$COGNATE" index build I a.csv --quiet $options && "$COGNATE" search I a.csv -k 1 --quiet $options | cut -f 1-3
printf 'x\tone row of a table\nx\tone row of a table\n' >b.tsv
"$COGNATE" dedup b.tsv -o - --no-header --text-field 2 --delimiter '\t'
printf 'id|text\n1|one row of a table\n2|one row of a table\n' >c.csv
"$COGNATE" dedup c.csv -o - --quiet --delimiter '|'
printf 'one row of a table,x,y\n' >d.csv
for wrong in '--delimiter ;; c.csv' '--delimiter ä c.csv' '--no-header c.csv' '--no-header --text-field 3 b.tsv' \
    '--delimiter ; kept.jsonl' '--no-header --text-field 2 b.tsv --input-format csv --delimiter \t d.csv' \
    '--no-header --text-field 1 --input-format csv a.csv d.csv'; do
    echo '{"text": "one"}' >kept.jsonl
    "$COGNATE" dedup $wrong -o out.csv 2>&1
    echo "exit $?"
done
# A table with one column has probably another delimiter; UTF-16 is named.
printf 'id;text\n1;one row\n' >semicolons.csv
iconv -t UTF-16 semicolons.csv >wide.csv
for table in semicolons.csv wide.csv; do
    "$COGNATE" dedup $table --dry-run 2>&1
    echo "exit $?"
done
"$COGNATE" dedup wide.csv --dry-run --no-header --text-field 1 2>&1
