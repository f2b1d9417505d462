"""skops files: scikit-learn models without pickle's dangers, as long as only known types are built."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icefield.errors import complaint
from icefield.libraries.native_files import LoadError, check_fits, cut, first_line, needed


def load_skops(file: Path, trust: Sequence[str]) -> Any:
    """The model in a file, where all its types are on skops's allow-list or among those to trust."""
    skops = needed("skops.io", "skops")
    try:
        with zipfile.ZipFile(file) as archive:
            check_fits(sum(entry.file_size for entry in archive.infolist()), "its contents")
        unknown = [t for t in skops.get_untrusted_types(file=str(file)) if t not in trust]
    except Exception as error:
        raise LoadError(
            complaint("MODEL", "is not a readable skops file", str(file), first_line(error))
        ) from error
    if unknown:
        wanted = " ".join(f"--trust {cut(name, 80)}" for name in unknown[:5])
        raise LoadError(
            f"{file} holds types that are not on the allow-list: {cut(', '.join(unknown[:5]))}. Hint: if you trust "
            f"them, add {wanted}."
        )
    try:
        return skops.load(str(file), trusted=list(trust))
    except Exception as error:
        raise LoadError(complaint("MODEL", "could not be loaded", str(file), first_line(error))) from error
