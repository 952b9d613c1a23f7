# Help, man pages and completion come from one definition.
"$COGNATE" --version
"$COGNATE" >/dev/null 2>&1
echo "exit $?"
"$COGNATE" nonsense 2>&1
echo "exit $?"
"$COGNATE" sign --help | head -n 3
for command in $("$COGNATE" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$COGNATE" $command --help >help && [ "$(head -c 6 help)" = "usage:" ] || echo "no help for $command"
    "$COGNATE" help man $command | grep -q '^.SH OPTIONS' || echo "no man page for $command"
    "$COGNATE" help bash-completion | grep -q "    $command)" || echo "no completion for $command"
done
"$COGNATE" help bash-completion | bash -n && echo "completion parses"
# Actions have help of their own, with their options alone.
"$COGNATE" index remove --help | grep -v '^  .*  '
"$COGNATE" help index remove | cmp - <("$COGNATE" index remove --help) && echo "the same by help"
for command in index lexicon eval; do
    for action in $("$COGNATE" $command --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        "$COGNATE" $command $action --help | head -n 1
        "$COGNATE" help man $command | grep -q "^.SS $action " || echo "$action is not in the man page"
    done
done
"$COGNATE" help man index | sed -n '/^.SS add/,/^.SS remove/p'
for command in $("$COGNATE" help names); do "$COGNATE" help man $command | grep -P "^[.'](?!TH|SH|SS|TP|PP|B )"; done
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
