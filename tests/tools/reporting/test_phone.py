"""The report on a phone: nothing is wider than 360 px, by its text and in Chromium."""

import html
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from tests.tools.reporting.samples import evaluation, report
from tools.reporting.page import plots_of, render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
PHONE = 360
MEASURING = """
<iframe id="phone" style="width: 360px; height: 700px; border: 0" srcdoc="{page}"></iframe>
<pre id="told"></pre>
<script>
const inside = document.getElementById("phone");
inside.onload = () => {{
  for (const part of inside.contentDocument.querySelectorAll("details")) part.open = true;
  const root = inside.contentDocument.documentElement;
  document.getElementById("told").textContent =
    "measured " + root.clientWidth + " " + root.scrollWidth;
}};
</script>
"""


def test_whatever_could_be_wide_may_break_or_shrink() -> None:
    page = render(report())
    style = page[page.index("<style>") : page.index("</style>")]
    assert 'name="viewport" content="width=device-width, initial-scale=1"' in page
    assert re.search(r"body \{[^}]*overflow-wrap: anywhere", style)
    assert re.search(r"pre \{[^}]*white-space: pre-wrap", style)
    assert re.search(r"svg \{[^}]*width: 100%[^}]*height: auto", style)
    assert re.search(r"@media \(max-width: 40rem\) \{[^@]*td[^{]*\{ display: block", style)
    assert not re.search(r"(?<!max-)width: \d+px|min-width|nowrap|overflow-x", style)
    assert not re.search(r"<(?!svg|rect)\w+[^>]*\swidth=", page)


@pytest.mark.parametrize("name", ["ladder", "lengths", "branching"])
def test_a_plot_is_drawn_for_a_phones_width(name: str) -> None:
    root = ET.fromstring(plots_of(evaluation())[name])
    assert root.get("width") is None
    assert float(root.get("viewBox", "").split()[2]) <= PHONE


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the page was not laid out")
def test_chromium_lays_the_page_out_within_360_pixels(tmp_path: Path) -> None:
    frame = tmp_path / "frame.html"
    page = html.escape(render(report(title="W" * 80)), quote=True)
    frame.write_text(MEASURING.format(page=page), encoding="utf-8")
    assert CHROMIUM is not None
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    done = subprocess.run(
        [CHROMIUM, *arguments, f"--user-data-dir={tmp_path}/profile", "--dump-dom",
         "--virtual-time-budget=5000", frame.as_uri()],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env={"HOME": str(tmp_path)},
    )  # fmt: skip
    measured = re.search(r"measured (\d+) (\d+)", done.stdout)
    assert measured, done.stderr[-500:]
    client, scroll = map(int, measured.groups())
    assert PHONE - 20 <= client <= PHONE
    assert scroll <= client
