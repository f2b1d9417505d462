#!/bin/sh
# From a clone to the first picture of one's own, following the README only; prints what each step took.
#
#     sh examples/first_hour.sh [folder]
#
# The folder (by default a temporary one) gets an environment, a picture and a report. Set PYTHON for another Python.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
python=${PYTHON:-python3}
mkdir -p "$folder"
began=$(date +%s)

step() {
    name=$1
    shift
    before=$(date +%s)
    "$@"
    printf '%-32s %4d s\n' "$name" "$(($(date +%s) - before))"
}

clone() { git clone --quiet "$here" "$folder/icefield"; }
environment() { "$python" -m venv "$folder/env"; }
# The command and the lines are the README's own.
install() {
    (cd "$folder/icefield" && packages=$(sed -n 's/^pip install \([^#]*\).*/\1/p' README.md | head -1) &&
        "$folder/env/bin/python" -m pip install --quiet $packages)
}
picture() {
    (cd "$folder" && awk '/^```python/ {on = 1; next} /^```/ && on {exit} on' icefield/README.md > first.py &&
        echo 'import matplotlib.pyplot as plt; plt.gcf().savefig("first.png")' >> first.py &&
        MPLBACKEND=agg env/bin/python first.py)
}

step "clone" clone
step "make an environment" environment
step "install" install
step "first picture, summary, report" picture
printf '%-32s %4d s\n' "in all" "$(($(date +%s) - began))"
echo "$folder/first.png"
echo "$folder/report.html"
