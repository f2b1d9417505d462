"""The spread between refits of one model, where it is known."""

from __future__ import annotations

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")


import icefield
from icefield import compare
from icefield.effect import Effect

SLOPES = np.array([1.0, 2.0, 4.0, 5.0])
LEVELS = np.array([0.0, 3.0, -1.0, 2.0])


def linear(slope, level, X, **options):
    return icefield.Explainer(lambda f: level + slope * f["a"].to_numpy() + f["b"].to_numpy(), X, **options)


@pytest.fixture
def X(rng):
    return pd.DataFrame(
        {"a": rng.uniform(0, 2, 40), "b": rng.normal(size=40), "k": rng.choice(["u", "v"], 40)}
    )


@pytest.fixture
def refits(X):
    return compare([linear(s, c, X) for s, c in zip(SLOPES, LEVELS)])


def test_band_of_lines_is_the_mean_line_and_the_spread_of_its_coefficients(refits, X):
    band = refits.partial_dependence("a", grid=[0.0, 0.5, 2.0]).band(quantiles=(0.25, 0.75))
    x = np.array([0.0, 0.5, 2.0])
    lines = LEVELS[:, None] + SLOPES[:, None] * x + X["b"].mean()
    np.testing.assert_allclose(band.average[0], lines.mean(axis=0))
    np.testing.assert_allclose(band.std[0], lines.std(axis=0, ddof=1))
    np.testing.assert_allclose(band.se[0], lines.std(axis=0, ddof=1) / 2)
    np.testing.assert_allclose(band.quantiles[0.25][0], np.sort(lines, axis=0)[0])
    np.testing.assert_allclose(band.quantiles[0.75][0], np.sort(lines, axis=0)[2])
    np.testing.assert_allclose(band.individual[0], lines)
    assert (band.over, band.n_rows, band.kind) == ("refits", 4, "pd")


def test_centring_leaves_the_spread_of_the_slopes(refits):
    band = refits.partial_dependence("a", grid=[0.0, 0.5, 2.0]).band().center()
    np.testing.assert_allclose(band.std[0], SLOPES.std(ddof=1) * np.array([0.0, 0.5, 2.0]), atol=1e-12)
    slope = refits.partial_dependence("a", grid=[0.0, 0.5, 2.0]).band().derivative()
    np.testing.assert_allclose(slope.average[0], SLOPES.mean())
    np.testing.assert_allclose(slope.std[0], SLOPES.std(ddof=1))


def test_bootstrap_of_a_line_has_the_textbook_standard_error(rng):
    """The slope's standard error is sigma / (sqrt(n) sd(x)): the band's must come near it."""
    n, sigma = 400, 0.5
    a = rng.normal(size=n)
    y = 1 + 2 * a + sigma * rng.normal(size=n)
    X = pd.DataFrame({"a": a})
    refits = []
    for _ in range(300):
        drawn = rng.integers(0, n, n)
        slope, level = np.polyfit(a[drawn], y[drawn], 1)
        refits.append(icefield.Explainer(lambda f, s=slope, c=level: c + s * f["a"].to_numpy(), X))
    band = compare(refits).partial_dependence("a", grid=[-1.0, 0.0, 1.0]).band().center(0.0)
    expected = sigma / np.sqrt(n) / a.std()
    np.testing.assert_allclose(band.std[0][[0, 2]], expected, rtol=0.15)


def test_ale_ice_and_surfaces_have_bands_too(refits):
    ale = refits.ale("a", bins=4).band()
    np.testing.assert_allclose(
        ale.std[0], SLOPES.std(ddof=1) * np.abs(ale.average[0] / SLOPES.mean()), atol=1e-12
    )
    assert ale.kind == "ale"
    ice = refits.ice("a", grid=[0.0, 1.0], rows=3).band()
    assert (ice.kind, ice.individual.shape) == ("pd", (1, 4, 2))
    surface = refits.partial_dependence("a", "b", grid=3).band()
    assert surface.std.shape == (1, 3, 3)
    levels = refits.partial_dependence("k").band()
    np.testing.assert_allclose(levels.average[0, 0], levels.average[0, 1])


def test_every_group_has_its_band(X):
    refits = compare([linear(s, 0.0, X, by="k") for s in SLOPES])
    band = refits.partial_dependence("a", grid=[0.0, 1.0]).band()
    assert list(band.groups) == ["u", "v"]
    expected = X["b"][X["k"] == "v"].mean()
    np.testing.assert_allclose(band.groups["v"].average[0], [expected, expected + SLOPES.mean()])
    np.testing.assert_allclose(band.groups["v"].std[0], [0.0, SLOPES.std(ddof=1)], atol=1e-12)


def test_groups_that_a_refit_lacks_are_left_out_and_said_to_be(X):
    other = X.assign(k="u")
    refits = compare([linear(1.0, 0.0, X, by="k"), linear(2.0, 0.0, other, by="k")])
    band = refits.partial_dependence("a", grid=[0.0, 1.0]).band()
    assert list(band.groups) == ["u"]
    assert "1 groups that not every refit has" in band.why


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_pictures_say_that_the_band_is_of_refits(refits, backend):
    band = refits.partial_dependence("a").band()
    drawn = band.plot(backend=backend)
    if backend == "plotly":
        text = drawn.to_json()
    else:
        figure = drawn.figure
        figure.canvas.draw()
        text = " ".join(t.get_text() for t in figure.findobj(matplotlib.text.Text))
        assert any(c.get_alpha() is not None for c in drawn.collections)
    text = " ".join(text.split())
    assert "standard deviation of the refits" in text
    assert "average over 4 refits" in text
    assert "of the rows" not in text


def test_print_frame_and_file(refits, tmp_path):
    band = refits.partial_dependence("a", grid=[0.0, 1.0]).band(quantiles=(0.1, 0.9))
    assert "4 refits, data background" in repr(band)
    assert "individual curves" not in repr(band)
    frame = band.to_frame()
    assert {"a", "average", "std", "q0.1", "q0.9"} <= set(frame.columns)
    curves = band.to_frame(individual=True)
    assert curves["row"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    band.save(tmp_path / "band.ice")
    again = Effect.load(tmp_path / "band.ice")
    assert again.over == "refits"
    np.testing.assert_array_equal(again.std, band.std)


def test_refits_that_differ_are_no_heterogeneity_of_rows(X):
    """Crossing refits of an additive model: not "curves cross: look for an interaction"."""
    band = compare([linear(s, 0.0, X) for s in (-2.0, 2.0)]).partial_dependence("a").band()
    assert band.reading.heterogeneity is None
    assert not band.reading.hidden
    assert band.reading.shape == "flat"


def test_what_has_no_band(X, complains):
    with complains("members", "at least two refits"):
        compare([linear(1.0, 0.0, X)]).partial_dependence("a").band()
    with pytest.raises(TypeError, match="compute them first"):
        compare([linear(1.0, 0.0, X), linear(2.0, 0.0, X)]).band()
    shifted = compare([linear(1.0, 0.0, X), linear(1.0, 0.0, X.assign(a=X["a"] + 9))])
    with pytest.raises(ValueError, match=r"different grid points.*bins=edges"):
        shifted.ale("a").band()
    effect = linear(1.0, 0.0, X).partial_dependence("a")
    with complains("members", "same outputs"):
        compare([effect, replace(effect, outputs=("another",))]).band()
