"""Links against their formulas, at ordinary and at extreme raw values."""

import pickle

import numpy as np
import pytest

from icefield.forest import links

RAW = np.array([[-800.0], [-3.0], [-0.5], [0.0], [0.5], [3.0], [800.0]])


def test_identity_is_additive_and_nothing_else_is():
    assert links.identity().additive
    assert np.array_equal(links.identity().apply(RAW), RAW)
    others = [
        links.scaled(2.0), links.logistic(), links.softmax(), links.exponential(), links.softplus(),
        links.signed_square(), links.two_columns(links.logistic()), links.anomaly(3.0, -0.5),
    ]  # fmt: skip
    assert not any(link.additive for link in others)


@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_logistic(factor):
    found = links.logistic(factor).apply(RAW)
    assert found[0, 0] == 0.0
    assert found[-1, 0] == 1.0
    inner = RAW[1:-1]
    assert np.allclose(np.log(found[1:-1] / (1 - found[1:-1])), factor * inner, rtol=1e-12, atol=1e-12)


def test_two_columns_are_complements():
    found = links.two_columns(links.logistic()).apply(RAW)
    assert found.shape == (7, 2)
    assert np.array_equal(found[:, 0], 1 - found[:, 1])


def test_selected_outputs_are_those_of_the_whole_response(rng):
    binary, raw = links.two_columns(links.logistic(2.0)), rng.normal(size=(4, 3, 1)) * 500
    for outputs in ((0,), (1,), (0, 1), (1, 0)):
        assert np.array_equal(binary.selected(raw, outputs), binary.apply(raw)[..., list(outputs)])
    raw = rng.normal(size=(4, 3))
    assert np.array_equal(links.softmax().selected(raw, (2, 0)), links.softmax().apply(raw)[:, [2, 0]])


def test_softmax_is_a_distribution_over_the_last_axis():
    raw = np.random.default_rng(0).normal(size=(2, 5, 3)) * 300
    found = links.softmax().apply(raw)
    assert found.shape == raw.shape
    assert np.allclose(found.sum(axis=-1), 1.0, rtol=1e-14)
    assert np.array_equal(found.argmax(axis=-1), raw.argmax(axis=-1))


def test_exponential_softplus_and_signed_square():
    assert np.array_equal(links.exponential().apply(RAW[:-1]), np.exp(RAW[:-1]))
    assert links.exponential().apply(RAW)[-1, 0] == np.inf
    assert np.allclose(links.softplus().apply(RAW[1:-1]), np.log1p(np.exp(RAW[1:-1])), rtol=1e-12)
    assert links.softplus().apply(RAW)[-1, 0] == 800.0
    assert links.signed_square().apply(np.array([[-3.0], [2.0]])).tolist() == [[-9.0], [4.0]]


def test_anomaly_scores():
    assert links.anomaly(4.0, -0.5).apply(np.array([[4.0]])).tolist() == [[0.0]]
    assert links.anomaly(0.0, -0.5).apply(np.array([[7.0]])).tolist() == [[0.0]]


def test_mixtures_add_weighted_responses_into_their_columns():
    parts = [(links.softmax(), 2, 0.25, (0, 2)), (links.identity(), 3, 0.75, (0, 1, 2))]
    raw = np.array([[0.0, 0.0, 0.1, 0.2, 0.7]])
    found = links.mixture(parts, 3).apply(raw)
    assert np.allclose(found, [[0.125 + 0.075, 0.15, 0.125 + 0.525]], rtol=1e-14)


def test_chains_and_pickles():
    link = links.then(links.scaled(0.5), "half, then squared", np.square)
    again = pickle.loads(pickle.dumps(link))
    assert again.apply(np.array([[4.0]])).tolist() == [[4.0]]
    assert again.name == "half, then squared"
