# Training notices columns that are exchanged.
cat >pairs.tsv <<'TEXT'
Der Hund schläft unter dem großen Baum im Garten	The dog sleeps under the large tree in the garden
Wir möchten morgen früh mit dem Zug nach Hause fahren	We would like to go home by train early tomorrow
Diese Bücher gehören meiner jüngsten Schwester	These books belong to my youngest sister
Warum haben Sie die Rechnung noch nicht bezahlt	Why have you not paid the bill yet
Die Kinder spielen jeden Nachmittag auf der Straße	The children play in the street every afternoon
Ohne deine Hilfe hätte ich das niemals geschafft	Without your help I would never have managed this
Zwischen den beiden Häusern steht eine hohe Mauer	Between the two houses there is a high wall
Er schreibt seinen Freunden lange Briefe über die Reise	He writes long letters to his friends about the journey
TEXT
awk -F '\t' '{ print $2 "\t" $1 }' pairs.tsv >exchanged.tsv
for text in pairs exchanged; do
    "$COGNATE" lexicon train $text.tsv --from de --to en --min-count 1 --threads 2 -o $text.lex 2>&1 | sed 's/; [0-9.]* s$/; ... s/'
    echo "$text: exit ${PIPESTATUS[0]}"
done
# The best translation of each word, and that it is likely.
"$COGNATE" lexicon show pairs.lex Baum Garten Kinder --quiet | awk -F '\t' 'NR == 1 || $3 > 0.5 { print $1, $2 }'
# Analyzers of each thread, text as it is read and tables as they grow count, each before it is there; what is announced
# goes by the text alone and refuses nothing.
yes "$(cat pairs.tsv)" | head -n 40000 >repeated.tsv
for memory in "1M --threads 1" "20M --threads 2" "45M --threads 2" "30M --threads 1 repeated.tsv"; do
    "$COGNATE" lexicon train pairs.tsv --from de --to en -o small.lex --memory $memory 2>&1 | sed 's|; [0-9.]* s$|; ... s|'
    echo "--memory $memory: exit ${PIPESTATUS[0]}"
done
python3 -c '
import random
random.seed(1)
for _ in range(3000):
    print(*(f"von{random.randrange(2000)}" for _ in range(15)), end="\t")
    print(*(f"to{random.randrange(2000)}" for _ in range(15)))' >many.tsv
"$COGNATE" lexicon train many.tsv --from de --to en -o small.lex --threads 1 --memory 30M --quiet 2>&1
echo "exit $?"
# Two plain files in either order, if their names tell the languages; a catalogue tells its own.
cut -f 1 pairs.tsv >text.de
cut -f 2 pairs.tsv >text.en
train() { # name, further arguments
    name=$1
    shift
    "$COGNATE" lexicon train "$@" --min-count 1 --threads 2 -o $name.lex 2>&1 | sed 's/; [0-9.]* s$/; ... s/'
}
train plain text.de text.en --from de --to en
train other text.en text.de --from de --to en
cmp plain.lex pairs.lex 2>&1 && cmp other.lex pairs.lex 2>&1 && echo "the same as from pairs"
train alone text.en --from de --to en
for language in de_AT fr "" none; do
    {
        printf 'msgid ""\nmsgstr "X-Poedit-Language: English\\nContent-Type: text/plain; charset=UTF-8\\n'
        [ "$language" = none ] || printf 'Language: %s\\n' "$language"
        printf '"\n\n'
        awk -F '\t' '{ printf "msgid \"%s\"\nmsgstr \"%s\"\n\n", $2, $1 }' pairs.tsv
    } >text.po
    rm -f catalogue.lex
    train catalogue text.po --from de --to en
    cmp catalogue.lex pairs.lex 2>&1 && echo "${language:-empty}: the same as from pairs"
done
train turned text.po --from en --to de
sed 's/charset=UTF-8/&\\nLanguage: de/' text.po >named.po
train turned named.po --from en --to de
train exchanged exchanged.tsv --from en --to de
cmp turned.lex exchanged.lex && echo "the same as from pairs"
