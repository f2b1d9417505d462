"""Keras, JAX and any other framework: wrap the model in a function of the rows.

A callable gets the caller's rows (here a numpy array) and returns one prediction per row, or one
column per output. Run with ``python examples/callables.py``; each part says when its framework is
not installed.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from icefield import Effect, Explainer


def rows_and_target() -> tuple[np.ndarray, np.ndarray]:
    """Two features that add and one that multiplies."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 3)).astype(np.float32)
    return X, X[:, 0] + 2 * X[:, 1] * X[:, 2]


def with_keras() -> Effect:
    """A Keras model: its ``predict`` without the progress bar is all that is needed."""
    import keras

    X, y = rows_and_target()
    model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(X, y, epochs=5, verbose=0)
    return Explainer(lambda rows: model.predict(rows, verbose=0), X).partial_dependence(0)


def with_jax() -> Effect:
    """A JAX function, compiled once; the answer is turned back into a numpy array."""
    import jax
    import jax.numpy as jnp

    X, _ = rows_and_target()
    weights = jnp.array([1.0, 2.0, 3.0])
    predict = jax.jit(lambda rows: jnp.tanh(rows @ weights))
    return Explainer(lambda rows: np.asarray(predict(rows)), X).partial_dependence(0)


def with_numpy() -> Effect:
    """Anything at all that maps rows to numbers."""
    X, _ = rows_and_target()
    return Explainer(lambda rows: rows[:, 0] + 2 * rows[:, 1] * rows[:, 2], X).partial_dependence(0)


def main() -> None:
    for name, example in (("keras", with_keras), ("jax", with_jax), ("numpy", with_numpy)):
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed: skipped")
        else:
            print(f"--- {name}\n{example()!r}")


if __name__ == "__main__":
    main()
