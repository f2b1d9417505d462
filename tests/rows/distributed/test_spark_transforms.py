"""A pass that is run twice, first to take down what is asked and then with Spark's answers, without a Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from icefield.errors import ModelError
from icefield.rows.distributed.partition_result import Outcome
from icefield.rows.distributed.spark_transforms import ANSWER, Answers, StandIn, requests

FORM = pa.schema([("a", pa.float64()), ("k", pa.int64())])
asked = StandIn()


def batches(sizes=(3, 0, 5, 2)):
    rng = np.random.default_rng(0)
    for size in sizes:
        yield pa.RecordBatch.from_pydict(
            {"a": rng.normal(size=size), "k": np.arange(size), "w": np.ones(size)}
        )


def crossed(batch, values):
    """Every row at every value of `a`; the table of a call."""
    return pa.table({"a": np.repeat(values, batch.num_rows), "k": np.tile(batch["k"], len(values))})


def work(rows, points=(1.0, 2.0)):
    """A pass: what is asked at each batch, a block whose rows are not asked about at the end."""
    sums = np.zeros(2)
    for number, batch in enumerate(rows):
        if number < 3:
            sums += asked(crossed(batch, points)).sum(axis=0)
        sums += np.sum(batch["w"].to_numpy())
    return Outcome({7: 1}, [{"sums": sums}])


def transformed(given):
    """What Spark does: two numbers for each row, in record batches of another size."""
    table = pa.Table.from_batches(list(given))
    a, k = table["a"].to_numpy(), table["k"].to_numpy()
    answers = pa.FixedSizeListArray.from_arrays(pa.array(np.column_stack([a, a * k]).ravel()), 2)
    return table.append_column(ANSWER, answers.cast(pa.list_(pa.float64())))


def test_a_pass_with_spark_s_answers_is_the_pass_with_the_model():
    found = Answers(iter(transformed(requests(work, batches(), FORM, 2, 7)).to_batches(4)), 7, 2).run(work)
    expected = np.full(2, 10.0)
    for batch in list(batches())[:3]:
        for point in (1.0, 2.0):
            expected += [point * batch.num_rows, point * np.sum(batch["k"].to_numpy())]
    assert np.allclose(found.states[0]["sums"], expected)


def test_an_empty_partition_asks_nothing():
    assert list(requests(work, batches(()), FORM, 2, 0)) == []


@pytest.mark.parametrize("change", ["dropped", "turned", "elsewhere"])
def test_rows_that_spark_drops_or_moves_are_refused(change):
    there = transformed(requests(work, batches(), FORM, 2, 7))
    order = np.arange(there.num_rows)
    order = {"dropped": order[1:], "turned": order[::-1], "elsewhere": order}[change]
    answers = Answers(iter(there.take(order).to_batches()), 8 if change == "elsewhere" else 7, 2)
    with pytest.raises(ModelError, match="drops rows in Spark"):
        answers.run(work)


def test_a_fraction_in_a_column_that_stays_whole_is_refused():
    def fractions(rows):
        return [asked(pa.table({"a": [1.0], "k": [0.5]})) for _ in rows]

    with pytest.raises(ModelError, match="'k' to a value that its type"):
        list(requests(fractions, batches(), FORM, 2, 0))


def test_what_a_pass_raises_is_raised():
    def fails(rows):
        raise OSError("a disk")

    with pytest.raises(OSError, match="a disk"):
        list(requests(fails, batches(), FORM, 2, 0))
