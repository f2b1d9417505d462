"""The scikit-learn drop-in: the two names of `sklearn.inspection`, computed by icefield's engines.

Replace the import and nothing else changes: signatures, defaults, result types, errors and
numbers are scikit-learn's, ``method="auto" | "brute" | "recursion"`` included. Drawing is
scikit-learn's own too. What differs is how the numbers are found (from a model's trees where that
is quicker, otherwise in few large calls of the model instead of one per grid point, averages
without keeping every prediction) and a short list of cases where scikit-learn's answer is plainly
wrong; each of those gets the right answer, and a warning says so. The migration page of the
documentation holds that list.

Everything else (whole numbers, missing values, polars, any model) is in `icefield.Explainer`.
"""

from __future__ import annotations

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    from icefield.errors import MissingDependencyError

    raise MissingDependencyError(
        "icefield.sklearn stands in for scikit-learn's functions and needs it. "
        "Hint: pip install scikit-learn, or use icefield.Explainer, which does not."
    ) from error

from icefield.sklearn.dependence import partial_dependence
from icefield.sklearn.display import PartialDependenceDisplay

__all__ = ["PartialDependenceDisplay", "partial_dependence"]


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__
