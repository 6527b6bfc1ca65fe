"""Page of a training of observations: learning curves, settings, and calibration where it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from games.values import show
from tools.reporting.page import Point, curve, scatter, told_page

_CURVES = {
    "held_out_next": "nats a token",
    "held_out_action": "nats an own action",
    "held_out_outcome": "nats an outcome",
    "value": "value of the learner",
    "matches": "matches",
    "tokens": "tokens",
}
_LONGEST = 2000
_SHOWN_ABOVE = ("course", "settings", "game", "num_players", "tokens", "seed", "format", "shape")


def training_page(about: Mapping[str, Any], calibration: Mapping[str, Any] | None = None) -> str:
    """The page; it has no script, and says so to the browser. Equal trainings give equal bytes.

    Args:
        about: Of the model: game, settings, course and circumstances.
        calibration: Figures by name, and a reliability curve; None where none was made.
    """
    from markupsafe import Markup

    course: Sequence[Mapping[str, Any]] = about["course"]
    names = [*dict.fromkeys(["iteration", *(key for row in course for key in row)])]
    found = dict(calibration or {})
    bins = found.pop("reliability", ())
    points = [Point(one["predicted"], one["exact"], one["least"], one["largest"]) for one in bins]
    title = "Predicted values and exact ones"
    return told_page(
        "tools.reporting",
        "training.html.j2",
        words=_told,
        about=about,
        plots=[Markup(plot) for plot in _plots(course)],  # ours
        names=[name.replace("_", " ") for name in names],
        course=[[row.get(name) for name in names] for row in course],
        calibration=found,
        reliability=Markup(
            scatter(points, title=title, units=("predicted", "exact")) if points else ""
        ),
        settings={
            **about["settings"],
            **{key: about[key] for key in sorted({*about}.difference(_SHOWN_ABOVE))},
        },
    )


def _plots(course: Sequence[Mapping[str, Any]]) -> list[str]:
    """A curve of each figure that two iterations have; of what is not known there is no point."""
    found = []
    for key, unit in _CURVES.items():
        values = [float(row[key]) for row in course if row.get(key) is not None]
        if len(values) > 1:
            title = f"{unit[0].upper()}{unit[1:]} by iteration"
            found.append(curve(values, title=title, units=("iteration", unit)))
    return found


def _told(value: object) -> str:
    """A value as a person reads it; what is not known is a dash, never a number."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else show(value, _LONGEST)
