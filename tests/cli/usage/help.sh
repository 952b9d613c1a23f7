# Help, man pages and completion come from one definition; short help fits a screen; misspelt words are recognised.
"$COGNATE" --version
"$COGNATE" 2>&1 >/dev/null | head -n 1
"$COGNATE" >/dev/null 2>&1
echo "exit $?"
for words in nonsense dedpu 'pairs d.jsonl --treshold 0.9' 'pairs d.jsonl --thresh 0.9' 'index buidl I d.jsonl' \
    'pairs d.jsonl --bogus' 'sign d.jsonl -o s.npy --signatuer=rp' 'pairs d.jsonl -z'; do
    "$COGNATE" $words 2>&1
    echo "exit $?"
done
"$COGNATE" sign --help | head -n 9
names=$("$COGNATE" help names)
for command in $names; do
    actions=$("$COGNATE" help complete $command '' | grep -v '^:files' | cut -f 1)
    for action in ${actions:-''}; do
        lines=$("$COGNATE" $command $action --help | wc -l)
        [ $lines -ge 10 ] && [ $lines -le 40 ] || echo "$command $action: help of $lines lines"
        "$COGNATE" $command $action --help | grep -q '^Examples:' || echo "$command $action: no examples"
        { "$COGNATE" $command $action --help; "$COGNATE" $command $action --help-all; } |
            awk -v name="$command $action" 'length($0) > 80 { print name ": wide: " $0 }'
    done
    "$COGNATE" help man $command >page
    for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
        grep -q "^.SH $section" page || echo "no $section in the man page of $command"
    done
    grep -P "^[.'](?!TH|SH|SS|TP|PP|nf|fi|B |BR )" page
done
# What stands in --help-all of a command, and nothing else, stands in its man page and its completion.
for command in pairs search 'index build' 'lexicon train'; do
    "$COGNATE" $command --help-all | sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' | sort -u >options
    "$COGNATE" help complete $command -- | sed 's/^--//' | cut -f 1 | sort -u | cmp - options
    "$COGNATE" help man ${command%% *} | sed -n "/^.SH \(OPTIONS\|ACTION ${command##* }\)/,/^.SH/p" |
        sed 's/\\-/-/g' | sed -n 's/^.B .*--\([a-z0-9-]*\).*/\1/p' | sort -u | cmp - options && echo "$command: one list"
done
# Help is true for its own command: methods and knobs that it does not have are not there.
"$COGNATE" dedup --help-all | grep -c -e '--slice-bits' -e psm
"$COGNATE" index build --help-all | grep -A 1 '^Method'
# Completion, of values too.
"$COGNATE" help complete ded | cut -f 1 | tr '\n' ' '; echo
for words in 'index ' 'pairs --method ' 'pairs --measure ' 'search I --for' 'sign --input-format ' 'link --lexicon ' 'sign -o ' \
    'sign --bits ' 'pairs ' 'index --quiet ' 'nonsense '; do
    echo "$words: $("$COGNATE" help complete ${words% *} "${words##* }" | cut -f 1 | tr '\n' ' ' | cut -c 1-100)"
done
for shell in bash zsh fish; do "$COGNATE" help $shell-completion | head -n 1; done
"$COGNATE" help bash-completion >completion.sh
cat >try.sh <<'P'
PATH=$(dirname "$COGNATE"):$PATH
. ./completion.sh
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cognate; echo "$*: ${COMPREPLY[*]}"; }
try cognate ex
try cognate pairs --meth
try cognate pairs --method l
try cognate pairs --method = w
try cognate index in
try cognate index build I comp
P
bash try.sh
# Actions have help of their own, with their options alone.
"$COGNATE" index remove --help
"$COGNATE" help index remove | cmp - <("$COGNATE" index remove --help) && echo "the same by help"
"$COGNATE" help man index | sed -n '/^.SH ACTION add/,/^.SS/p'
"$COGNATE" help man related | sed -n '/^.SH EXAMPLES/,$p'
"$COGNATE" index --quiet info nowhere 2>&1
"$COGNATE" index nowhere info 2>&1
"$COGNATE" index --stats check info nowhere 2>&1
"$COGNATE" index --stats=check -q info nowhere 2>&1
"$COGNATE" index info nowhere --ids f 2>&1
"$COGNATE" help index nonsense 2>&1
"$COGNATE" help nonsense 2>&1
echo "exit $?"
"$COGNATE" help man nonsense 2>&1
echo "exit $?"
