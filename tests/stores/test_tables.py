"""Delta and Iceberg tables, written by their own libraries: an answer is about one state, and says which."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import InputError
from stores.conftest import table

pytestmark = [pytest.mark.timeout(120), pytest.mark.filterwarnings("default")]


def curve(model, X, **settings) -> np.ndarray:
    return Explainer(model, X, **settings).partial_dependence("age", grid=[20.0, 40.0, 60.0]).average


def states(data: pd.DataFrame) -> list[pd.DataFrame]:
    return [data[:300], data, data[data.age > 40]]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_every_version_of_a_delta_table(version, delta, data, model):
    import deltalake

    expected = curve(model, states(data)[version])
    for X in (deltalake.DeltaTable(delta, version=version), f"{delta}@v{version}"):
        explainer = Explainer(model, X)
        effect = explainer.partial_dependence("age", grid=[20.0, 40.0, 60.0])
        assert np.allclose(effect.average, expected, rtol=1e-12)
        assert f"version {version}" in effect.why
        assert f"version {version}" in explainer.record().data


def test_a_delta_folder_is_its_last_version_and_stays_at_it(delta, data, model):
    import deltalake

    explainer = Explainer(model, delta)
    expected = curve(model, states(data)[2])
    deltalake.write_deltalake(delta, table(data), mode="overwrite")
    assert np.allclose(
        explainer.partial_dependence("age", grid=[20.0, 40.0, 60.0]).average, expected, rtol=1e-12
    )
    assert "version 2" in explainer.plan.why
    assert "version 3" in Explainer(model, delta).plan.why


def test_a_version_that_is_not_there(delta, model):
    with pytest.raises(InputError, match="could not be read"):
        Explainer(model, f"{delta}@v9")


def test_a_checkpoint_of_one_version_is_not_taken_for_another(delta, model, tmp_path):
    Explainer(model, f"{delta}@v0", checkpoint=tmp_path / "sums").effects()
    Explainer(model, f"{delta}@v0", checkpoint=tmp_path / "sums").effects()
    with pytest.raises(InputError, match="another state of the data"):
        Explainer(model, f"{delta}@v1", checkpoint=tmp_path / "sums").effects()


def test_a_delta_table_in_a_store(s3, data, model):
    import deltalake

    options = {"AWS_ACCESS_KEY_ID": s3.key, "AWS_SECRET_ACCESS_KEY": s3.secret, "AWS_ENDPOINT_URL": s3.address,
               "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1", "AWS_S3_ALLOW_UNSAFE_RENAME": "true"}  # fmt: skip
    deltalake.write_deltalake("s3://rows/delta", table(data[:100]), storage_options=options, mode="overwrite")
    deltalake.write_deltalake("s3://rows/delta", table(data), storage_options=options, mode="overwrite")
    first = Explainer(model, "s3://rows/delta@v0", storage_options=s3.options)
    assert np.allclose(
        curve(model, "s3://rows/delta", storage_options=s3.options), curve(model, data), rtol=1e-12
    )
    assert first.study.rows.n_rows == 100
    assert s3.secret not in first.plan.why + repr(first)


def test_every_snapshot_of_an_iceberg_table(iceberg, data, model):
    ids = [entry.snapshot_id for entry in iceberg.history()]
    for snapshot, rows in ((ids[0], states(data)[0]), (ids[1], states(data)[1]), (ids[-1], states(data)[2])):
        explainer = Explainer(model, iceberg.scan(snapshot_id=snapshot))
        effect = explainer.partial_dependence("age", grid=[20.0, 40.0, 60.0])
        assert np.allclose(effect.average, curve(model, rows), rtol=1e-12)
        assert explainer.study.rows.n_rows == len(rows)
        assert f"snapshot {snapshot}" in effect.why


def test_an_iceberg_table_its_folder_and_its_metadata_are_the_last_snapshot(iceberg, data, model):
    expected = curve(model, states(data)[2])
    folder = iceberg.location().removeprefix("file://")
    for X in (iceberg, iceberg.metadata_location, folder):
        assert np.allclose(curve(model, X), expected, rtol=1e-12)


def test_an_iceberg_table_stays_at_its_snapshot_and_takes_a_filter(iceberg, data, model):
    explainer = Explainer(model, iceberg)
    iceberg.append(table(data))
    assert np.allclose(
        explainer.partial_dependence("age", grid=[20.0, 40.0, 60.0]).average,
        curve(model, states(data)[2]),
        rtol=1e-12,
    )
    chosen = iceberg.scan(row_filter="fare > 10", snapshot_id=iceberg.history()[1].snapshot_id)
    assert np.allclose(curve(model, chosen), curve(model, data[data.fare > 10]), rtol=1e-12)
