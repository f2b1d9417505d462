"""Models of Spark ML against plain `transform`, on pandas frames and on Spark's, and what is refused."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import IcefieldError

pytestmark = pytest.mark.timeout(580)
NUMBERS, GRID = ["a", "b", "k"], [-1.0, 0.0, 1.0]


@pytest.fixture(scope="module")
def spark(engine_of):
    engine_of("spark")
    from pyspark.sql import SparkSession

    made = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.default.parallelism", "1")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    with suppress(Exception):
        made.stop()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 240
    found = pd.DataFrame({
        "a": rng.normal(size=n), "b": rng.normal(size=n), "k": rng.integers(0, 5, n),
        "c": rng.choice(["u", "v", "w", "x"], n), "d": rng.choice([0.5, 1.0, 2.5], n),
    })  # fmt: skip
    found["y"] = 2 * found.a + (found.b > 0) + 3 * (found.c == "u") + found.k * found.d
    found["positive"] = np.exp(found.a / 2)
    found["binary"] = (found.y > found.y.median()).astype(float)
    found["three"] = pd.qcut(found.y, 3, labels=False).astype(float)
    found["side"] = np.where(found.binary > 0, "yes", "no")
    return found


@pytest.fixture(scope="module")
def frame(spark, rows):
    return spark.createDataFrame(rows).coalesce(1).cache()


def encoded(**options):
    """Stages from columns of every kind to one vector."""
    from pyspark.ml.feature import OneHotEncoder, StandardScaler, StringIndexer, VectorAssembler

    return [
        StringIndexer(inputCols=["c", "d"], outputCols=["c_index", "d_index"], **options),
        OneHotEncoder(inputCols=["d_index"], outputCols=["d_hot"]),
        VectorAssembler(inputCols=["a", "b"], outputCol="numbers"),
        StandardScaler(inputCol="numbers", outputCol="scaled", withMean=True),
        VectorAssembler(inputCols=["scaled", "k", "c_index", "d_hot"], outputCol="features"),
    ]


def regressors():
    from pyspark.ml import regression as r

    return {
        "gbt": r.GBTRegressor(labelCol="y", maxIter=3, maxDepth=3, seed=1),
        "forest": r.RandomForestRegressor(labelCol="y", numTrees=3, maxDepth=4, seed=1),
        "tree": r.DecisionTreeRegressor(labelCol="y", maxDepth=4),
        "linear": r.LinearRegression(labelCol="y", regParam=0.01),
        "poisson": r.GeneralizedLinearRegression(labelCol="positive", family="poisson"),
        "gamma": r.GeneralizedLinearRegression(labelCol="positive", family="gamma", link="log"),
    }


def classifiers():
    from pyspark.ml import classification as c

    return {
        "gbt": (c.GBTClassifier(labelCol="binary", maxIter=3, maxDepth=3, seed=1), 2),
        "forest": (c.RandomForestClassifier(labelCol="three", numTrees=3, maxDepth=4, seed=1), 3),
        "tree": (c.DecisionTreeClassifier(labelCol="three", maxDepth=4), 3),
        "logistic": (c.LogisticRegression(labelCol="binary", regParam=0.01), 2),
        "multinomial": (c.LogisticRegression(labelCol="three", regParam=0.01), 3),
    }


@pytest.fixture(scope="module")
def fitted(frame):
    """A pipeline of the encoding stages, fitted once, and a last stage."""
    from pyspark.ml import Pipeline, PipelineModel

    head = Pipeline(stages=encoded()).fit(frame)
    vectors = head.transform(frame).cache()

    def made(last, other=None):
        """On the same frame, or on another one."""
        if other is not None:
            return Pipeline(stages=[*encoded(), last]).fit(other)
        return PipelineModel(stages=[*head.stages, last.fit(vectors)])

    return made


def transformed(model, frame, column="prediction"):
    found = model.transform(frame).select(column).toPandas()[column]
    return np.array([value.toArray() if hasattr(value, "toArray") else [value] for value in found])


def at(model, frame, name, value, column="prediction"):
    """The average prediction with a column set to a value, by plain transforms."""
    from pyspark.sql.functions import lit

    return transformed(model, frame.withColumn(name, lit(value)), column).mean(axis=0)


@pytest.mark.parametrize("name", ["gbt", "forest", "tree", "linear", "poisson", "gamma"])
def test_regression_is_what_transform_gives(name, fitted, rows, frame):
    model = fitted(regressors()[name])
    ex = Explainer(model, rows)
    assert list(ex.study.model.columns) == ["a", "b", "k", "c", "d"]
    assert np.allclose(ex.study.model.predict(ex.table), transformed(model, frame), rtol=1e-9, atol=1e-9)
    trees = name in ("gbt", "forest", "tree")
    assert (ex.plan.engine.name == "trees") == trees
    effect = ex.partial_dependence("a", grid=GRID)
    assert np.allclose(effect.average[0, 1], at(model, frame, "a", 0.0), rtol=1e-9, atol=1e-9)
    by_label = ex.partial_dependence("c", grid=["u", "w"])
    assert np.allclose(by_label.average[0, 0], at(model, frame, "c", "u"), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["gbt", "forest", "tree", "logistic", "multinomial"])
def test_probabilities_are_what_transform_gives(name, fitted, rows, frame):
    last, n_classes = classifiers()[name]
    model = fitted(last)
    ex = Explainer(model, rows, target="all")
    found = ex.study.model.predict(ex.table)
    assert found.shape[1] == n_classes
    assert np.allclose(found, transformed(model, frame, "probability"), rtol=1e-9, atol=1e-9)
    effect = ex.partial_dependence("d", grid=[0.5, 2.5])
    assert np.allclose(effect.average[:, 1], at(model, frame, "d", 2.5, "probability"), rtol=1e-9, atol=1e-9)


def test_a_spark_frame_gives_what_pandas_gives(fitted, rows, frame):
    model = fitted(regressors()["gbt"])
    one = Explainer(model, rows).partial_dependence("a", grid=GRID)
    other = Explainer(model, frame).partial_dependence("a", grid=GRID)
    assert other.engine == one.engine == "trees"
    assert np.allclose(one.average, other.average, rtol=1e-12)


def test_a_model_without_its_assembler_takes_the_slots_by_name(spark, frame, rows):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import DecisionTreeRegressor

    vectors = VectorAssembler(inputCols=["k", "a"], outputCol="features").transform(frame)
    model = DecisionTreeRegressor(labelCol="y", maxDepth=3).fit(vectors)
    ex = Explainer(model, vectors)
    assert list(ex.study.model.columns) == ["k", "a"]
    expected = transformed(model, vectors)
    assert np.allclose(
        Explainer(model, rows[["k", "a"]]).study.model.predict(ex.table), expected[: ex.table.n_rows]
    )
    with pytest.raises(IcefieldError, match="before VectorAssembler"):
        Explainer(model, vectors.select("features"))


def test_categories_missing_values_and_labels(spark, frame, rows):
    """Splits by sets, NaN that is kept, an indexed target, values that no split knows."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import DecisionTreeClassifier
    from pyspark.ml.feature import (
        Bucketizer,
        Imputer,
        MinMaxScaler,
        StringIndexer,
        VectorAssembler,
        VectorIndexer,
    )

    stages = [
        StringIndexer(inputCol="c", outputCol="c_index", handleInvalid="keep"),
        StringIndexer(inputCol="side", outputCol="label"),
        Imputer(inputCols=["b"], outputCols=["b_full"]),
        Bucketizer(
            splits=[-np.inf, 0.0, 1.0, np.inf], inputCol="a", outputCol="a_bucket", handleInvalid="keep"
        ),
        VectorAssembler(inputCols=["b_full", "k"], outputCol="two"),
        MinMaxScaler(inputCol="two", outputCol="two_scaled"),
        VectorAssembler(
            inputCols=["two_scaled", "c_index", "a_bucket"], outputCol="raw", handleInvalid="keep"
        ),
        VectorIndexer(inputCol="raw", outputCol="features", maxCategories=5, handleInvalid="keep"),
        DecisionTreeClassifier(labelCol="label", maxDepth=5),
    ]
    model = Pipeline(stages=stages).fit(frame)
    odd = rows.copy()
    odd.loc[:20, "b"] = np.nan
    odd.loc[10:30, "a"] = np.nan
    odd.loc[40:60, "c"] = "never seen"
    ex = Explainer(model, odd, target="all")
    assert set(ex.study.model.outputs) == {"yes", "no"}
    assert ex.plan.engine.name == "trees"
    expected = transformed(model, spark.createDataFrame(odd).coalesce(1), "probability")
    assert np.allclose(ex.study.model.predict(ex.table), expected, rtol=1e-9, atol=1e-9)
    brute = Explainer(model, odd, target="all", engine="brute").partial_dependence(
        "c", grid=["u", "never seen"]
    )
    assert np.allclose(ex.partial_dependence("c", grid=["u", "never seen"]).average, brute.average)


def test_what_spark_refuses_is_refused(fitted, rows):
    model = fitted(regressors()["tree"])
    with pytest.raises(IcefieldError, match="category the Spark model does not know"):
        Explainer(model, rows.assign(c="never seen"))


def not_read():
    """Last stages that are not read, each with the column and the number of outputs that are asked for."""
    from pyspark.ml import classification as c
    from pyspark.ml import regression as r

    return {
        "factorization": (r.FMRegressor(labelCol="y", maxIter=2, seed=1), "prediction", 1),
        "isotonic": (r.IsotonicRegression(labelCol="y", featureIndex=0), "prediction", 1),
        "perceptron": (c.MultilayerPerceptronClassifier(labelCol="three", layers=[6, 3, 3], maxIter=5, seed=1), "probability", 3),
        "bayes": (c.NaiveBayes(labelCol="three", modelType="gaussian"), "probability", 3),
        "one against the rest": (c.OneVsRest(labelCol="three", classifier=c.LogisticRegression(maxIter=3)), "rawPrediction", 3),
        "margin": (c.LinearSVC(labelCol="binary", maxIter=3), "rawPrediction", 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["factorization", "isotonic", "perceptron", "bayes", "one against the rest", "margin"]
)
def test_what_is_not_read_is_transformed_in_spark(name, fitted, rows, frame):
    """Rows here by a transform a call, and a Spark frame's by one a pass: both are what plain transforms give."""
    last, column, outputs = not_read()[name]
    model = fitted(last)
    here, there = Explainer(model, rows, target="all"), Explainer(model, frame, target="all")
    assert here.study.model.predict(here.table).shape[1] == outputs
    assert np.allclose(
        here.study.model.predict(here.table), transformed(model, frame, column), rtol=1e-9, atol=1e-9
    )
    for ex in (here, there):
        effect = ex.partial_dependence("a", grid=GRID)
        for place, value in enumerate(GRID):
            assert np.allclose(effect.average[:, place], at(model, frame, "a", value, column), rtol=1e-9)
        by_label = ex.partial_dependence("c", grid=["u", "w"])
        assert np.allclose(by_label.average[:, 1], at(model, frame, "c", "w", column), rtol=1e-9)
        assert "is not read; predicted by transforms in Spark" in effect.why


def test_the_number_of_transforms_is_bounded(fitted, rows, frame):
    """However many points there are; a Spark frame's rows of any number in one."""
    model = fitted(not_read()["factorization"][0])
    for X, most in ((rows, 5), (frame, 5)):
        ex = Explainer(model, X)
        ex.partial_dependence("a", grid=GRID)
        made, counts = ex.study.model.native.transforms, []
        for points in (3, 40):
            before = made[0]
            ex.partial_dependence("a", grid=np.linspace(-1, 1, points))
            counts.append(made[0] - before)
        assert counts[0] == counts[1] <= most


def test_weights_groups_and_types_of_a_spark_frame(fitted, rows, frame):
    """As of the same rows in pandas; fractions of whole numbers where no stage reads these as texts."""
    model = fitted(not_read()["factorization"][0])
    several = frame.repartition(3)
    here = Explainer(model, rows, weights=rows.positive, by="c")
    there = Explainer(model, several, weights="positive", by="c")
    one, other = (ex.partial_dependence("k", grid=[0.5, 2.0, 4.0]) for ex in (here, there))
    assert np.allclose(one.average, other.average, rtol=1e-9)
    assert len(one.groups) == 4
    for label, mine in one.groups.items():
        assert np.allclose(mine.average, other.groups[label].average, rtol=1e-9)
    assert there.study.rows.weight_totals is not None  # a pass that reads weights alone
    wholes = several.withColumn("d", several["d"].cast("int"))  # which StringIndexer reads as texts
    with pytest.raises(IcefieldError, match="'d' to a value that its type"):
        Explainer(fitted(not_read()["factorization"][0], wholes), wholes).partial_dependence("d", grid=[0.5])


def test_everything_else_is_asked_of_a_spark_frame_too(rows, frame):
    """ALE, curves of rows and importance: as of the same rows in pandas."""
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import VectorAssembler

    stages = [VectorAssembler(inputCols=["a", "k"], outputCol="features"), not_read()["factorization"][0]]
    model = Pipeline(stages=stages).fit(frame)
    here, there = Explainer(model, rows[["a", "k"]]), Explainer(model, frame)
    assert np.allclose(here.ale("a").average, there.ale("a").average, rtol=1e-9)
    curves = there.ice("a", grid=GRID)
    expected = [at(model, frame, "a", value)[0] for value in GRID]
    assert np.allclose(curves.individual.mean(axis=1)[0], expected, rtol=1e-9)
    one, other = here.importance().columns, there.importance().columns
    assert one["feature"].tolist() == other["feature"].tolist()
    assert np.allclose(one["importance"], other["importance"], rtol=1e-9)


def test_a_stage_of_the_users_own(spark, rows, frame):
    """It is taken as it is; one that moves rows between partitions is refused, and so are rows that Spark drops."""
    from pyspark.ml import Pipeline, PipelineModel, Transformer
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.ml.regression import FMRegressor, LinearRegression
    from pyspark.sql import functions as f

    class Squared(Transformer):
        def _transform(self, frame):
            return frame.withColumn("square", f.col("a") * f.col("a"))

    class Shuffling(Squared):
        def _transform(self, frame):
            return super()._transform(frame).repartition(3, "a")

    tail = [
        VectorAssembler(inputCols=["a", "b", "square"], outputCol="features"),
        LinearRegression(labelCol="y", regParam=0.01),
    ]
    own = Pipeline(stages=[Squared(), *tail]).fit(frame)
    X = frame.select("a", "b")
    with pytest.raises(IcefieldError, match="not known to predict row by row"):
        Explainer(own, X).partial_dependence("a", grid=GRID)
    found = Explainer(own, X, row_by_row=True).partial_dependence("a", grid=GRID)
    assert np.allclose(found.average[0, 2], at(own, X, "a", 1.0), rtol=1e-9)
    moved = PipelineModel(stages=[Shuffling(), *own.stages[1:]])
    with pytest.raises(IcefieldError, match="drops rows in Spark, or returns them in another order"):
        Explainer(moved, X, row_by_row=True).partial_dependence("a", grid=GRID)
    stages = [
        StringIndexer(inputCol="c", outputCol="c_index", handleInvalid="skip"),
        VectorAssembler(inputCols=["a", "c_index"], outputCol="features"),
        FMRegressor(labelCol="y", maxIter=1, seed=1),
    ]
    skipping = Pipeline(stages=stages).fit(frame)
    with pytest.raises(IcefieldError, match="drop"):
        Explainer(skipping, frame).partial_dependence("c", grid=["u", "never seen"])


def test_xgboost_models_for_spark(frame, rows):
    pytest.importorskip("xgboost.spark", reason="XGBoost is not installed")
    from xgboost.spark import SparkXGBRegressor

    model = SparkXGBRegressor(features_col=["a", "b", "k"], label_col="y", n_estimators=3, max_depth=3).fit(
        frame
    )
    ex = Explainer(model, rows)
    assert list(ex.study.model.columns) == ["a", "b", "k"]
    assert ex.plan.engine.name == "trees"
    assert np.allclose(ex.study.model.predict(ex.table), transformed(model, frame), rtol=1e-6)


def test_an_estimator_that_was_not_fitted(spark, rows):
    from pyspark.ml.regression import GBTRegressor

    with pytest.raises(IcefieldError, match="is not fitted"):
        Explainer(GBTRegressor(), rows)


def test_what_does_not_predict_from_features(spark, rows):
    from pyspark.ml.recommendation import ALS

    ratings = spark.createDataFrame([(0, 0, 4.0), (0, 1, 2.0), (1, 1, 3.0)], ["user", "item", "rating"])
    with pytest.raises(IcefieldError, match="ALSModel, which does not predict from features"):
        Explainer(ALS(userCol="user", itemCol="item", ratingCol="rating", maxIter=1).fit(ratings), rows)
