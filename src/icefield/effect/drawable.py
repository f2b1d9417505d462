"""Everything that can be drawn: `plot` with every option of a picture, written down once.

An Effect and the tables made of Effects inherit `Drawable.plot` and say in `_drawn` what their picture is; where a
picture takes something else, its `plot` is written in full beside it. A `plot` is only its signature and its
docstring, which editors, type checkers and `help` read: `drawing` hands what was given to `_drawn`, and what the
options may be is checked where pictures are made (`icefield.plots.options`).
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, cast

from icefield.errors import InputTypeError, did_you_mean
from icefield.typing import (
    AxisScale,
    Backend,
    BandShown,
    CurvesShown,
    DataShown,
    Layout,
    LevelOrder,
    MaskShown,
    PictureKind,
)
from icefield.validate import renamed

P = ParamSpec("P")
_MAKERS: dict[str, Callable[..., Any]] = {}


def register_makers(
    *,
    picture: Callable[[Any, dict[str, Any]], Any],
    image: Callable[[Any], bytes],
    reading: Callable[[Any], Any],
) -> None:
    """Register the functions that draw an Effect or a list of them, make a PNG of one, and read one.

    These are `icefield.plots` and `icefield.statistics`, which are built on Effects and therefore not imported here.
    """
    _MAKERS.update(picture=picture, image=image, reading=reading)


def effect_reading(effect: Any) -> Any:
    """An Effect's reading."""
    return _MAKERS["reading"](effect)


def effect_picture(effects: Any, options: dict[str, Any]) -> Any:
    """The picture of an Effect, or small multiples of a list of them."""
    return _MAKERS["picture"](effects, options)


def effect_image(effect: Any) -> bytes:
    """A PNG of an Effect's picture, drawn without pyplot."""
    return bytes(_MAKERS["image"](effect))


def drawing(plot: Callable[P, Any]) -> Callable[P, Any]:
    """The plot method with this signature: what it is given goes to `_drawn` of the same object.

    An option that the signature does not have is answered with the closest one it has.
    """
    signature = inspect.signature(plot)
    known = [name for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY]

    @wraps(plot)
    def draw(self: Any, *args: Any, **options: Any) -> Any:
        for name in options:
            if name not in signature.parameters:
                raise InputTypeError.saying(
                    f"There is no plot option `{name}`.", did_you_mean(name, sorted(known))
                )
        signature.bind(self, *args, **options)
        return self._drawn(*args, **options)

    return cast(Callable[P, Any], renamed("spread", "band")(draw) if "band" in known else draw)


class Drawable(ABC):
    """What has a picture of curves or surfaces."""

    @drawing  # noqa: B027  (it fills the method)
    def plot(
        self,
        *,
        backend: Backend = "matplotlib",
        ax: Any = None,
        kind: PictureKind = "auto",
        center: Any = None,
        derivative: bool = False,
        band: BandShown | None = "auto",
        data: DataShown | None = "auto",
        curves: CurvesShown | None = "auto",
        max_curves: int | None = None,
        color_by: Any = None,
        highlight: Any = None,
        mask: MaskShown | None = "auto",
        interaction: Any = False,
        sort: LevelOrder = "auto",
        top: int | None = None,
        outputs: Any = None,
        layout: Layout = "auto",
        share_y: bool = True,
        x_scale: AxisScale = "auto",
        title: str | None = None,
        colors: Any = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw a picture. Where an option takes ``"none"``, None means the same.

        Parameters
        ----------
        backend : ``"matplotlib"`` or ``"plotly"``
        ax : a matplotlib Axes to draw into, for pictures of one panel
        kind : one feature: ``"line"``, ``"dots"``, ``"bars"``; two: ``"contour"``, ``"heatmap"``,
            ``"surface"`` (3-D), ``"lines"`` (a curve for some values of the second feature)
        center : True, ``"mean"`` or a value of the feature: draw the change from there
        derivative : draw the slope
        band : ``"interval"`` (of a learner's expected curve, from `Explainer.refits`: at each point and, lighter, for the whole
            curve; drawn by default where available), ``"simultaneous"`` (the latter alone), ``"centered"`` (± 1 standard deviation of the rows' curves, each around its own mean:
            how differently rows respond; drawn by default where it was computed), ``"std"`` (of the curves as they
            are), ``"quantiles"`` (the outermost computed), ``"se"`` (± 2 standard errors of the average) or None
        data : where the data is: ``"histogram"``, ``"rug"``, ``"deciles"``, None; for two
            features also ``"points"`` (a sample), and ``"histogram"`` is drawn on the edges
        curves : individual curves as ``"lines"``, as ``"density"`` (which counts all of them) or None
        max_curves : draw at most this many lines (a sample with a fixed seed); None for 300
        color_by : a column whose values colour the individual curves
        highlight : rows to emphasise: positions in X, values of a column that names rows, or a
            mapping of label -> position
        mask : what hides the parts of a surface without data: ``"hull"``, ``"density"``, ``"support"`` or None
        interaction : draw the surface minus both one-way curves; True takes these from the surface's own
            margins, or pass the two one-way Effects
        sort : order of levels: ``"level"`` (the data's own), ``"value"`` (the effect), ``"count"`` (rows) or ``"name"``; by
            default by the effect where there are more than 12 levels without an order of their own
        top : draw at most this many levels, and the rest as one point
        outputs : which outputs (names), all by default
        layout : several outputs, groups or models in one panel (``"overlay"``) or ``"side"`` by side
        share_y : whether panels side by side share their y axis
        x_scale : the axis of one feature of numbers: ``"linear"`` (all of it) or ``"log"``. By default as its
            grid is spaced, and without a long tail of 1 % of the rows along which the curve is flat
        title : a heading
        colors : colours for the curves, instead of the style's or the colour-blind safe default
        cmap : colour map for surfaces and numeric colouring
        figsize : size in inches

        Returns
        -------
        matplotlib : the Axes of a picture of one panel, the Figure of several
        plotly : the Figure
        """

    @abstractmethod
    def _drawn(self, **options: Any) -> Any:
        """The picture, for the options given."""
