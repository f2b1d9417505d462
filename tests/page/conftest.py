"""The browser of the report's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    one = Browser()
    yield one
    one.close()
