"""The demo: fit a model on bundled data, then write its curves as pictures and a table."""

from __future__ import annotations

import time
from pathlib import Path

from icefield import Explainer

OUTPUT = Path("demo_output")


def main(output: Path = OUTPUT) -> None:
    """Fit gradient boosting on the diabetes data and write PD and ICE pictures and a table."""
    import matplotlib

    matplotlib.use("Agg")
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import HistGradientBoostingRegressor

    output.mkdir(exist_ok=True)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = HistGradientBoostingRegressor(max_iter=100, random_state=0).fit(X, y)
    began = time.perf_counter()
    explainer = Explainer(model, X)
    effects = explainer.effects(spread=True)
    print(
        f"{len(effects)} partial dependence curves over {len(X)} rows in {time.perf_counter() - began:.2f} s"
    )
    pictures = {
        "partial_dependence.png": effects["bmi"],
        "ice.png": explainer.ice("bmi", rows=200).center(),
        "two_way.png": explainer.partial_dependence("bmi", "s5"),
    }
    for name, effect in pictures.items():
        drawn = effect.plot()
        figure = drawn if hasattr(drawn, "savefig") else drawn.figure
        figure.savefig(output / name, dpi=150)
        print(f"wrote {output / name}")
    table = effects["bmi"].to_frame()
    table.to_csv(output / "bmi.csv", index=False)
    print(f"wrote {output / 'bmi.csv'}")
    print(effects["bmi"])


if __name__ == "__main__":
    main()
