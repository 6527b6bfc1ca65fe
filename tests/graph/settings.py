"""Settings of runs that end in a second."""

from games.checks.run import CheckSettings
from graph.new.context import RunSettings

SMALL = RunSettings(
    seed=3,
    ladder_matches=4,
    random_matches=6,
    lessons=0,
    heuristic_matches=4,
    small_budget=3,
    large_budget=6,
    records_judged=1,
    max_rounds=3,
    check=CheckSettings(matches=3, samples=8, seed=3),
)
# For tests whose subject lies before the play-test: no match of it goes beyond one ply.
UNPLAYED = SMALL.model_copy(update={"max_plies": 1})
