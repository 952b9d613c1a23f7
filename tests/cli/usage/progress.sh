# On a terminal a job shows how far it is, how fast and how long it will take, in every stage.
script -qec true /dev/null </dev/null >/dev/null 2>&1 || { echo "SKIP install bsdutils: script(1) makes no terminal"; exit; }
for i in 1 2 3 4 5 6 7 8; do
    printf 'Satz %s über Häuser und Bäume\tSentence %s about houses and trees\n' $i $i
done >pairs.tsv
shown() { # the stages and what stands behind them, numbers as #
    script -qec "'$COGNATE' $*" /dev/null </dev/null | tr '\r' '\n' |
        sed -n 's/\[[= ]*\]/[]/; s/[0-9][0-9.:]*[kMG]*/#/g; s/  */ /g; s/ $//; /\/s/p' | sort -u
}
shown lexicon train pairs.tsv --from de --to en --min-count 1 -o shown.lex |
    grep -o '^\(aligning words\|reading parallel text\) \[\] #% #/s' | sort -u
python3 - >many.jsonl <<'P'
import random
random.seed(1)
words = ["w%d" % i for i in range(3000)]
for i in range(30000):
    print('{"id": %d, "text": "%s"}' % (i, " ".join(random.choices(words, k=60))))
P
shown pairs many.jsonl --lang none -o pairs.tsv >stages
for stage in reading joining; do grep -o "^$stage \[\] #% #/s" stages | sort -u; done
shown search many.jsonl many.jsonl --lang none -k 3 -o hits.tsv --method exact | grep -o '^searching \[\] #% #/s' | sort -u
"$COGNATE" pairs many.jsonl --lang none -o pairs.tsv --threads 1 2>&1 | grep -c '/s'
