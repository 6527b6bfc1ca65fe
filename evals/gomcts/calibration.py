"""Eval: how near do a model's probabilities of the next observation come to the exact ones?

In games that are enumerated, chance and the others' frozen policies give what a seat sees next
exactly. The cross-entropy by the model stands beside the entropy; its probability of what cannot
be is counted before anything is drawn again; and predicted values stand beside exact ones. In a
small trick-taking game the posterior of random play is enumerated at some decisions, and the
particle belief stands beside it. The paper has no such figures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter

from agents.belief.belief import PopulationTracker
from agents.belief.exact import posterior
from agents.belief.follow import Follower
from agents.observing.model import ObservationModel, ObservationSettings
from agents.observing.selfplay import Uniform, matches_of_play
from agents.players.registry import PRELOAD
from evals.gomcts.equilibrium import EnumeratedGame
from evals.gomcts.judging import JudgedTree, reliability
from evals.gomcts.sights import PolicyOfLogs, SightTree, policy_of, uniformly
from evals.gomcts.training import ModelOrder, models_of
from evals.results import EvalOptions, EvalResult, Row, Score
from games import library
from games.information import Did, LogEntry, Seen
from games.modules import bind, first_state, load_namespace
from tools.playtest.intervals import mean_interval
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

_CLOSE = 0.05  # by which the cross-entropy may exceed the entropy
_STATES = 20_000


@dataclass(frozen=True)
class CalibrationSize:
    """The amounts of an evaluation.

    Attributes:
        tokens: That the models of enumerated games learn from, by game.
        settings: Of their trainings.
        tricks: Tokens of random play that the model of the trick-taking game learns from.
        decisions: Of that game, at which posteriors are enumerated.
        parameters: Of that game.
    """

    tokens: Mapping[str, int]
    settings: ObservationSettings
    tricks: int
    decisions: int
    parameters: Mapping[str, int | str] = field(
        default_factory=lambda: {"deck": "tiny", "hand_size": 3, "trump": "spades"}
    )


FULL = CalibrationSize(
    {"kuhn_poker": 1_000_000, "leduc_poker": 5_000_000},
    ObservationSettings(iterations=12, epochs=1, batch=512, bootstrap=0.25),
    *(1_000_000, 200),
)
QUICK = CalibrationSize(
    {"kuhn_poker": 60_000},
    ObservationSettings(iterations=1, epochs=1, batch=512, bootstrap=0.5),
    *(40_000, 4),
)


def run(options: EvalOptions, size: CalibrationSize | None = None) -> EvalResult:
    """Train and measure.

    Args:
        options: Finished iterations are kept in its folder.
        size: How much; None for the usual sizes.
    """
    size = size or (QUICK if options.quick else FULL)
    samples: list[Row] = []
    with TemporaryDirectory() as made, Sandbox(preload=PRELOAD) as sandbox:
        folder = options.folder or Path(made)
        for name, tokens in size.tokens.items():
            setup = GameSetup(name, library.source(name), 2)
            order = ModelOrder(setup, tokens, size.settings, options.seed)
            models = models_of(order, sandbox, folder / name)
            game = EnumeratedGame(name)
            samples.append(calibration_of(game, models[0]))
            if len(models) > 1:
                samples.append(calibration_of(game, models[-1], models[-2]))
            told = {key: samples[-1][key] for key in ("entropy", "cross-entropy")}
            options.tell(f"{name}: {told} nats a match")
        samples.append(_tricks(size, options, sandbox, folder))
        grade = sandbox.grade.model_dump(mode="json")
    return EvalResult(
        scores=tuple(_scores(samples, full=not options.quick)),
        samples=tuple(samples),
        effective={
            **TypeAdapter(CalibrationSize).dump_python(size, mode="json"),
            "sandbox": grade,
        },
    )


def _scores(samples: Sequence[Row], *, full: bool) -> list[Score]:
    """Excess of the cross-entropy, and the share of what cannot be; the newest has a bound."""
    scores = []
    for row in samples:
        who = f"{row['game']}, others {row['others']}"
        at_most = _CLOSE if full and row["others"] != "random" else None
        excess = row["cross-entropy"] / row["entropy"] - 1
        count = row["positions"]
        scores += [
            Score(f"cross-entropy above the entropy, {who}", excess, count, at_most=at_most),
            Score(f"probability of what cannot be, {who}", row["impossible"], count),
        ]
    return scores


def calibration_of(
    game: EnumeratedGame, model: ObservationModel, before: ObservationModel | None = None
) -> Row:
    """A model beside the exact probabilities of an enumerated game.

    All seats' own actions are drawn uniformly on the way to a log, since a search asks for all of
    them. Values are exact for a seat that goes on as the learner of the training did.

    Args:
        game: The game.
        model: Of it.
        before: The model that the others sample from, and whose best action the seat takes; None
            for random play of all.
    """
    others: PolicyOfLogs = uniformly
    played: PolicyOfLogs = uniformly
    if before is not None:
        greedy = before.about["settings"]["threshold"]
        others = policy_of(game.form, game.behaviours(before))
        played = policy_of(game.form, game.behaviours(before, greedy))
    rows: list[Row] = []
    valued: list[tuple[float, float, float]] = []
    positions = 0
    for seat in range(game.rules.num_players):
        tree = SightTree(game.rules, seat, others, _worth(model, seat), game.form.index)
        tree.begin(game.initial)
        judged = JudgedTree(model, tree, [Seen.of(game.rules.observations(game.initial)[seat])])
        drawn = tree.shares(uniformly)
        valued += judged.valued(drawn, tree.shares(played))
        rows.append(judged.figures(drawn))
        positions += len(tree.nodes)
    return {
        "game": game.name,
        "others": "random" if before is None else "sampling from the model before",
        "positions": positions,
        **_together(rows),
        "reliability": reliability(valued),
    }


def _worth(model: ObservationModel, seat: int) -> Callable[[Sequence[float]], float]:
    """The seat's return less the mean of the others', scaled as the model's outcomes are."""

    def worth(returns: Sequence[float]) -> float:
        others = [*returns[:seat], *returns[seat + 1 :]]
        less = 0.0 if model.outcomes.shared else fmean(others)
        return (returns[seat] - less) / model.outcomes.scale

    return worth


def _together(rows: Sequence[Row]) -> Row:
    """Means of the figures; probabilities over the sights."""
    found: Row = {key: fmean(row[key] for row in rows) for key in rows[0]}
    for key in ("impossible", "no log"):
        found[key] /= found["sights"]
    return found


def _tricks(size: CalibrationSize, options: EvalOptions, sandbox: Sandbox, folder: Path) -> Row:
    """Posteriors of random play in a small trick-taking game, at some decisions."""
    source = library.source("trick_taking")
    setup = GameSetup("trick_taking", source, 2, dict(size.parameters))
    only = size.settings.model_copy(update={"iterations": 0})
    order = ModelOrder(setup, size.tricks, only, options.seed)
    model = models_of(order, sandbox, folder / "trick_taking")[0]
    namespace = load_namespace(source)
    rules, initial = bind(namespace, 2), first_state(namespace, 2, size.parameters)
    rows: list[Row] = []
    apart: list[float] = []
    believed: list[float] = []
    for seat, entries, action in _decisions(setup, size.decisions, options.seed, sandbox):
        states = posterior(Follower(rules, seat, entries), initial, limit=_STATES)
        tree = SightTree(rules, seat, uniformly, stops=True)
        tree.act(states, action)
        judged = JudgedTree(model, tree, [*entries, Did(action)])
        shares = tree.shares(uniformly)
        rows.append(judged.figures(shares))
        apart.append(judged.distance(shares))
        tracker = PopulationTracker(rules, seat, initial)
        tracker.update(entries)
        particles = tracker.population.particles
        drawn = SightTree(rules, seat, uniformly, stops=True)
        drawn.act([(one.place.state, one.weight) for one in particles], action)
        believed.append(_distance(tree.ends(shares), drawn.ends(drawn.shares(uniformly))))
    return {
        "game": setup.name,
        "others": "random",
        "positions": size.decisions,
        **_together(rows),
        "total variation": mean_interval(apart, "matches").model_dump(mode="json"),
        "of the particle belief": mean_interval(believed, "matches").model_dump(mode="json"),
    }


def _decisions(
    setup: GameSetup, count: int, seed: int, sandbox: Sandbox
) -> list[tuple[int, list[LogEntry], str]]:
    """A decision of each of some random matches, seats and turns in rotation: seat, log, action."""
    everybody = (Uniform(),) * setup.num_players
    found = []
    for match, logs, _ in matches_of_play(
        sandbox, setup, lambda _: everybody, range(count), seed=seed + 1, max_plies=2000
    ):
        turn, seat = divmod(match, setup.num_players)
        entries = logs[seat].entries
        acts = [(at, entry.action) for at, entry in enumerate(entries) if isinstance(entry, Did)]
        at, action = acts[turn % len(acts)]
        found.append((seat, entries[:at], action))
    return found


def _distance(
    one: Mapping[tuple[str, ...], float], other: Mapping[tuple[str, ...], float]
) -> float:
    """Total variation between two distributions."""
    keys = sorted({*one, *other})
    return float(sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in keys)) / 2
