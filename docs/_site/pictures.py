"""Pictures in two looks: whatever draws is run once on a light and once on a dark ground.

An image ``name.png`` with a ``name_dark.png`` beside it becomes two images on the page, of which the theme shows
one. Code that drew something is run a second time with the other style for that, which is why the code that draws
stands in blocks of its own: fits and effects are computed once.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from docutils import nodes
from PIL import Image
from sphinx.util import logging

LOG = logging.getLogger(__name__)

DPI = 130
COMMON = {
    "figure.dpi": 100,
    "figure.figsize": (6.6, 4.1),
    "font.size": 10,
    "axes.titlesize": 11,
    "svg.hashsalt": "icefield",
}
GROUND = {"light": "#ffffff", "dark": "#14181e"}
INK = {"light": "#1f2328", "dark": "#d9e0e8"}


def settings(look: str) -> dict[str, Any]:
    """The style of one look: the ground is the page's own."""
    ground, ink = GROUND[look], INK[look]
    style = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), ground)
    for name in ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"):
        style[name] = ink
    style["grid.color"] = "#d0d7de" if look == "light" else "#3a424d"
    style["legend.facecolor"] = ground
    style["axes3d.xaxis.panecolor"] = style["axes3d.yaxis.panecolor"] = style["axes3d.zaxis.panecolor"] = (
        ground
    )
    return {**COMMON, **style}


@contextlib.contextmanager
def look(name: str) -> Iterator[None]:
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.use("agg")
        mpl.rcParams.update(settings(name))
        yield


def reset(conf: Any, name: str, when: str = "before") -> None:
    """Before each example of the gallery: the light look, and no figures left over."""
    mpl.rcdefaults()
    mpl.use("agg")
    mpl.rcParams.update(settings("light"))
    plt.close("all")
    warnings.filterwarnings("ignore", message=".*non-interactive.*")


def save_open(path_of: Callable[[int], Path]) -> list[Path]:
    """Write every open figure and close it."""
    written = []
    for at, number in enumerate(plt.get_fignums()):
        path = path_of(at)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure = plt.figure(number)
        figure.savefig(path, dpi=DPI, facecolor=figure.get_facecolor())
        written.append(path)
    plt.close("all")
    return written


def dark_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}_dark{path.suffix}")


def again_in_the_dark(code: str, namespace: dict[str, Any], light: list[Path]) -> None:
    """Run the code that drew once more, and write what it drew beside the light pictures."""
    with look("dark"), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "<the same block, on a dark ground>", "exec"), dict(namespace))
        save_open(lambda at: dark_of(light[at]))


# --- the gallery ---------------------------------------------------------------------------------


def matplotlib_scraper(block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
    """The figures of a block of the gallery, in both looks."""
    if not plt.get_fignums():
        return ""
    paths = block_vars["image_path_iterator"]
    light = save_open(lambda at: Path(next(paths)))
    again_in_the_dark(block[1], block_vars["example_globals"], light)
    title = Path(block_vars["src_file"]).read_text(encoding="utf-8").split("\n")[1]
    text = ""
    for path in light:
        shown = path.relative_to(conf["src_dir"]).as_posix()
        text += f"\n.. image:: /{shown}\n   :alt: {title}\n   :class: picture\n"
    return text


def plotly_scraper(block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
    """A plotly figure called ``figure``, alive on the page; the script is the site's own copy."""
    figure = block_vars["example_globals"].pop("figure", None)
    if figure is None or not hasattr(figure, "to_html"):
        return ""
    page = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id="live", default_height="430px",
        config={"displaylogo": False, "responsive": True},
    )  # fmt: skip
    # The script is large: the page loads it when it is itself there (see site.js).
    page = re.sub("<script[^>]*>", '<script type="text/plain">', page)
    body = "\n".join(
        f"   {line}"
        for line in f'<div class="live" data-src="../../../_static/plotly.min.js">{page}</div>'.splitlines()
    )
    return f"\n.. raw:: html\n\n{body}\n"


def dark_thumbnails(app: Any, exception: Any = None) -> None:
    """The thumbnail of the dark picture beside that of the light one."""
    for thumb in Path(app.srcdir, "generated", "gallery").glob("*/images/thumb/*_thumb.png"):
        name = thumb.stem.removesuffix("_thumb")
        sources = [
            thumb.parent.parent / f"{name}_001_dark.png",
            Path(app.srcdir, "images", f"{name[9:]}_dark.png"),
        ]
        source = next((path for path in sources if path.exists()), None)
        target = dark_of(thumb)
        if source is None or (target.exists() and target.stat().st_mtime >= source.stat().st_mtime):
            continue
        with Image.open(thumb) as light, Image.open(source) as dark:
            size = light.size
            copy = dark.convert("RGB")
            copy.thumbnail(size)
            whole = Image.new("RGB", size, GROUND["dark"])
            whole.paste(copy, ((size[0] - copy.width) // 2, (size[1] - copy.height) // 2))
            whole.save(target)


# --- every page ------------------------------------------------------------------------------------


def _in_both_looks(app: Any, doctree: nodes.document) -> None:
    """Give each image its dark twin, words, and patience in loading."""
    for image in list(doctree.findall(nodes.image)):
        uri = image["uri"]
        if "://" in uri or uri.startswith("data:"):
            continue
        image["loading"] = "lazy"
        folder = Path(app.srcdir) if uri.startswith("/") else Path(app.env.doc2path(app.env.docname)).parent
        path = folder / uri.lstrip("/")
        if "_thumb" in path.stem and not image.get("alt"):
            name = path.stem.removeprefix("sphx_glr_").removesuffix("_thumb")
            script = next(Path(app.srcdir, "gallery").glob(f"*/{name}.py"))
            image["alt"] = script.read_text(encoding="utf-8").split("\n")[1]
        if not image.get("alt"):
            LOG.warning("%s has no alt text", uri, location=image)
        dark = dark_of(path)
        if path.stem.endswith("_dark") or not dark.exists():
            continue
        twin = image.deepcopy()
        twin["uri"] = uri[: -len(path.name)] + dark.name
        image["classes"] = [*image["classes"], "only-light"]
        twin["classes"] = [*twin["classes"], "only-dark"]
        at = image.parent.index(image)
        image.parent.insert(at + 1, twin)


def _own_plotly(app: Any, exception: Any) -> None:
    """The site's own copy of plotly.js, from the installed package."""
    if exception is None and app.builder.format == "html":
        import plotly

        source = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
        target = Path(app.outdir) / "_static" / "plotly.min.js"
        if not target.exists():
            shutil.copyfile(source, target)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", dark_thumbnails, priority=900)
    app.connect("doctree-read", _in_both_looks, priority=300)
    app.connect("build-finished", _own_plotly)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
