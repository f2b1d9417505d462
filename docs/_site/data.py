"""The three data sets that may not be committed: where they are, and where they come from.

    python docs/_site/data.py FOLDER

fetches what FOLDER lacks from its public source and checks it. Pages that need a file say so and are left out,
visibly, where it is not there. A checksum is taken over the table, not the file: names of columns in lower case,
numbers by their value; so line ends or another order of columns do not matter.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import sys
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "bike_hour.csv": (
        "https://archive.ics.uci.edu/static/public/275/bike+sharing+dataset.zip#hour.csv",
        "e7eed08a7b976b29678899c0a51e4f5daf52e14ba84e695cfe2d0b0abcb6beb3",
    ),
    "titanic.csv": (
        "https://raw.githubusercontent.com/pandas-dev/pandas/3106d68bee33c160adbc9322a523dab600a81a73/doc/data/titanic.csv",
        "d643729c9a7868213eddbcdc2134f4718dd3ba6b7df0b2924cf6ca36a8593ddb",
    ),
    "california_housing.csv": (
        "https://raw.githubusercontent.com/ageron/handson-ml2/aa555aa16b9d0af6c84e67c7757f3317d05acb12/datasets/housing/housing.csv",
        "dfeb3606f3e9c2520b5b8e6c5f8ee37ad524caa5dc02052f063aa3c0d56c158e",
    ),
}
DROPPED = ("passengerid",)
SPELT = ("name",)  # sources spell titles differently, and no page uses it


def folder() -> Path:
    """Where the files are looked for: ICEFIELD_DATA, else ``../shared/data`` beside the checkout."""
    return Path(os.environ.get("ICEFIELD_DATA", ROOT.parent / "shared" / "data"))


def find(name: str) -> Path | None:
    path = folder() / name
    return path if path.is_file() else None


def table(text: str) -> list[list[str]]:
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    names = [name.strip().lower() for name in rows[0]]
    order = [at for at, name in enumerate(names) if name not in DROPPED]
    return [[names[at] for at in order], *([row[at] for at in order] for row in rows[1:])]


def checksum(text: str) -> str:
    """Of the table's values, whatever the file's line ends and number formats."""
    found = table(text)
    order = sorted((at for at, name in enumerate(found[0]) if name not in SPELT), key=lambda at: found[0][at])
    digest = hashlib.sha256()
    for row in found:
        digest.update("\x1f".join(_plain(row[at]) for at in order).encode() + b"\n")
    return digest.hexdigest()


def _plain(cell: str) -> str:
    try:
        return repr(float(cell))
    except ValueError:
        return cell.strip()


def fetch(name: str) -> str:
    """The file's text from its public source."""
    address, _, inside = SOURCES[name][0].partition("#")
    with urllib.request.urlopen(address, timeout=120) as answer:
        got = answer.read()
    if inside:
        with zipfile.ZipFile(io.BytesIO(got)) as archive:
            got = archive.read(inside)
    return got.decode("utf-8")


def main(target: Path) -> int:
    """Fetch what is missing and check everything; how many files are missing or wrong."""
    target.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name, (address, expected) in SOURCES.items():
        path = target / name
        try:
            if not path.exists():
                rows = table(fetch(name))
                with path.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file, lineterminator="\n").writerows(rows)
            found = checksum(path.read_text(encoding="utf-8"))
        except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
            print(f"{name} could not be had from {address}: {error}", file=sys.stderr)
            wrong += 1
            continue
        if found == expected:
            print(f"{name}: {expected[:12]}, as expected")
        else:
            path.unlink()
            print(f"{name} is not the table the pages were written with: checksum {found}", file=sys.stderr)
            wrong += 1
    return wrong


if __name__ == "__main__":
    raise SystemExit(min(main(Path(sys.argv[1])), 1))
