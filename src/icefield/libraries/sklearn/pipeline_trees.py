"""Reading pipelines: preprocessing as part of the encoder, so that raw columns drive matrix columns.

Where every transformed column that a split looks at comes from a single raw column (scaled,
imputed, one-hot or ordinally encoded), moving that raw column moves exactly the matrix columns it
drives. Where preprocessing mixes columns, no such group exists and the pipeline is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table, table_of
from icefield.forest.encode import RefusedValue
from icefield.forest.tree_model import CannotRead, TreeModel
from icefield.libraries.reading import read
from icefield.libraries.sklearn.column_ways import passes_through
from icefield.libraries.sklearn.pipelines import NoSplit, SplitPipeline, split_pipeline


@dataclass(frozen=True)
class AfterTransform:
    """Rows through a pipeline's transformers, then through the final estimator's own encoder."""

    split: SplitPipeline
    encode: Callable[[Table], NDArray[np.float64]]

    def __call__(self, table: Table) -> NDArray[np.float64]:
        try:
            transformed = table_of(self.split.transform(table))
        except Exception as error:
            problem = " ".join(str(error).split())
            raise CannotRead(
                f"the pipeline does not transform a value on the grid or in X ({problem})"
            ) from error
        try:
            return self.encode(transformed)
        except RefusedValue as refused:  # of a column that only the pipeline has
            sources = self.split.sources(transformed.names.index(refused.column))
            raise RefusedValue(sources[0] if len(sources) == 1 else sources, refused.held) from refused


def read_pipeline(model: Any, table: Table) -> TreeModel:
    """Read a fitted pipeline that ends in something that can be read itself."""
    if all(passes_through(step) for _, step in model.steps[:-1]):
        return read(model.steps[-1][1], table)
    head = table.slice(0, min(table.n_rows, 100))
    try:
        with warnings.catch_warnings():
            # A warning here (of column names the table lacks) would be repeated for every block.
            warnings.simplefilter("error")
            split = split_pipeline(model, head)
            if isinstance(split, NoSplit):
                raise CannotRead(split.reason)
            transformed = table_of(split.transform(head))
    except CannotRead:
        raise
    except Exception as error:
        problem = " ".join(str(error).split())
        raise CannotRead(
            f"the pipeline does not transform the {table.library} rows as they are ({problem})"
        ) from error
    inner = read(split.final, transformed)
    drives: dict[Any, tuple[int, ...]] = {}
    for name, source in _unmixed(inner, split, transformed):
        drives[source] = (*drives.get(source, ()), *inner.drives[name])
    return replace(inner, encode=AfterTransform(split, inner.encode), drives=drives)


def _unmixed(inner: TreeModel, split: SplitPipeline, transformed: Table) -> Iterator[tuple[Any, Any]]:
    """Each transformed column with the single raw column it comes from.

    Mixed columns that no split looks at decide nothing and are left out; any other is refused.
    """
    split_columns = set(inner.forest.condition_column.tolist())
    for i, name in enumerate(transformed.names):
        sources = split.sources(i)
        if len(sources) == 1 and name in inner.drives:
            yield name, sources[0]
        elif len(sources) > 1 and split_columns & set(inner.drives.get(name, ())):
            named = ", ".join(repr(source) for source in sources[:3])
            raise CannotRead(
                f"the pipeline's preprocessing mixes columns ({named}) before the trees see them"
            )
