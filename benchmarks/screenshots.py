"""Takes pictures of every page of the dashboard, in both themes, into docs/images/.

    python -m benchmarks.screenshots [--out FOLDER] [--width 1100] [--keep]

A demo memory (``demo_memory.py``) is made in a folder of its own, a server is started
over it, and Chromium is driven through the pages. ``--keep`` prints the address and
waits, so that the same pages can be looked at.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from unittest import mock

from playwright.sync_api import Page, sync_playwright

from benchmarks import demo_memory
from tests.http_api.served import Served, serving

ROOT = Path(__file__).resolve().parent.parent
BASE = Path("/tmp/hivemind-demo")
MAX_HEIGHT = 900
TO_WEBP = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.8);
}"""
PAGES = {
    "memories": "",
    "search": "?q=when+do+we+deploy",
    "memory": "/deploy-day",
    "edit": "/deploy-day/edit",
    "notes": "/notes",
    "note": "/notes/servers.md",
    "inbox": "/inbox",
    "doubtful": "/doubtful?look=1",
    "injection": "/injection",
    "told": "/injection?worktree={work}/shop-checkout",
    "sessions": "/sessions",
    "session": "/sessions?session=4f1c2a90",
    "skills": "/skills",
    "skill": "/skills/show?name=restore-drill",
    "log": "/log",
    "figures": "/figures",
    "health": "/health?check=1",
}
"""Name of a picture -> its page."""


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    shutil.rmtree(BASE, ignore_errors=True)
    home = BASE / "home"
    environ = {
        "HOME": str(BASE),
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "HIVEMIND_SESSION_SOURCES": "claude",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    with mock.patch.dict(os.environ, environ):
        demo_memory.fill(home, BASE)
        with serving() as served:
            if given.keep:
                code = served.ask("POST", "/memory/link").json()["code"]
                print(f"{served.url}/memory/login?code={code}", flush=True)
                input()
            else:
                take(served, given.out, given.width, given.only.split(","))
    shutil.rmtree(BASE)
    return 0


def take(served: Served, out: Path, width: int, only: list[str]) -> None:
    """Write the pictures of both themes."""
    out.mkdir(parents=True, exist_ok=True)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox"]
        )
        for theme in ("light", "dark"):
            context = browser.new_context(
                base_url=served.url,
                color_scheme=theme,
                viewport={"width": width, "height": 700},
            )
            page = context.new_page()
            converter = browser.new_page()
            code = served.ask("POST", "/memory/link").json()["code"]
            page.goto(f"/memory/login?code={code}")
            make_skill(page)
            for name, path in PAGES.items():
                if only != [""] and name not in only:
                    continue
                page.set_viewport_size({"width": width, "height": 420})
                page.goto("/memory" + path.replace("{work}", str(BASE)))
                shoot(page, converter, out / f"{name}-{theme}.webp")
        browser.close()


def make_skill(page: Page) -> None:
    """Make a memory a skill, unless it is one."""
    page.goto("/memory/skills/show?name=restore-drill")
    if page.locator("#skill").count() == 0:
        page.goto("/memory/restore-drill")
        page.get_by_role("link", name="Make it a skill").click()
        page.get_by_label("Where").select_option("user")
        page.get_by_role("button", name="Make it a skill").click()


def shoot(page: Page, converter: Page, file: Path) -> None:
    """Take a picture of what is seen first, and of what comes below it."""
    height = page.evaluate("document.documentElement.scrollHeight")
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.set_viewport_size({"width": width, "height": min(height, MAX_HEIGHT)})
    page.wait_for_load_state("load")
    # A browser writes PNG only, and a canvas a picture of a third of its size.
    picture = b64encode(page.screenshot()).decode()
    converted = converter.evaluate(TO_WEBP, f"data:image/png;base64,{picture}")
    file.write_bytes(b64decode(converted.partition(",")[2]))


if __name__ == "__main__":
    sys.exit(main())
