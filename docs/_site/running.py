"""Pages that compute: ``{run}`` blocks are executed while the page is read, in one namespace per page.

    ```{run}
    :alt: what the picture shows        needed where the block draws
    :hide:                              show the result, not the code
    code
    ```

What it prints, the value of its last line and its pictures (light and dark) follow the code. ``{value}`expression```
puts a computed value into a sentence; ``{value}`expression | .1f``` formats it.
``{report}`` shows a file that the page wrote into ``site`` (a folder that is published) in a frame.
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pictures
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

LOG = logging.getLogger(__name__)
PAGES: dict[str, Page] = {}


class Page:
    """What the blocks of one page have computed so far."""

    def __init__(self, source: Path, name: str) -> None:
        self.name = name.replace("/", "-")
        self.site = source / "generated" / "site" / self.name
        self.pictures = source / "generated" / "run"
        shutil.rmtree(self.site, ignore_errors=True)
        self.site.mkdir(parents=True)
        for old in self.pictures.glob(f"{self.name}.*.png"):
            old.unlink()
        self.space: dict[str, Any] = {
            "__name__": "page",
            "site": self.site,
            "docs": source,
        }
        self.count = 0

    def run(self, code: str) -> tuple[str, Any, list[Path]]:
        """What the code printed, the value of its last line, and its pictures."""
        self.count += 1
        parsed = ast.parse(code)
        last = parsed.body.pop() if parsed.body and isinstance(parsed.body[-1], ast.Expr) else None
        where = f"<block {self.count} of {self.name}>"
        printed, value = io.StringIO(), None
        with pictures.look("light"), contextlib.redirect_stdout(printed):
            exec(compile(parsed, where, "exec"), self.space)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), where, "eval"), self.space)
            drawn = pictures.save_open(lambda at: self.pictures / f"{self.name}.{self.count}.{at}.png")
        if drawn:
            pictures.again_in_the_dark(code, self.space, drawn)
        return printed.getvalue(), value, drawn


class Run(SphinxDirective):
    has_content = True
    option_spec = {"alt": directives.unchanged, "hide": directives.flag, "hide-output": directives.flag}

    def run(self) -> list[nodes.Node]:
        page = PAGES[self.env.docname]
        code = "\n".join(self.content)
        shown: list[nodes.Node] = []
        if "hide" not in self.options:
            block = nodes.literal_block(code, code, language="python", classes=["run"])
            self.set_source_info(block)
            shown.append(block)
        try:
            printed, value, drawn = page.run(code)
        except Exception as error:
            raise self.error(f"{type(error).__name__}: {error}\nin:\n{code}") from error
        if "hide-output" not in self.options:
            shown += self._output(printed, value)
        for path in drawn:
            if not self.options.get("alt"):
                LOG.warning("a block that draws needs :alt:", location=self.get_location())
            uri = "/" + path.relative_to(self.env.srcdir).as_posix()
            shown.append(nodes.image(uri=uri, alt=self.options.get("alt", ""), classes=["picture"]))
        return shown

    def _output(self, printed: str, value: Any) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        if printed.strip():
            text = printed.rstrip()
            kind = ["output"] if "\n" in text else ["output", "sentence"]
            found.append(nodes.literal_block(printed, text, language="none", classes=kind))
        if value is None or type(value).__module__.split(".")[0] in ("matplotlib", "plotly", "mpl_toolkits"):
            return found
        if (html := getattr(value, "_repr_html_", lambda: None)()) is not None:
            # Pictures of the site are drawn on both grounds, by blocks of their own.
            page = re.sub(r'<img class="icefield-picture"[^>]*>', "", html)
            found.append(nodes.raw("", f'<div class="output table-output">{page}</div>', format="html"))
        elif not isinstance(value, Path):
            text = repr(value)
            kind = ["output"] if "\n" in text else ["output", "sentence"]
            found.append(nodes.literal_block(text, text, language="none", classes=kind))
        return found


class Value(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        page = PAGES[self.env.docname]
        expression, _, form = self.text.rpartition(" | ") if " | " in self.text else (self.text, "", "")
        try:
            text = format(eval(expression, page.space), form)
        except Exception as error:
            LOG.warning("%s: %s in %s", type(error).__name__, error, self.text, location=self.get_location())
            text = "?"
        return [nodes.inline("", text, classes=["computed"])], []


class Report(SphinxDirective):
    required_arguments = 1
    option_spec = {"title": directives.unchanged_required, "height": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        page = PAGES[self.env.docname]
        name = self.arguments[0]
        if not (page.site / name).is_file():
            raise self.error(f"the page wrote no {name}")
        up = "../" * self.env.docname.count("/")
        address = html.escape(f"{up}_live/{page.name}/{name}")
        title = html.escape(self.options["title"])
        height = self.options.get("height", "640px")
        frame = (
            f'<div class="frame"><iframe data-src="{address}" title="{title}" style="height:{height}">'
            f'</iframe><p class="frame-note"><a href="{address}">Open it on its own</a></p></div>'
        )
        return [nodes.raw("", frame, format="html")]


def _begin(app: Any, name: str, source: list[str]) -> None:
    PAGES[name] = Page(Path(app.srcdir), name)


def _publish(app: Any, exception: Any) -> None:
    """Files that pages wrote go to ``_live``."""
    made = Path(app.srcdir) / "generated" / "site"
    if exception is None and made.is_dir() and app.builder.format == "html":
        for folder in made.iterdir():
            if any(folder.iterdir()):
                shutil.copytree(folder, Path(app.outdir) / "_live" / folder.name, dirs_exist_ok=True)


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("run", Run)
    app.add_directive("report", Report)
    app.add_role("value", Value())
    app.connect("source-read", _begin)
    app.connect("build-finished", _publish)
    plt.close("all")
    # Pages are read again when the programs that read them have changed.
    programs = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return {"env_version": zlib.crc32(programs), "parallel_read_safe": True, "parallel_write_safe": True}
