# Damaged indexes, for the scripts that read this file.

flip() { # FILE SHARE: inverts the byte at that share of the file
    python3 -c '
import os, sys
name, place = sys.argv[1], float(sys.argv[2])
with open(name, "r+b") as file:
    at = int(os.path.getsize(name) * place)
    file.seek(at)
    byte = file.read(1)[0]
    file.seek(at)
    file.write(bytes([byte ^ 0xff]))' "$1" "$2"
}

search_damaged() { # INDEX FIRST STEP OPTION...: every damage of its segment is seen, and no search for d.jsonl crashes
    local index=$1 first=$2 step=$3 place
    shift 3
    for place in $(seq "$first" "$step" 0.99); do
        rm -rf D && cp -r "$index" D && flip D/segment-00000000.cog "$place"
        "$COGNATE" index check D >/dev/null 2>&1
        [ $? -eq 2 ] || echo "not seen at $place"
        "$COGNATE" search D d.jsonl "$@" >/dev/null 2>&1
        [ $? -le 2 ] || echo "crashed at $place"
    done
}
