"""Credentials are masked here: what a user passed to reach a store must not appear in any text.

A URL may carry a user, a password or a signature; `storage_options` carry keys and tokens; the libraries that talk to stores
print both in their errors. Every label, error and identity of rows that lie elsewhere goes through `Secrets.masked`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

MASK = "***"
LEAST = 3  # characters of a value that is masked: shorter ones are flags
FLAGS = ("true", "false")  # which hide nothing
SECRETIVE = re.compile(r"key|secret|token|pass|sas|cred|sig|auth|bearer|connection_string|user", re.I)
STORES = ("AWS_", "AZURE_", "GOOGLE_", "GCS_")  # prefixes of variables that hold credentials
# abfs://container@account is an address, no user.
USER = re.compile(r"\b(?!abfss?:|wasbs?:|az:|adl:)([a-z][a-z0-9+.-]*://)[^/\s@'\"]+@", re.IGNORECASE)
QUERY = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s'\"?]*)\?[^\s'\"]*=[^\s'\"]*", re.IGNORECASE)


class Secrets:
    """Texts that are never shown.

    Parameters
    ----------
    options : what was passed as `storage_options`, nested as it may be

    Examples
    --------
    >>> Secrets({"key": "AKIA123", "region": "eu-west-1"}).masked("AKIA123 is unknown in eu-west-1")
    '*** is unknown in eu-west-1'
    >>> Secrets().masked("https://me:word@host/a.parquet?sig=abc")
    'https://***@host/a.parquet?***'
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        values = {*_values(options or {}), *_of_environment()}
        forms = {form for value in values for form in (value, quote(value, safe=""), quote(value))}
        # The longest first: one may be the beginning of another.
        self._values = sorted(forms, key=len, reverse=True)

    def masked(self, text: str) -> str:
        """A text without any of them."""
        for value in self._values:
            text = text.replace(value, MASK)
        return QUERY.sub(rf"\1?{MASK}", USER.sub(rf"\1{MASK}@", text))


def _values(options: Mapping[str, Any], hidden: bool = False) -> Iterator[str]:
    for name, value in options.items():
        is_secret = hidden or SECRETIVE.search(str(name)) is not None
        if isinstance(value, Mapping):
            yield from _values(value, is_secret)
        elif is_secret and isinstance(value, str) and len(value) >= LEAST and value.lower() not in FLAGS:
            yield value


def _of_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        secretive = name.startswith(STORES) and SECRETIVE.search(name)
        if secretive and len(value) >= 8 and not os.path.exists(value):
            yield value
