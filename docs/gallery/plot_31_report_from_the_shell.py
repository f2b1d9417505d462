"""
A report from the shell
=======================

One command turns a model file and a data file into one interactive HTML file that opens offline. No Python is written;
the same commands give curves and tables as CSV, JSON, Parquet or pictures.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
from sklearn.datasets import load_diabetes

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
folder = Path(tempfile.mkdtemp())
settings = {"verbose": -1, "num_leaves": 7, "num_threads": 1, "seed": 0}
lightgbm.train(settings, lightgbm.Dataset(X, y), num_boost_round=60).save_model(folder / "model.txt")
X.to_csv(folder / "patients.csv", index=False)


def shell(line):
    """What ``icefield ...`` prints in a shell."""
    command = [sys.executable, "-c", "from icefield.cli import run; run()", *line.split()[1:]]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


print(shell("icefield report model.txt patients.csv -o report.html -q"))
print((folder / "report.html").stat().st_size // 2**20, "MB")

# %%
# The same data as a table, and as a picture:
print(shell("icefield pd model.txt patients.csv bmi --grid 20,25,30,35 -q"))
shell("icefield pd model.txt patients.csv bmi --plot bmi.png -q")

import matplotlib.pyplot as plt  # noqa: E402

figure, ax = plt.subplots(layout="constrained")
ax.imshow(plt.imread(folder / "bmi.png"))
ax.set_axis_off()
