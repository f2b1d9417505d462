"""Effects: what `Explainer.effects` answers with. A dict of feature (or pair) -> Effect that prints briefly and draws itself."""

from __future__ import annotations

from typing import Any

from icefield.effect.drawable import drawing, effect_picture
from icefield.typing import AxisScale, Backend, BandShown, DataShown, Layout, LevelOrder, PictureKind


class Effects(dict[Any, Any]):
    """A plain dict of feature, or pair of features, to `Effect`, in the order requested.

    It is printed as one line a feature, shown as a small table with sparklines in a notebook, and drawn as small multiples.
    """

    @drawing
    def plot(
        self,
        *,
        top: int | None = None,
        backend: Backend = "matplotlib",
        kind: PictureKind = "auto",
        center: Any = None,
        derivative: bool = False,
        band: BandShown | None = "auto",
        data: DataShown | None = "auto",
        sort: LevelOrder = "auto",
        outputs: Any = None,
        layout: Layout = "auto",
        share_y: bool = True,
        x_scale: AxisScale = "auto",
        title: str | None = None,
        colors: Any = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Small multiples, one panel for each effect of one feature, in the mapping's order.

        `top` draws only the first `top` of them. The other options are those of `Effect.plot`, as far as curves of one feature have them.
        """

    def _drawn(self, top: int | None = None, **options: Any) -> Any:
        return effect_picture(list(self.values())[:top], options)

    def __repr__(self) -> str:
        from icefield.printing import effects_text

        return effects_text(self)

    def _repr_html_(self) -> str:
        from icefield.printing import effects_html

        return effects_html(self)
