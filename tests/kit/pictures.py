"""`make pictures`: the pictures of the documentation, taken of what `make demo` left in `.demo`."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from cocli.pipeline.websites.fetch.browser import find_chromium

REPORT = Path(".demo/report.html")
PICTURES = {"report.png": (1180, 1240, "light"), "report-dark.png": (1180, 1240, "dark")}
"""File → width and height of the window, and the colours that the reader prefers."""


def main(folder: Path) -> int:
    """Open the report in Chromium, and look at it as a reader does."""
    if not REPORT.is_file():
        print("There is no .demo/report.html: run make demo first", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name, (width, height, colours) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if colours == "dark" else "light",
            )
            page.goto(REPORT.resolve().as_uri())
            page.screenshot(path=folder / name)
            print(folder / name)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path("docs/pictures")))
