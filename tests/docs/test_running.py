"""Blocks of a page are run in order, and draw in both looks."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="sphinx is not installed: make docs installs it")
pytest.importorskip("myst_parser", reason="myst-parser is not installed: make docs installs it")

# Sphinx and what it loads warn of their own futures.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("own_pages")]

COMPUTES = """# A page

```{run}
x = 20
print("printed", x)
x + 1
```

The answer is {value}`x * 2 + 2`, or {value}`x / 3 | .2f`.

```{run}
:alt: a line
import matplotlib.pyplot as plt
plt.plot([0, x])
```
"""


@pytest.fixture
def own_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    import running

    monkeypatch.setattr(running, "PAGES", {})


def built(folder: Path, page: str) -> tuple[str, str]:
    """The page as HTML, and what the build warned of."""
    import io

    from sphinx.application import Sphinx

    source = folder / "docs"
    source.mkdir()
    (source / "index.md").write_text(page, encoding="utf-8")
    warned = io.StringIO()
    app = Sphinx(
        source, None, folder / "out", folder / "trees", "html", status=None, warning=warned,
        confoverrides={"extensions": ["myst_parser", "pictures", "running"]},
    )  # fmt: skip
    app.build()
    # A second application in one process registers Sphinx's own nodes again, and says so.
    lines = [line for line in warned.getvalue().splitlines() if "app.add_" not in line]
    return (folder / "out" / "index.html").read_text(encoding="utf-8"), "\n".join(lines)


def test_what_is_printed_returned_computed_and_drawn_is_on_the_page(tmp_path: Path) -> None:
    page, warned = built(tmp_path, COMPUTES)
    assert "printed 20" in page
    assert "<pre><span></span>21" in page
    assert '<span class="computed">42</span>' in page
    assert '<span class="computed">6.67</span>' in page
    images = {path.name for path in (tmp_path / "out" / "_images").iterdir()}
    assert images == {"index.2.0.png", "index.2.0_dark.png"}
    assert page.count('alt="a line"') == 2
    assert page.count("only-dark") == page.count("only-light") == 1
    assert warned == ""


@pytest.mark.parametrize(
    ("code", "words"),
    [("```{run}\nimport matplotlib.pyplot as plt\nplt.plot([1])\n```", "needs :alt:"),
     ("```{run}\n1 / 0\n```", "ZeroDivisionError"),
     ("{value}`missing_name`", "NameError")],
)  # fmt: skip
def test_what_is_wrong_on_a_page_is_a_warning(tmp_path: Path, code: str, words: str) -> None:
    assert words in built(tmp_path, f"# A page\n\n{code}\n")[1]
