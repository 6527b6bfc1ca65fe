"""Play-test of a run: random play, good play, and the ladder of players."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from langsmith import trace

from tools.playtest.intervals import NoSamplesError
from tools.playtest.of_run.budget import affordable_simulations
from tools.playtest.of_run.fairness import Counted, fair_once, looked_at
from tools.playtest.of_run.played import LineUp, PlayTest, shown_as
from tools.playtest.of_run.reached import best_score, never_and_always, not_reached
from tools.playtest.report import (
    LadderStep,
    play_of,
    rung_of,
    score_step,
    side_wins,
    sides_of,
    skill_ladder,
)
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, replayed_sample
from tools.reporting.content import Evaluation, Fairness, short_name

_REPLAYED = {False: 113, True: 44}  # matches made again in a full and in a quick play-test


_SEARCHED = 24  # matches that a dear player needs on the ladder to tell anything


_CHEAP = 200  # matches of a player that learned, where many are played at once


_WEAKER = 4  # the other sides of an extra's search have this fraction of its simulations


_HONESTY = (
    "The ranking rests on the game module's honesty: the searches run beside it. Fresh workers "
    "replayed a sample of {replayed} finished matches without a difference; to check further, play "
    "with: rulewright match RUN --player ... --host-search."
)


_LONG = (
    "Matches of this game take much work: {} random matches and {} of a rung of the ladder were "
    "planned instead of {} and {}."
)


_ALIKE = (
    "All matches of {} players are one and the same, as neither they nor the game draw anything: "
    "whether the game is fair was asked of random play."
)


_NO_GUARANTEE = (
    "The searches play with hidden information: more simulations are no guarantee that an opponent "
    "who knows how they play cannot exploit them."
)


@dataclass(frozen=True)
class Measured:
    """A play-test's results, and matches to show.

    Attributes:
        evaluation: The results.
        shown: By player, matches with it at every seat, in full.
    """

    evaluation: Evaluation
    shown: Mapping[str, Series]


def playtest(play: PlayTest, sources: Mapping[str, str], greedy: str) -> Measured:
    """Play the game and measure it.

    Args:
        play: The game, with everything it takes to play it.
        sources: Heuristics by name, the best first; there may be none.
        greedy: Spec of the player that follows them together.

    Raises:
        VoidResultError: If fresh workers do not play a sample of the matches the same.
    """
    settings, rounds = play.settings, play.within("rung", play.settings.ladder_matches, sources)
    table = _Table(play, sources, greedy if sources else "random", rounds)
    specs, notes = table.players()
    wanted = settings.random_matches, settings.ladder_matches
    if play.random_matches < wanted[0] or rounds < wanted[1]:
        notes.append(_LONG.format(play.random_matches, rounds, *wanted))
    fairness, alone = table.good_play(specs, notes)
    sides = sides_of(alone.values(), play.num_players)
    paired = table.paired(specs, alone) if len(sides) == 1 else {}

    def compare(lower: str, higher: str, number: int) -> LadderStep:
        if len(sides) == 1:
            return score_step(lower, higher, paired)
        beside, matches = LineUp((), sources, sides), table.rounds_of(lower, higher)
        return play.versus(lower, higher, f"step-{number}-versus", beside, matches)

    order, steps, span = _climbed(specs, compare)
    others = table.other_numbers()
    replayed = replayed_sample(list(play.played.values()), _REPLAYED[play.settings.quick])
    if any("simulations" in spec for spec in specs):
        notes.append(_HONESTY.format(replayed=replayed.matches))
    shown = {spec: table.shown(spec, series) for spec, series in alone.items()}
    best = best_score(play.played.values(), play.source) if len(sides) == 1 else None
    never, always = never_and_always(shown[table.good].records)
    evaluation = Evaluation(
        plays=tuple(
            play_of(spec, series, shown[spec].records, sides, best)
            for spec, series in alone.items()
        ),
        shared=len(sides) == 1,
        sides=sides,
        best_score=best and best[0],
        best_declared=best is not None and best[1],
        cut=play.clock.kept.cut,
        limit=play.clock.told,
        ladder=tuple(rung_of(step, len(sides), best) for step in steps),
        players=tuple(order),
        settings={spec: shown_as(play.roster.effective(spec).name, sources) for spec in order},
        span=rung_of(span, len(sides), best) if span else None,
        fairness=fairness if len(sides) > 1 else None,
        by_players=others if len(sides) > 1 else (),
        unreached=not_reached(play.source, alone.values(), shown.values(), settings.max_plies),
        never=never,
        always=always,
        notes=(*notes, play.work.told),
        not_audited=replayed.not_audited,
        sandbox=play.sandbox.grade,
    )
    return Measured(evaluation, shown)


@dataclass(frozen=True)
class _Table:
    """The players of a play-test at their series.

    Attributes:
        play: The game.
        sources: Heuristics by name, the best first.
        good: Spec of the good player; random play where there is no other.
        rounds: Matches of a rung.
        searched: Matches of a rung with a player that takes long, by its spec.
    """

    play: PlayTest
    sources: Mapping[str, str]
    good: str
    rounds: int
    searched: dict[str, int] = field(default_factory=dict)

    def players(self) -> tuple[list[str], list[str]]:
        """Specs from weak to strong, and remarks on how a search was sized."""
        specs, notes = self._usual()
        for spec in self.play.learned:
            specs.append(spec)
            cheap = self.play.roster.in_lockstep(self.play.roster.effective(spec))
            self.searched[spec] = min(self.rounds, _CHEAP if cheap else _SEARCHED)
        return specs, notes

    def _usual(self) -> tuple[list[str], list[str]]:
        settings, play = self.play.settings, self.play
        specs, notes = ["random"], list[str]()
        if len(self.sources) > 1:
            specs.append(f"greedy:heuristic={next(iter(self.sources))}")
        if self.good not in specs:
            specs.append(self.good)
        else:
            more = " Without --quick more matches try them." if settings.quick else ""
            notes.append(f"No heuristic could be used, so the ladder has no greedy player.{more}")
        if not settings.large_budget:
            notes.append("A quick play-test tries no search; one without --quick does.")
            return specs, notes
        finished = [r for r in self._random_shown.records if r.match.ending == "finished"]
        if not finished:
            notes.append("No random match finished, so no search was tried.")
            return specs, notes
        name, sides = play.search_name(), len(sides_of([play.random], play.num_players))
        affordable = play.work.plies_searched(quick=settings.quick)
        few = min(self.rounds, _SEARCHED)
        most = affordable_simulations(finished, few, affordable, _WEAKER, sides)
        simulations = min(settings.large_budget, most)
        notes += search_notes(name, simulations, settings.large_budget)
        specs.append(f"{name}:simulations={simulations}")
        self.searched[specs[-1]] = min(self.rounds, few * most // simulations)
        return specs, notes

    def rounds_of(self, *specs: str) -> int:
        """Matches of a rung: those of the dearest of its players."""
        return min(self.searched.get(spec, self.rounds) for spec in specs)

    def good_play(
        self, specs: Sequence[str], notes: list[str]
    ) -> tuple[Fairness | None, dict[str, Series]]:
        """The fairness of the game among good players, and series of one player at every seat."""
        play, alone = self.play, {"random": self.play.random}
        sides = sides_of([play.random], play.num_players)

        def count(matches: int) -> Counted:
            if self.good != "random":
                alone[self.good] = play.alone(self.good, self.sources, matches)
            elif matches > len(alone[self.good].entries):
                alone[self.good] = play.random_up_to(matches)
            return _counted(alone[self.good], sides, matches)

        planned = play.good_matches(self.sources) if self.good != "random" else play.random_matches
        fairness = None
        try:
            if len(sides) > 1:
                fairness = looked_at(self.good, sides, planned, count, play.more)
            else:
                count(max(planned, *play.more, 0))
            if len({entry.actions for entry in alone[self.good].entries.values()}) == 1 < planned:
                notes.append(_ALIKE.format(short_name(self.good)))
                at_random = _counted(play.random, sides, play.random_matches)
                fairness = fair_once("random", sides, at_random) if len(sides) > 1 else None
        except NoSamplesError as error:
            notes.append(f"Whether it is fair was not measured: {error}.")
        for spec in self.searched:
            alone[spec] = play.alone(spec, self.sources, max(2, self.rounds_of(spec) // 2))
        return fairness, alone

    def paired(self, specs: Sequence[str], alone: Mapping[str, Series]) -> dict[str, Series]:
        """Series of each player at every seat, on the same deals."""
        missing = [spec for spec in specs if spec not in alone]
        played = {
            spec: self.play.alone(spec, self.sources, self.rounds_of(spec)) for spec in missing
        }
        return {**alone, **played}

    def other_numbers(self) -> tuple[Fairness, ...]:
        """The fairness of random play for every number of players that the game takes."""
        play, found = self.play, dict[int, Fairness]()
        if not play.seats:
            return ()
        series = {play.num_players: play.random} | {n: play.at_random(n) for n in play.seats}
        for seats, one in series.items():
            sides = sides_of([one], seats)
            with suppress(NoSamplesError):
                counted = _counted(one, sides, len(one.entries))
                if len(sides) > 1:
                    found[seats] = fair_once("random", sides, counted)
        return tuple(found[seats] for seats in sorted(found))

    def shown(self, spec: str, series: Series) -> Series:
        """Some matches of a series in full."""
        sources = self.sources if spec != "random" else {}
        return self.play.shown(spec, sources, series)

    @cached_property
    def _random_shown(self) -> Series:
        return self.shown("random", self.play.random)


def _counted(series: Series, sides: Sides, matches: int) -> Counted:
    """The wins of each side in the first so many matches.

    Raises:
        NoSamplesError: If too many matches of the series are void.
    """
    if series.tables.no_result:
        raise NoSamplesError(series.tables.no_result)
    entries = [entry for index, entry in series.entries.items() if index < matches]
    return side_wins([entry.returns for entry in entries if entry.returns is not None], sides)


def _climbed(
    specs: Sequence[str], compare: Callable[[str, str, int], LadderStep]
) -> tuple[list[str], list[LadderStep], LadderStep | None]:
    """The ladder's order, a step for every two players, and the step from random play to its top.

    Whom no step could measure is held against nobody else.
    """
    with trace("skill ladder", run_type="tool", inputs={"players": specs}) as told:
        order, steps = skill_ladder(specs, compare)
        compared = {frozenset((step.lower, step.higher)) for step in steps}
        lost = {step.higher for step in steps if step.verdict == "unmeasured"}
        for lower, higher in combinations([spec for spec in order if spec not in lost], 2):
            if frozenset((lower, higher)) not in compared:
                steps.append(compare(lower, higher, len(steps)))
        span = next((s for s in steps if (s.lower, s.higher) == ("random", order[-1])), None)
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
