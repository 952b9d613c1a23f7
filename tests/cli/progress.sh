# On a terminal a job shows how far it is, in another place than its messages.
script -qec true /dev/null </dev/null >/dev/null 2>&1 || { echo "SKIP install bsdutils: script(1) makes no terminal"; exit; }
for i in 1 2 3 4 5 6 7 8; do
    printf 'Satz %s über Häuser und Bäume\tSentence %s about houses and trees\n' $i $i
done >pairs.tsv
script -qec "'$COGNATE' lexicon train pairs.tsv --from de --to en --min-count 1 -o shown.lex" /dev/null </dev/null | tr '\r' '\n' |
    sed -n 's/  *$//; s/\[.*100%/done/p; /^reading/p' | sort -u
