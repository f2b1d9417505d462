"""Small models train fastest in one thread, above all when several test processes share the cores."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield
