"""The report page: what it shows, and that hostile words stay words."""

import xml.etree.ElementTree as ET

import pytest

from tools.reporting.content import Evaluation, Figure, Line, Report, Rung
from tools.reporting.page import plots_of, render
from tools.reporting.svg import Bar, curve, histogram, interval_bars

EVALUATION = Evaluation(
    figures=(Figure(name="draw share", meaning="draws", value=0.25, low=0.1, high=0.4, n=20),),
    ladder=(
        Rung(
            stronger="uct:simulations=50,rollouts=1",
            weaker="random",
            measure="win_share",
            figure=Figure(name="win_share", meaning="", value=0.8, low=0.6, high=0.9, n=20),
            even=0.5,
            verdict="climbs",
            unfinished={"forfeit": 2},
        ),
    ),
    lengths=(5, 6, 6, 9),
    branching=(9.0, 8.0, 7.5),
    unfinished={"unfinished": 1},
    players=("random", "uct:simulations=50"),
    notes=("searches were held small",),
)


def report(**changes: object) -> Report:
    fields = {
        "title": "A game",
        "summary": "It is played.",
        "players": 2,
        "made_by": "made by hand",
        "facts": (("seed", "7"),),
        "clauses": (Line(name="for two", state="honoured", text="num_players=2"),),
        "assumptions": ("a standard pack",),
        "checks": (Line(name="contract", state="passed"),),
        "heuristics": (),
        "evaluation": EVALUATION,
        "record": "ply 0: chance",
        "settings": {"seed": 7},
    }
    return Report.model_validate({**fields, **changes})


def test_the_page_shows_figures_with_intervals_and_failures() -> None:
    page = render(report())
    for part in ("0.250 (0.100 to 0.400, n = 20)", "climbs", "2 forfeit", "1 unfinished",
                 "searches were held small", "num_players=2", "a standard pack"):  # fmt: skip
        assert part in page


def test_the_same_report_gives_the_same_bytes() -> None:
    assert render(report()) == render(report())


def test_hostile_words_stay_words() -> None:
    page = render(report(title="<script>alert(1)</script>", record="</pre><img src=x>"))
    assert "<script" not in page
    assert "<img" not in page


def test_a_modules_words_in_a_finding_stay_words() -> None:
    said = "</td><script>alert(1)</script> \x1b[2J\u202egnp.\x00 & \"quoted\" 'both'"
    page = render(report(checks=(Line(name="functions", state="failed", text=said),)))
    assert "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt; gnp. &amp; &#34;quoted&#34;" in page
    assert not any(hidden in page for hidden in ("<script", "\x1b", "\u202e", "\x00"))
    assert page.count("<svg") == render(report()).count("<svg")


def test_an_unmeasured_figure_is_no_zero() -> None:
    figure = Figure(name="draw share", meaning="", problem="no match finished")
    page = render(report(evaluation=EVALUATION.model_copy(update={"figures": (figure,)})))
    assert "could not be measured: no match finished" in page


def test_a_run_without_a_play_test_still_has_a_page() -> None:
    page = render(report(evaluation=None, problem="the checks failed"))
    assert "the checks failed" in page
    assert "Skill ladder" not in page


@pytest.mark.parametrize("svg", [
    interval_bars([Bar("a <b>", 0.5, 0.25, 0.75)], title="shares & more", largest=1.0),
    histogram([3, 3, 4, 900], title="lengths"),
    curve([1.0, 2.0, 0.0], title="branching", label="decisions"),
])  # fmt: skip
def test_plots_are_well_formed_xml(svg: str) -> None:
    assert ET.fromstring(svg).tag == "svg"


def test_a_bar_is_as_long_as_its_share() -> None:
    root = ET.fromstring(interval_bars([Bar("a", 0.5), Bar("b", 1.0)], title="t", largest=1.0))
    half, whole = [float(rect.get("width", 0)) for rect in root.iter("rect")]
    assert whole == pytest.approx(2 * half)


def test_no_plot_is_drawn_without_numbers() -> None:
    assert plots_of(None) == {}
