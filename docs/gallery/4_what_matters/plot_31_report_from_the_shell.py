"""
A report from the shell
=======================

One command turns a model file and a data file into one interactive HTML file that opens offline. No Python is needed;
the same commands give curves and tables as CSV, JSON, Parquet or pictures.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import pandas as pd
from sklearn.datasets import load_diabetes

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
folder = Path(tempfile.mkdtemp())
settings = {"verbose": -1, "num_leaves": 7, "num_threads": 1, "seed": 0}
lightgbm.train(settings, lightgbm.Dataset(X, y), num_boost_round=60).save_model(
    folder / "model.txt"
)
X.to_csv(folder / "patients.csv", index=False)


def shell(line):
    """What a line beginning with ``icefield`` prints in a shell."""
    command = [sys.executable, "-c", "from icefield.cli import run; run()", *line.split()[1:]]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True
    ).stdout


print(shell("icefield report model.txt patients.csv -o report.html"))
print(f"{(folder / 'report.html').stat().st_size / 2**20:.1f} MB")

# %%
# The numbers behind one card of the report, as CSV for any other program:
table = pd.read_csv(io.StringIO(shell("icefield pd model.txt patients.csv bmi --csv -")))
print(table.head(3))
ax = table.plot(
    "bmi", "average", legend=False, ylabel="prediction", title="Drawn from the shell's CSV"
)
