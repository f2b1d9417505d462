"""
Parquet in place of a frame
===========================

Only the columns that are needed are read, as an Arrow table, and no pandas is involved in asking. Tables that come back
are Arrow tables too: results are given in the library that the data came in.
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

X = pq.read_table(path)
known = delay.notna()
model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(
    frame.loc[known, columns], delay[known]
)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("departure")
print(
    f"{effect.n_rows:,} rows, answered by {effect.engine}; a table is a {type(effect.to_frame())}"
)

# %%
effect.plot(title="Arrival delay in minutes by time of departure")
