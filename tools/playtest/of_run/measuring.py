"""Play-test of a run: random play, good play, and the ladder of players."""

from collections.abc import Callable, Mapping, Sequence

from langsmith import trace

from tools.playtest.of_run.played import LineUp, PlayTest, shown_as
from tools.playtest.report import (
    LadderStep,
    affordable_simulations,
    best_score,
    play_of,
    rung_of,
    score_step,
    sides_of,
    skill_ladder,
)
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, replayed_sample
from tools.reporting.content import Evaluation

_REPLAYED = {False: 8, True: 2}  # matches that fresh workers replay, fewer where the clock cut


_SERIES = 9  # of a play-test: random play twice, two players alone, four rungs, first against last


# Plies that the matches of one series may take: counts, so that the same seed gives the same ones.
_LADDER_PLIES = {False: 60_000, True: 8_000}


# Plies that one step of the ladder may simulate, so that a long game still ends in good time.
_AFFORDABLE = {False: 8_000_000, True: 120_000}


_WEAKER = 4  # the weaker search has this fraction of the stronger one's simulations


_HONESTY = (
    "The ranking rests on the game module's honesty: the searches run beside it. Fresh workers "
    "replayed a sample of {replayed} finished matches without a difference; to check further, play "
    "with: rulewright match RUN --player ... --host-search."
)


_LONG = (
    "Matches of this game are long: {} random matches and {} of every other series were planned "
    "instead of {} and {}."
)


_NO_GUARANTEE = (
    "The searches play with hidden information: more simulations are no guarantee that an opponent "
    "who knows how they play cannot exploit them."
)


def playtest(
    play: PlayTest, sources: Mapping[str, str], greedy: str
) -> tuple[Evaluation, dict[str, Series]]:
    """Play the game and measure it; also returns the series of each player at every seat.

    Args:
        play: The game, with everything it takes to play it.
        sources: Heuristics by name; there may be none.
        greedy: Spec of the player that follows them together.

    Raises:
        VoidResultError: If fresh workers do not play a sample of the matches the same.
    """
    settings, play.clock.expected = play.settings, _SERIES
    rounds = play.within(settings.ladder_matches, _LADDER_PLIES[settings.quick])
    specs, notes = _players(play, greedy if sources else None, rounds)
    wanted = settings.random_matches, settings.ladder_matches
    if play.random_matches < wanted[0] or rounds < wanted[1]:
        notes.append(_LONG.format(play.random_matches, rounds, *wanted))
    alone, paired, sides = _played_alone(play, specs, sources, rounds)

    def compare(lower: str, higher: str, number: int | str) -> LadderStep:
        if len(sides) == 1:
            return score_step(lower, higher, paired)
        beside = LineUp((), sources, sides)
        return play.versus(lower, higher, f"step-{number}-versus", beside, rounds)

    order, steps, span = _climbed(specs, compare)
    sample = _REPLAYED[bool(play.clock.kept.cut)]
    replayed = replayed_sample(list(play.played.values()), sample)
    if replayed.not_audited:
        notes.insert(0, f"Not audited: {replayed.not_audited}.")
    if len(specs) > 1:
        notes.append(_HONESTY.format(replayed=replayed.matches))
    best = best_score(play.played.values(), play.source) if len(sides) == 1 else None
    evaluation = Evaluation(
        plays=tuple(play_of(spec, series, sides, best) for spec, series in alone.items()),
        shared=len(sides) == 1,
        sides=sides,
        best_score=best and best[0],
        best_declared=best is not None and best[1],
        cut=play.clock.kept.cut,
        ladder=tuple(rung_of(step, len(sides), best) for step in steps),
        players=tuple(order),
        settings={spec: shown_as(play.roster.effective(spec).name, sources) for spec in order},
        span=rung_of(span, len(sides), best) if span else None,
        notes=(*notes, *play.clock.notes),
        not_audited=replayed.not_audited,
        sandbox=play.sandbox.grade,
    )
    return evaluation, alone


def _played_alone(
    play: PlayTest, specs: Sequence[str], sources: Mapping[str, str], rounds: int
) -> tuple[dict[str, Series], dict[str, Series], Sides]:
    """Series of one player at every seat, those that share their deals, and the sides they show."""
    # The weaker search is only there to be climbed over; a team's players have no other rival.
    good = [spec for spec in specs[1:] if spec.startswith("greedy") or spec == specs[-1]]
    alone = {"random": play.random, **play.alone(good, sources, rounds)}
    sides = sides_of(alone.values(), play.num_players)
    if len(sides) > 1:
        return alone, alone, sides
    # Random play once more where heuristics are loaded: they are part of what keys the deals.
    missing = ["random"] if sources else []
    missing += [spec for spec in specs if spec not in alone]
    paired = {**alone, **play.alone(missing, sources, rounds)}
    return {spec: alone.get(spec, paired[spec]) for spec in specs}, paired, sides


def _climbed(
    specs: Sequence[str], compare: Callable[[str, str, int | str], LadderStep]
) -> tuple[list[str], list[LadderStep], LadderStep | None]:
    """The ladder's order and steps, and the step from random play to its top, if there is one."""
    with trace("skill ladder", run_type="tool", inputs={"players": specs}) as told:
        order, steps = skill_ladder(specs, compare)
        span = next((s for s in steps if (s.lower, s.higher) == ("random", order[-1])), None)
        if span is None and order[-1] != "random":
            span = compare("random", order[-1], "span")
        told.end(outputs={"order": order})
    return order, steps, span


def search_notes(name: str, simulations: int, wanted: int) -> list[str]:
    """Remarks on the searches of the ladder.

    Args:
        name: Of the player that searches.
        simulations: A move, of the stronger one.
        wanted: What it would have had in a shorter game.
    """
    notes = []
    if simulations < wanted:
        notes.append(
            f"Matches of this game take long: searches were held to {simulations} simulations a "
            f"move instead of {wanted}, so that the play-test ends in time."
        )
    if name == "ismcts":
        notes.append(_NO_GUARANTEE)
    return notes


def _players(play: PlayTest, greedy: str | None, rounds: int) -> tuple[list[str], list[str]]:
    """Specs from weak to strong, and remarks on how the searches were sized."""
    settings = play.settings
    specs, notes = ["random"], []
    if greedy is not None:
        specs.append(greedy)
    else:
        more = " Without --quick more matches try them." if settings.quick else ""
        notes.append(f"No heuristic could be used, so the ladder has no greedy player.{more}")
    finished = [r for r in play.random.records if r.match.ending == "finished"]
    if not finished:
        notes.append("No random match finished, so no search was tried.")
        return specs, notes
    name = play.search_name()
    sides = len(sides_of([play.random], play.num_players))
    most = affordable_simulations(finished, rounds, _AFFORDABLE[settings.quick], _WEAKER, sides)
    large = min(settings.large_budget, most)
    large = play.clock.simulations(large, lambda most: play.paced(name, most))
    if not large:
        limit = play.clock.seconds
        why = f" for the {limit:g} s of --quick; without --quick one is tried" if limit else ""
        notes.append(f"No search was tried: a match of the smallest one takes too long{why}.")
        return specs, notes
    small = max(1, min(settings.small_budget, large // _WEAKER))
    notes += search_notes(name, large, settings.large_budget)
    specs += [f"{name}:simulations={small}", f"{name}:simulations={large}"]
    return specs, notes
