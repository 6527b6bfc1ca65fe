"""The report page: what it shows, and that hostile words stay words."""

import re
import xml.etree.ElementTree as ET

import pytest

from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.modules import LocalModule
from games.records import MatchRecord
from games.table import GameTable
from tests.tools.reporting.samples import LONG_SPEC, evaluation, play, report, rung
from tools.reporting.content import Figure, ReportLine, match_story
from tools.reporting.page import Bar, curve, histogram, interval_bars, plots_of, render


def test_the_page_shows_figures_with_intervals_and_failures() -> None:
    page = render(report())
    for part in ("90.0 % (80.0 % to 95.0 %, n = 60 matches)", "climbs", "2 forfeit", "1 unfinished",
                 "searches were held small", "num_players=2", "a standard pack"):  # fmt: skip
        assert part in page


def test_the_verdict_comes_first_and_every_table_says_who_played() -> None:
    page = render(report())
    assert page.index("Is it fair?") < page.index("What was asked for") < page.index("Checks")
    for who in ("random players", "greedy players", "uct 50 players"):
        assert f"<th>{who}</th>" in page


@pytest.mark.parametrize(
    ("game", "parameters", "deals"),
    [
        ("trick_taking", {"deals": 3, "hand_size": 4, "trump": "turned"}, 3),
        ("poker", {"deals": 5, "hand_size": 2}, 5),
        ("tic_tac_toe", {}, 1),
        ("pig", {}, 1),  # dice, rolled once and again, deal nothing
    ],
)
def test_of_a_sample_match_the_first_deal_is_shown_and_each_later_one_folded(
    game: str, parameters: dict[str, int | str], deals: int
) -> None:
    table = GameTable(Game(LocalModule(library.source(game))))
    match = play_match(table, [UniformPlayer()] * 2, parameters=parameters, seed=1, max_plies=900)
    story = match_story(MatchRecord(game, parameters, ("random", "random"), 1, 0, match))
    plain, page = render(report(record="1. x")), render(report(record=story))
    assert page.count("<details>") - plain.count("<details>") == deals - 1
    assert page.count("the next deal") == deals - 1
    assert page.index("Result: ") < page.index("1. ", page.index("Read the match"))


def test_rules_and_a_match_between_the_best_lie_inside() -> None:
    page = render(report())
    assert "R1: Each takes &lt;one&gt;." in page
    assert "A match between uct 50 players" in page


@pytest.mark.parametrize(
    ("low", "words"), [(0.8, "the best there are"), (0.4, "at the top of the ladder")]
)
def test_the_best_are_called_so_only_where_the_ladder_tells_them_apart(
    low: float, words: str
) -> None:
    step = rung(0.9, low, 0.95, weaker="greedy:heuristic=ensemble")
    played = evaluation(ladder=(rung(0.9, 0.8, 0.95, stronger=step.weaker), step))
    assert f"A match between uct 50 players, {words}</h2>" in render(report(evaluation=played))


def test_names_are_short_and_the_full_setting_lies_in_details() -> None:
    page = render(report())
    assert page.count(LONG_SPEC) == 1
    assert page.rfind("<details", 0, page.index(LONG_SPEC)) > page.rfind(
        "</details>", 0, page.index(LONG_SPEC)
    )


def test_no_seat_is_counted_from_0() -> None:
    assert not any(word in render(report()) for word in ("seat 0", "Seat 0", "player 0"))


def test_shares_are_percentages_and_other_figures_are_none() -> None:
    """A first seat that wins 0.54 of the matches, and 30 decisions a match."""
    page = render(report())
    fair = page.partition("Is it fair?")[2].partition("</tr>")[0]
    assert re.search(r" \d+ % \(\d+ % to \d+ %; \d+ matches\), of \d+ %", fair), fair
    turns = page.partition("<th>turns a match")[2].partition("</tr>")[0]
    assert "%" not in turns
    assert re.search(r"\d\.\d{3} \(", turns)


def test_a_team_shows_scores_and_no_shares_of_wins() -> None:
    plays = (play("random", score=(1, 0.5, 1.5)), play("greedy:heuristic=x", score=(3, 2, 4)))
    team = evaluation(
        plays=plays, shared=True, ladder=(), players=("random", "greedy:heuristic=x"), span=None
    )
    page = render(report(evaluation=team))
    assert "3.000 (2.000 to 4.000, n = 60 matches)" in page
    assert "wins" not in page.split("How it plays")[1].split("Skill ladder")[0]
    assert "Mean score of a match" in plots_of(team)["ladder"]


def test_the_same_report_gives_the_same_bytes() -> None:
    assert render(report()) == render(report())


def test_hostile_words_stay_words() -> None:
    page = render(report(title="<script>alert(1)</script>", record="</pre><img src=x>"))
    assert "<script" not in page
    assert "<img" not in page


def test_a_modules_words_in_a_finding_stay_words() -> None:
    said = "</td><script>alert(1)</script> \x1b[2J\u202egnp.\x00 & \"quoted\" 'both'"
    page = render(report(checks=(ReportLine(name="functions", state="failed", text=said),)))
    assert "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt; gnp. &amp; &#34;quoted&#34;" in page
    assert not any(hidden in page for hidden in ("<script", "\x1b", "\u202e", "\x00"))
    assert page.count("<svg") == render(report()).count("<svg")


def test_an_unmeasured_figure_is_no_zero() -> None:
    missing = Figure(name="ties", meaning="", problem="no match finished")
    best = play("uct:simulations=50")
    best = best.model_copy(update={"figures": {**best.figures, "ties": missing}})
    assert "could not be measured: no match finished" in render(report(evaluation=evaluation(best)))


def test_a_run_without_a_play_test_still_has_a_page() -> None:
    page = render(report(evaluation=None, problem="the checks failed"))
    assert "the checks failed" in page
    assert "Skill ladder" not in page


@pytest.mark.parametrize("svg", [
    interval_bars([Bar("a <b>", 0.5, 0.25, 0.75)], title="shares & more", largest=1.0),
    histogram([3, 3, 4, 900], title="lengths", unit="decisions"),
    curve([1.0, 2.0, 0.0], title="branching", units=("decision", "actions")),
])  # fmt: skip
def test_plots_are_well_formed_xml(svg: str) -> None:
    assert ET.fromstring(svg).tag == "svg"


def test_a_bar_is_as_long_as_its_share() -> None:
    root = ET.fromstring(interval_bars([Bar("a", 0.5), Bar("b", 1.0)], title="t", largest=1.0))
    half, whole = [float(rect.get("width", 0)) for rect in root.iter("rect")]
    assert whole == pytest.approx(2 * half)


def test_no_line_crosses_a_label_of_the_ladder() -> None:
    bars = [Bar("a", 0.5, 0.25, 0.75), Bar("b", 1.0)]
    root = ET.fromstring(interval_bars(bars, title="t", largest=1.0, reference=0.5))
    labels = [float(text.get("y", 0)) for text in root.iter("text") if ":" in (text.text or "")]
    assert len(labels) == 2
    for line in root.iter("line"):
        ends = float(line.get("y1", 0)), float(line.get("y2", 0))
        assert not any(ends[0] < base and ends[1] > base - 9 for base in labels)  # 9: a capital


def test_matches_of_one_length_are_told_in_words_alone() -> None:
    best = play("uct:simulations=50").model_copy(update={"lengths": (9, 9, 9)})
    assert "lengths" not in plots_of(evaluation(best))


def test_no_plot_is_drawn_without_numbers() -> None:
    assert plots_of(None) == {}


def test_axes_have_units() -> None:
    plots = plots_of(evaluation())
    for name, units in {
        "ladder": ["Share of wins at one seat", "25 %", "100 %"],
        "lengths": ["decisions a match", "matches"],
        "branching": ["decision of the match", "legal actions"],
    }.items():
        texts = [text.text for text in ET.fromstring(plots[name]).iter("text")]
        assert [unit for unit in units if unit not in texts] == []


def test_a_negative_score_is_drawn_to_the_left_of_zero() -> None:
    bars = [Bar("a", -2.0, -3.0, -1.0), Bar("b", 2.0, 1.0, 3.0)]
    root = ET.fromstring(interval_bars(bars, title="t", largest=None))
    left, right = root.iter("rect")
    assert float(left.get("x", 0)) + float(left.get("width", 0)) == float(right.get("x", 0))


def test_a_rung_that_could_not_be_told_apart_is_an_empty_bar_and_says_so() -> None:
    untold = rung(0.55, 0.4, 0.7)
    assert untold.verdict == "undecided"
    played = evaluation(ladder=(rung(0.9, 0.8, 0.95), untold))
    root = ET.fromstring(plots_of(played)["ladder"])
    assert [rect.get("fill") == "none" for rect in root.iter("rect")] == [False, True]
    said = [text.text or "" for text in root.iter("text")]
    assert [line.endswith("could not be told apart") for line in said if "against" in line] == [
        False,
        True,
    ]
    page = render(report(evaluation=played))
    assert '<td data-label="verdict">could not be told apart</td>' in page


def test_partners_are_named_where_sides_play() -> None:
    page = render(report(evaluation=evaluation(sides=((0, 2), (1, 3)))))
    assert "players 1 and 3 against players 2 and 4" in page
    assert "Share of wins of one side" in page


def test_before_and_after_are_of_one_player_where_both_games_met_it() -> None:
    greedy, search = "greedy:heuristic=ensemble", "uct:simulations=50"
    now = evaluation()
    small = evaluation(plays=now.plays[:2], players=("random", greedy), ladder=(), span=None)
    assert now.best.player == search
    assert [one.player for one in now.beside(small)] == [greedy, greedy]
    assert [one.player for one in small.beside(now)] == [greedy, greedy]
    other = evaluation(plays=now.plays[2:], players=(search,), ladder=(), span=None)
    assert [one.player for one in other.beside(small)] == [greedy, search]
    page = render(
        report(evaluation=now, before=small, changes=[ReportLine(name="R1", state="changed")])
    )
    assert "With one player at every seat: greedy before, greedy after." in page
