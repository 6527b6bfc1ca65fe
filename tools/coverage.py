"""Rule coverage: which rules of a module were at work at which ply of recorded matches.

A module says where its rules stand. A comment that begins with rule ids (`# R7`, `# R7 R8`, `# R7,
R8: why`) marks the statement that it ends or stands above; of an `if`, a loop or the like it marks
what is done, not the condition, and behind `else:` that branch. Ids in a function's docstring mark
the whole function, and count where the rule has no finer mark. A mark on a branch that only
refuses (`raise`) is met where its condition was asked: a match that goes on obeyed the rule. A
fresh worker plays the recorded actions again and says which marked lines it went through. That is
the worker's claim: it guides play and names gaps, and is never a pass of anything.
"""

import ast
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from games.mechanics import MechanicGraph
from games.records import MatchRecord, PlayedActions
from games.values import Action, IllegalActionError, Json, ModuleFault
from tools.guest.protocol import LinesRequest
from tools.sandbox import Sandbox, Worker
from tools.sandbox.reading import foreign_comments, foreign_tree

_NONE: frozenset[int] = frozenset()
_COMMENT = re.compile(r"#\s*(R\d+(?:(?:\s*(?:,|and)\s*|\s+)R\d+)*)\b")
_RULE = re.compile(r"\bR\d+\b")
_CONDITION = re.compile(
    r"\b(?:if|when(?:ever)?|where|while|until|unless|once|who|that|which)\b[^,;:]*", re.IGNORECASE
)
_DENIAL = re.compile(
    r"\b(?:no|not|never|nothing|none|nobody|neither|nor|cannot)\b|n['’]t\b", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])(?<!Player )\d+(?:\.\d+)?(?!\w)")
_BLOCKS = ("else", "try", "finally", "except")
_DEADLINE_S = 60.0  # for all matches together
_PLIES = 3  # kept of a rule in one match
_UNASKED = frozenset(  # by a referee: no match shows what these do
    ("resample_history", "resample_state", "value_function", "render", "parse_action")
)


@dataclass(frozen=True)
class RuleCoverage:
    """Where rules, or mechanics, stand in a source, and where matches met them.

    Attributes:
        fired: Rule -> (index of the record, ply), at most the first three plies of a record.
        lines: Rule -> (first, last) line of every place that is marked with it, 1-based.
        never: Rules that are marked and that no ply of these records met.
        unmarked: Rules that no line is marked with: nothing is known of them.
        whole: Rules marked by whole functions alone: that they fired says that one was called.
        lost: Indices of records that the worker could not follow to their end.
    """

    fired: Mapping[str, tuple[tuple[int, int], ...]]
    lines: Mapping[str, tuple[tuple[int, int], ...]]
    never: tuple[str, ...]
    unmarked: tuple[str, ...]
    whole: tuple[str, ...]
    lost: tuple[int, ...]

    def of(self, record: int) -> frozenset[str]:
        """The rules that one record met."""
        return frozenset(r for r, met in self.fired.items() if any(n == record for n, _ in met))


def rule_coverage(
    sandbox: Sandbox, source: str, rules: Sequence[str], records: Sequence[MatchRecord]
) -> RuleCoverage:
    """Follow recorded matches through a source; see the module's docstring.

    Args:
        sandbox: Where it runs.
        source: The module that the records were played with.
        rules: Ids of the design's rules, such as "R7"; others are left out.
        records: Matches; without any, only where the rules stand is told. Those that took more
            than a minute together are `lost`.

    Raises:
        ModuleFault: If the source does not parse or load.
    """
    matches = [PlayedActions.of(record) for record in records]
    return _followed(sandbox, source, _marks(source), rules, matches)


def mechanic_coverage(
    sandbox: Sandbox,
    source: str,
    graph: MechanicGraph,
    matches: Sequence[PlayedActions],
    deadline_s: float = _DEADLINE_S,
    rules: Sequence[str] = (),
) -> RuleCoverage:
    """Follow matches through the mechanics of a source, as `rule_coverage` does.

    A mechanic stands where its `code` says: in a function, or in what a condition of it leads to.
    Where the source has none of that, it stands where its rules do.

    Args:
        sandbox: Where it runs.
        source: The module that the records were played with.
        graph: The mechanics; the coverage is by their ids.
        rules: Ids of rules that are followed beside them, in the same pass.
        matches: See `rule_coverage`.
        deadline_s: Seconds for all of them together.

    Raises:
        ModuleFault: If the source does not parse or load.
    """
    by_rule = _marks(source)
    marks = {rule: by_rule[rule] for rule in rules if rule in by_rule}
    functions = (one for one in foreign_tree(source).body if isinstance(one, ast.FunctionDef))
    text, defined = source.splitlines(), {one.name: one for one in functions}
    for node in graph.nodes:
        named = (one.partition(" if ")[::2] for one in node.code)
        found = [
            place
            for name, said in named
            if name in defined
            for place in _places(defined[name], said, text)
        ]
        found = found or [place for rule in node.rules for place in by_rule.get(rule, ())]
        marks |= {node.id: found} if found else {}
    ids = [*rules, *(node.id for node in graph.nodes)]
    return _followed(sandbox, source, marks, ids, matches, deadline_s)


def _places(function: ast.FunctionDef, said: str, text: Sequence[str]) -> list["_Place"]:
    """The function; or the blocks whose condition says a text, else the statements that do."""
    if not said:
        done = function.body[ast.get_docstring(function) is not None :]
        span = function.lineno, function.end_lineno or function.lineno
        return [_Place(*span, _lines(done[:1]), whole=True)]
    inner = [node for node in ast.walk(function) if isinstance(node, ast.stmt)][1:]

    def says(first: int, last: int) -> bool:
        return any(said in line for line in text[first - 1 : last])

    blocks = [
        _Place(node.lineno, suite[-1].end_lineno or 0, _lines(suite[:1]))
        for node in inner
        for suite in _suites(node)[:1]
        if says(node.lineno, max(node.lineno, suite[0].lineno - 1))
    ]
    outer = [
        one for one in blocks if not any(b.first < one.first <= one.last <= b.last for b in blocks)
    ]
    return outer or [
        _Place(node.lineno, node.end_lineno or 0, _lines([node]))
        for node in inner
        if not _suites(node) and says(node.lineno, node.end_lineno or 0)
    ]


def _followed(
    sandbox: Sandbox,
    source: str,
    marked: Mapping[str, list["_Place"]],
    rules: Sequence[str],
    matches: Sequence[PlayedActions],
    deadline_s: float = _DEADLINE_S,
) -> RuleCoverage:
    marks = {rule: found for rule, found in marked.items() if rule in rules}
    watched = sorted({line for places in marks.values() for p in places for line in p.watched})
    fired: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lost = []
    with sandbox.worker("coverage", source) as worker:
        if matches:
            worker.load(source)
        ends = time.monotonic() + deadline_s
        for number, match in enumerate(matches):
            parameters = dict(match.parameters)
            request = LinesRequest(match.seats, parameters, [*match.actions], watched)
            plies = _traced(worker, request, ends)
            if plies is None:
                lost.append(number)
                continue
            for rule, places in marks.items():
                met = (n for n, lines in enumerate(plies) if any(p.met(n, lines) for p in places))
                fired[rule] += [(number, ply) for ply in islice(met, _PLIES)]
    known = [rule for rule in rules if rule in marks]
    return RuleCoverage(
        fired={rule: tuple(fired[rule]) for rule in known if fired[rule]},
        lines={rule: tuple((place.first, place.last) for place in marks[rule]) for rule in known},
        never=tuple(rule for rule in known if not fired[rule]),
        unmarked=tuple(rule for rule in rules if rule not in marks),
        whole=tuple(rule for rule in known if all(place.whole for place in marks[rule])),
        lost=tuple(lost),
    )


def unnamed_rules(source: str, rules: Sequence[str]) -> tuple[str, ...]:
    """Those of the rules that neither a statement nor a function of a source is marked with.

    Raises:
        ModuleFault: If the source does not parse.
    """
    marks = _marks(source)
    return tuple(rule for rule in rules if rule not in marks)


def loosely_named(source: str, rules: Sequence[str]) -> tuple[str, ...]:
    """Those of the rules that functions name as a whole alone, where others have finer marks.

    That such a function was called does not show that it carries the rule out.

    Raises:
        ModuleFault: If the source does not parse.
    """
    marks = _marks(source)
    loose = {rule for rule, places in marks.items() if all(place.whole for place in places)}
    return tuple(rule for rule in rules if rule in loose) if loose != marks.keys() else ()


def unwritten_numbers(source: str, rules: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Rule -> the numbers in its text that a source writes nowhere, nor a limit beside them.

    The source may compute them, as 52 from 4 and 13. A seat's number counts as none.

    Raises:
        ModuleFault: If the source does not parse.

    >>> unwritten_numbers("a = 4 * 13; a >= 30", {"R1": "Player 7 has 52 cards.", "R2": "Over 29."})
    {'R1': ('52',)}
    """
    try:
        tree = foreign_tree(source)
    except (SyntaxError, ValueError) as error:
        raise ModuleFault("unreadable", "module", str(error)) from error
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    limits = [node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.Call)]
    known = _numbers([node for node in ast.walk(tree) if node not in said])
    bounds = _numbers([part for node in limits for part in ast.iter_child_nodes(node)])
    known |= {bound + step for bound in bounds for step in (-1, 1)}  # "over 29" is ">= 30"
    lost = {
        rule: tuple(dict.fromkeys(n for n in _NUMBER.findall(text) if float(n) not in known))
        for rule, text in rules.items()
    }
    return {rule: numbers for rule, numbers in lost.items() if numbers}


def _numbers(nodes: Iterable[ast.AST]) -> set[float]:
    """The numbers in constants; those in texts count too, as the 3 in "take 3"."""
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return {float(number) for one in constants for number in _NUMBER.findall(str(one))}


def denies(rule: str) -> bool:
    """True for a rule that says what is not so: there may be nothing in a source to carry it out.

    What stands in a condition of it is no matter.

    >>> denies("A full row gives no token back."), denies("If no card is left, the match ends.")
    (True, False)
    """
    return _DENIAL.search(_CONDITION.sub("", rule)) is not None


@dataclass(frozen=True)
class SourceBranch:
    """A stretch of a source that is gone through on a condition.

    Attributes:
        function: The function that it belongs to.
        line: Its first line, 1-based.
        text: That line.
    """

    function: str
    line: int
    text: str


@dataclass(frozen=True)
class BranchCoverage:
    """Branches of a source that matches went through.

    Attributes:
        branches: All that the named functions can reach; those that only raise are left out.
        met: One set a match: the branches it went through, by their index; none where the worker
            could not follow it.
    """

    branches: tuple[SourceBranch, ...]
    met: tuple[frozenset[int], ...]

    @property
    def missed(self) -> tuple[SourceBranch, ...]:
        """Those that no match went through."""
        met = frozenset[int]().union(*self.met)
        return tuple(branch for n, branch in enumerate(self.branches) if n not in met)


def branch_coverage(
    sandbox: Sandbox,
    source: str,
    functions: Sequence[str],
    played: Sequence[Sequence[Action]],
    *,
    num_players: int,
    parameters: Mapping[str, Json],
) -> BranchCoverage:
    """Follow matches through the branches of a source; the worker's claim, as `rule_coverage`.

    Args:
        sandbox: Where it runs.
        source: The module.
        functions: Those whose branches count, with all that they call.
        played: The actions of each match, from the first state on.
        num_players: Seats.
        parameters: Of the matches.

    Raises:
        ModuleFault: If the source does not load.
    """
    found = _branches(foreign_tree(source), source.splitlines(), functions)
    watched = sorted({line for _, lines in found for line in lines})
    met: list[frozenset[int]] = []
    with sandbox.loaded("coverage", source) as worker:
        ends = time.monotonic() + _DEADLINE_S
        for actions in played:
            request = LinesRequest(num_players, dict(parameters), [*actions], watched)
            plies = _traced(worker, request, ends) if actions else []
            lines = frozenset[int]().union(*(plies or ()))
            met.append(frozenset(n for n, (_, own) in enumerate(found) if own & lines))
    return BranchCoverage(tuple(branch for branch, _ in found), tuple(met))


def _branches(
    tree: ast.Module, text: Sequence[str], functions: Sequence[str]
) -> list[tuple[SourceBranch, frozenset[int]]]:
    """Every branch of these functions and of what they call, with its lines."""
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    reached: dict[str, ast.FunctionDef] = {}
    waiting = [name for name in functions if name in defined]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = defined[name]
            named = {n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)}
            waiting += sorted(named & defined.keys() - reached.keys())
    found = []
    for name, function in sorted(reached.items(), key=lambda item: item[1].lineno):
        for node in ast.walk(function):
            for suite in _suites(node):
                if not all(isinstance(statement, ast.Raise | ast.Pass) for statement in suite):
                    line = suite[0].lineno
                    branch = SourceBranch(name, line, text[line - 1].strip())
                    found.append((branch, _lines(suite[:1])))
    return found


def _suites(node: ast.AST) -> list[list[ast.stmt]]:
    if isinstance(node, ast.If):
        is_elif = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        return [node.body, *([node.orelse] if node.orelse and not is_elif else [])]
    if isinstance(node, ast.For | ast.While | ast.ExceptHandler):
        return [node.body]
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    return []


@dataclass(frozen=True)
class _Place:
    """A marked stretch of source: what is shown of it, and which lines show that it was done."""

    first: int
    last: int
    watched: frozenset[int]
    whole: bool = False
    loaded: bool = False  # a constant: it is in force from the first ply on

    def met(self, ply: int, lines: frozenset[int]) -> bool:
        return not self.watched.isdisjoint(lines) or (self.loaded and ply == 0)


def _traced(worker: Worker, request: LinesRequest, ends: float) -> list[frozenset[int]] | None:
    """The watched lines of every ply of a match; None where the worker could not follow it."""
    left = ends - time.monotonic()
    if not worker.alive or left <= 0:
        return None
    try:
        reply = worker.request("lines", request._asdict(), left)
    except (ModuleFault, IllegalActionError):
        return None
    plies = reply if isinstance(reply, list) else []
    if len(plies) != len(request.actions):
        return None
    return [
        frozenset(line for line in lines if type(line) is int) if isinstance(lines, list) else _NONE
        for lines in plies
    ]


def _marks(source: str) -> dict[str, list[_Place]]:
    """Where each rule stands, in the order of the source."""
    try:
        tree = foreign_tree(source)
        comments = [*_comments(source)]
    except (SyntaxError, ValueError) as error:
        raise ModuleFault("unreadable", "module", str(error)) from error
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    marks: dict[str, list[_Place]] = defaultdict(list)
    for line, rules, alone in comments:
        place = _marked(tree, line, alone=alone)
        inside = {f.name for f in functions if place and _spans(f, place.first)}
        if place and not inside & _UNASKED:
            for rule in rules:
                marks[rule].append(replace(place, loaded=not inside and not place.whole))
    for function in functions:
        said, done = ast.get_docstring(function) or "", function.body[1:]
        for rule in dict.fromkeys(_RULE.findall(said)):
            fine = any(not place.whole for place in marks[rule])
            if done and not fine and function.name not in _UNASKED:
                span = function.lineno, function.end_lineno or function.lineno
                marks[rule].append(_Place(*span, _lines(done[:1]), whole=True))
    return {rule: places for rule, places in marks.items() if places}


def _comments(source: str) -> Iterator[tuple[int, list[str], bool]]:
    """Line, rules, and whether nothing else stands there, of each comment that names rules."""
    for line, comment, before in foreign_comments(source):
        if found := _COMMENT.match(comment):
            alone = not before or before.rstrip(":").split(" ")[0] in _BLOCKS
            yield line, _RULE.findall(found[1]), alone


def _marked(tree: ast.Module, line: int, *, alone: bool) -> _Place | None:
    """The statement that a comment on this line marks; None where none follows."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    if alone:
        below = [node for node in statements if node.lineno > line]
        node = min(below, key=lambda node: node.lineno, default=None)
    else:
        here = [node for node in statements if _spans(node, line)]
        node = max(here, key=lambda node: node.lineno, default=None)
    if node is None:
        return None
    done = [s for case in node.cases for s in case.body] if isinstance(node, ast.Match) else None
    whole = isinstance(node, ast.FunctionDef)
    body = done or getattr(node, "body", [node])[: 2 if whole else None]
    watched = _lines(body)
    if isinstance(body[-1], ast.Raise) and not whole:
        blocks = [s for s in statements if hasattr(s, "body") and _spans(s, body[-1].lineno)]
        watched |= _header(max(blocks, key=lambda block: block.lineno, default=node))
    return _Place(node.lineno, node.end_lineno or node.lineno, watched, whole)


def _header(block: ast.stmt) -> frozenset[int]:
    """The lines that show that a block was come to: a condition, or a function's beginning."""
    body = getattr(block, "body", [block])
    if isinstance(block, ast.FunctionDef):
        return _lines(body[:2])
    return frozenset(range(block.lineno, max(block.lineno + 1, body[0].lineno)))


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _lines(done: Iterable[ast.stmt]) -> frozenset[int]:
    spans = (range(s.lineno, (s.end_lineno or s.lineno) + 1) for s in done)
    return frozenset(line for span in spans for line in span)
