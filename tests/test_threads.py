"""Short tasks of which the calling thread does its share: all are done once, in order, and an error ends them."""

from __future__ import annotations

import threading

import pytest

from icefield.threads import ThreadCrew


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("tasks", [0, 1, 2, 50])
def test_results_come_in_order_and_each_task_is_done_once(threads: int, tasks: int) -> None:
    done: list[int] = []
    with ThreadCrew(threads) as crew, crew:
        found = list(crew.share(lambda task: done.append(task) or 2 * task, range(tasks)))
    assert found == [2 * task for task in range(tasks)]
    assert sorted(done) == list(range(tasks))


def test_two_threads_are_at_work_and_this_one_is_one_of_them() -> None:
    both = threading.Barrier(2, timeout=10)

    def work(_: int) -> str:
        both.wait()  # nobody gets past it alone
        return threading.current_thread().name

    with ThreadCrew(2) as crew, crew:
        names = set(crew.share(work, range(2)))
    assert len(names) == 2
    assert threading.current_thread().name in names


def test_one_thread_is_this_one() -> None:
    with ThreadCrew(1) as crew, crew:
        assert set(crew.share(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}


def test_others_work_while_this_thread_does_something_else() -> None:
    begun, seen = threading.Event(), list[bool]()
    with ThreadCrew(2) as crew, crew:
        list(crew.share(lambda _: begun.set(), range(2), lambda: seen.append(begun.wait(10))))
    assert seen == [True]


def test_an_error_comes_through_and_leaves_no_thread() -> None:
    before = threading.active_count()

    def work(task: int) -> int:
        return 1 // (task - 3)

    with pytest.raises(ZeroDivisionError), ThreadCrew(3) as crew, crew:
        list(crew.share(work, range(50)))
    assert threading.active_count() == before


def test_what_nobody_has_begun_is_not_done_after_an_error_meanwhile() -> None:
    done: list[int] = []
    with pytest.raises(ZeroDivisionError), ThreadCrew(1) as crew, crew:
        list(crew.share(done.append, range(5), lambda: 1 // 0))
    assert done == []
