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
"$COGNATE" help nonsense 2>&1
echo "exit $?"
"$COGNATE" help man nonsense 2>&1
echo "exit $?"
