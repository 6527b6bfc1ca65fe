"""The page of a training: its curves, without a script, and nothing that was not measured."""

import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from hashlib import sha256
from typing import Any

from tools.reporting.page import Point, curve, scatter
from tools.reporting.training import training_page

COURSE = [
    {"iteration": 0, "matches": 400, "tokens": 9000, "held_out_next": 2.5, "play": "random"},
    {"iteration": 1, "matches": 300, "tokens": 8000, "held_out_next": 1.5, "value": -0.5},
    {"iteration": 2, "matches": 200, "tokens": 8500, "held_out_next": None, "value": 0.25},
]
ABOUT: dict[str, Any] = {
    "game": "kuhn_poker", "num_players": 2, "tokens": 30000, "seed": 1, "course": COURSE,
    "settings": {"size": "tiny", "iterations": 2}, "versions": {"numpy": "2"},
}  # fmt: skip
JUDGED = {
    "entropy": 2.1,
    "cross-entropy": 2.2,
    "reliability": [{"predicted": 0.5, "exact": 0.25, "least": 0.0, "largest": 0.5}],
}


def test_the_page_has_curves_settings_and_calibration_and_the_same_bytes() -> None:
    page = training_page(ABOUT, JUDGED)
    assert page == training_page(ABOUT, JUDGED)
    for part in ("Nats a token by iteration", "Value of the learner by iteration", "tiny",
                 "cross-entropy", "2.2", "Predicted values and exact ones"):  # fmt: skip
        assert part in page
    assert "Calibration" not in training_page(ABOUT)


def test_what_was_not_measured_is_a_dash_and_no_point_of_a_curve() -> None:
    page = training_page(ABOUT)
    assert '<td data-label="held out next">-</td>' in page
    drawn = page.partition("Nats a token")[2].partition("</svg>")[0]
    assert len(re.findall(r'points="([^"]*)"', drawn)[0].split()) == 2


def test_a_strict_policy_lets_its_own_style_in_and_nothing_else() -> None:
    page = training_page(ABOUT, JUDGED)
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert not re.search(r"<script|\bon\w+=|\bstyle=|src=|href=|url\(", page)


def test_a_games_words_stay_words() -> None:
    page = training_page({**ABOUT, "game": "<script>alert(1)</script>\u202e"})
    assert "<script" not in page
    assert "\u202e" not in page


def test_a_curve_goes_below_zero_and_points_lie_where_they_should() -> None:
    found = ET.fromstring(curve([-1.0, 1.0], title="value", units=("a", "b")))
    points = [one.get("points", "") for one in found.iter("polyline")]
    assert points == ["34.0,136.0 328.0,22.0"]  # from the lower to the upper end of the axes
    drawn = ET.fromstring(scatter([Point(0.0, 0.0, -1.0, 1.0)], title="t", units=("x", "y")))
    (circle,) = drawn.iter("circle")
    assert (circle.get("cx"), circle.get("cy")) == ("181.0", "129.0")  # the middle of both axes
