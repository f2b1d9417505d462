"""What every peer is asked: one model, one feature, one grid. Needs scikit-learn only."""

import json
import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
grid = np.array([20.0, 24.0, 28.0, 32.0, 36.0])


def keep(peer: str, others: tuple[str, ...] = ("scikit-learn", "numpy"), **numbers: object) -> None:
    """Write what the peer answered beside this file, with the versions it was asked with."""
    versions = {name: version(name) for name in (peer, *others)}
    plain = {name: np.asarray(value, dtype=float).tolist() for name, value in numbers.items()}
    found = {
        "versions": versions,
        "python": platform.python_version(),
        "date": date.today().isoformat(),
        **plain,
    }
    path = Path(__file__).parent / f"{Path(sys.argv[0]).stem}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(path.name, versions)
