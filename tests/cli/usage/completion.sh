# Completion in fish and zsh themselves: fish is asked as a user's key would ask it; of zsh, the functions that take the
# words are replaced by ones that print them.
for shell in fish zsh; do
    command -v $shell >/dev/null || { echo "SKIP needs $shell (package $shell)"; exit; }
done
mkdir bin && ln -s "$COGNATE" bin/cognate
export PATH=$PWD/bin:$PATH HOME=$PWD
touch "two words.jsonl"
cognate help fish-completion >c.fish
cognate help zsh-completion >c.zsh
cat >ask.zsh <<'END'
compdef() { : }
_describe() { # as zsh does: options only where the word begins with a dash
    local all=("${(@P)@[-1]}")
    [[ $1 == -o && $PREFIX != -* ]] || print -rl -- ${(M)all:#$PREFIX*}
}
compset() { [[ $PREFIX == --*=* ]] && PREFIX=${PREFIX#*=} }
_files() { print -- "files of '$PREFIX'" }
source ./c.zsh
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_cognate
END
ask() { # the last word is the one to complete
    echo "== $*"
    fish -c "source c.fish; complete -C '$*'"
    echo "-- zsh"
    zsh -f ask.zsh "$@"
}
ask cognate ded
ask cognate index co
ask cognate pairs --thresh
ask cognate pairs --method ex
ask cognate pairs --method=ex
ask cognate dedup two
ask cognate dedup --output=two
ask cognate dedup --nothing=
