"""Decisions of one seat, made beside its module: one message a decision."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.belief.belief import Belief, BeliefMemory, DecisionPoint, NoDeterminizationError
from agents.belief.evidence import MODULE_ERRORS
from agents.belief.exact import HiddenInformationError, known_state, require_perfect_information
from agents.belief.follow import Entries, Follower
from agents.belief.module import DeadlineError
from agents.search.algorithms import search_named
from agents.search.alphabeta import UnsuitableGameError
from agents.search.meter import Meter
from agents.search.settings import Clock, PlayerSettings, SearchResult, SearchView
from agents.search.tree import Node, UctSearch
from agents.search.uct import UctSettings, variation
from agents.worker.blame import LateError, Watch, attributed, culprit_of
from agents.worker.protocol import (
    UNSEARCHED,
    ChooseRequest,
    Chosen,
    HeuristicsRequest,
    PerfectInformationRequest,
    Refused,
    SearchedRoot,
)
from games.information import (
    LogEntry,
    SeatLog,
    entry_rows,
    read_entries,
    seat_turns,
    tell_seats,
)
from games.modules import Heuristic, Rules, bind, canonical, first_state, scoring
from games.values import TERMINAL, Json, State
from tools.guest.operations import Operation
from tools.guest.protocol import decoded

_KNOWN: dict[str, Json] = {"belief": "known_state", "determinizations": 1, "belief_failures": 0}


def _untold(_: State) -> None:
    """Nobody is told."""


class SeatSession:
    """One seat's match in a worker, which serves one player, whose log only grows.

    Attributes:
        held: Entries of the log that were sent so far.
        memory: Of the seat's belief; it checks for itself that the log is still the same.
        tree: Of this match, where it is used again; it checks the same.
        heuristics: The game's.
        late: The newest end by deadline. It holds a tree: to free that may take past the deadline.
        rooted: Told of every state from which a search begins.
        found: The newest search's result.
    """

    def __init__(self, clock: Clock = time.process_time) -> None:
        """Begin with nothing; budgets of time are counted by `clock`."""
        self.clock = clock
        self.held: list[LogEntry] = []
        self.memory = BeliefMemory()
        self.tree: ReusedTree | None = None
        self.heuristics: list[Heuristic] = []
        self.late: LateError | None = None
        self.rooted: Callable[[State], None] = _untold
        self.found: SearchResult | None = None

    def choose(self, namespace: Mapping[str, object], payload: dict[str, Json]) -> Chosen | Refused:
        """Choose an action for one seat from its log alone.

        Args:
            namespace: The module's names.
            payload: Of a `ChooseRequest`.

        Raises:
            ModuleFault: If a call of the module hung, or gave what breaks the contract.
            Exception: What a function of the module raised in a state that its rules lead to. In
                one that its own sampler gave, the sampler is at fault: it is asked no more in this
                match, and the decision is made without it. In one that `belief` "random" filled
                nobody is.
        """
        self.found = None
        try:
            with Watch() as watch:
                return self._chosen(namespace, decoded(ChooseRequest, payload), watch)
        except LateError as error:
            self.late = error
            return Refused("late", str(error))

    def _chosen(
        self, namespace: Mapping[str, object], request: ChooseRequest, watch: Watch
    ) -> Chosen | Refused:
        settings = search_named(request.algorithm).settings.model_validate(request.search)
        log = SeatLog(request.seat, self._entries(request))

        def decided(rules: Rules, memory: BeliefMemory) -> Chosen | Refused:
            initial = first_state(namespace, request.num_players, request.parameters)
            here = DecisionPoint(rules, namespace, initial, log, tuple(request.legal))
            generator = np.random.default_rng(request.words)
            return _Decision(self, request, settings, here, memory, watch, generator).made()

        def once_more(rules: Rules) -> Chosen | Refused:
            self.tree = None
            return decided(rules, BeliefMemory())

        return attributed(
            namespace, request.num_players, lambda rules: decided(rules, self.memory), once_more
        )

    def _entries(self, request: ChooseRequest) -> list[LogEntry]:
        """The whole log: what was held already and what is new.

        Raises:
            ValueError: If more is said to be held than was ever sent.
        """
        if request.held > len(self.held):
            raise ValueError(
                f"{request.held} entries of the log are said to be held; there are {len(self.held)}"
            )
        self.held[request.held :] = read_entries(request.entries)
        return list(self.held)


@dataclass(frozen=True)
class _Decision:
    """One decision at work, with all that it needs."""

    session: SeatSession
    request: ChooseRequest
    settings: PlayerSettings
    here: DecisionPoint
    memory: BeliefMemory
    watch: Watch
    generator: np.random.Generator

    def made(self) -> Chosen | Refused:
        """The decision, in the known state where the log determines one."""
        name = self.request.belief
        try:
            if isinstance(self.settings, UctSettings) and self.settings.reuse == "yes":
                return self._told(self._in_reused_tree(self.settings), _KNOWN)
            if name is None or self.request.is_known:
                root = known_state(self.here.follower, self.here.initial)
                return self._in(lambda: root, _KNOWN)
        except HiddenInformationError as error:
            if name is None:
                return Refused("hidden", str(error))
            if self.request.is_known and (seen := self._observed()) is not None:
                return self._in(lambda: seen, {**_KNOWN, "belief": "observed"})
        except UnsuitableGameError as error:
            return Refused("unsuitable", str(error))
        belief = self._belief()
        while (reply := self._believing(belief)) is None:
            belief = self._belief(errors=belief.module_errors + 1)
        return reply

    def _observed(self) -> State | None:
        """The newest observation, where the seat would see it in itself and be to move."""
        rules, seat, seen = self.here.rules, self.here.log.seat, self.here.log.latest()
        try:
            fits = rules.current_player(seen) == seat and rules.observations(seen)[seat] == seen
        except MODULE_ERRORS:  # it is no state
            return None
        return seen if fits else None

    def _belief(self, errors: int = 0) -> Belief:
        return Belief(
            self.here,
            self.request.belief or "auto",
            self.request.determinizations,
            self.generator,
            memory=self.memory,
            guard=self.watch.patient,
            errors=errors,
        )

    def _believing(self, belief: Belief) -> Chosen | Refused | None:
        """The decision with a belief; None where the module's sampler spoilt it."""
        try:
            if not self.request.searches:
                return self._in(belief.sample, belief.effort())
            return self._told(self._searched(belief.sample, belief.pool), belief.effort())
        except UnsuitableGameError as error:
            return Refused("unsuitable", str(error))
        except NoDeterminizationError:
            pass
        except (Exception, DeadlineError) as error:
            culprit = culprit_of(error, belief, hangs=self.watch.hangs)
            if culprit == "module":
                raise
            if culprit == "sampler":
                return None
            self.watch.end()
        try:
            action, fallback = belief.fallback(self.request.protocol)
        except NoDeterminizationError as error:
            return Refused("no_action", str(error))
        return Chosen(action, {**UNSEARCHED, **belief.effort(), "fallback": fallback})

    def _in(self, determinize: Callable[[], State], about: Mapping[str, Json]) -> Chosen:
        """The decision in one state; without a search, any action that is legal in it."""
        if self.request.searches:
            return self._told(self._searched(determinize), about)
        legal = self.here.rules.legal_actions(determinize())
        action = legal[int(self.generator.integers(len(legal)))]
        return Chosen(action, {**UNSEARCHED, **about, "fallback": "random_in_model"})

    def _told(self, found: SearchResult, about: Mapping[str, Json]) -> Chosen:
        self.session.found = found
        counted: dict[str, Json] = {}
        if found.seconds is not None:
            counted["clock"] = self.session.clock.__name__
        return Chosen(found.best, {**found.effort(), **counted, **about})

    def _in_reused_tree(self, settings: UctSettings) -> SearchResult:
        session, here, words = self.session, self.here, self.request.match_words or []
        if session.tree is None or not session.tree.continues(here.log.entries, words):
            session.tree = ReusedTree(
                *(here.rules, here.initial, here.log.seat, settings, words),
                *(tuple(session.heuristics), session.rooted),
            )
        return session.tree.decide(here.log.entries)

    def _searched(self, determinize: Callable[[], State], worlds: int = 1) -> SearchResult:
        def rooted() -> State:
            state = determinize()
            self.session.rooted(state)
            return state

        view = SearchView(
            self.here.rules,
            self.here.log.seat,
            rooted,
            tuple(self.session.heuristics),
            self.session.clock,
            worlds,
        )
        return search_named(self.request.algorithm).decide(view, self.settings, self.generator)


def perfect_information(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `PerfectInformationRequest`.

    Raises:
        ModuleFault: If a call of the module hung, or gave what breaks the contract.
    """
    request = decoded(PerfectInformationRequest, payload)

    def tried(rules: Rules) -> None:
        initial = first_state(namespace, request.num_players, request.parameters)
        require_perfect_information(rules, initial, np.random.default_rng(request.words))

    try:
        with Watch():
            attributed(namespace, request.num_players, tried, tried)
    except HiddenInformationError as error:
        return str(error)
    except LateError:
        return "it could not be told in time whether a seat sees all that there is"
    return None


_session = SeatSession()


def choose(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `ChooseRequest`."""
    return _session.choose(namespace, payload)._asdict()


def rehearse(namespace: dict[str, object]) -> None:
    """Decide for the first seat of a small game, in sessions of its own: see `warm_up`."""
    rules = bind(namespace, 2)
    for algorithm in ("ismcts", "uct"):
        session, logs = SeatSession(), [SeatLog(0), SeatLog(1)]
        search = search_named(algorithm).settings.model_validate({"simulations": 8}).model_dump()
        state = first_state(namespace, 2)
        perceived: Sequence[Sequence[str]] = [[], []]
        while True:
            tell_seats(logs, rules.observations(state), perceived)
            player, legal = rules.current_player(state), rules.legal_actions(state)
            if player == TERMINAL:
                break
            if player == 0:
                new = entry_rows(logs[0].entries[len(session.held) :])
                request = ChooseRequest(
                    2, {}, algorithm, search, 0, new, legal, [0], len(session.held), "auto"
                )
                session.choose(namespace, request._asdict())
                logs[0].act(legal[0])
            perceived = rules.events(state, legal[0])
            state = rules.apply_action(state, legal[0])


def hold_heuristics(_namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `HeuristicsRequest`.

    Raises:
        ModuleFault: If one does not load, or defines no `score`.
    """
    sources = decoded(HeuristicsRequest, payload).sources
    _session.heuristics = [scoring(name, source) for name, source in sorted(sources.items())]
    return None


def searched_root(_namespace: dict[str, object], _payload: dict[str, Json]) -> Json:
    """See `SearchedRoot`."""
    found = _session.found
    if found is None:
        return SearchedRoot([], [], [])._asdict()
    return SearchedRoot([*found.actions], [*found.visits], [*found.means])._asdict()


OPERATIONS: dict[str, Operation] = {
    "choose": choose,
    "searched_root": searched_root,
    "hold_heuristics": hold_heuristics,
    "perfect_information": perfect_information,
}


@dataclass
class ReusedTree:
    """One seat's UCT tree in one match: a decision begins from what the last ones left of it.

    The tree is a function of the seat's log, the settings and the match's seed words alone: the
    decision numbered `i`, from 0 and forced ones included, draws from the words and `i`. So a
    worker that begins in the middle of a match searches the earlier decisions of the log once more,
    and then holds the very tree of one that was there all along.

    After a decision the tree's new root is the first node, level by level, that has the state of
    the next one; where there is none, a new tree is begun.

    Attributes:
        rules: The module's functions.
        initial: The state before any ply.
        seat: The seat that decides.
        settings: What to do, with `reuse`.
        words: Seed words of the match.
        heuristics: The game's heuristics, for leaf="heuristic".
        rooted: See `SeatSession`.
        entries: The log up to the newest decision.
        decisions: Decisions of the log that were searched, or passed by as forced.
        search: The tree; None before the first decision.
    """

    rules: Rules
    initial: State
    seat: int
    settings: UctSettings
    words: Sequence[int]
    heuristics: Sequence[Heuristic] = ()
    rooted: Callable[[State], None] = _untold
    entries: list[LogEntry] = field(default_factory=list, init=False)
    decisions: int = field(default=0, init=False)
    search: UctSearch | None = field(default=None, init=False)

    def continues(self, entries: Entries, words: Sequence[int]) -> bool:
        """True where a log goes on from the newest decision, in the same match."""
        return [*words] == [*self.words] and list(entries[: len(self.entries)]) == self.entries

    def decide(self, entries: Entries) -> SearchResult:
        """Search the decision at the end of a log, and before it those not searched yet.

        The last one is searched in any case: it was asked for, so that a referee knows of several
        legal actions, however few the module tells here.

        Raises:
            HiddenInformationError: If the log leaves several states at a decision.
            ValueError: If it was decided before.
        """
        found, turns = None, seat_turns(entries)
        for turn in turns[self.decisions :]:
            found = self._decided(entries[: turn.end], passes=turn is not turns[-1])
            self.decisions += 1
        self.entries = list(entries)
        if found is None:
            raise ValueError("the log ends in no decision that is left to search")
        return found

    def _decided(self, entries: Entries, *, passes: bool) -> SearchResult | None:
        """Search one decision; None where it is forced and such ones are passed by."""
        state = known_state(Follower(self.rules, self.seat, entries), self.initial)
        if passes and len(self.rules.legal_actions(state)) == 1:
            return None
        generator = np.random.default_rng([*self.words, self.decisions])
        node = None if self.search is None else _descendant(self.search.root, state)
        if self.search is None or node is None:
            kind = variation(self.settings)
            self.search = kind(self.rules, state, self.settings, generator, self.heuristics)
        else:
            self.search.go_on(node, generator, self.heuristics)
        self.rooted(self.search.root.state)
        meter = Meter(self.rules, self.settings)
        meter.run(self.search.simulate)
        return self.search.result(meter)


def _descendant(root: Node, state: State) -> Node | None:
    """The first node below `root`, level by level, with that state."""
    key, level = canonical(state), [root]
    while level:
        level = [c for node in level if node.is_open for c in node.children if c is not None]
        for node in level:
            if canonical(node.state) == key:
                return node
    return None
