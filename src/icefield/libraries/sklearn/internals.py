"""What icefield needs of scikit-learn's fitted estimators and cannot ask for in public.

Private attributes may move with any release; that they are all reached through here makes them easy to
list (search for `internal(`). Whoever asks says what to do where one is gone: readers of trees refuse the model.
"""

from __future__ import annotations

from typing import Any


def internal(estimator: Any, name: str) -> Any:
    """A private attribute of an estimator of scikit-learn's own."""
    return getattr(estimator, name)
