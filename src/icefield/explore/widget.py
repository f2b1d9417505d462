"""The explorer in a notebook: an anywidget that speaks the same messages, and leaves a picture behind where no script runs."""

from __future__ import annotations

import base64
import importlib.util
import io
from functools import cache
from typing import Any

from icefield.errors import MissingDependencyError
from icefield.explore.controller import Controller
from icefield.explore.messages import AnswerPart
from icefield.page import built

PICTURE = "image/png"


def check_installed() -> None:
    """An error that says what to install."""
    if importlib.util.find_spec("anywidget") is None:
        raise MissingDependencyError(
            'The explorer in a notebook needs anywidget. Hint: pip install "icefield[explore]", or use ex.serve().'
        )


@cache
def widget_class() -> Any:
    """The widget's class, defined once: anywidget is optional."""
    check_installed()
    import anywidget
    import traitlets

    class ExplorerWidget(anywidget.AnyWidget):
        """The live explorer; `state` is a dict that `ex.explore(state=...)` takes, `python` its lines of code.

        Setting `state` shows it. `picture` stays in a saved notebook, where no Python answers.
        """

        _esm = built("explore.js")
        state = traitlets.Dict().tag(sync=True)
        letters = traitlets.Bool(True).tag(sync=True)
        picture = traitlets.Unicode("").tag(sync=True)

        def __init__(self, controller: Controller, state: dict[str, Any], letters: bool) -> None:
            super().__init__(state=state, letters=letters)
            self._controller, self._session = controller, controller.open()
            self.on_msg(self._receive)

        def _receive(self, _: Any, message: Any, __: Any) -> None:
            self._session.ask(message, self._answer)

        def _answer(self, answer: AnswerPart) -> None:
            head, bodies = answer.listed()
            self.send(head, bodies)

        @property
        def python(self) -> str:
            """The Python lines that give what is shown."""
            return "\n".join(self._session.lines({"feature": 0, **self.state}))

        def close(self) -> None:
            self._session.close()
            super().close()

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            """The widget and, for what shows no widgets (nbconvert, GitHub), a picture of all rows' curves."""
            output = super()._repr_mimebundle_(**kwargs)
            if output is None:
                return None
            self.picture = self._controller.once("still", lambda: still(self._controller))
            bundle, more = output if isinstance(output, tuple) else (output, {})
            return {**bundle, PICTURE: self.picture}, more

    return ExplorerWidget


def explorer_widget(controller: Controller, state: dict[str, Any] | None = None, letters: bool = True) -> Any:
    """The widget over a controller. Its trait `state` is the committed state, which gives the same view again."""
    return widget_class()(controller, dict(state or {}), letters)


def still(controller: Controller) -> str:
    """A PNG in base64: the curves of the features that move the predictions most, over all rows."""
    import matplotlib.pyplot as plt

    from icefield.plots import plot_many
    from icefield.statistics.importance import curve_importance

    effects = sorted(controller.ghosts.values(), key=lambda e: -float(curve_importance(e).mean()))[:6]
    figure = plot_many(effects).figure
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=80, bbox_inches="tight")
    plt.close(figure)
    return base64.b64encode(written.getvalue()).decode()
