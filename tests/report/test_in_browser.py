"""The report of an attempt in headless Chromium: it can be read, fits, prints, and nothing is blocked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.bank.load import load_bank
from quizapp.report.attempt import attempt_page
from quizapp.store.store import Store
from sample_bank import MemoryBank

KINDS = Path(__file__).parent.parent / "banks" / "good" / "kinds.yaml"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine (Debian's package is `chromium`)"
)
# One picture that Chromium can't draw would say so on the console, as would a blocked style.
PIXEL = (
    "data:image/svg+xml;base64,"
    "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI0MCIgaGVpZ2h0PSI0MCIvPg=="
)
# What the page measures of itself, by a script that only this test puts there.
PROBE = """
<script>
const linear = (v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
const luminance = (c) => c.map((v) => linear(v / 255))
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 4).map(Number);
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); }
  return [255, 255, 255]; };
let worst = 99, where = "";
for (const e of document.querySelectorAll("main *, .skip")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
  if (e.localName === "title") continue;
  const style = getComputedStyle(e);
  const color = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
  const pair = [rgb(color).slice(0, 3), behind(e)].map(luminance).sort((a, b) => b - a);
  const ratio = (pair[0] + .05) / (pair[1] + .05);
  if (ratio < worst) { worst = ratio; where = e.outerHTML.slice(0, 80); }
}
const broken = [...document.images].filter((i) => !i.complete || !i.naturalWidth).length;
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.body.setAttribute("data-probe", JSON.stringify({
  contrast: worst, where, broken, dark, images: document.images.length,
  wide: document.documentElement.scrollWidth > innerWidth,
  ground: getComputedStyle(document.body).backgroundColor,
}));
</script>
"""


@pytest.fixture
def html(tmp_path: Path) -> str:
    questions = list(load_bank(KINDS).bank.questions)
    with_figure = load_bank(KINDS.parent / "everything.yaml").bank.questions
    questions += [q for q in with_figure if q.explanation.figure]
    store = Store.open(tmp_path / "state")
    sitting = store.start(MemoryBank(questions), "ada", seed=7)  # type: ignore[arg-type]
    for place in range(len(questions)):
        sitting.show(place)
        order = sitting.option_order(place)
        if sitting.question(place).kind == "single-choice":
            sitting.respond(place, Response(order[:1]))
        sitting.submit(place)
    sitting.finish()
    sitting.close()
    record = store.show(sitting.attempt_id)
    store.close()
    return attempt_page(record, when=lambda moment: f"{moment:%Y-%m-%d}", picture=lambda src: PIXEL)


@pytest.fixture(scope="module", autouse=True)
def _a_browser_that_starts(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One that is installed and can't start (in a container, say) says nothing about reports."""
    if CHROMIUM is not None:
        try:
            done = run_chromium(tmp_path_factory.mktemp("browser"), "--dump-dom", "about:blank")
        except subprocess.TimeoutExpired:
            pytest.skip("this machine's Chromium does not come up within two minutes")
        if done.returncode:
            pytest.skip(f"this machine's Chromium can't start: {done.stderr[-200:]}")


def chromium(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = run_chromium(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def run_chromium(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM
    return subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-dev-shm-usage",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            f"--user-data-dir={folder / 'profile'}",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"HOME": str(folder)},
    )


@needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 1000), ("light", 500)])
def test_text_can_be_read_and_nothing_runs_over_the_side(
    html: str, tmp_path: Path, scheme: str, width: int
) -> None:
    import json
    from html import unescape

    page = tmp_path / "page.html"
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert policy in html
    probed = html.replace(policy, f"{policy}; script-src 'unsafe-inline'").replace(
        "</body>", f"{PROBE}</body>"
    )
    page.write_text(probed, encoding="utf-8")
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    dumped = chromium(tmp_path, *dark, f"--window-size={width},900", "--dump-dom", page.as_uri()).stdout
    found = re.search(r'data-probe="([^"]*)"', dumped)
    assert found, dumped[-500:]
    measured = json.loads(unescape(found[1]))
    assert measured["dark"] == (scheme == "dark"), measured
    assert measured["contrast"] >= 4.5, measured
    assert measured["images"] >= 1
    assert measured["broken"] == 0
    assert not measured["wide"], measured


@needs_chromium
def test_it_prints_and_breaks_none_of_its_own_rules(html: str, tmp_path: Path) -> None:
    page, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_text(html, encoding="utf-8")
    done = chromium(
        tmp_path,
        "--enable-logging=stderr",
        f"--print-to-pdf={paper}",
        "--no-pdf-header-footer",
        page.as_uri(),
    )
    assert paper.read_bytes().startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) >= 2
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
