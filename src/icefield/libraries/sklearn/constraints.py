"""The constraints an estimator of scikit-learn's was fitted with: among its parameters."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from icefield.libraries.declared import Declared, sets, signs


def declared(model: Any) -> Declared:
    """Monotone and interaction constraints of trees, forests and histogram gradient boosting."""
    monotone = getattr(model, "monotonic_cst", None)
    together = getattr(model, "interaction_cst", None)
    n = getattr(model, "n_features_in_", 0)
    if isinstance(together, str):
        together = (
            [[j] for j in range(n)] if together == "no_interactions" else list(combinations(range(n), 2))
        )
    if monotone is None and together is None:
        return Declared()
    together = [list(group) for group in together or ()]
    # Columns in no set make up one more.
    rest = set(range(n)).difference(*together)
    if together and rest:
        together.append(sorted(rest))
    if monotone is not None and not isinstance(monotone, dict):
        monotone = np.asarray(monotone).tolist()
    return Declared(signs(monotone) if monotone is not None else {}, sets(together))
