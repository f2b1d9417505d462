"""The progress bar: for people who wait on a terminal, and nobody else."""

from __future__ import annotations

import io
import sys
import types

import numpy as np
import pytest

import icefield
from icefield import progress
from icefield.progress import Progress


class Terminal(io.StringIO):
    """Text a person would see, as they would see it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Call it in the test: pytest puts its own stderr in place after fixtures are made."""

    def attached() -> Terminal:
        seen = Terminal()
        monkeypatch.setattr(sys, "stderr", seen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        return seen

    return attached


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test turns."""
    now = types.SimpleNamespace(time=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.time)
    return now


def test_nothing_is_shown_for_a_second(terminal, clock):
    seen = terminal()
    with Progress("asking the model", total=10) as bar:
        for _ in range(4):
            clock.time += 0.25
            bar.advance()
    assert seen.getvalue() == ""


def test_what_takes_long_to_begin_is_shown_too(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    seen = terminal()
    with Progress("report", total=10) as bar:
        bar.now("what is said")
        bar._timer.join()
        bar._bar.refresh()
        assert "report: what is said" in seen.getvalue()
        bar.now("regions")
        bar._bar.refresh()
        assert "report: regions" in seen.getvalue()
    assert not bar._bar.live.is_started


def test_a_bar_that_comes_too_late_stays_away(terminal, monkeypatch):
    terminal()
    with Progress("report", total=10) as bar:
        pass
    bar._timer.join()
    bar._show()
    assert bar._bar is None


def test_then_a_bar_with_its_title(terminal, clock):
    seen = terminal()
    with Progress("asking the model", total=10) as bar:
        clock.time += 2.5
        bar.advance(5)
        bar._bar.refresh()
        assert "asking the model" in seen.getvalue()
        assert "50%" in seen.getvalue()


def test_the_bar_is_gone_when_the_work_fails(terminal, clock):
    terminal()
    bar = Progress("asking the model", total=10)

    def work():
        with bar:
            clock.time += 3
            bar.advance()
            assert bar._bar.live.is_started
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not bar._bar.live.is_started


def test_nothing_is_shown_without_a_terminal(monkeypatch, clock):
    seen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", seen)
    with Progress("asking the model", total=10) as bar:
        clock.time += 60
        bar.advance()
    assert seen.getvalue() == ""


def test_nothing_is_shown_without_any_stderr(monkeypatch, clock):
    """A windowed program has none."""
    monkeypatch.setattr(sys, "stderr", None)
    with Progress("asking the model", total=10) as bar:
        clock.time += 60
        bar.advance()
    assert bar._bar is None


def test_a_second_bar_at_the_same_time_stays_away(terminal, clock):
    """Two threads that wait must not stop each other for want of a terminal."""
    terminal()
    with Progress("one", total=10) as one, Progress("two", total=10) as two:
        clock.time += 3
        one.advance()
        two.advance()
        two.advance()
    assert two.done == 2


@pytest.mark.parametrize(
    ("shell", "shown"), [("ZMQInteractiveShell", True), ("TerminalInteractiveShell", False), (None, False)]
)
def test_a_notebook_counts_as_someone_watching(monkeypatch, shell, shown):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    made = type(shell, (), {})() if shell else None
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: made))
    assert progress.visible() is shown


def test_an_explainer_reports_all_its_work(monkeypatch):
    kept = []
    advance = Progress.advance

    def noted(self, units=1.0):
        advance(self, units)
        kept.append((self.done, self.total))

    monkeypatch.setattr(Progress, "advance", noted)
    icefield.Explainer(lambda rows: rows[:, 0], np.zeros((50, 2))).effects(grid=[1.0, 2.0, 3.0])
    assert kept[-1] == (300, 300)


def test_an_explainer_is_silent_in_a_pipe(capfd, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    icefield.Explainer(lambda rows: rows[:, 0], np.zeros((50, 2))).partial_dependence(0, grid=[1.0, 2.0])
    assert capfd.readouterr() == ("", "")
