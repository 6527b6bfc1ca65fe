"""Play-testing: series of matches, their journal, and what they tell of a game."""

from tools.playtest.intervals import (
    Estimate,
    NoSamplesError,
    mean_interval,
    share_interval,
    wilson,
)
from tools.playtest.journal import Journal, JournalError
from tools.playtest.ladder import Step, return_advantage, skill_ladder, versus_advantage
from tools.playtest.measures import (
    Unmeasured,
    branching,
    decision_count,
    draw_share,
    first_seat_advantage,
    forced_move_share,
    match_length,
    measure_all,
    win_share,
)
from tools.playtest.series import (
    Entrant,
    PlayerFactory,
    Series,
    SeriesSettings,
    TableFactory,
    play_series,
    sandbox_tables,
)

__all__ = [
    "Entrant",
    "Estimate",
    "Journal",
    "JournalError",
    "NoSamplesError",
    "PlayerFactory",
    "Series",
    "SeriesSettings",
    "Step",
    "TableFactory",
    "Unmeasured",
    "branching",
    "decision_count",
    "draw_share",
    "first_seat_advantage",
    "forced_move_share",
    "match_length",
    "mean_interval",
    "measure_all",
    "play_series",
    "return_advantage",
    "sandbox_tables",
    "share_interval",
    "skill_ladder",
    "versus_advantage",
    "wilson",
    "win_share",
]
