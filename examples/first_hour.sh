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
install() { "$folder/env/bin/python" -m pip install --quiet "$folder/icefield" scikit-learn pandas; }
picture() {
    (cd "$folder" && MPLBACKEND=agg env/bin/python - <<'END'
import icefield
from sklearn.ensemble import HistGradientBoostingRegressor

bikes = icefield.datasets.bikes()
X, y = bikes[["hr", "temp", "hum", "windspeed", "workingday", "yr"]], bikes["cnt"]
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)

ex = icefield.Explainer(model, X, y, target_name="rentals", units={"hr": "time of day"})
ex.partial_dependence("hr").plot().get_figure().savefig("first.png")
print(ex.summary())
ex.report("report.html")
END
    )
}

step "clone" clone
step "make an environment" environment
step "install" install
step "first picture, summary, report" picture
printf '%-32s %4d s\n' "in all" "$(($(date +%s) - began))"
echo "$folder/first.png"
echo "$folder/report.html"
