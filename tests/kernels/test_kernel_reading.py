"""Numbers in a text against Python's own reading of them, bit by bit."""

import numpy as np
import pytest

from icefield import kernels


def read(words):
    text = np.frombuffer(" ".join(words).encode(), np.uint8)
    found, left = np.empty(len(words)), np.empty(len(words), np.uint8)
    assert kernels.read_numbers(text=text, found=found, left=left)
    return found, left == 1


def check(words, most_left=1.0):
    found, left = read(words)
    expected = np.array([float(word) for word in words])
    np.testing.assert_array_equal(found[~left].view(np.int64), expected[~left].view(np.int64))
    assert left.mean() <= most_left


@pytest.mark.parametrize("digits", [1, 6, 15, 16, 17, 18, 19])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_any_length_and_size(digits, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-9, 10, 3000)
    check([f"{value:.{digits}g}" for value in values], most_left=0.1)
    check([f"{value:.{digits - 1}e}" for value in values], most_left=0.1)


def test_what_a_boosted_model_writes_is_all_read():
    rng = np.random.default_rng(0)
    values = rng.normal(size=20_000) * 10.0 ** rng.integers(-7, 5, 20_000)
    check([f"{value:.17g}" for value in values], most_left=0.0)


def test_more_digits_than_fit_are_left_to_the_caller():
    values = np.random.default_rng(0).normal(size=300)
    words = [f"{value:.{places}f}" for value in values for places in (20, 22, 24, 26)]
    check(words)
    assert read(words)[1].sum() > 1000


def test_half_way_goes_to_the_even_one():
    rng = np.random.default_rng(0)
    words = []
    for _ in range(2000):
        # A half-way number with few digits behind the point: below 2**53, an odd number of quarters, eighths, ...
        bits = int(rng.integers(1, 9))
        whole = int(rng.integers(2**52, 2**53)) * 2 + 1
        exact = whole * 5**bits  # times 10**-bits
        text = str(exact)
        if len(text) <= 19:
            words += [f"{text[:-bits]}.{text[-bits:]}", f"{exact - 1}e-{bits}", f"{exact + 1}e-{bits}"]
    assert len(words) > 1000
    check(words, most_left=0.05)


def test_neighbours_of_powers_of_two():
    words = []
    for power in range(-30, 60):
        for value in (2.0**power, np.nextafter(2.0**power, 0.0), np.nextafter(2.0**power, np.inf)):
            words += [f"{value:.17g}", f"{value:.16g}", f"{value:.19g}"]
    check(words)


def test_what_it_leaves_to_the_caller():
    words = [
        "1",
        "1e-300",
        "nan",
        "1e400",
        "inf",
        "12345678901234567890",
        "",
        "-",
        "1.5x",
        "1e",
        ".",
        "--1",
        "0",
    ]
    assert read(words)[1].tolist() == [False, *[True] * 11, False]
    assert np.signbit(read(["-0"])[0][0])


@pytest.mark.parametrize("room", [1, 3])
def test_more_or_fewer_numbers_than_there_is_room_for(room):
    text = np.frombuffer(b"1 2", np.uint8)
    assert not kernels.read_numbers(text=text, found=np.empty(room), left=np.empty(room, np.uint8))
