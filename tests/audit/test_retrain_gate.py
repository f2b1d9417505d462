"""The retrain gate: honest retrains pass, planted changes are caught, and files change little."""

from __future__ import annotations

from pathlib import Path

import pytest
from retrained import CHANGES, PROCESSES, explained, written

import icefield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Snapshots, written when first asked for."""
    home = tmp_path_factory.mktemp("effects")

    class Folders(dict):
        def __missing__(self, process: str) -> Path:
            self[process] = written(process, home)
            return self[process]

    return Folders()


@pytest.mark.slow
def test_honest_retrains_raise_at_most_one_false_alarm(folders: dict[str, Path]) -> None:
    alarms = []
    for process in PROCESSES:
        for seed in range(201, 221):
            found = icefield.check(explained(process, seed), against=folders[process])
            if not found.ok:
                alarms.append((process, seed, [str(s) for s in found.failures]))
    assert len(alarms) <= 1, alarms


@pytest.mark.slow
@pytest.mark.parametrize("seed", [301, 302, 303])
@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("change", list(CHANGES))
def test_planted_changes_are_caught(change: str, process: str, seed: int, folders: dict[str, Path]) -> None:
    found = icefield.check(explained(process, seed, change), against=folders[process])
    assert not found.ok
    assert CHANGES[change](found), [str(s) for s in found.failures]


@pytest.mark.slow
def test_files_of_an_honest_retrain_differ_in_few_lines(folders: dict[str, Path]) -> None:
    folder = folders["linear"]
    before = {f.name: f.read_text().splitlines() for f in folder.iterdir()}
    explained("linear", 230).snapshot(folder)
    after = {f.name: f.read_text().splitlines() for f in folder.iterdir()}
    assert set(before) == set(after)
    changed = sum(a != b for name in before for a, b in zip(before[name], after[name]))
    assert changed <= 5
