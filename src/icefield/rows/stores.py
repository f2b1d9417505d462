"""Where files lie: this machine, S3, Google Cloud Storage, Azure, the web, or whatever fsspec reaches.

A `Store` is a pyarrow file system, with credentials that are never shown and patience that ends. S3, Google's and Azure's stores are
reached by pyarrow itself; the web, other schemes, and options that only they know by fsspec. Options may be spelled as pandas
(``key=``, ``client_kwargs=``) or as polars (``aws_access_key_id=``) spell them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from icefield.data.columns import library_named
from icefield.errors import IcefieldError, InputError, InputTypeError, MissingDependencyError
from icefield.rows.secrets import Secrets
from icefield.threads import start_daemon

ANSWER_SECONDS = 25.0  # within which a store must answer when it is first asked
BATCH_SECONDS = 120.0  # within which rows must come, of stores that know no limit of their own
OPENED_AT_ONCE = 8  # files of a store elsewhere, each of which takes a round trip or more
URL = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*(://|::)")
WILD = re.compile(r"[*?\[]")
NATIVE = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "abfs": "abfs", "abfss": "abfs", "az": "abfs"}
FSSPEC_PACKAGE = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs",
                  "http": "aiohttp", "https": "aiohttp", "hf": "huggingface_hub"}  # fmt: skip
_T = TypeVar("_T")

# What pandas (s3fs, gcsfs, adlfs) and polars call the same thing; all in small letters.
S3_NAMES = {
    "access_key": ("key", "access_key", "aws_access_key_id", "access_key_id"),
    "secret_key": ("secret", "secret_key", "aws_secret_access_key", "secret_access_key"),
    "session_token": ("token", "session_token", "aws_session_token"),
    "region": ("region", "aws_region", "region_name", "aws_default_region", "default_region"),
    "endpoint": ("endpoint_url", "aws_endpoint_url", "endpoint", "aws_endpoint", "endpoint_override"),
    "anonymous": ("anon", "anonymous", "skip_signature", "aws_skip_signature"),
    "allow_http": ("allow_http", "aws_allow_http"),
}
GS_NAMES = {
    "access_token": ("access_token",),
    "project_id": ("project", "project_id"),
    "anonymous": ("anon", "anonymous", "skip_signature", "google_skip_signature"),
    "endpoint": ("endpoint_url", "endpoint_override"),
}
AZURE_NAMES = {
    "account_name": ("account_name", "azure_storage_account_name"),
    "account_key": ("account_key", "azure_storage_account_key", "access_key"),
    "sas_token": ("sas_token", "azure_storage_sas_token", "sas_key"),
    "tenant_id": ("tenant_id", "azure_tenant_id", "azure_storage_tenant_id"),
    "client_id": ("client_id", "azure_client_id", "azure_storage_client_id"),
    "client_secret": ("client_secret", "azure_client_secret", "azure_storage_client_secret"),
    "blob_storage_authority": ("blob_storage_authority",),
    "blob_storage_scheme": ("blob_storage_scheme",),
    "dfs_storage_authority": ("dfs_storage_authority",),
    "dfs_storage_scheme": ("dfs_storage_scheme",),
}
NAMES = {"s3": S3_NAMES, "gs": GS_NAMES, "abfs": AZURE_NAMES}


def is_url(text: str) -> bool:
    """Whether a text names something by a scheme, rather than a path of this machine.

    Examples
    --------
    >>> is_url("s3://bucket/rows"), is_url("simplecache::s3://bucket/rows"), is_url("rows/*.parquet")
    (True, True, False)
    """
    return URL.match(text) is not None


@dataclass(frozen=True, eq=False)
class Store:
    """A file system that rows are read from.

    Attributes
    ----------
    filesystem : a `pyarrow.fs.FileSystem`; None for data in memory
    scheme : what its paths are shown with, such as ``"s3"``; empty for this machine
    secrets : what must not be shown
    patience : seconds that rows may take to come; None where the file system has a limit of its own
    """

    filesystem: Any
    scheme: str = ""
    secrets: Secrets = field(default_factory=Secrets)
    patience: float | None = None

    @property
    def is_remote(self) -> bool:
        return bool(self.scheme)

    def display_path(self, path: str) -> str:
        """A path as messages have it: with its scheme, without credentials."""
        whole = path if not self.scheme or is_url(path) else f"{self.scheme}://{path}"
        return self.secrets.masked(whole) if self.is_remote else path

    def answer(self, where: str, function: Callable[..., _T], *arguments: Any) -> _T:
        """The result of a call to the store; of a remote one, an error that names `where` if it takes too long or fails."""
        if not self.is_remote:
            return function(*arguments)
        with reaching(where, self.secrets):
            return in_time(ANSWER_SECONDS, where, function, *arguments)

    def within(self, where: str, batches: Iterator[_T]) -> Iterator[_T]:
        """The same batches; an error where one takes longer than the store's `patience`."""
        if self.patience is None:
            yield from batches
            return
        end = object()
        while (batch := in_time(self.patience, where, next, batches, end)) is not end:
            yield batch

    def infos(self, paths: Sequence[str]) -> list[Any]:
        """Size and time of the last change of files, as pyarrow has them."""
        return list(self.filesystem.get_file_info(list(paths)))

    def files(self, path: str) -> list[str]:
        """The files that a path of the store, a folder in it or a glob mean, by name; hidden ones are left out."""
        fs, label = library_named("pyarrow.fs"), self.display_path(path)
        wild = WILD.search(path) if self.scheme not in ("http", "https") else None
        folder = path if wild is None else path[: wild.start()].rpartition("/")[0]
        if wild is None:
            (info,) = self.answer(label, self.infos, [path])
            if info.type == fs.FileType.File:
                return [path]
            if info.type == fs.FileType.NotFound:
                raise _no_files_error(
                    label, "names no file that can be reached" if self.scheme.startswith("http") else None
                )
        elif folder:
            self.answer(label, self.infos, [folder])  # says in time whether there is anybody
        selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
        with reaching(label, self.secrets):
            info = self.filesystem.get_file_info(selector)
        paths = [name.path for name in info if name.type == fs.FileType.File]
        if wild is not None:
            pattern = _glob_pattern(path)
            paths = [name for name in paths if pattern.fullmatch(name)]
        else:
            paths = [name for name in paths if not is_hidden(name[len(folder) :])]
        if not paths:
            raise _no_files_error(label)
        return sorted(paths)

    def has_folder(self, path: str) -> bool:
        """Whether there is a folder of this name."""
        if self.scheme in ("http", "https") or WILD.search(path):
            return False
        (info,) = self.answer(self.display_path(path), self.infos, [path])
        return bool(info.type == library_named("pyarrow.fs").FileType.Directory)


def is_hidden(path: str) -> bool:
    """Whether a path below a folder is kept from readers: a part of it begins with a dot or an underscore.

    Examples
    --------
    >>> is_hidden("_delta_log/0.json"), is_hidden("2024/.tmp.parquet"), is_hidden("_day=3/part.parquet")
    (True, True, False)
    """
    parts = path.replace(os.sep, "/").split("/")
    return any(part.startswith((".", "_")) and "=" not in part for part in parts)


def in_time(seconds: float, where: str, function: Callable[..., _T], *arguments: Any) -> _T:
    """The result of a call; an error where it takes longer than `seconds`, while the call goes on in its thread."""
    task, thread = start_daemon(function, *arguments, name="icefield store")
    thread.join(seconds)
    if thread.is_alive():
        raise InputError.about("X", f"lies in a store that did not answer within {seconds:.0f} seconds", where,
                               "check the address, the network and storage_options (endpoint, region)")  # fmt: skip
    return task.result()


# --- which store a text means --------------------------------------------------------------------


def open_store(texts: Sequence[str], options: Mapping[str, Any] | None) -> tuple[Store, list[str]]:
    """The store that paths or URLs of one scheme lie in, and their paths there.

    `options` are as pandas and polars take them; None for what the environment says.
    """
    check_options(options)
    settings = dict(options or {})
    texts, users = zip(*map(_without_user, texts))
    settings = {**next((user for user in users if user), {}), **settings}
    secrets = Secrets(settings)
    schemes = list(dict.fromkeys(_scheme(text) for text in texts))
    if len(schemes) > 1:
        raise InputError.about("X", "names files of several stores", [secrets.masked(text) for text in texts[:4]],
                               "make one Explainer for each")  # fmt: skip
    scheme = schemes[0]
    label = secrets.masked(texts[0])
    if scheme in ("file", "local", ""):
        local = [unquote(urlsplit(text).path) if is_url(text) else text for text in texts]
        if settings:
            raise InputError.about("storage_options", "are for stores elsewhere, and X is on this machine", sorted(settings))  # fmt: skip
        return Store(library_named("pyarrow.fs").LocalFileSystem()), local
    known = NATIVE.get(scheme)
    if known is not None and "::" not in texts[0]:
        canonical = canonical_options(known, settings)
        if canonical is not None:
            maker = {"s3": _s3, "gs": _gs, "abfs": _azure}[known]
            patience = BATCH_SECONDS if known == "abfs" else None
            store = Store(maker(texts[0], canonical, label), scheme, secrets, patience)
            return store, [_native_path(text) for text in texts]
    return _by_fsspec(texts, scheme, settings, secrets)


def check_options(options: Any) -> None:
    """Raise where `storage_options` are not a mapping of names."""
    if options is None or (isinstance(options, Mapping) and all(isinstance(name, str) for name in options)):
        return
    # What was given may hold a secret: its type says enough.
    raise InputTypeError.about("storage_options", f"must be a mapping of names to values, not {type(options).__name__}",
                               hint='write storage_options={"key": ..., "secret": ...}')  # fmt: skip


def canonical_options(store: str, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Options by one name each; None where one is known to fsspec's own libraries alone."""
    flat = {name: value for name, value in options.items() if name != "client_kwargs"}
    flat |= dict(options.get("client_kwargs") or {})
    known = {alias: name for name, aliases in NAMES[store].items() for alias in aliases}
    canonical: dict[str, Any] = {}
    for name, value in flat.items():
        if name.lower() not in known:
            return None
        canonical[known[name.lower()]] = value
    if "anonymous" in canonical:
        canonical["anonymous"] = str(canonical["anonymous"]).lower() in ("true", "1", "yes")
    return canonical


def object_store_options(url: str, options: Mapping[str, Any] | None) -> dict[str, str]:
    """Options as libraries on top of Rust's object_store take them, with limits on how long they wait."""
    seconds = f"{ANSWER_SECONDS:.0f}s"
    waits = {"timeout": seconds, "connect_timeout": "5s"}
    canonical = canonical_options("s3", options or {}) if NATIVE.get(_scheme(url)) == "s3" else None
    if canonical is None:
        return {**waits, **{name: str(value) for name, value in (options or {}).items()}}
    names = {"access_key": "AWS_ACCESS_KEY_ID", "secret_key": "AWS_SECRET_ACCESS_KEY", "session_token": "AWS_SESSION_TOKEN",
             "region": "AWS_REGION", "endpoint": "AWS_ENDPOINT_URL", "anonymous": "AWS_SKIP_SIGNATURE"}  # fmt: skip
    settings = {names[name]: str(value) for name, value in canonical.items() if name in names}
    if str(canonical.get("endpoint", "")).startswith("http://"):
        settings["AWS_ALLOW_HTTP"] = "true"
    return {**waits, **settings}


def _without_user(text: str) -> tuple[str, dict[str, str]]:
    """An S3 URL without the key and secret it may begin with, and these as options.

    Examples
    --------
    >>> _without_user("s3://AKIA:word@bucket/rows")
    ('s3://bucket/rows', {'key': 'AKIA', 'secret': 'word'})
    """
    match = re.match(r"^(s3a?://)([^/@:]+):([^@]+)@(.*)$", text)
    if match is None:
        return text, {}
    return match[1] + match[4], {"key": unquote(match[2]), "secret": unquote(match[3])}


def _scheme(text: str) -> str:
    return text.split("://")[0].split("::")[-1].lower() if is_url(text) else ""


def _native_path(text: str) -> str:
    """Bucket and key; of Azure, container and path, also where the container stands before an account."""
    return re.sub(r"^([^/@]+)@[^/]+", r"\1", text.split("://", 1)[1]).rstrip("/")


def _pick(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def _s3(url: str, options: dict[str, Any], label: str) -> Any:
    fs = library_named("pyarrow.fs")
    settings = _pick(options, "access_key", "secret_key", "session_token", "anonymous")
    env = os.environ.get
    endpoint = options.get("endpoint") or env("AWS_ENDPOINT_URL_S3") or env("AWS_ENDPOINT_URL")
    region = options.get("region") or env("AWS_REGION") or env("AWS_DEFAULT_REGION")
    if endpoint:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        settings |= {"endpoint_override": parts.netloc, "scheme": parts.scheme}
        region = region or "us-east-1"  # of which other servers know nothing
    elif not region:
        bucket = _native_path(url).split("/")[0]
        with reaching(label, Secrets(options)):
            region = in_time(ANSWER_SECONDS, label, fs.resolve_s3_region, bucket)
    half = ANSWER_SECONDS / 2.5
    return fs.S3FileSystem(
        **settings, region=region, connect_timeout=half / 2, request_timeout=half,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=2),
    )  # fmt: skip


def _gs(_: str, options: dict[str, Any], __: str) -> Any:
    fs = library_named("pyarrow.fs")
    settings = _pick(options, "access_token", "project_id", "anonymous")
    if "access_token" in settings:  # pyarrow asks until when it holds, and does not renew it
        settings["credential_token_expiration"] = datetime.now(UTC) + timedelta(hours=1)
    if "endpoint" in options:
        parts = urlsplit(options["endpoint"])
        settings |= {"endpoint_override": parts.netloc, "scheme": parts.scheme}
    return fs.GcsFileSystem(**settings, retry_time_limit=timedelta(seconds=ANSWER_SECONDS - 5))


def _azure(url: str, options: dict[str, Any], label: str) -> Any:
    fs = library_named("pyarrow.fs")
    if not hasattr(fs, "AzureFileSystem"):
        raise MissingDependencyError(f"Reading {label} needs a pyarrow with AzureFileSystem. Hint: pip install adlfs, or a newer pyarrow.")  # fmt: skip
    account = re.search(r"@([^./]+)", url.split("://", 1)[1].split("/")[0])
    default = options.get("account_name") or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    name = account[1] if account else default
    if not name:
        raise InputError.about("storage_options", "must name the storage account", hint='write storage_options={"account_name": ...}, or abfs://container@account.dfs.core.windows.net/path')  # fmt: skip
    return fs.AzureFileSystem(**{**options, "account_name": name})


def _by_fsspec(texts: Sequence[str], scheme: str, options: dict[str, Any], secrets: Secrets) -> tuple[Store, list[str]]:  # fmt: skip
    fs, label = library_named("pyarrow.fs"), secrets.masked(texts[0])
    try:
        import fsspec
    except ImportError:
        packages = f"fsspec {FSSPEC_PACKAGE.get(scheme, '')}".rstrip()
        raise MissingDependencyError(f"Reading {label} needs fsspec. Hint: pip install {packages}.") from None
    try:
        reach = partial(fsspec.core.url_to_fs, **options)
        reached = [in_time(ANSWER_SECONDS, label, reach, text) for text in texts]
    except ImportError as error:
        package = FSSPEC_PACKAGE.get(scheme)
        hint = f"pip install {package}" if package else "install what it names"
        raise MissingDependencyError(f"Reading {label} needs another package ({secrets.masked(str(error))}). Hint: {hint}.") from None  # fmt: skip
    except IcefieldError:
        raise
    except Exception as error:  # every library behind fsspec has its own
        raise not_reached(label, error, secrets) from None
    handler = fs.PyFileSystem(fs.FSSpecHandler(reached[0][0]))
    return Store(handler, scheme, secrets, BATCH_SECONDS), [path for _, path in reached]


@contextmanager
def reaching(where: str, secrets: Secrets) -> Iterator[None]:
    """Turn errors that a store's library raises inside into an `InputError` without credentials."""
    try:
        yield
    except IcefieldError:
        raise
    except Exception as error:  # every library has its own
        raise not_reached(where, error, secrets) from None


def not_reached(where: str, error: BaseException, secrets: Secrets) -> InputError:
    """The error for a store that refuses or cannot be reached, without credentials."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = secrets.masked(lines[0])[:300]
    hint = None
    if re.search(r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE|Forbidden|denied|403|401|credential|InvalidAccessKey", text, re.IGNORECASE):  # fmt: skip
        hint = "check the credentials in storage_options, or in the environment"
    return InputError.about("X", f"could not be read: {text}", where, hint)


def _no_files_error(label: str, problem: str | None = None) -> InputError:
    return InputError.about("X", problem or "names no file that exists", label, "name a file, a folder or a glob such as s3://bucket/rows/*.parquet")  # fmt: skip


def _glob_pattern(path: str) -> re.Pattern[str]:
    """A glob as an expression: ``*`` within a name, ``**`` over any number of folders.

    Examples
    --------
    >>> bool(_glob_pattern("b/**/*.parquet").fullmatch("b/2024/05/a.parquet"))
    True
    >>> bool(_glob_pattern("b/*.parquet").fullmatch("b/2024/a.parquet"))
    False
    """
    pattern = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\])", path):
        if piece == "**/":
            pattern += r"(?:.*/)?"
        elif piece in ("**", "*", "?"):
            pattern += {"**": ".*", "*": "[^/]*", "?": "[^/]"}[piece]
        elif piece.startswith("["):
            pattern += piece.replace("[!", "[^")
        else:
            pattern += re.escape(piece)
    return re.compile(pattern)
