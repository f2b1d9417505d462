"""Few rows are asked in one thread, and nobody notices but the clock."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from icefield.kernels.openmp import ThreadNumber, thread_number
from icefield.libraries.sklearn import few_rows
from icefield.libraries.sklearn.predictions import adapt


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(few_rows.FEW_ROWS + 10, 3))
    return HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0]), X


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: make_pipeline(StandardScaler(), m)])
@pytest.mark.parametrize("rows", [1, few_rows.FEW_ROWS, few_rows.FEW_ROWS + 1])
def test_the_answer_is_the_models_own(fitted, wrap, rows):
    model, X = fitted
    model = wrap(model)
    if model is not fitted[0]:
        model[0].fit(X)
    np.testing.assert_array_equal(adapt(model, "response").answer(X[:rows]), model.predict(X[:rows]))


def test_threads_are_set_for_few_rows_alone_and_set_back(monkeypatch):
    state, seen = [7], []
    monkeypatch.setattr(
        few_rows, "_threads", lambda: ThreadNumber(lambda: state[0], lambda n: state.__setitem__(0, n))
    )

    class Recording(HistGradientBoostingRegressor):
        def predict(self, X):
            seen.append(state[0])
            if len(X) == 3:
                raise ValueError("three")
            return np.zeros(len(X))

    Recording.__module__ = "sklearn.somewhere"
    Recording.__name__ = "HistGradientBoostingRegressor"
    model = Recording()
    ask = few_rows.with_few_threads(model, model.predict)
    ask(np.zeros((5, 1)))
    ask(np.zeros((few_rows.FEW_ROWS + 1, 1)))
    with pytest.raises(ValueError, match="three"):
        ask(np.zeros((3, 1)))
    ask([[0.0]])  # whose number of rows is not known
    assert seen == [1, 7, 1, 7]
    assert state == [7]


def test_other_models_are_asked_as_they_are(fitted):
    forest = RandomForestRegressor(2).fit(fitted[1], fitted[1][:, 0])
    assert few_rows.with_few_threads(forest, forest.predict) == forest.predict


def test_without_openmp_the_model_is_asked_as_it_is(fitted, monkeypatch):
    monkeypatch.setattr(few_rows, "_threads", lambda: None)
    model, X = fitted
    np.testing.assert_array_equal(
        few_rows.with_few_threads(model, model.predict)(X[:2]), model.predict(X[:2])
    )


def test_the_real_number_of_threads_is_put_back(fitted):
    model, X = fitted
    threads = few_rows._threads()
    if threads is None:
        pytest.skip("scikit-learn was built without OpenMP")
    before = threads.get()
    few_rows.with_few_threads(model, model.predict)(X[:2])
    assert threads.get() == before


def test_what_is_linked_to_no_openmp_has_no_number(tmp_path):
    assert thread_number(str(tmp_path / "nothing.so")) is None
    assert thread_number(np._core._multiarray_umath.__file__) is None
