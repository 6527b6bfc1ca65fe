"""Reports made by hand, for the tests of the page and of the verdict."""

from tools.playtest.of_run.fairness import Answer
from tools.reporting.content import Evaluation, Fairness, Figure, Play, Report, ReportLine, Rung

LONG_SPEC = "ismcts:" + ",".join(f"setting_number_{n}=some_value_{n}" for n in range(14))


def figure(value: float, low: float, high: float, name: str = "share", n: int = 60) -> Figure:
    return Figure(
        name=name, meaning="of something", value=value, low=low, high=high, n=n, of="matches"
    )


def play(
    player: str,
    *,
    first: tuple[float, float, float] = (0.5, 0.45, 0.55),
    turns: tuple[float, float, float] = (90, 80, 100),
    forced: tuple[float, float, float] = (0.1, 0.05, 0.15),
    score: tuple[float, float, float] | None = None,
) -> Play:
    value, low, high = first
    seats = {
        "wins_player_1": figure(*first, name="player 1 wins"),
        "wins_player_2": figure(1 - value, 1 - high, 1 - low, name="player 2 wins"),
        "ties": figure(0.1, 0.05, 0.2, name="ties"),
    }
    return Play(
        player=player,
        figures={
            **(seats if score is None else {"score": figure(*score, name="score")}),
            "turns": figure(*turns, name="turns a match"),
            "options": figure(4, 3, 5, name="choices a turn"),
            "forced": figure(*forced, name="turns without a choice"),
        },
        lengths=(int(turns[1]), int(turns[0]), int(turns[2])),
        branching=(9.0, 8.0, 7.5),
    )


def fairness(
    answer: Answer = "yes", first: tuple[float, float, float] = (0.5, 0.45, 0.55), **changes: int
) -> Fairness:
    share = figure(*first, name="first seat wins", n=600)
    fields = {"player": "greedy:heuristic=ensemble", "players": 2, "even": 0.5, "margin": 0.09}
    return Fairness.model_validate(
        {**fields, "answer": answer, "share": share, "looks": (600,), **changes}
    )


def rung(
    value: float,
    low: float,
    high: float,
    *,
    stronger: str = "uct:simulations=50",
    weaker: str = "random",
) -> Rung:
    verdict = "climbs" if low > 0.5 else "falls" if high < 0.5 else "undecided"
    return Rung.model_validate(
        {
            "stronger": stronger,
            "weaker": weaker,
            "measure": "win_share",
            "figure": figure(value, low, high),
            "even": 0.5,
            "verdict": verdict,
            "unfinished": {"forfeit": 2},
        }
    )


def evaluation(best: Play | None = None, span: Rung | None = None, **changes: object) -> Evaluation:
    best = best or play("uct:simulations=50")
    span = span or rung(0.9, 0.8, 0.95)
    made = Evaluation(
        plays=(
            play("random").model_copy(update={"unfinished": {"unfinished": 1}}),
            play("greedy:heuristic=ensemble"),
            best,
        ),
        shared=False,
        ladder=(span, rung(0.2, 0.1, 0.3, weaker="greedy:heuristic=ensemble")),
        players=("random", "greedy:heuristic=ensemble", best.player),
        settings={"random": "random", best.player: LONG_SPEC},
        span=span,
        fairness=fairness(),
        notes=("searches were held small",),
    )
    return made.model_copy(update=changes)


def report(**changes: object) -> Report:
    fields = {
        "title": "A game",
        "summary": "It is played.",
        "players": 2,
        "made_by": "made by hand",
        "facts": (("seed", "7"), ("store", "0123456789abcdef" * 8)),
        "clauses": (ReportLine(name="for two", state="honoured", text="num_players=2"),),
        "assumptions": ("a standard pack",),
        "checks": (ReportLine(name="Nobody is told what the rules hide.", state="passed"),),
        "heuristics": (ReportLine(name="a_long_name_of_a_heuristic_" * 4, state="", text="x"),),
        "evaluation": evaluation(),
        "rulebook": "# A game\n\nFor two.\n\n## Turn\n\n- R1: Each takes <one>.\n",
        "record": "1. Player 1: " + "x" * 400,
        "settings": {"seed": 7, "long": "y" * 300},
    }
    return Report.model_validate({**fields, **changes})
