"""Extras: optional functions of an accepted game, kept only where they win or fit."""

from hashlib import sha256

from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import Design, RoleError
from games.checks.findings import verdict
from graph.new.playtest import LineUp, PlayTest
from graph.run.folder import RunFolder
from graph.run.pool import what_failed
from tools.playtest.report import score_step

_VALUE = "value_function"
_DRAWN_MATCHES, _FITS = 6, 0.9


def extended(table: PlayTest, made: Design, notes: list[str]) -> str:
    """The accepted source with the optional functions that hold; `notes` say what became of each.

    A reply that cannot be read costs the functions and nothing else.
    """
    extender, source = table.context.roles.extender, table.source
    if extender is None:
        notes.append("No value function and no resampler: the coder has no way to write them.")
        return source
    try:
        with place("extras"):
            found = extender.extend(made, source)
    except (RoleError, MalformedReplyError) as error:
        notes.append(f"No value function and no resampler: {error}")
        return source
    for name, function in found.items():
        tried = f"{source.rstrip()}\n\n\n{function}\n"
        holds, why = _judged(_with(table, tried), name)
        source = tried if holds else source
        notes.append(f"{name} was {'kept' if holds else 'dropped'}: {why}")
    return source


def _with(table: PlayTest, source: str) -> PlayTest:
    """The play-test of another source, with journals of its own among the run's."""
    digest = sha256(source.encode()).hexdigest()[:12]
    folder = RunFolder(table.folder.journals / f"extras-{digest}")
    folder.journals.mkdir(parents=True, exist_ok=True)
    return PlayTest(table.context, source, table.num_players, folder, table.tell)


def _judged(table: PlayTest, name: str) -> tuple[bool, str]:
    """Whether a function is kept, and why: all checks once more, then play."""
    settings = table.context.settings.check
    found = table.context.checked(table.source, settings, table.num_players, 0).findings
    if verdict(found) != "passed":
        return False, f"with it not all checks pass: {what_failed(found)}"
    return _wins(table) if name == _VALUE else _fits(table, name)


def _wins(table: PlayTest) -> tuple[bool, str]:
    """The same search with the value function against itself without, on the same deals."""
    settings = table.context.settings
    search = f"{table.search_name()}:simulations={settings.small_budget}"
    without, having = f"{search},leaf=rollout", f"{search},leaf=value"
    matches = settings.ladder_matches
    if table.is_shared:
        step = score_step(without, having, table.alone((without, having), {}, matches))
    else:
        beside = LineUp((), {}, table.sides)
        step = table.versus(without, having, "extras-value", beside, matches)
    return step.verdict == "climbs", f"{having} against {without}: {step.advantage}"


def _fits(table: PlayTest, name: str) -> tuple[bool, str]:
    """States drawn from real logs, in matches of a search that asks this function alone."""
    if table.search_name() == "uct":
        return False, "nothing is hidden, so there is nothing to draw"
    spec = "ismcts:simulations=2,belief=module"
    series = table.alone((spec,), {}, _DRAWN_MATCHES)[spec]
    used = [one for entry in series.entries.values() for one in entry.used]
    told = [
        one.figures["belief_consistency"] for one in used if "belief_consistency" in one.figures
    ]
    asked = sum(figure.count for figure in told)
    if not asked or set(series.endings) != {"finished"}:
        return False, "no match that draws from it came to its end"
    share = sum(figure.total for figure in told) / asked
    lost = sum(one.words.get("belief", {}).get("none_found", 0) for one in used)
    said = f"at {asked} decisions {share:.0%} of what {name} drew fitted the log"
    return share >= _FITS and not lost, f"{said}, at {lost} nothing did; required: 90%, 0"
