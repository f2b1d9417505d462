"""Effect: the one result everything downstream consumes.

Plots, tables, statistics and the report are drawn from Effects alone, never from the model or
the data again; so an Effect carries its curves, how they were computed, and what pictures need
to know of the data. It is frozen, picklable and self-contained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import ORDERED_KINDS, is_missing_value
from icefield.effect import parts, views
from icefield.effect.drawable import Drawable, effect_picture, effect_reading
from icefield.effect.parts import Backing, KeptCurves, PartFields, Predictions, Provenance, Spread
from icefield.typing import Float

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.effect.record import Record
    from icefield.statistics.reading import Reading


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Effect(PartFields, Drawable):
    """How a model responds to one or several features.

    Attributes
    ----------
    kind : ``"pd"``, ``"ice"`` or ``"ale"``
    features : the features' labels
    kinds : the features' column kinds
    grid : one array per feature, in the column's own dtype; a missing point, if any, is last
        (NaN or NaT, None where the dtype has no missing value)
    steps : whether the curve is an exact step function that changes only at grid values
    outputs : names of the outputs
    average : mean over the rows, shape ``(outputs, *grid)``
    groups : mapping of group label -> Effect on the same grid, empty without ``by``
    by : what the groups are groups of, or None
    view : ``"level"``, ``"centered"`` or ``"derivative"``
    reference : what a centred effect is relative to (a grid value, or ``"mean"``)

    spread : how far the averaged curves lie apart:
        std, se : standard deviation of the curves and Monte Carlo standard error of `average`, or None
        quantiles : mapping of probability -> array of shape ``(outputs, *grid)``, or None
        centered_std : standard deviation of the curves, each minus its own mean over the data, or None: how
            differently rows respond, whatever their predictions are otherwise. For one feature, from all rows up
            to 1,000 and from a seeded sample of 1,000 beyond; not for groups
        interval : intervals of this learner's expected curve (`LearnerInterval`), from `Explainer.refits`
    kept : the curves of single rows, None where none were kept:
        individual : the curves, shape ``(outputs, rows, *grid)``, or None
        rows : their positions in X, or None
        row_values : mapping of column -> the rows' values (to colour curves by), or None
        row_weights : the rows' weights; None when rows are not weighted
    backing : the data behind the curve:
        weight : sum of weights nearest to each grid point, shape ``grid``
        distribution : where the data is
        support : how much data supports each grid point, or None
    predictions : what the model predicts:
        scale, scale_label : ``"response"`` or ``"raw"``, and its name for axes
        baseline, output_std : mean and standard deviation of the predictions on a seeded sample
    provenance : how the numbers came about:
        engine, why : which engine computed them, and how that was chosen
        background : ``"data"`` or ``"training"``
        n_rows : rows averaged over
        over : what `average` and its spread are taken over: ``"rows"``, or ``"refits"`` of one model
            (see `icefield.compare`), which `n_rows`, `individual` and `rows` then count and number
        others : the model's columns that stay as they are; None where it is not known
        library : the frame library of the data, in which tables are returned
        naming : what features, their values and the target are called

    Notes
    -----
    A part's fields are the effect's too: ``effect.std`` is ``effect.spread.std``. Likewise an Effect is built, or
    changed by `dataclasses.replace`, from parts, from their fields by name, or from both; then the name wins.
    """

    kind: str
    features: tuple[Any, ...]
    grid: tuple[NDArray[Any], ...]
    average: Float
    outputs: tuple[Any, ...]
    kinds: tuple[str, ...]
    spread: Spread
    kept: KeptCurves | None
    backing: Backing
    predictions: Predictions
    provenance: Provenance
    groups: Mapping[Any, Effect]
    by: str | None
    steps: bool
    view: str
    reference: Any

    def __init__(
        self,
        kind: str,
        features: tuple[Any, ...],
        grid: tuple[NDArray[Any], ...],
        average: Float,
        outputs: tuple[Any, ...],
        kinds: tuple[str, ...],
        *,
        spread: Spread | None = None,
        kept: KeptCurves | None = None,
        backing: Backing | None = None,
        predictions: Predictions | None = None,
        provenance: Provenance | None = None,
        groups: Mapping[Any, Effect] | None = None,
        by: str | None = None,
        steps: bool = False,
        view: str = "level",
        reference: Any = None,
        **part_fields: Any,
    ) -> None:
        given_parts = {
            "spread": spread, "kept": kept, "backing": backing, "predictions": predictions, "provenance": provenance,
        }  # fmt: skip
        fields = {
            "kind": kind, "features": features, "grid": grid, "average": average, "outputs": outputs, "kinds": kinds,
            "groups": {} if groups is None else groups, "by": by, "steps": steps, "view": view, "reference": reference,
        }  # fmt: skip
        for name, value in {**fields, **parts.with_fields(given_parts, part_fields)}.items():
            object.__setattr__(self, name, value)

    # --- looking -------------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def missing_last(self) -> tuple[bool, ...]:
        """Per feature, whether the grid's last point is the missing value."""
        return tuple(len(g) > 0 and is_missing_value(g[-1]) for g in self.grid)

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Per feature, whether its values have an order and distances (numbers and times, but no codes)."""
        # An accumulated effect goes along a column's own order, whatever its values stand for.
        return tuple(
            kind in ORDERED_KINDS and (self.kind == "ale" or not self.naming.coded(feature))
            for kind, feature in zip(self.kinds, self.features)
        )

    @property
    def value_range(self) -> tuple[float, float]:
        """The lowest and the highest value that this kind of model can predict; infinite where none is known.

        Probabilities are from 0 to 1; what a log link gives (Poisson, gamma, Tweedie) is never negative, and what is never
        negative in the data is drawn no lower than 0. Changes, slopes and accumulated effects have no such ends.
        """
        if self.view != "level" or self.kind == "ale":
            return -np.inf, np.inf
        if self.scale == "response" and self.scale_label == "probability":
            return 0.0, 1.0
        return 0.0 if self.positive else -np.inf, np.inf

    @property
    def reading(self) -> Reading:
        """The curve in words, with the numbers behind each statement."""
        reading: Reading = effect_reading(self)
        return reading

    def _drawn(self, **options: Any) -> Any:
        return effect_picture(self, options)

    def __repr__(self) -> str:
        from icefield.printing import effect_text

        return effect_text(self)

    def _repr_html_(self) -> str:
        from icefield.printing import effect_html

        return effect_html(self)

    # --- other views of the same numbers -------------------------------------------------------

    def center(self, at: Any = "first") -> Effect:
        """The change from a base value: every curve minus its own value there.

        Parameters
        ----------
        at : ``"first"`` (the first grid value), ``"mean"`` (each curve's own mean over the grid)
            or a value of the grid; for numbers and times between grid points, curves are
            interpolated. For several features, a tuple with one value each.

        Notes
        -----
        The spread of centred curves cannot be derived from the spread of the curves: `std`, `se` and
        `quantiles` are recomputed when every row's curve was kept, and None otherwise (so always None
        in `groups`, which keep no curves).
        """
        return views.centered(self, at)

    def derivative(self, along: Any = None) -> Effect:
        """The slope of the curves (d-ICE, and the slope of the PD), by central differences.

        Times are differentiated per day. `along` chooses the feature when there are several. The
        missing point is left out.
        """
        return views.derivative(self, along)

    def averages_only(self) -> Effect:
        """The effect without the curves of single rows: ICE becomes the PD it averages to."""
        return replace(self, kind="pd" if self.kind == "ice" else self.kind, kept=None)

    # --- taking it elsewhere -------------------------------------------------------------------

    def to_frame(self, individual: bool = False, record: Record | None = None) -> Any:
        """A tidy table in the caller's frame library: one row per output, grid point (and group).

        With ``individual=True`` one row per output, kept curve and grid point. `record` (`Explainer.record`) adds the columns
        ``run_id``, ``model_hash`` and ``data_version``.
        """
        from icefield.effect.tidy import curves_frame, effect_frame, with_record

        return with_record(curves_frame(self) if individual else effect_frame(self), record)

    def to_csv(self, path: str | Path | None = None, individual: bool = False) -> str | None:
        """`to_frame` as CSV: written to `path`, or returned as text without one."""
        from icefield.effect.tidy import as_csv

        return as_csv(self.to_frame(individual), path)

    def to_parquet(self, path: str | Path, individual: bool = False, record: Record | None = None) -> None:
        """Write `to_frame` as a Parquet file."""
        from icefield.effect.tidy import write_parquet

        write_parquet(self.to_frame(individual, record), path)

    def save(self, path: str | Path) -> None:
        """Write the effect to one file in an open format (a zip of .npy arrays and JSON)."""
        from icefield.effect.storage import save_effect

        save_effect(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Effect:
        """Read an effect written by `save`. Nothing in the file is executed."""
        from icefield.effect.storage import load_effect

        return load_effect(path)
