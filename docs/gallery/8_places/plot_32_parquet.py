"""
Parquet in place of a frame
===========================

The Explainer takes the path itself: rows are streamed, so they need not fit into memory, and only the columns that the model
needs are read. The curve is over every row; tables that come back are Arrow tables.
"""

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield
from icefield.cli.demo import flights  # the flights out of New York in 2013

frame, delay = flights()
columns = ["departure", "distance", "month", "temp", "visib"]
path = Path(tempfile.mkdtemp()) / "flights.parquet"
pq.write_table(pa.Table.from_pandas(frame[columns], preserve_index=False), path)

known = delay.notna()
model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(
    frame.loc[known, columns], delay[known]
)
ex = icefield.Explainer(model, path)
effect = ex.partial_dependence("departure")
print(
    f"{effect.n_rows:,} rows, answered by {effect.engine}; a table is a {type(effect.to_frame())}"
)

# %%
effect.plot(title="Arrival delay in minutes by time of departure")
