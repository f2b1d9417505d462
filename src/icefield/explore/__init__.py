"""The live explorer: one page over one Explainer, recomputed on every gesture.

`Controller` answers the page's requests with an Explainer's own numbers; `server` shows the page in a browser, `widget` in a
notebook. Both speak the messages of `messages`, and the page is one script, built from ``page/source/explore``.
"""

from __future__ import annotations

from icefield.explore.controller import Controller
from icefield.explore.session import Session

__all__ = ["Controller", "Session"]
