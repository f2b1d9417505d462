"""`make docs`: builds the site with warnings as errors, checks it, and says what it holds.

python docs/_site/build.py [--fresh]
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_site"))


def main() -> None:
    import checks
    from sphinx.cmd.build import main as sphinx

    import icefield

    began = time.perf_counter()
    folder = "dev" if "dev" in icefield.__version__ else icefield.__version__
    out = ROOT / "build" / "site" / folder
    if "--fresh" in sys.argv:
        for made in (out, ROOT / "docs" / "generated"):
            shutil.rmtree(made, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    failed = sphinx(["-q", "-W", "--keep-going", "-b", "html", "-j", "2", str(ROOT / "docs"), str(out)])
    if failed:
        raise SystemExit("the site was not built: warnings are errors, see above")
    wrong = checks.problems(out)
    if wrong:
        raise SystemExit("\n".join(wrong) + f"\n{len(wrong)} problems")
    pages = [
        path for path in out.rglob("*.html") if "_live" not in path.parts and "_static" not in path.parts
    ]
    entries = len(list((ROOT / "docs" / "gallery").glob("*/plot_*.py")))
    print(f"{len(pages)} pages, {entries} gallery entries, no warnings, no dead links, "
          f"{time.perf_counter() - began:.0f} s")  # fmt: skip
    print(f"Open {(out / 'index.html').as_uri()}")


if __name__ == "__main__":
    main()
