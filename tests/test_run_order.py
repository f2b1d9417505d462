"""Which tests run when: samples of sweeps, parts of them, and the order by what files cost."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import run_order


class Item:
    """As much of a test as the plugin looks at."""

    def __init__(self, nodeid: str, sampled: int | None = None, fixturenames: tuple[str, ...] = ()) -> None:
        self.nodeid, self.fixturenames = nodeid, fixturenames
        self.keywords: dict[str, bool] = {}
        self._sampled = None if sampled is None else SimpleNamespace(args=(sampled,))

    def get_closest_marker(self, name: str) -> Any:
        return self._sampled if name == "sampled" else None

    def add_marker(self, name: str) -> None:
        self.keywords[name] = True


def collected(items: list[Item], worker: bool = False, **options: Any) -> list[Item]:
    given = {"--part": None, "--unsampled": False} | {f"--{name}": value for name, value in options.items()}
    config = SimpleNamespace(getoption=given.get, hook=SimpleNamespace(pytest_deselected=lambda items: None))
    if worker:
        config.workerinput = {}
    items = list(items)
    run_order.pytest_collection_modifyitems(config, items)
    return items


def test_each_nth_case_of_a_sweep_stays() -> None:
    sweep = [Item(f"tests/a.py::test_it[{i}]", sampled=3) for i in range(7)]
    plain = [Item("tests/a.py::test_other")]
    assert ["slow" in item.keywords for item in collected(sweep + plain)] == [
        False, True, True, False, True, True, False, False,
    ]  # fmt: skip
    again = [Item(f"tests/a.py::test_it[{i}]", sampled=3) for i in range(7)]
    assert not any("slow" in item.keywords for item in collected(again, unsampled=True))


def test_every_case_is_in_one_part_and_what_has_none_in_all() -> None:
    cases = [Item(f"tests/a.py::test_it[{i}]") for i in range(40)]
    single = Item("tests/a.py::test_other")
    parts = [collected([*cases, single], part=f"{k}/3") for k in (1, 2, 3)]
    assert all(single in part for part in parts)
    assert sorted(item.nodeid for part in parts for item in part if item is not single) == sorted(
        item.nodeid for item in cases
    )
    assert all(len(part) > 5 for part in parts)


def test_who_takes_a_browser_is_looked_at() -> None:
    (item,) = collected([Item("tests/a.py::test_it", fixturenames=("browser", "tmp_path"))])
    assert "look" in item.keywords


def test_the_longest_files_come_first_and_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {"test": {"tests/b.py": 9.0, "tests/a.py": 1.0}, "test-look": {}, "test-sweeps": {}}
    monkeypatch.setattr(run_order, "_stored", lambda: stored)
    names = ["tests/a.py::one", "tests/new.py::one", "tests/b.py::one", "tests/b.py::two", "tests/a.py::two"]
    given = [Item(name) for name in names]
    assert [item.nodeid for item in collected(given)] == names
    assert [item.nodeid for item in collected(given, worker=True)] == [
        "tests/b.py::one", "tests/b.py::two", "tests/a.py::one", "tests/a.py::two", "tests/new.py::one",
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "kept"), [("def one():\n    >>> one()\n", 2), ("def one(): ...\n", 1)])
def test_only_modules_with_an_example_are_searched_for_examples(text: str, kept: int, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    collecting = run_order.pytest_collect_file(path)
    next(collecting)
    with pytest.raises(StopIteration) as done:
        collecting.send([object.__new__(run_order.DoctestModule), SimpleNamespace()])
    assert len(done.value.value) == kept


def test_no_two_test_files_have_one_name() -> None:
    """Tests are imported by their file's name alone: a second one of that name would not be collected."""
    files = Path(__file__).parent.rglob("test_*.py")
    names = [path.name for path in files if not (path.parent / "__init__.py").exists()]
    assert sorted(names) == sorted(set(names))
