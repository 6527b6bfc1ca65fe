"""Play-testing: series and tournaments of matches, their journal, and what they tell."""

from tools.playtest.alpha_rank import alpha_rank
from tools.playtest.bootstrap import bootstrap_mean
from tools.playtest.bradley_terry import NoRatingError, bradley_terry, elo_of, elo_ratings
from tools.playtest.executors import (
    ExecutorUnavailableError,
    InlineExecutor,
    RayExecutor,
    process_pool,
)
from tools.playtest.intervals import (
    Estimate,
    NoSamplesError,
    mean_interval,
    share_interval,
    wilson,
)
from tools.playtest.jobs import (
    Effective,
    GameSetup,
    MatchJob,
    Roster,
    SandboxRecipe,
    play_job,
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
from tools.playtest.outcomes import Figure, Outcome, Used
from tools.playtest.results import (
    Pair,
    Standing,
    TournamentResult,
    TournamentSettings,
    write_result,
)
from tools.playtest.schedule import Schedule, TournamentError, make_schedule
from tools.playtest.series import (
    Entrant,
    PlayerFactory,
    Series,
    SeriesSettings,
    TableFactory,
    play_series,
    sandbox_tables,
)
from tools.playtest.sprt import Answer, Question, SequentialTest, log_likelihood_ratio, sequential
from tools.playtest.tournament import TournamentStoppedError, Workers, play_tournament

__all__ = [
    "Answer",
    "Effective",
    "Entrant",
    "Estimate",
    "ExecutorUnavailableError",
    "Figure",
    "GameSetup",
    "InlineExecutor",
    "Journal",
    "JournalError",
    "MatchJob",
    "NoRatingError",
    "NoSamplesError",
    "Outcome",
    "Pair",
    "PlayerFactory",
    "Question",
    "RayExecutor",
    "Roster",
    "SandboxRecipe",
    "Schedule",
    "SequentialTest",
    "Series",
    "SeriesSettings",
    "Standing",
    "Step",
    "TableFactory",
    "TournamentError",
    "TournamentResult",
    "TournamentSettings",
    "TournamentStoppedError",
    "Unmeasured",
    "Used",
    "Workers",
    "alpha_rank",
    "bootstrap_mean",
    "bradley_terry",
    "branching",
    "decision_count",
    "draw_share",
    "elo_of",
    "elo_ratings",
    "first_seat_advantage",
    "forced_move_share",
    "log_likelihood_ratio",
    "make_schedule",
    "match_length",
    "mean_interval",
    "measure_all",
    "play_job",
    "play_series",
    "play_tournament",
    "process_pool",
    "return_advantage",
    "sandbox_tables",
    "sequential",
    "share_interval",
    "skill_ladder",
    "versus_advantage",
    "wilson",
    "win_share",
    "write_result",
]
