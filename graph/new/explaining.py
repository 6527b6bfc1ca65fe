"""Explanations: all that a run's folder tells of one rule, or of one mechanic, of its game."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.protocols import Design
from games.checks.unit_tests import PLY
from games.mechanics import Mechanic, MechanicGraph, bounded
from games.records import MatchRecord, PlayedActions, read_records
from graph.new.claims import SEATS
from graph.run.folder import RunFolder, RunFolderError, find_folder, runs_folder
from tools.coverage import RuleCoverage, mechanic_coverage, rule_coverage
from tools.sandbox import Sandbox

_FOLLOWED = 100  # recorded matches
_MOST_PLIES = 300  # that are listed
_LEAST_S, _A_MATCH_S = 60.0, 0.6  # for following matches through the code


def explained_rule(folder: RunFolder, rule: str, sandbox: Sandbox) -> dict[str, Any]:
    """All that is known of one rule of a run's game: mechanic, code, findings and plies.

    Args:
        folder: The run's, or a revision's.
        rule: Its id, such as "R12".
        sandbox: Where the recorded matches are followed through the code.

    Raises:
        RunFolderError: If the folder has no game, or the game no such rule.
        ModuleFault: If its code does not load.
    """
    design, source, records = kept_game(folder)
    told = next((one for one in design.rules if one.id == rule), None)
    if told is None:
        ids = ", ".join(one.id for one in design.rules)
        raise RunFolderError(f"{design.title} has no rule {rule!r}; its rules: {ids}")
    found, word = rule_coverage(sandbox, source, [rule], records), re.compile(rf"\b{rule}\b")
    return {
        "rule": rule,
        "text": told.text,
        "section": told.section,
        "mechanics": [
            {"id": one.id, "name": one.name, "text": one.text}
            for one in design.mechanics
            if rule in _rules_of(one)
        ],
        "clauses": [
            clause.text
            for clause in design.clauses
            if rule in clause.rules or word.search(clause.setting)
        ],
        **_placed(found, rule, source, [*map(PlayedActions.of, records)]),
        "findings": _findings_on(folder, rule, word),
        "whole_functions": rule in found.whole,
    }


def explained_mechanic(
    folder: RunFolder, id_: str, sandbox: Sandbox, played: Sequence[PlayedActions] = ()
) -> dict[str, Any]:
    """All that is known of one mechanic of a run's game: rules, settings, code and plies.

    Args:
        folder: The run's, or a revision's.
        id_: Its id, such as "M3".
        sandbox: Where matches are followed through the code.
        played: Those that are followed; the recorded ones by default.

    Raises:
        RunFolderError: If the folder has no game.
        GraphError: If the game has no such mechanic, or too many.
        ModuleFault: If its code does not load.
    """
    design, source, records = kept_game(folder)
    graph = mechanics_of(design)
    node = graph.node(id_)
    matches = played or [PlayedActions.of(record) for record in records]
    seconds = max(_LEAST_S, len(matches) * _A_MATCH_S)
    found = mechanic_coverage(sandbox, source, graph, matches, seconds)
    texts = {rule.id: rule.text for rule in design.rules}
    names = {one.id: {"id": one.id, "name": one.name} for one in graph.nodes}
    ends = [
        (edge.source, edge.target)
        for edge in graph.edges
        if {edge.source, edge.target} <= names.keys()
    ]
    return {
        "mechanic": id_,
        **node.model_dump(mode="json", include={"name", "text", "kind", "depth", "without"}),
        "leads_to": [names[target] for source, target in ends if source == id_],
        "led_to_by": [names[source] for source, target in ends if target == id_],
        "rules": [{"id": rule, "text": texts[rule]} for rule in node.rules if rule in texts],
        "settings": {name: design.parameters.get(name) for name in node.settings},
        **_placed(found, id_, source, matches),
        "never_fired": [names[one] for one in found.never if len(found.lost) < len(matches)],
        "not_followed": [names[one] for one in found.unmarked],
        "faults": [*graph.faults([*texts])],
    }


def folder_named(name: str) -> RunFolder:
    """The folder of a run, or of a revision or variant that is named by its own folder.

    Raises:
        RunFolderError: Listing the runs there are.
    """
    if _is_game_alone(Path(name)):
        alone = RunFolder(Path(name).resolve())
        alone.require_plain()
        return alone
    folder = find_folder(name, runs_folder())
    named = RunFolder(Path(name).resolve())
    return named if named.root == folder else folder


def _is_game_alone(path: Path) -> bool:
    """True for a folder with a design that is no run's own, such as a variant's."""
    try:
        folder = RunFolder(path.resolve())
        is_run = folder.root != folder or (folder.path / ".state").is_dir()
        return not is_run and (folder.path / "design.json").is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def mechanics_of(design: Design) -> MechanicGraph:
    """A design's graph, each mechanic with the rules that its words name.

    Raises:
        GraphError: If it is too large.
    """
    graph = bounded(design.graph)
    nodes = (one.model_copy(update={"rules": _rules_of(one)}) for one in graph.nodes)
    return MechanicGraph(nodes=tuple(nodes), edges=graph.edges)


def _rules_of(mechanic: Mechanic) -> tuple[str, ...]:
    return mechanic.rules or tuple(re.findall(r"\bR\d+\b", f"{mechanic.name} {mechanic.text}"))


def _placed(
    found: RuleCoverage, name: str, source: str, matches: Sequence[PlayedActions]
) -> dict[str, Any]:
    """The lines of a rule or a mechanic, and the plies at which records met it."""
    lines = source.splitlines()
    return {
        "lines": [
            {"first": first, "last": last, "code": "\n".join(lines[first - 1 : last])}
            for first, last in found.lines.get(name, ())
        ],
        "fired": [
            {
                "players": matches[number].player,
                "match": matches[number].match_index + 1,
                "ply": ply,
                "action": matches[number].actions[ply],
            }
            for number, ply in found.fired.get(name, ())[:_MOST_PLIES]
        ],
        "fired_in": len({number for number, _ in found.fired.get(name, ())}),
        "followed": len(matches) - len(found.lost),
    }


def _findings_on(folder: RunFolder, rule: str, word: re.Pattern[str]) -> list[dict[str, str]]:
    """Findings of checks and claims on a rule; one without words takes those of its claim."""
    checks = folder.read_json("checks.json") if (folder.path / "checks.json").exists() else {}
    kept = checks if isinstance(checks, dict) else {}
    try:
        says = {one["id"]: f"{one['id']}, {one['says']}" for one in kept.get("claims", [])}
        return [
            {
                "check": str(one["check"]),
                "outcome": str(one["outcome"]),
                "evidence": str(one["evidence"] or says.get(one.get("claim"), "")),
            }
            for one in (*kept.get("findings", []), *_loose(kept))
            if rule == one["rule"] or word.search(one["evidence"])
        ]
    except (AttributeError, LookupError, TypeError) as error:
        raise RunFolderError(
            f"{folder.path / 'checks.json'} tells no findings; it was written by somebody else"
        ) from error


def kept_game(folder: RunFolder) -> tuple[Design, str, list[MatchRecord]]:
    """Design, source and records of a run's game.

    Raises:
        RunFolderError: If one of them is not there, or cannot be read.
    """
    if not (folder.path / "design.json").exists():
        raise RunFolderError(
            f"the run in {folder.path} has no design yet; go on with it first: "
            f"rulewright resume {folder.root.path}"
        )
    try:
        design = Design.model_validate(folder.read_json("design.json"))
        source = (folder.path / "game.py").read_text(encoding="utf-8")
        texts = [path.read_text("utf-8") for path in sorted(folder.path.glob("records/*.jsonl"))]
        records = [record for text in texts for record in read_records(text)][:_FOLLOWED]
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{folder.path} holds no game that can be read: {error}") from error
    return design, source, records


def _loose(checks: Mapping[str, Any]) -> list[dict[str, str]]:
    """Claims of which no finding tells, as findings: struck, or upheld and not mended."""
    held = {one["claim"] for one in checks.get("findings", [])} | {SEATS}
    upheld = (PLY, "could_not_judge", "upheld, and the game was not seen to mend it")
    found = []
    for one in checks.get("claims", []):
        if one["status"] != "open" and one["id"] not in held:
            status = one["status"]
            check, outcome, told = upheld if status == "upheld" else ("claim", status, status)
            evidence = f"{one['id']} was {told}: {one['says']}"
            said = {"check": check, "outcome": outcome, "rule": one["rule"], "evidence": evidence}
            found.append(said)
    return found
