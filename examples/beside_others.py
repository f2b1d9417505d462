"""The same model drawn by icefield, scikit-learn, effector, PDPbox, shap, dalex and alibi: an average, with a band where a tool
has one, and the rows' own curves; everything else as each tool has it.

    python examples/beside_others.py [folder [tools]]

The peers pin versions of their own, so give them an environment of their own and put icefield into it:

    python -m venv peers
    peers/bin/pip install . scikit-learn effector shap plotly psutil pqdm xgboost-cpu
    peers/bin/pip install --no-deps pdpbox

Likewise ``dalex kaleido`` (its pictures are plotly's, which a Chromium of the system draws) and ``alibi``, each beside scikit-learn.
A peer that is not installed, or cannot be imported, is named and left out. `docs/plots.md` and the pages of
`docs/coming-from` show what this wrote.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

SIZE = (5.2, 3.7)  # inches, where a tool takes them
DPI = 80
COLOURS = 128  # of a stored picture; fewer would take the colour of the average under grey curves
FEATURE = "temperature"
UNITS = {FEATURE: "°C", "humidity": "%", "hour": "time of day", "rentals": "per hour"}


@cache
def bikes() -> tuple[Any, pd.DataFrame, pd.Series]:
    """Hourly rentals in Washington, D.C.: a boosted model and 5,000 of its rows."""
    data = icefield.datasets.bikes("pandas")
    X = pd.DataFrame({
        FEATURE: data.temp * 41, "hour": data.hr.astype(float), "humidity": data.hum * 100, "wind": data.windspeed * 67,
        "workingday": data.workingday.astype(float), "year": data.yr.astype(float),
    })  # fmt: skip
    model = HistGradientBoostingRegressor(max_iter=200, random_state=0).fit(X, data.cnt)
    rows = np.random.default_rng(0).choice(len(X), 5000, replace=False)
    return model, X.iloc[rows].reset_index(drop=True), data.cnt.iloc[rows]


# --- the average ---------------------------------------------------------------------------------


def icefield_average() -> Any:
    model, X, _ = bikes()
    return icefield.Explainer(model, X, target_name="rentals", units=UNITS).partial_dependence(FEATURE).plot()


def sklearn_average() -> Any:
    from sklearn.inspection import PartialDependenceDisplay

    model, X, _ = bikes()
    return PartialDependenceDisplay.from_estimator(model, X, [FEATURE]).figure_


def effector_average() -> Any:
    return _effector("std")


def pdpbox_average() -> Any:
    return _pdpbox()


def shap_average() -> Any:
    return _shap(ice=False)


# --- the rows' own curves -------------------------------------------------------------------------


def icefield_rows() -> Any:
    model, X, _ = bikes()
    return icefield.Explainer(model, X, target_name="rentals", units=UNITS).ice(FEATURE).plot()


def sklearn_rows() -> Any:
    from sklearn.inspection import PartialDependenceDisplay

    model, X, _ = bikes()
    return PartialDependenceDisplay.from_estimator(model, X, [FEATURE], kind="both").figure_


def effector_rows() -> Any:
    return _effector("ice")


def pdpbox_rows() -> Any:
    return _pdpbox(plot_lines=True)


def shap_rows() -> Any:
    return _shap(ice=True)


def _shap(ice: bool) -> Any:
    import shap

    model, X, _ = bikes()
    shap.plots.partial_dependence(FEATURE, _on_arrays(model, X), X, ice=ice, show=False)
    return plt.gcf()


def _effector(heterogeneity: str) -> Any:
    import effector

    model, X, _ = bikes()
    at = list(X.columns).index(FEATURE)
    names = {"feature_names": list(X.columns), "target_name": "rentals"}
    partial = effector.PDP(X.to_numpy(), _on_arrays(model, X), schema=effector.Schema(**names))
    return partial.plot(at, heterogeneity=heterogeneity, show_plot=False)[0]


def _pdpbox(**options: Any) -> Any:
    from pdpbox.pdp import PDPIsolate

    model, X, _ = bikes()
    isolate = PDPIsolate(model, X.copy(), list(X.columns), FEATURE, FEATURE, n_classes=0)
    return isolate.plot(engine="matplotlib", **options)[0]


def dalex_average() -> Any:
    explainer = _dalex()
    return explainer.model_profile(variables=[FEATURE], verbose=False).plot(show=False)


def dalex_rows() -> Any:
    explainer = _dalex()
    return explainer.model_profile(variables=[FEATURE], verbose=False).plot(geom="profiles", show=False)


def _dalex() -> Any:
    import dalex

    model, X, y = bikes()
    return dalex.Explainer(model, X, y, verbose=False)


def alibi_average() -> Any:
    return _alibi("average")


def alibi_rows() -> Any:
    return _alibi("both")


def _alibi(kind: str) -> Any:
    from alibi.explainers import PartialDependence, plot_pd

    model, X, _ = bikes()
    partial = PartialDependence(_on_arrays(model, X), feature_names=list(X.columns), target_names=["rentals"])
    explanation = partial.explain(X.to_numpy(), features=[list(X.columns).index(FEATURE)], kind=kind)
    return plot_pd(explanation).flat[0].get_figure()


def _on_arrays(model: Any, X: pd.DataFrame) -> Callable[[Any], Any]:
    """The model for a tool that hands over bare arrays."""
    return lambda rows: model.predict(pd.DataFrame(rows, columns=X.columns))


# --- writing ---------------------------------------------------------------------------------------

PICTURES: dict[str, tuple[str, str, Callable[[], Any], Callable[[], Any]]] = {
    "icefield": ("icefield", "icefield", icefield_average, icefield_rows),
    "sklearn": ("sklearn", "scikit-learn", sklearn_average, sklearn_rows),
    "effector": ("effector", "effector", effector_average, effector_rows),
    "pdpbox": ("pdpbox.pdp", "pdpbox", pdpbox_average, pdpbox_rows),
    "shap": ("shap", "shap", shap_average, shap_rows),
    "dalex": ("dalex", "dalex", dalex_average, dalex_rows),
    "alibi": ("alibi", "alibi", alibi_average, alibi_rows),
}


def write(path: Path, draw: Callable[[], Any]) -> None:
    """One picture as a small PNG, with nothing cut off whatever its tool left to do about that."""
    drawn = draw()
    if hasattr(drawn, "write_image"):  # plotly's
        drawn.write_image(path, width=1.8 * DPI * SIZE[0], height=1.8 * DPI * SIZE[1])
    else:
        figure = drawn if hasattr(drawn, "savefig") else drawn.get_figure()
        width, height = figure.get_size_inches()
        if width > 2 * SIZE[0]:  # a wide picture is brought to the size it has on a page
            figure.set_size_inches(1.6 * SIZE[0], 1.6 * SIZE[0] * height / width)
        figure.savefig(path, dpi=DPI, facecolor="white", bbox_inches="tight")
        plt.close("all")
    with Image.open(path) as image:
        stored = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    stored.save(path, optimize=True)


def main(folder: Path, tools: list[str] | None = None) -> list[str]:
    """Write the pictures of the named tools, or of every tool that is installed, and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (module, package, average, rows) in PICTURES.items():
        if tools and name not in tools:
            continue
        try:
            import_module(module)
        except ImportError as error:
            print(f"{package} is left out: {error}")
            continue
        for what, draw in (("average", average), ("rows", rows)):
            with plt.rc_context({"figure.figsize": SIZE}), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                write(folder / f"beside_{what}_{name}.png", draw)
            written.append(f"beside_{what}_{name}")
        try:
            print(f"{package} {version(package)}")
        except PackageNotFoundError:  # run from a source tree
            print(f"{package} {getattr(sys.modules[module], '__version__', '')}")
    return written


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "beside"), sys.argv[2:])
