"""Delta and Iceberg tables: folders whose files are rows only as far as a log says so.

Both keep every state a table ever had. An Explainer answers about one of them: the state is fixed when the table is opened, every
pass reads that one, and what the answer says of its rows names it. A folder of either kind is recognised by its log, because
to read its files as they lie would count rows that were deleted or rewritten.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from icefield.data.columns import library_named
from icefield.errors import InputError, MissingDependencyError
from icefield.rows import stores
from icefield.rows.files import of_dataset
from icefield.rows.secrets import Secrets
from icefield.rows.source import Source, cast_batch, without_first
from icefield.rows.stores import Store, in_time, is_url, object_store_options, open_store, reaching

VERSION = re.compile(r"^(?P<folder>.+)@v(?P<version>\d+)$")
LOG = "_delta_log"


def table_at(text: str, options: Mapping[str, Any] | None) -> Source | None:
    """The Delta or Iceberg table that a path or URL names; None where it names neither.

    ``rows@v3`` is version 3 of the Delta table ``rows``.
    """
    if text.endswith(".metadata.json"):
        return _static_iceberg(text, options)
    if stores.WILD.search(text) or os.path.isfile(text) or re.search(r"\.(parquet|pq|csv|tsv|arrow|feather|ipc)(\?.*)?$", text, re.IGNORECASE):  # fmt: skip
        return None
    match = VERSION.match(text)
    folder = match["folder"] if match else text
    store, (path,) = open_store([folder], options)
    if not store.is_remote:
        is_delta = os.path.isdir(os.path.join(path, LOG))
        latest = _latest_metadata(path) if not is_delta else None
    else:
        is_delta, latest = store.has_folder(f"{path.rstrip('/')}/{LOG}"), None
    if is_delta:
        where = folder if store.is_remote else path
        return delta_at(where, int(match["version"]) if match else None, options)
    return None if latest is None else _static_iceberg(latest, options)


# --- Delta ---------------------------------------------------------------------------------------


def delta_at(where: str, version: int | None, options: Mapping[str, Any] | None) -> Source:
    """A state of a Delta table by its path or URL; None for the last there is."""
    secrets = Secrets(options)
    label = secrets.masked(where)
    try:
        import deltalake
    except ImportError:
        raise MissingDependencyError(
            f"{label} is a Delta table, and its files alone are not its rows. Hint: pip install 'icefield[delta]'."
        ) from None
    settings = object_store_options(where, options) if is_url(where) else None
    open_table = partial(deltalake.DeltaTable, where, version=version, storage_options=settings)
    with reaching(label, secrets):
        table = in_time(stores.ANSWER_SECONDS, label, open_table)
    return of_delta(table, label, secrets)


def of_delta(table: Any, shown: str | None = None, secrets: Secrets | None = None) -> Source:
    """A `deltalake.DeltaTable`, as it is now: later writes, and later `load_as_version`, change nothing."""
    secrets = Secrets() if secrets is None else secrets
    where = secrets.masked(str(table.table_uri) if shown is None else shown)
    version = int(table.version())
    label = f"the Delta table {where}, version {version}"
    try:
        dataset = table.to_pyarrow_dataset()
    except Exception as error:  # features of the format that it cannot read
        raise InputError.about("X", f"is a Delta table that deltalake cannot read as files: {secrets.masked(str(error))[:300]}", where,
                               "rewrite the table without deletion vectors and column mapping, or read it by its own engine and pass the frame") from None  # fmt: skip
    scheme = where.split("://")[0] if is_url(where) and not where.startswith("file://") else ""
    store = Store(dataset.filesystem, scheme, secrets, stores.BATCH_SECONDS if scheme else None)
    identity = {"delta": str(table.metadata().id), "version": version}
    return of_dataset(dataset, label, identity, store)


# --- Iceberg -------------------------------------------------------------------------------------


class IcebergSource(Source):
    """A snapshot of an Iceberg table, read by pyiceberg: deletes and changed schemas are its business.

    Parameters
    ----------
    scan : a `pyiceberg.table.DataScan`; the snapshot that is the last now where it names none
    """

    def __init__(self, scan: Any, shown: str | None = None, secrets: Secrets | None = None) -> None:
        self._secrets = Secrets() if secrets is None else secrets
        snapshot = scan.snapshot()
        if snapshot is None:
            raise InputError.about("X", "is an Iceberg table without a snapshot, so without rows", shown)
        self._snapshot = int(snapshot.snapshot_id)
        self._scan = scan.update(snapshot_id=self._snapshot)
        self._uuid = str(scan.table_metadata.table_uuid)
        self._where = self._secrets.masked(str(scan.table_metadata.location) if shown is None else shown)
        self.label = f"the Iceberg table {self._where}, snapshot {self._snapshot}"

    @cached_property
    def schema(self) -> Any:
        return self._reader(None).schema

    @cached_property
    def n_rows(self) -> int | None:
        return int(self._scan.count())

    def identity(self) -> Any:
        return {"iceberg": self._uuid, "snapshot": self._snapshot, "rows": str(self._scan.row_filter)}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        schema = library_named("pyarrow").schema([self.schema.field(name) for name in columns])

        def selected() -> Iterator[Any]:
            for batch in self._reader(columns):
                yield cast_batch(batch.select(list(columns)), schema)

        store = Store(None, "iceberg", patience=stores.BATCH_SECONDS)
        with reaching(self._where, self._secrets):
            yield from without_first(store.within(self._where, selected()), skip)

    def _reader(self, columns: Sequence[str] | None) -> Any:
        scan = self._scan if columns is None else self._scan.update(selected_fields=tuple(columns))
        with reaching(self._where, self._secrets):
            return in_time(stores.ANSWER_SECONDS, self._where, scan.to_arrow_batch_reader)


def of_iceberg(data: Any) -> Source | None:
    """A `pyiceberg` table or scan; None for anything else of that library."""
    if hasattr(data, "to_arrow_batch_reader"):
        return IcebergSource(data)
    return IcebergSource(data.scan()) if hasattr(data, "scan") and hasattr(data, "metadata") else None


def _latest_metadata(folder: str) -> str | None:
    """The newest description of the Iceberg table in a folder of this machine; None where there is none."""
    within = os.path.join(folder, "metadata")
    if not os.path.isdir(within):
        return None
    numbers = {
        name: re.match(r"v?(\d+)", name) for name in os.listdir(within) if name.endswith(".metadata.json")
    }
    number_of = {name: int(number[1]) for name, number in numbers.items() if number is not None}
    return os.path.join(within, max(number_of, key=lambda name: number_of[name])) if number_of else None


def _static_iceberg(where: str, options: Mapping[str, Any] | None) -> IcebergSource:
    secrets = Secrets(options)
    label = secrets.masked(where)
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise MissingDependencyError(
            f"{label} describes an Iceberg table, and its files alone are not its rows. Hint: pip install 'icefield[iceberg]'."
        ) from None
    stores.check_options(options)
    with reaching(label, secrets):
        settings = _iceberg_options(options)
        table = in_time(stores.ANSWER_SECONDS, label, StaticTable.from_metadata, where, settings)
    return IcebergSource(table.scan(), re.sub(r"/metadata/[^/]+$", "", label), secrets)


def _iceberg_options(options: Mapping[str, Any] | None) -> dict[str, str]:
    """Options as pyiceberg spells them; those it knows by its own names pass as they are."""
    canonical = stores.canonical_options("s3", options or {})
    if canonical is None:
        return {name: str(value) for name, value in (options or {}).items()}
    names = {"access_key": "s3.access-key-id", "secret_key": "s3.secret-access-key", "session_token": "s3.session-token",
             "region": "s3.region", "endpoint": "s3.endpoint"}  # fmt: skip
    return {names[name]: str(value) for name, value in canonical.items() if name in names}
