"""Every kind of picture icefield draws, for real data and for hard cases, as PNG and as interactive HTML.

    python examples/gallery.py [folder] [studies, kinds and looks]

Beside ``light``, which is drawn anyway, the looks are ``dark``, ``print`` (serif, small) and ``grey``; ``3.3``, ``5``, ``7`` (inches:
a column, half a page, a page) and ``slide`` are sizes, each drawn in the looks named. PNGs are called after both.
``sheets`` draws nothing and puts what the folder holds on two contact sheets, those that `docs/plots.md` shows; draw these before:

    python examples/gallery.py gallery bike iris cases 3.3 5 7
    python examples/gallery.py gallery bike iris cases dark print grey
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import icefield
from icefield.compare import compare
from icefield.plots import plot_many, plot_pd_ale, plot_regions

ROWS = 500  # enough for smooth pictures, few enough to wait for
Draw = Callable[..., Any]


@dataclass(frozen=True)
class Study:
    """A fitted model with its data, and which columns play which part in the pictures."""

    name: str
    model: Any
    rival: Any
    X: pd.DataFrame
    number: str
    second: str
    category: str
    other_category: str
    group: str
    colour: str
    title: str
    rival_name: str
    levels: str | None = None
    date: str | None = None
    missing: str | None = None
    target: Any = None
    y: Any = None
    units: dict[str, str] | None = None
    target_name: str | None = None

    def explainer(self, model: Any = None) -> icefield.Explainer:
        return icefield.Explainer(
            model or self.model,
            self.X,
            self.y,
            target=self.target,
            units=self.units,
            target_name=self.target_name,
        )


def pictures(study: Study) -> Iterator[tuple[str, Draw]]:
    """A name and a function that draws, for every kind of picture. Effects are computed when first drawn."""
    ex = study.explainer()
    curve = cache(lambda: ex.partial_dependence(study.number))
    quantiles = cache(lambda: ex.partial_dependence(study.number, quantiles=[0.1, 0.9]))
    curves = cache(lambda: ex.ice(study.number, rows=400))
    levels = cache(lambda: ex.partial_dependence(study.category))
    surface = cache(lambda: ex.partial_dependence(study.number, study.second))
    mixed = cache(lambda: ex.partial_dependence(study.category, study.number))
    by_group = cache(lambda: ex.partial_dependence(study.number, by=study.group))
    both = compare({"boosting": ex, study.rival_name: study.explainer(study.rival)})
    ranking = cache(lambda: ex.importance(rows=300))
    top = cache(lambda: list(dict.fromkeys(ranking()["feature"].tolist()))[:6])

    # One feature.
    yield "curve", lambda **o: curve().plot(title=study.title, **o)
    yield "curve_quantiles", lambda **o: quantiles().plot(**o)
    yield "curve_std_rug", lambda **o: curve().plot(band="std", data="rug", **o)
    yield "curve_se_deciles", lambda **o: curve().plot(band="se", data="deciles", **o)
    yield "levels_dots", lambda **o: levels().plot(sort="value", **o)
    yield "levels_bars", lambda **o: levels().plot(kind="bars", **o)
    if study.levels:
        yield (
            "levels_many",
            lambda **o: ex.partial_dependence(study.levels).plot(kind="dots", sort="value", top=15, **o),
        )
    if study.date:
        yield "dates", lambda **o: ex.partial_dependence(study.date).plot(**o)
    if study.missing:
        yield "missing", lambda **o: ex.partial_dependence(study.missing).plot(**o)

    # Individual curves.
    yield "ice", lambda **o: curves().plot(highlight=curves().rows[:2].tolist(), **o)
    yield "ice_centered_coloured", lambda **o: curves().plot(center=True, color_by=study.colour, **o)
    yield "ice_by_category", lambda **o: curves().plot(color_by=study.category, **o)
    yield "ice_derivative", lambda **o: curves().plot(derivative=True, **o)
    yield "ice_density", lambda **o: curves().plot(curves="density", **o)
    yield "ice_levels", lambda **o: ex.ice(study.category, rows=200).plot(**o)

    # Two features.
    yield "contour", lambda **o: surface().plot(**o)
    yield "contour_points", lambda **o: surface().plot(data="points", mask=None, **o)
    yield "heatmap", lambda **o: surface().plot(kind="heatmap", mask="density", **o)
    yield "surface", lambda **o: surface().plot(kind="surface", **o)
    yield "lines", lambda **o: surface().plot(kind="lines", **o)
    yield "interaction", lambda **o: surface().plot(interaction=True, **o)
    yield "number_by_category", lambda **o: mixed().plot(kind="lines", **o)
    yield "number_by_category_heatmap", lambda **o: mixed().plot(kind="heatmap", **o)
    yield (
        "category_by_category",
        lambda **o: ex.partial_dependence(study.category, study.other_category).plot(**o),
    )

    # Groups and models.
    yield "groups", lambda **o: by_group().plot(**o)
    yield "groups_side", lambda **o: by_group().plot(layout="side", **o)
    yield "models", lambda **o: both.partial_dependence(study.number).plot(band=None, **o)
    yield "models_surfaces", lambda **o: both.partial_dependence(study.number, study.second).plot(**o)

    # Summaries.
    yield "importance", lambda **o: ranking().plot(**o)
    if study.y is not None:
        yield (
            "importance_measures",
            lambda **o: ranking().plot(["importance", "disagreement", "permutation"], **o),
        )
    yield (
        "many",
        lambda **o: plot_many([ranking().effects[name] for name in top()], band=None, curves=None, **o),
    )
    yield "interactions", lambda **o: ex.interactions(top()[:5], rows=100).plot(**o)
    yield "pd_ale", lambda **o: plot_pd_ale(curve(), ex.ale(study.number), **o)
    yield (
        "regions",
        lambda **o: plot_regions(
            by_group(),
            {f"{study.group} = {label}": effect for label, effect in by_group().groups.items()},
            **o,
        ),
    )


def classes() -> Iterator[tuple[str, Draw]]:
    """Several outputs: the three classes of iris."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    model = RandomForestClassifier(n_estimators=50, min_samples_leaf=3, random_state=0).fit(X, names)
    ex = icefield.Explainer(model, X, target="all")
    yield "classes", lambda **o: ex.partial_dependence("petal length (cm)").plot(band=None, **o)
    yield "classes_side", lambda **o: ex.ice("petal length (cm)").plot(**o)
    yield (
        "classes_surfaces",
        lambda **o: ex.partial_dependence("petal length (cm)", "petal width (cm)").plot(**o),
    )


def cases() -> Iterator[tuple[str, Draw]]:
    """What is hard to draw: long levels that are alike, nine groups, thousands of curves, amounts, long names."""
    rng = np.random.default_rng(0)
    places = [
        f"{a}{b}"
        for a in ("Al", "Ber", "Dal", "Es", "Fal", "Got")
        for b in ("by", "ga", "holm", "lund", "mora", "näs", "ryd", "sund", "torp", "vik")
    ]
    levels = [f"Municipality of {place} in the county of somewhere" for place in places]
    X = pd.DataFrame({
        "amount": rng.lognormal(7, 1.3, 5000), "age": rng.uniform(18, 90, 5000),
        "municipality": pd.Categorical(rng.choice(levels, 5000, p=rng.dirichlet(np.ones(60))), levels),
        "region": rng.choice([f"region {letter}" for letter in "abcdefghi"], 5000),
    })  # fmt: skip
    shift = dict(zip(levels, rng.normal(0, 1, 60)))
    tilt = dict(zip(sorted(X["region"].unique()), np.linspace(-1, 1, 9)))

    def model(rows: pd.DataFrame) -> Any:
        level = rows["municipality"].astype(object).map(shift).to_numpy(dtype=float)
        slope = rows["region"].map(tilt).to_numpy(dtype=float)
        return np.log(rows["amount"].to_numpy()) + level + slope * (rows["age"].to_numpy() - 50) / 20

    def rival(rows: pd.DataFrame) -> Any:
        return np.log(rows["amount"].to_numpy()) - 0.01 * (rows["age"].to_numpy() - 50)

    names = {"amount": "amount that was asked for in the end", "age": "age of whoever asked for it"}
    ex = icefield.Explainer(model, X, names=names, units={"amount": "€", "age": "years"}, target_name="risk")
    spread = cache(lambda: ex.partial_dependence("amount", grid=icefield.Grid("log"), rows=500))
    sixty = cache(lambda: ex.partial_dependence("municipality", rows=500))
    thousands = cache(lambda: ex.ice("age", grid=25))
    nine = cache(lambda: ex.partial_dependence("age", grid=30, by="region"))
    yield "log", lambda **o: spread().plot(**o)
    yield "log_linear", lambda **o: spread().plot(x_scale="linear", **o)
    yield "sixty", lambda **o: sixty().plot(sort="value", **o)
    yield "sixty_all", lambda **o: sixty().plot(sort="name", top=60, **o)
    yield "thousands", lambda **o: thousands().plot(**o)
    yield "thousands_density", lambda **o: thousands().plot(curves="density", **o)
    yield "nine", lambda **o: nine().plot(**o)
    yield "nine_side", lambda **o: nine().plot(layout="side", **o)
    yield "solid", lambda **o: ex.partial_dependence("amount", "age", rows=300).plot(kind="surface", **o)
    yield (
        "two_models",
        lambda **o: compare({"whole": model, "simple": rival}, X.head(500)).plot("amount", **o),
    )
    yield "multiples", lambda **o: plot_many([spread(), sixty(), ex.partial_dependence("age", rows=500)], **o)
    yield "axes", lambda **o: _in_own_axes([spread(), sixty()], **o)


def _in_own_axes(effects: list[icefield.Effect], **options: Any) -> Any:
    """Into Axes of the caller's in a plain figure; plotly has none, and draws the first."""
    if "backend" in options:
        return effects[0].plot(**options)
    width, height = options.get("figsize", (9, 3.6))
    narrow = width < 4.3  # one below the other, as in a column of a paper
    shape = (len(effects), 1) if narrow else (1, len(effects))
    figure, axes = plt.subplots(*shape, figsize=(width, height * (2.2 if narrow else 1)))
    for ax, effect in zip(axes, effects):
        effect.plot(ax=ax)
    return figure


# --- data ------------------------------------------------------------------------------------------


def bike() -> Study:
    """Hourly rentals; the date is a date, which a small wrapper turns into days for the model."""
    data = icefield.datasets.bikes("pandas").sample(6000, random_state=0)
    season = {1: "winter", 2: "spring", 3: "summer", 4: "autumn"}
    sky = {1: "clear", 2: "mist", 3: "light rain or snow", 4: "heavy rain"}
    X = pd.DataFrame({
        "hour": data.hr, "date": data.dteday, "temperature": data.temp * 41, "humidity": data.hum * 100,
        "wind": data.windspeed * 67, "working day": data.workingday.astype(bool),
        "season": pd.Categorical(data.season.map(season), list(season.values())),
        "weather": pd.Categorical(data.weathersit.map(sky), list(sky.values())),
    })  # fmt: skip

    def prepared(rows: pd.DataFrame) -> pd.DataFrame:
        days = (rows["date"] - pd.Timestamp("2011-01-01")).dt.days
        return rows.assign(date=days, season=rows["season"].cat.codes, weather=rows["weather"].cat.codes)

    boosting = HistGradientBoostingRegressor(max_iter=100, random_state=0).fit(prepared(X), data.cnt)
    forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0).fit(prepared(X), data.cnt)
    X = X.head(ROWS)
    return Study(
        "bike", lambda rows: boosting.predict(prepared(rows)), lambda rows: forest.predict(prepared(rows)), X,
        number="hour", second="temperature", category="weather", other_category="season", group="working day",
        colour="temperature", title="Bike rentals by hour of day", rival_name="forest", levels="hour", date="date",
        y=data.cnt.head(ROWS), target_name="rentals",
        units={"temperature": "°C", "humidity": "%", "wind": "km/h", "hour": "time of day", "rentals": "per hour"},
    )  # fmt: skip


def titanic() -> Study:
    data = icefield.datasets.titanic("pandas")
    ports = {"C": "Cherbourg", "Q": "Queenstown", "S": "Southampton"}
    X = pd.DataFrame({
        "age": data.age, "fare": data.fare, "sex": data.sex.astype("category"),
        "class": data.pclass.map({1: "first", 2: "second", 3: "third"}).astype("category"),
        "port": data.embarked.map(ports).astype("category"), "siblings": data.sibsp, "parents": data.parch,
    })  # fmt: skip
    y = np.where(data.survived == 1, "survived", "died")
    settings = {"categorical_features": "from_dtype", "random_state": 0}
    model = HistGradientBoostingClassifier(max_iter=80, **settings).fit(X, y)
    rival = HistGradientBoostingClassifier(max_iter=60, max_depth=2, **settings).fit(X, y)
    return Study(
        "titanic", model, rival, X, number="age", second="fare", category="class", other_category="port",
        group="sex", colour="fare", title="Who survived the Titanic, by age", rival_name="shallow trees", levels="siblings", missing="age",
        target="survived",
    )  # fmt: skip


def california() -> Study:
    data = icefield.datasets.housing("pandas").sample(8000, random_state=0)
    X = data.drop(columns="median_house_value").assign(
        ocean_proximity=data.ocean_proximity.astype("category")
    )
    X["island or bay"] = data.ocean_proximity.isin(["ISLAND", "NEAR BAY"])
    y = data.median_house_value
    settings = {"categorical_features": "from_dtype", "random_state": 0}
    model = HistGradientBoostingRegressor(max_iter=100, **settings).fit(X, y)
    rival = HistGradientBoostingRegressor(max_iter=60, max_depth=2, **settings).fit(X, y)
    return Study(
        "california", model, rival, X.head(ROWS), number="median_income", second="housing_median_age",
        category="ocean_proximity", other_category="island or bay", group="ocean_proximity", colour="latitude",
        title="House values by median income", rival_name="shallow trees", missing="total_bedrooms",
    )  # fmt: skip


# --- writing ---------------------------------------------------------------------------------------


DARK = "#14181e"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), DARK),
        **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), "#d9e0e8"),
        **dict.fromkeys(("axes3d.xaxis.panecolor", "axes3d.yaxis.panecolor", "axes3d.zaxis.panecolor"), DARK),
    },
    "print": {"font.family": "serif", "font.size": 8, "lines.linewidth": 1.0, "figure.figsize": (4.2, 3.2)},
    "grey": {},
}  # fmt: skip


SIZES: dict[str, dict[str, Any]] = {
    "3.3": {"figsize": (3.3, 2.5)},
    "5": {"figsize": (5.0, 3.6)},
    "7": {"figsize": (7.0, 4.4)},
    "slide": {"figsize": (11.0, 6.2)},
}


def write(folder: Path, name: str, draw: Draw, looks: list[str], sizes: list[str]) -> None:
    """One picture in both backends, with matplotlib in every look, at its own size and at those named."""
    for look in looks:
        for size in (None, *sizes):
            ending = "".join(f"_{word}" for word in (look, size) if word not in ("light", None))
            path = folder / f"{name}{ending}.png"
            with plt.rc_context(LOOKS[look] | ({"font.size": 18} if size == "slide" else {})):
                drawn = draw(**SIZES[size]) if size else draw()
                figure = drawn if hasattr(drawn, "savefig") else drawn.get_figure()
                figure.savefig(path, dpi=110)
                plt.close(figure)
            if look == "grey":
                with Image.open(path) as image:
                    image.convert("L").save(path)
    if not sizes:
        draw(backend="plotly").write_html(folder / f"{name}.html", include_plotlyjs="directory")


SHEET = ("bike", "iris", "cases")  # studies


def write_sheets(folder: Path) -> None:
    """Every kind at three sizes, two to a row, and in four looks."""
    drawn = sorted(
        folder.glob("*_3.3.png"), key=lambda path: (SHEET.index(path.name.split("_")[0]), path.name)
    )
    kinds = [path.name.removesuffix("_3.3.png") for path in drawn]
    _sheet(folder / "gallery_sizes.webp", folder, kinds, ("_3.3", "_5", "_7"), (250, 168))
    _sheet(folder / "gallery_looks.webp", folder, kinds, ("", "_dark", "_print", "_grey"), (190, 140))


def _sheet(
    path: Path, folder: Path, kinds: list[str], endings: tuple[str, ...], cell: tuple[int, int]
) -> None:
    names = [f"{kind}{ending}.png" for kind in kinds for ending in endings]
    columns = 2 * len(endings)
    sheet = Image.new("RGB", (columns * cell[0], -(-len(names) // columns) * cell[1]), "white")
    for number, name in enumerate(names):
        with Image.open(folder / name) as opened:
            image = opened.convert("RGB")
        image.thumbnail((cell[0] - 8, cell[1] - 8), Image.Resampling.LANCZOS)
        sheet.paste(image, (number % columns * cell[0] + 4, number // columns * cell[1] + 4))
    sheet.save(path, quality=55, method=6)


# Everything in the gallery, a study a name.
MAKERS: dict[str, Callable[[], Iterator[tuple[str, Draw]]]] = {
    "iris": classes,
    "cases": cases,
    "bike": lambda: pictures(bike()),
    "titanic": lambda: pictures(titanic()),
    "california": lambda: pictures(california()),
}


def main(folder: Path, only: list[str]) -> None:
    """Write all pictures, or those whose study or kind is named, in the looks and sizes that are named."""
    if only == ["sheets"]:
        write_sheets(folder)
        return
    folder.mkdir(parents=True, exist_ok=True)
    studies = [name for name in MAKERS if name in only] or list(MAKERS)
    kinds = [name for name in only if name not in MAKERS and name not in LOOKS and name not in SIZES]
    looks = ["light", *(look for look in LOOKS if look in only and look != "light")]
    sizes = [size for size in SIZES if size in only]
    count = 0
    for study in studies:
        for name, draw in MAKERS[study]():
            if not kinds or name in kinds:
                write(folder, f"{study}_{name}", draw, looks, sizes)
                count += 1
    print(f"{count} pictures in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), sys.argv[2:])
