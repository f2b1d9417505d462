"""One client of an explorer: takes its requests, puts each into its slot, and stops what a newer one makes stale."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from icefield.explore.answers import about_all, filters, one_row, other_views, state_code
from icefield.explore.messages import SLOTS, VERSION, AnswerPart, BadMessage, number_of, slot_of
from icefield.explore.query import Memory, Query
from icefield.explore.slots import Parts, Slot, SlotJob, error_part

if TYPE_CHECKING:
    from icefield.explore.controller import Controller

HANDLERS: dict[str, Callable[[Query], Parts]] = {
    "open": about_all.about, "rows": filters.filter_rows, "curve": filters.curve, "compare": filters.compare,
    "surface": other_views.surface, "ale": other_views.local, "observed": other_views.means, "regions": other_views.regions, "audit": other_views.audit_feature,
    "points": other_views.scatter, "row": one_row.pick, "whatif": one_row.what_if, "code": state_code.code,
}  # fmt: skip


class Session:
    """One client of a controller: `ask` takes a request and answers through `send`, from other threads."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self._slots = {name: Slot(name, controller.seconds) for name in SLOTS}
        self._memory = Memory()
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None

    def ask(self, message: Any, send: Callable[[AnswerPart], None]) -> None:
        """Take one request; its answers come later, and an error where it cannot be understood comes at once."""
        number = message.get("id") if isinstance(message, dict) else None
        try:
            if not isinstance(message, dict):
                raise BadMessage("A request must be an object.")
            if message.get("v") != VERSION:
                raise BadMessage(f"This explorer speaks version {VERSION} of its messages.", "v")
            number = number_of(message)
            kind, slot = message.get("kind"), slot_of(message)
            handler = HANDLERS.get(kind) if isinstance(kind, str) else None
            if handler is None:
                raise BadMessage(f"There is no request {kind!r:.40}.", "kind")
        except BadMessage as error:
            known = number if isinstance(number, int) and not isinstance(number, bool) else -1
            send(error_part(known, "input", str(error), error.where))
            return
        if self._watch is None:
            self._watch = threading.Thread(target=self._poll, name="icefield-explore-watch", daemon=True)
            self._watch.start()
        self._slots[slot].put(
            SlotJob(number, lambda: handler(Query(message, self.controller, self._memory)), send)
        )

    def lines(self, state: Mapping[str, Any]) -> list[str]:
        """The Python lines that give what a state shows."""
        return state_code.lines(Query(state, self.controller, self._memory))

    def close(self, seconds: float = 0.0) -> None:
        """Stop everything that is being worked at for this client; wait for it so many seconds."""
        self._closed.set()
        for slot in self._slots.values():
            slot.close()
        if seconds:
            for slot in self._slots.values():
                slot.join(seconds)

    def _poll(self) -> None:
        while not self._closed.wait(0.5):
            for slot in self._slots.values():
                slot.watch(time.perf_counter())
