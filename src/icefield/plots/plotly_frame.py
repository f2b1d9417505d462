"""One panel of a plotly figure: where its traces, shapes and texts go, and places on its axes as plotly wants them."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from icefield.plots.panels import Axis, Float, Panel
from icefield.plots.plotly_theme import Theme, escaped
from icefield.wording.names import wrapped


class Frame:
    """One panel of a plotly figure: where its traces, shapes and texts go."""

    def __init__(
        self, figure: go.Figure, panel: Panel, theme: Theme, number: int, at: tuple[int, int]
    ) -> None:
        self.figure, self.panel, self.theme, self.at = figure, panel, theme, at
        self.suffix = "" if number == 0 else str(number + 1)

    def trace(self, kind: Any, **options: Any) -> None:
        self.figure.add_trace(kind(**options), row=self.at[0], col=self.at[1])

    def shape(self, across: str, up: str, **options: Any) -> None:
        """A shape; `across` and `up` say whether a direction is in data or in shares of the frame."""
        self.figure.add_shape(**self._references(across, up), **options)

    def text(
        self, x: Any, y: Any, text: str, across: str = "frame", up: str = "frame", **options: Any
    ) -> None:
        where = self._references(across, up)
        self.figure.add_annotation(x=x, y=y, **where, text=escaped(text), showarrow=False, **options)

    def _references(self, across: str, up: str) -> dict[str, str]:
        x, y = (" domain" if reference == "frame" else "" for reference in (across, up))
        return {"xref": f"x{self.suffix}{x}", "yref": f"y{self.suffix}{y}"}

    def x(self, values: Float) -> NDArray[Any]:
        return positions(values, self.panel.x)

    def oriented(self, x: Any, y: Any) -> dict[str, Any]:
        return {"x": y, "y": x} if self.panel.flip else {"x": x, "y": y}

    def legend(self, label: str | None) -> dict[str, Any]:
        """Legend entries once per label, whatever panel or mark they come from."""
        if label is None:
            return {"showlegend": False}
        text = escaped(wrapped(label, 28))
        seen = {t.legendgroup for t in self.figure.data if t.showlegend}
        return {"name": text, "legendgroup": text, "showlegend": text not in seen}


def positions(values: Float, axis: Axis) -> NDArray[Any]:
    """Places on an axis as plotly wants them: dates where it shows times."""
    if axis.kind != "time":
        return np.asarray(values, dtype=np.float64)
    known = np.isfinite(values)
    out = np.full(len(values), np.datetime64("NaT", "ms"), dtype="datetime64[ms]")
    out[known] = (np.asarray(values)[known] * 86_400e3).astype(np.int64).astype("datetime64[ms]")
    return out
