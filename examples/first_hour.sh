#!/bin/sh
# From a clone to the first picture of one's own, following the README only; prints what each step took.
#
#     sh examples/first_hour.sh [folder]
#
# The folder (by default a temporary one) gets an environment, a picture and a report. Set PYTHON for another Python, RECORD for a
# file that keeps the times as docs/start.md shows them, and NOTE for what it says of the machine.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
python=${PYTHON:-python3}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
times=$folder/times.txt
: > "$times"
began=$(date +%s)

step() {
    name=$1
    shift
    before=$(date +%s)
    "$@"
    took=$(($(date +%s) - before))
    printf '%-40s %4d s\n' "$name" "$took"
    printf '%s|%s\n' "$name" "$took" >> "$times"
}

clone() { git clone --quiet "$here" "$folder/icefield"; }
environment() { "$python" -m venv "$folder/env"; }
# The command and the lines are the README's own.
install() {
    (cd "$folder/icefield" && packages=$(sed -n 's/^pip install \([^#]*\).*/\1/p' README.md | head -1) &&
        "$folder/env/bin/python" -m pip install --quiet --disable-pip-version-check $packages)
}
picture() {
    (cd "$folder" && awk '/^```python/ {on = 1; next} /^```/ && on {exit} on' icefield/README.md > first.py &&
        echo 'import matplotlib.pyplot as plt; plt.gcf().savefig("first.png")' >> first.py &&
        MPLBACKEND=agg env/bin/python first.py > said.txt)
}

step "clone" clone
step "make an environment" environment
step "install, kernels compiled" install
step "first picture, summary and report" picture
printf 'in all|%s\n' "$(($(date +%s) - began))" >> "$times"
tail -1 "$times" | awk -F'|' '{printf "%-40s %4d s\n", $1, $2}'
test -s "$folder/first.png" && test -s "$folder/report.html" && test -s "$folder/said.txt"
printf '%s\n' "$folder/first.png" "$folder/said.txt" "$folder/report.html"

if [ -n "${RECORD:-}" ]; then
    "$python" - "$times" "$RECORD" "$(git -C "$here" rev-parse --short HEAD)" "${NOTE:-one run}" << 'PY'
import datetime, json, sys

times, record, commit, note = sys.argv[1:]
rows = [line.strip().split("|") for line in open(times, encoding="utf-8")]
kept = {
    "title": "From a clone to the first picture, seconds on the clock",
    "date": datetime.date.today().isoformat(),
    "commit": commit,
    "command": "sh examples/first_hour.sh",
    "note": note,
    "columns": ["step", "seconds"],
    "rows": rows,
}
with open(record, "w", encoding="utf-8") as file:
    file.write(json.dumps(kept, indent=1) + "\n")
PY
fi
