"""The first screens of a report as a picture: `docs/images/report.png` is that of `make demo`.

    python examples/report_picture.py demo_output/report.html docs/images/report.png

Needs playwright and the system's Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from PIL import Image

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = {"width": 1160, "height": 1500}  # pixels
COLOURS = 96  # of the stored picture


def main(report: Path, picture: Path) -> None:
    """Photograph the top of a report."""
    from playwright.sync_api import sync_playwright

    browser = next(found for found in map(shutil.which, CHROMIUMS) if found)
    with sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = window.new_page(viewport=SIZE)
        page.goto(report.resolve().as_uri())
        page.wait_for_timeout(4000)  # the pictures are drawn
        page.screenshot(path=picture)
        window.close()
    with Image.open(picture) as image:
        stored = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    stored.save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
