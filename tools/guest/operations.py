"""Operations of a worker on the one module that it holds."""

import base64
import marshal
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from games.contract import Game
from games.modules import LocalModule, Rules, bind, compiled, reseed
from games.values import (
    CHANCE,
    TERMINAL,
    IllegalActionError,
    Json,
    ModuleFault,
    State,
    canonical_key,
    is_number,
    require_json,
)
from tools.guest.faults import MODULE_FILE, UnknownOperationError, describe
from tools.guest.framing import encode
from tools.guest.news import SeatNews
from tools.guest.protocol import (
    AdvanceRequest,
    CallRequest,
    ColumnsRequest,
    CompileRequest,
    ConstantRequest,
    EchoRequest,
    EvaluateRequest,
    LinesRequest,
    LoadRequest,
    OpenRequest,
    PliesRequest,
    RawPly,
    RoundRequest,
    ScoresRequest,
    decoded,
)

if TYPE_CHECKING:
    from _typeshed import TraceFunction

Payload: TypeAlias = dict[str, Json]
Operation: TypeAlias = Callable[[dict[str, object], Payload], Json]
_Asked = TypeVar("_Asked", bound=tuple[object, ...])

_TOLD = 200  # characters of a row that is no position
_CODE_CHARACTERS = 2**20  # longer code is compiled anew by each worker
OF_A_POSITION = ("get_current_player", "get_legal_actions", "get_rewards", "get_observations")


class _Lines:
    """Marked lines that were executed since the last `take`; used as a trace function."""

    def __init__(self, marked: frozenset[int]) -> None:
        self._marked = marked
        self._seen: set[int] = set()
        self._known: dict[types.CodeType, bool] = {}

    def __call__(
        self, frame: types.FrameType, event: str, argument: object
    ) -> "TraceFunction | None":
        """The tracer of a frame of the module that has a marked line; no other frame is traced."""
        del event, argument
        code = frame.f_code
        if code not in self._known:
            lines = {line for _, _, line in code.co_lines()}
            self._known[code] = code.co_filename == MODULE_FILE and bool(lines & self._marked)
        return self._line if self._known[code] else None

    def _line(self, frame: types.FrameType, event: str, argument: object) -> "TraceFunction":
        del argument
        if event == "line" and frame.f_lineno in self._marked:
            self._seen.add(frame.f_lineno)
        return self._line

    def take(self) -> list[Json]:
        """These lines, in order; the next ply begins with none."""
        seen = sorted(self._seen)
        self._seen.clear()
        return [*seen]


def traced_lines(module: LocalModule, request: LinesRequest) -> Json:
    """One list a ply: the marked lines that were executed for it.

    A ply is all that a referee asks for it: whose turn it is, what is legal, seen and visible in
    the state it is played in, the events, the next state and what entering that paid. The first
    ply has the set-up too, the last one what is asked of the final state.
    """
    lines, plies = _Lines(frozenset(request.lines)), list[Json]()
    game, seats = Game(module), request.num_players
    before = sys.gettrace()
    sys.settrace(lines)
    try:
        state = game.initial_state(seats, request.parameters)
        for action in request.actions:
            _ask_all(game, state, seats)
            game.events(state, action, seats)
            state = game.apply_action(state, action)
            game.rewards(state, seats)
            plies.append(lines.take())
        _ask_all(game, state, seats)
    finally:
        sys.settrace(before)
    if plies and isinstance(plies[-1], list):
        plies[-1] += lines.take()
    return plies


def _ask_all(game: Game, state: State, seats: int) -> None:
    player, legal = game.current_player(state), game.legal_actions(state)
    if player == CHANCE:
        game.chance_probabilities(state, legal)
    elif player != TERMINAL and player >= seats:
        raise ModuleFault("bad_value", "get_current_player", f"returned {player} of {seats} seats")
    game.player_name(player)
    game.observations(state, seats)
    for seat in range(seats):
        game.visible(state, seat)


class Session:
    """One worker's life: at most one module, and the operations on it.

    Attributes:
        function: The contract function being called now, for whoever reports a fault.
    """

    def __init__(self, preloaded: Mapping[str, Operation]) -> None:
        self.function = "module"
        self._module: LocalModule | None = None
        self._rules: Rules | None = None
        self._slots: dict[int, State] = {}
        self._news = SeatNews()
        self._preloaded = preloaded

    def perform(self, operation: str, payload: Payload) -> Json:
        """Do one operation and return its value, held strictly against the contract's JSON.

        Raises:
            UnknownOperationError: Listing the known ones.
            BaseException: Whatever the module raised.
        """
        self.function = operation
        if operation in _BUILT_IN:
            return _BUILT_IN[operation](self, payload)
        if operation in self._preloaded:
            value = self._preloaded[operation](self._loaded().namespace, payload)
            return _checked(value, operation)
        known = ", ".join((*BUILT_IN, *sorted(self._preloaded)))
        raise UnknownOperationError(f"there is no operation {operation!r}; known ones: {known}")

    def is_preloaded(self, operation: str) -> bool:
        """True where the operation is a preloaded package's own code."""
        return operation in self._preloaded

    def _loaded(self) -> LocalModule:
        if self._module is None:
            raise UnknownOperationError("no module is loaded yet; send 'load' first")
        return self._module

    def _compile(self, request: CompileRequest) -> Json:
        """The code, for later workers; "" where it is long, or where `load` will say what is wrong.

        Never after `load`: then it would be the module that answers.
        """
        self.function = "module"
        if self._module is not None:
            raise UnknownOperationError("a module is loaded already; compile before 'load'")
        try:
            code = base64.b64encode(marshal.dumps(compiled(request.source))).decode()
        except Exception:  # noqa: BLE001 - `load` compiles again and tells it
            return ""
        return code if len(code) <= _CODE_CHARACTERS else ""

    def _load(self, request: LoadRequest) -> Json:
        self.function = "module"
        reseed([0])
        sys.modules["game"] = types.ModuleType("game")  # dataclasses look their module up there
        # The worker is confined, whatever the bytes hold.
        code = marshal.loads(base64.b64decode(request.code)) if request.code else None
        self._module = LocalModule(request.source, code=code)
        return list(sorted(self._module.names))

    def _constant(self, request: ConstantRequest) -> Json:
        name = self.function = request.name
        return _checked(self._loaded().constant(name), name)

    def _call(self, request: CallRequest) -> Json:
        if request.seed is not None:
            reseed(request.seed)
        return self._value(request.function, request.arguments, request.keywords)

    def _echo(self, request: EchoRequest) -> Json:
        value = self._value(request.function, request.arguments)
        return [value, _checked(request.arguments, self.function, "the argument")]

    def _open(self, request: OpenRequest) -> Json:
        return self._position([("initial_state", [request.num_players], request.parameters)])

    def _advance(self, request: AdvanceRequest) -> Json:
        arguments: list[Json] = [*request]
        return self._position([("get_events", arguments, {}), ("apply_action", arguments, {})])

    def _plies(self, request: PliesRequest) -> Json:
        begin = OpenRequest(request.num_players, request.parameters)
        plies: list[Json] = []
        for move in request.moves:
            match move:
                case [dict() as state, str(action)]:
                    plies.append(self._advance(AdvanceRequest(state, action)))
                case _:
                    plies.append(self._open(begin))
        return plies

    def _position(self, steps: Sequence[tuple[str, list[Json], Payload]]) -> Json:
        """The raw values of one ply up to the first fault; the host holds them to the contract."""
        values: Payload = {}
        state: Json = None
        try:
            for function, arguments, keywords in steps:
                values[function] = state = self._value(function, arguments, keywords)
            for function in OF_A_POSITION:
                values[function] = self._value(function, [state])
            chances = "get_chance_probabilities"
            if values["get_current_player"] == CHANCE and chances in self._loaded().namespace:
                values[chances] = self._value(chances, [state])
        except (ModuleFault, IllegalActionError) as fault:
            return RawPly(values, describe(fault, self.function))._asdict()
        return RawPly(values, None)._asdict()

    def _round(self, request: RoundRequest) -> Json:
        """The columns of a round; a match that fails tells its fault, and the others go on."""
        if self._rules is None or self._rules.num_players != request.num_players:
            self._rules = bind(self._loaded().namespace, request.num_players)
        begin, slots = self._loaded().namespace["initial_state"], self._slots
        rules, sighted, followed = self._rules, request.sighted, request.followed
        unpaid: list[float] = [0.0] * request.num_players
        unheard: list[list[str]] = [[]] * request.num_players
        weighed = [] if rules.chance_probabilities is None else [CHANCE]
        told_of = frozenset([*sighted, *weighed])
        apply, mover, options = rules.apply_action, rules.current_player, rules.legal_actions
        rewards, join = rules.rewards, "\n".join
        self.function = "apply_action"
        players: list[Json] = []
        legal: list[Json] = []
        numbers: dict[str, int] = {}
        more: list[Json] = []
        news = self._news.begin_round()
        for row, (slot, action) in enumerate(zip(request.slots, request.actions, strict=True)):
            try:
                if action is None:
                    events, state = unheard, begin(request.num_players, **request.parameters)
                    news.begin_match(slot, followed)
                else:
                    events = rules.events(slots[slot], str(action)) if followed else unheard
                    state = apply(slots[slot], action)  # type: ignore[arg-type] # see RoundRequest
                slots[slot] = state
                player, text = mover(state), join(options(state))  # read faster than a list
                paid = rewards(state)
                if followed or player in told_of or paid != unpaid:
                    seen = rules.observations(state) if followed else []
                    shown: list[Json] = [
                        [*news.of(slot, own, seen[own]), [*events[own]]] for own in followed
                    ]
                    beside = _beside(rules, state, player, sighted)
                    more.append([row, 0 if paid == unpaid else [*paid], *beside, shown or None])
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - the match is played alone, which tells it
                player, text = None, repr(error)[:_TOLD]
            players.append(player)
            legal.append(numbers.setdefault(text, len(numbers)))
        return [players, legal, [*numbers], more, news.parts]

    def _scores(self, request: ScoresRequest) -> Json:
        scores: list[Json] = []
        for observation, legal in request.positions:
            found: list[Json] = []
            for action in legal if isinstance(legal, list) else []:
                score = self._value("score", [observation, action])
                if not is_number(score):
                    raise ModuleFault(
                        "bad_value", "score", f"returned {score!r:.80}; required: a finite number"
                    )
                found.append(float(score))
            scores.append(found)
        return scores

    def _columns(self, request: ColumnsRequest) -> Json:
        """One answer a call, in order; a call that fails does not end the others."""
        answers: list[Json] = []
        for function, arguments in request.pairs():
            try:
                value = self._value(function, arguments)
                told: Payload = {"value": value}
                if request.keyed:
                    told = {"key": canonical_key(value), "text": encode(value).decode()}
                answers.append(told)
            except (ModuleFault, IllegalActionError) as fault:
                answers.append({"fault": describe(fault, function)})
        return answers

    def _lines(self, request: LinesRequest) -> Json:
        return traced_lines(self._loaded(), request)

    def _evaluate(self, request: EvaluateRequest) -> Json:
        code = compile(request.expression, "<expression>", "eval")
        # The worker is confined, whatever the text does.
        return _checked(eval(code, self._loaded().namespace), "expression")

    def _main(self) -> Json:
        if not callable(self._loaded().namespace.get("main")):
            return {"defined": False, "value": None}
        return {"defined": True, "value": self._value("main", [])}

    def _value(
        self, function: str, arguments: list[Json], keywords: Mapping[str, Json] | None = None
    ) -> Json:
        self.function = function
        module = self._loaded()
        try:
            return module.call(function, *arguments, **(keywords or {}))
        except ModuleFault as fault:
            if fault.kind == "bad_value" and fault.line is None:
                fault.line = _first_line(module.namespace[function])
            raise


def _asked(
    kind: Callable[..., _Asked], perform: Callable[[Session, _Asked], Json]
) -> Callable[[Session, Payload], Json]:
    return lambda session, payload: perform(session, decoded(kind, payload))


_BUILT_IN: dict[str, Callable[[Session, Payload], Json]] = {
    "ping": lambda _, payload: payload,
    "compile": _asked(CompileRequest, Session._compile),
    "load": _asked(LoadRequest, Session._load),
    "constant": _asked(ConstantRequest, Session._constant),
    "call": _asked(CallRequest, Session._call),
    "echo": _asked(EchoRequest, Session._echo),
    "open": _asked(OpenRequest, Session._open),
    "advance": _asked(AdvanceRequest, Session._advance),
    "plies": _asked(PliesRequest, Session._plies),
    "round": _asked(RoundRequest, Session._round),
    "scores": _asked(ScoresRequest, Session._scores),
    "columns": _asked(ColumnsRequest, Session._columns),
    "lines": _asked(LinesRequest, Session._lines),
    "evaluate": _asked(EvaluateRequest, Session._evaluate),
    "main": lambda session, _: session._main(),
}
BUILT_IN = tuple(_BUILT_IN)


def _beside(rules: Rules, state: State, player: int, sighted: Sequence[int]) -> tuple[Json, Json]:
    """The probabilities of chance and the mover's observation, where they are told."""
    if player in sighted:
        return None, rules.observations(state)[player]
    if player == CHANCE and rules.chance_probabilities is not None:
        return [*rules.chance_probabilities(state)], None
    return None, None


def _checked(value: Json, function: str, path: str = "value") -> Json:
    require_json(value, function, path)
    return value


def _first_line(function: object) -> int | None:
    code = getattr(function, "__code__", None)
    return code.co_firstlineno if isinstance(code, types.CodeType) else None
