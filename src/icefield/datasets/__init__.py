"""Three real data sets that come with the package, for examples that run anywhere, offline.

`bikes`, `titanic` and `housing` give a data frame of the library that is installed: pandas, else polars, else pyarrow, else a
plain dict of numpy arrays. The files are compressed CSV beside this module.

>>> from icefield import datasets
>>> datasets.titanic().shape
(891, 11)
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.errors import MissingDependencyError

__all__ = ["bikes", "housing", "titanic"]

FrameLibrary = Literal["pandas", "polars", "pyarrow", "numpy"]
LIBRARIES = ("pandas", "polars", "pyarrow", "numpy")
_FOLDER = Path(__file__).parent


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def bikes(library: FrameLibrary | None = None) -> Any:
    """Hourly bike rentals in Washington, D.C., with the weather, 2011 and 2012: 17,379 rows.

    ``cnt`` is the target: rentals in an hour, the sum of ``casual`` and ``registered``. ``temp``, ``atemp``, ``hum`` and
    ``windspeed`` are shares of 41 °C, 50 °C, 100 % and 67 km/h; ``yr`` is 0 for 2011; ``weekday`` counts from Sunday,
    which is 0; ``season`` counts from winter, which is 1; ``weathersit`` is 1 (clear) to 4 (heavy rain); ``dteday`` is a date.

    Parameters
    ----------
    library : the library of the frame: ``"pandas"``, ``"polars"``, ``"pyarrow"`` or ``"numpy"`` (a dict of arrays); by default
        the first of these that is installed

    Notes
    -----
    Fanaee-T, H. and Gama, J. (2013), Event labeling combining ensemble detectors and background knowledge, Progress in
    Artificial Intelligence, doi 10.1007/s13748-013-0040-3. UCI Machine Learning Repository, licence CC BY 4.0.

    Examples
    --------
    >>> bikes("numpy")["cnt"][:3]
    array([16, 40, 32])
    """
    return _frame("bikes", library, dates=("dteday",))


def titanic(library: FrameLibrary | None = None) -> Any:
    """Passengers of the Titanic: 891 rows.

    ``survived`` is the target. ``age`` is in years and missing for 177 passengers, ``fare`` in pounds; ``sibsp`` counts siblings
    and spouses aboard, ``parch`` parents and children; ``embarked`` is C (Cherbourg), Q (Queenstown) or S (Southampton).

    Parameters
    ----------
    library : as for `bikes`

    Notes
    -----
    Public records of the passengers, as in the training set of Kaggle's Titanic competition.

    Examples
    --------
    >>> round(float(titanic("numpy")["survived"].mean()), 2)
    0.38
    """
    return _frame("titanic", library)


def housing(library: FrameLibrary | None = None) -> Any:
    """Census blocks in California, 1990: 20,640 rows.

    ``median_house_value`` is the target, in USD, cut off at 500,001. ``median_income`` is in 10,000 USD; ``total_rooms``,
    ``total_bedrooms`` (missing for 207 blocks), ``population`` and ``households`` are sums over a block; ``ocean_proximity`` is text.

    Parameters
    ----------
    library : as for `bikes`

    Notes
    -----
    1990 census of the United States: Pace, R. K. and Barry, R. (1997), Sparse spatial autoregressions, Statistics & Probability
    Letters 33, 291-297. Public records.

    Examples
    --------
    >>> len(housing("numpy")["median_house_value"])
    20640
    """
    return _frame("housing", library)


def _frame(name: str, library: str | None, dates: tuple[str, ...] = ()) -> Any:
    """The data set `name` as a frame of `library`; the columns `dates` as dates."""
    if library is None:
        library = next(candidate for candidate in LIBRARIES if find_spec(candidate) is not None)
    validate.choice("library", library, LIBRARIES)
    if find_spec(library) is None:
        raise MissingDependencyError.saying(f"library={library!r} needs {library}, which is not installed.",
                      'leave `library` out for one that is, or write "numpy" for a dict of arrays')  # fmt: skip
    return _READERS[library](gzip.decompress((_FOLDER / f"{name}.csv.gz").read_bytes()), dates)


def _pandas(text: bytes, dates: tuple[str, ...]) -> Any:
    return import_module("pandas").read_csv(io.BytesIO(text), parse_dates=list(dates))


def _polars(text: bytes, dates: tuple[str, ...]) -> Any:
    polars = import_module("polars")
    # Numbers that begin as whole ones may end as fractions: all rows decide on a column's type.
    frame = polars.read_csv(text, infer_schema_length=None)
    return frame.with_columns(polars.col(name).str.to_date() for name in dates)


def _pyarrow(text: bytes, dates: tuple[str, ...]) -> Any:
    csv_module = import_module("pyarrow.csv")
    # In one block, since the first decides on types. Dates are found without being named.
    return csv_module.read_csv(
        io.BytesIO(text),
        read_options=csv_module.ReadOptions(block_size=len(text) + 1),
        convert_options=csv_module.ConvertOptions(strings_can_be_null=True),
    )


def _arrays(text: bytes, dates: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Columns by name: whole numbers, numbers with NaN where missing, dates, and text with None where missing."""
    names, *rows = csv.reader(io.StringIO(text.decode("utf-8")))
    return {
        name: np.array(cells, dtype="datetime64[D]") if name in dates else _array(cells)
        for name, cells in zip(names, zip(*rows))
    }


def _array(cells: tuple[str, ...]) -> NDArray[Any]:
    try:
        return np.array([int(cell) for cell in cells])
    except ValueError:
        pass
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array([cell or None for cell in cells], dtype=object)


_READERS: dict[str, Callable[[bytes, tuple[str, ...]], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "numpy": _arrays,
}
