"""Pipelines taken apart give the whole pipeline's numbers, and columns are followed correctly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from icefield.data.frame import table_of
from icefield.libraries.sklearn.pipelines import NoSplit, split_pipeline
from icefield.models.model import read_model

RNG = np.random.default_rng(3)
N = 60
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": np.abs(RNG.normal(size=N)) + 0.1,
        "c": RNG.choice(["red", "green", "blue"], N),
        "d": RNG.integers(0, 5, N).astype(float),
        "e": RNG.choice(["x", "y"], N),
    }
)
GAPS = FRAME.assign(a=FRAME["a"].where(RNG.random(N) > 0.3), d=FRAME["d"].where(RNG.random(N) > 0.2))
Y = FRAME["a"].to_numpy() + FRAME["b"].to_numpy() ** 2 + (FRAME["c"] == "red").to_numpy() + 2.0
NUMBERS, WORDS = ["a", "b", "d"], ["c", "e"]
GRID = {
    "a": np.array([-1.0, 0.0, 2.5, 0.5]),
    "b": np.array([0.2, 0.4, 3.0, 1.0]),
    "c": np.array(["blue", "red", "green", "red"], dtype=object),
    "d": np.array([4.0, 0.0, 2.0, 1.0]),
    "e": np.array(["x", "y", "x", "y"], dtype=object),
}


def columns(*parts, **options):
    return make_column_transformer(*parts, **options)


PLAIN = {
    "scaler and one-hot": columns((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS)),
    "sparse one-hot": columns((StandardScaler(), ["a"]), (OneHotEncoder(), WORDS), sparse_threshold=1.0),
    "one-hot without the first": columns((OneHotEncoder(drop="first"), WORDS), remainder="passthrough"),
    "rare levels": columns((OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist"), WORDS)),
    "ordinal and passthrough": columns((OrdinalEncoder(), WORDS), ("passthrough", ["d", "a"])),
    "dropped columns": columns((StandardScaler(), ["b"]), ("drop", ["a"])),
    "remainder scaled": columns((OneHotEncoder(), WORDS), remainder=RobustScaler()),
    "columns by selector": columns(
        (MinMaxScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
    ),
    "columns by position": columns(
        (MaxAbsScaler(), [0, 3]), (OneHotEncoder(), slice(4, 5)), ("passthrough", [1])
    ),
    "overlapping columns": columns((StandardScaler(), ["a", "b"]), (MinMaxScaler(), ["b", "d"])),
    "target encoder": columns((TargetEncoder(), WORDS), ("passthrough", NUMBERS)),
    "splines and bins": columns(
        (SplineTransformer(n_knots=4), ["a", "b"]),
        (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ["d"]),
    ),
    "ordinal bins": columns(
        (KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), ["a", "b"])
    ),
    "powers and quantiles": columns(
        (PowerTransformer(), ["b"]), (QuantileTransformer(n_quantiles=20), ["a"]), (Binarizer(), ["d"])
    ),
    "logarithm": columns((FunctionTransformer(np.log1p), ["b"]), (FunctionTransformer(), ["a"])),
    "nested": columns(
        (make_pipeline(StandardScaler(), SplineTransformer(n_knots=3)), NUMBERS),
        (make_pipeline(OneHotEncoder(sparse_output=False), VarianceThreshold()), WORDS),
    ),
    "union inside": columns(
        (make_union(StandardScaler(), SplineTransformer(n_knots=3), "passthrough"), ["a", "b"])
    ),
    "column transformer inside": columns(
        (columns((StandardScaler(), ["a"]), (MinMaxScaler(), ["b"])), ["b", "a"]), (OneHotEncoder(), ["c"])
    ),
    "scaled after one-hot": make_pipeline(
        columns((StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), WORDS)), StandardScaler()
    ),
    "the best columns": make_pipeline(
        columns((StandardScaler(), NUMBERS), (OneHotEncoder(), ["c"])), SelectKBest(f_regression, k=4)
    ),
}
MIXED = {
    "principal components": columns((PCA(2), NUMBERS), (OneHotEncoder(), WORDS)),
    "components of everything": make_pipeline(
        columns((StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), WORDS)), PCA(3)
    ),
    "components of sparse rows": make_pipeline(
        columns((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS), sparse_threshold=1.0), TruncatedSVD(3)
    ),
    "products": columns((PolynomialFeatures(2), ["a", "b"]), (OneHotEncoder(), WORDS)),
    "products after encoding": make_pipeline(
        columns((StandardScaler(), ["a", "d"]), (OneHotEncoder(sparse_output=False), ["c"])), PolynomialFeatures(2)
    ),
    "rows of length one": columns((Normalizer(), NUMBERS), (OneHotEncoder(), ["c"])),
    "two mixing branches": columns((PCA(1), ["a", "b"]), (PolynomialFeatures(2), ["b", "d"]), ("passthrough", ["a"])),
    "sparse and mixed": columns((PCA(2), NUMBERS), (OneHotEncoder(), WORDS), sparse_threshold=1.0),
}  # fmt: skip
MOVES = [("a",), ("c",), ("a", "b", "d"), ("e", "b")]


def crossed_both_ways(native, data, moving, **options):
    table = table_of(data)
    model = read_model(native, table, target="all", **options)
    points = {name: GRID[name] for name in moving}
    by_parts = model.crossing(table, moving).predict(points)
    whole = model.predict(
        table.select(model.columns).crossed({k: v for k, v in points.items() if k in model.columns})
    )
    return model, by_parts, whole


@pytest.mark.sampled(7)
@pytest.mark.parametrize("steps", PLAIN.values(), ids=PLAIN.keys())
@pytest.mark.parametrize("moving", MOVES, ids=" ".join)
def test_parts_equal_the_whole(steps, moving):
    native = make_pipeline(steps, Ridge()).fit(FRAME, Y)
    model, by_parts, whole = crossed_both_ways(native, FRAME, moving)
    assert model.parts is not None, model.notes
    assert model.notes == ()
    np.testing.assert_allclose(by_parts, whole, rtol=0, atol=1e-12)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("steps", MIXED.values(), ids=MIXED.keys())
@pytest.mark.parametrize("moving", MOVES, ids=" ".join)
def test_parts_equal_the_whole_where_columns_mix(steps, moving):
    native = make_pipeline(steps, Ridge()).fit(FRAME, Y)
    model, by_parts, whole = crossed_both_ways(native, FRAME, moving)
    assert model.parts is not None, model.notes
    np.testing.assert_allclose(by_parts, whole, rtol=0, atol=1e-10)


@pytest.mark.parametrize("moving", MOVES, ids=" ".join)
@pytest.mark.parametrize(
    "imputer",
    [SimpleImputer(), SimpleImputer(strategy="median", add_indicator=True), KNNImputer(),
     IterativeImputer(max_iter=2, random_state=0), KNNImputer(add_indicator=True), MissingIndicator(features="all")],
    ids=repr,
)  # fmt: skip
def test_imputers(imputer, moving):
    steps = columns((make_pipeline(imputer, StandardScaler()), NUMBERS), (OneHotEncoder(), WORDS))
    native = make_pipeline(steps, Ridge()).fit(GAPS, Y)
    model, by_parts, whole = crossed_both_ways(native, GAPS, moving)
    assert model.parts is not None, model.notes
    np.testing.assert_allclose(by_parts, whole, rtol=0, atol=1e-10)


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("moving", MOVES, ids=" ".join)
def test_steps_that_put_out_frames(output, moving):
    steps = columns(
        (StandardScaler(), NUMBERS),
        (OneHotEncoder(sparse_output=False), WORDS),
        verbose_feature_names_out=False,
    ).set_output(transform=output)
    native = make_pipeline(steps, DecisionTreeClassifier(max_depth=5)).fit(FRAME, Y > 3)
    model, by_parts, whole = crossed_both_ways(native, FRAME, moving)
    assert model.parts is not None, model.notes
    np.testing.assert_array_equal(by_parts, whole)


def test_categories_stay_categories_in_frames_between_steps():
    frame = FRAME.assign(c=FRAME["c"].astype("category"))
    steps = columns((StandardScaler(), ["a"]), remainder="passthrough", verbose_feature_names_out=False)
    steps.set_output(transform="pandas")
    final = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3, categorical_features=["c"])
    native = make_pipeline(steps, final).fit(frame[["a", "c"]], Y > 3)
    for moving in [("c",), ("a",), ("a", "c")]:
        model, by_parts, whole = crossed_both_ways(native, frame, moving)
        assert model.parts is not None, model.notes
        np.testing.assert_array_equal(by_parts, whole)


@pytest.mark.parametrize("library", ["polars", "pyarrow", "numpy"])
@pytest.mark.parametrize("moving", [("a",), ("c",), ("a", "c")], ids=" ".join)
def test_every_frame_library(library, moving):
    data = {
        "polars": pl.from_pandas(FRAME),
        "pyarrow": pa.Table.from_pandas(FRAME, preserve_index=False),
        "numpy": FRAME.to_numpy(dtype=object),
    }[library]
    native = make_pipeline(columns((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS)), Ridge()).fit(
        FRAME, Y
    )
    table = table_of(data)
    model = read_model(native, table)
    assert model.parts is not None, model.notes
    labels = {name: model.columns[list(FRAME).index(name)] for name in moving}
    by_parts = model.crossing(table, labels.values()).predict({labels[name]: GRID[name] for name in moving})
    expected = native.predict(table_of(FRAME).crossed({name: GRID[name] for name in moving}).native)
    np.testing.assert_allclose(by_parts[:, 0], expected, rtol=0, atol=1e-12)


def test_rows_without_names_and_sparse_rows():
    numbers = FRAME[NUMBERS].to_numpy()
    for data in (numbers, sparse.csr_matrix(numbers)):
        native = make_pipeline(MaxAbsScaler(), Ridge()).fit(data, Y)
        table = table_of(data)
        model = read_model(native, table)
        assert model.parts is not None, model.notes
        by_parts = model.crossing(table, [1]).predict({1: GRID["b"]})
        np.testing.assert_allclose(by_parts, model.predict(table.crossed({1: GRID["b"]})), rtol=0, atol=1e-12)


def test_missing_values_in_sparse_rows_stay_in_their_columns():
    steps = columns((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS), sparse_threshold=1.0)
    parts = split_pipeline(make_pipeline(steps, HistGradientBoostingClassifier()), table_of(GAPS))
    assert isinstance(parts, NoSplit)  # not fitted: nothing is known
    steps.fit(GAPS)
    parts = split_pipeline(make_pipeline(steps, Ridge()), table_of(GAPS))
    for moving in [("a",), ("c",), ("e", "b")]:
        points = {name: GRID[name] for name in moving}
        crossed = parts.crossing(table_of(GAPS), moving).at(points)
        whole = parts.transform(table_of(GAPS).crossed(points))
        assert np.isnan(whole.toarray()).any()
        np.testing.assert_array_equal(crossed.toarray(), whole.toarray())
        assert crossed.nnz == whole.nnz


@pytest.mark.parametrize("scale", ["response", "raw"])
@pytest.mark.parametrize(
    ("final", "y"),
    [
        (LogisticRegression(), np.digitize(Y, [2.0, 3.5])),
        (HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3), Y > 3),
        (PoissonRegressor(), np.abs(Y)),
        (RandomForestRegressor(5, random_state=0), np.column_stack([Y, -Y])),
    ],
    ids=lambda m: type(m).__name__,
)
def test_every_scale_and_output(final, y, scale):
    steps = columns(
        (StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), WORDS), sparse_threshold=0
    )
    native = make_pipeline(steps, final).fit(FRAME, y)
    model, by_parts, whole = crossed_both_ways(native, FRAME, ("a", "c"), scale=scale)
    assert model.parts is not None, model.notes
    np.testing.assert_allclose(by_parts, whole, rtol=0, atol=1e-12)
    table = table_of(FRAME)
    last = read_model(native, table, target=model.outputs[-1], scale=scale)
    only = last.crossing(table, ["a"]).predict({"a": GRID["a"]})
    np.testing.assert_allclose(only, last.predict(table.crossed({"a": GRID["a"]})), rtol=0, atol=1e-12)


def test_a_pipeline_inside_a_search_is_split_too():
    pipeline = make_pipeline(columns((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS)), Ridge())
    native = GridSearchCV(pipeline, {"ridge__alpha": [0.1, 1.0]}, cv=2).fit(FRAME, Y)
    model, by_parts, whole = crossed_both_ways(native, FRAME, ("a",))
    assert model.parts is not None
    np.testing.assert_allclose(by_parts, whole, rtol=0, atol=1e-12)


def test_columns_the_model_does_not_use_change_nothing():
    native = make_pipeline(StandardScaler(), Ridge()).fit(FRAME[["a", "b"]], Y)
    table = table_of(FRAME)
    model = read_model(native, table)
    repeated = model.crossing(table, ["c"]).predict({"c": GRID["c"]})
    np.testing.assert_array_equal(repeated, np.tile(model.predict(table), (4, 1)))


def test_still_columns_are_transformed_once_and_moving_ones_at_the_grid_only(monkeypatch):
    native = make_pipeline(columns((StandardScaler(), ["a"]), (OneHotEncoder(), ["c"])), Ridge()).fit(
        FRAME, Y
    )
    table = table_of(FRAME)
    model = read_model(native, table)
    sizes = []
    original = OneHotEncoder.transform
    monkeypatch.setattr(OneHotEncoder, "transform", lambda self, X: sizes.append(len(X)) or original(self, X))
    rows = model.crossing(table, ["a"])
    rows.predict({"a": GRID["a"]})
    rows.predict({"a": GRID["a"]})
    assert sizes == [N, 4, 4]


# --- which columns drive which -------------------------------------------------------------------


def split(steps, data=FRAME, y=Y):
    table = table_of(data)
    return split_pipeline(make_pipeline(steps, Ridge()).fit(data, y), table)


def test_drives_and_sources():
    parts = split(columns((StandardScaler(), ["b", "a"]), (OneHotEncoder(), ["c"]), (PCA(2), ["a", "d"])))
    assert parts.drives("b") == (0,)
    assert parts.drives("a") == (1, 5, 6)
    assert parts.drives("c") == (2, 3, 4)
    assert parts.drives("d") == (5, 6)
    assert parts.drives("e") == ()
    assert parts.sources(1) == ("a",)
    assert parts.sources(6) == ("a", "d")


@pytest.mark.parametrize("steps", [*PLAIN.values(), *MIXED.values()], ids=[*PLAIN, *MIXED])
def test_a_column_changes_nothing_but_what_it_drives(steps):
    parts = split(steps)
    table = table_of(FRAME)
    before = dense(parts.transform(table))
    for column in FRAME.columns:
        moved = FRAME.assign(**{column: FRAME[column].to_numpy()[::-1]})
        changed = np.flatnonzero((dense(parts.transform(table_of(moved))) != before).any(axis=0))
        assert set(changed) <= set(parts.drives(column))
        assert set(changed) or not parts.drives(column)


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def test_several_classes_in_a_target_encoder():
    y = np.digitize(Y, [2.0, 3.5])
    native = make_pipeline(columns((TargetEncoder(), WORDS)), LogisticRegression()).fit(FRAME, y)
    parts = split_pipeline(native, table_of(FRAME))
    assert parts.drives("c") == (0, 1, 2)
    assert parts.drives("e") == (3, 4, 5)
    _, by_parts, whole = crossed_both_ways(native, FRAME, ("c",))
    np.testing.assert_allclose(by_parts, whole, rtol=0, atol=1e-12)


# --- what is not split ---------------------------------------------------------------------------


class Centred(TransformerMixin, BaseEstimator):
    """Looks across rows: what it gives one row depends on the others."""

    def fit(self, X, y=None):
        self.seen_ = True
        return self

    def transform(self, X):
        return np.asarray(X) - np.asarray(X).mean(axis=0)


class OwnScaler(StandardScaler):
    """A subclass may do anything."""


def across_rows(X):
    return np.asarray(X) - np.asarray(X).mean(axis=0)


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (columns((Centred(), NUMBERS)), "Centred is not known to work row by row"),
        (columns((OwnScaler(), NUMBERS)), "OwnScaler is not known to work row by row"),
        (columns((FunctionTransformer(across_rows), NUMBERS)), "may look across rows"),
        (columns((make_pipeline(StandardScaler(), Centred()), NUMBERS)), "Centred is not known"),
        (FeatureUnion([("own", columns((Centred(), NUMBERS)))]), "Centred is not known"),
        (columns((CountVectorizer(analyzer="char"), "c")), "single column instead of a table"),
        (
            columns((IterativeImputer(max_iter=2, sample_posterior=True, random_state=0), NUMBERS)),
            "at random",
        ),
    ],
)
def test_what_may_look_across_rows_is_transformed_whole_and_says_so(steps, reason):
    native = make_pipeline(steps, Ridge()).fit(FRAME, Y)
    table = table_of(FRAME)
    assert reason in split_pipeline(native, table).reason
    model = read_model(native, table)
    assert model.parts is None
    assert model.notes[0].startswith("the pipeline is transformed whole")
    assert reason in model.notes[0]
    by_parts = model.crossing(table, ["a"]).predict({"a": GRID["a"]})
    np.testing.assert_array_equal(by_parts, model.predict(table.crossed({"a": GRID["a"]})))


def test_what_is_no_pipeline_is_not_split():
    assert split_pipeline(Ridge().fit(FRAME[NUMBERS], Y), table_of(FRAME[NUMBERS])) == NoSplit(
        "Ridge is no pipeline"
    )
    alone = make_pipeline("passthrough", Ridge()).fit(FRAME[NUMBERS], Y)
    assert split_pipeline(alone, table_of(FRAME[NUMBERS])) == NoSplit("the pipeline has no transformer")


def test_dropped_feature_union_parts_and_empty_columns():
    empty = GAPS[NUMBERS].assign(d=np.nan)
    union = FeatureUnion([("scaled", make_pipeline(SimpleImputer(), StandardScaler())), ("none", "drop")])
    with pytest.warns(UserWarning, match="Skipping features"):
        native = make_pipeline(union, Ridge()).fit(empty, Y)
    imputed = native.steps[0][1].transformer_list[0][1].steps[0][1]
    assert imputed.statistics_.shape == (3,)
    with pytest.warns(UserWarning, match="Skipping features"):
        parts = split_pipeline(native, table_of(empty))
    assert parts.drives("d") == ()
    assert parts.drives("b") == (1,)


def test_column_transformers_by_name_keep_their_order():
    steps = ColumnTransformer(
        [("z", StandardScaler(), ["d"]), ("a", OneHotEncoder(), ["e"])], remainder="passthrough"
    )
    parts = split(make_pipeline(steps), FRAME[["a", "d", "e"]])
    assert (parts.drives("d"), parts.drives("e"), parts.drives("a")) == ((0,), (1, 2), (3,))
