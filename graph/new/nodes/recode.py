"""Recode: the code of the game before is edited for the changed rules."""

import shutil
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import (
    Design,
    EditError,
    RoleError,
    apply_edits,
)
from games.checks import Finding
from graph.new.claims import carried
from graph.new.coding import GraphCoderTools
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.results import code_message, rule_changes
from graph.new.state import RunState, folder_of, go_on, need_design
from graph.run.candidates import Candidate
from graph.run.events import Recoded, writer_of


def recode(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["code", "check", "report"]]:
    """Edit the code of the game before for the changed rules; where none changed, keep it all."""
    context = context_of(runtime, state.folder, state.seed)
    design, base = need_design(state), state.before
    if base is None:
        raise ValueError("recode runs on a game that was made; the state holds none")
    folder = folder_of(state)
    old = folder.root.revision(base.revision)
    findings = _to_do(base.design, design)
    if not findings:
        old.carry(folder, ("checks.json", "players/", "records/"))
        return go_on("report", state, state.as_before(base))
    claims = carried(base.claims, base.candidate, base.design, design)
    try:
        with place(f"recode/{state.revision}"):
            tools = GraphCoderTools(context, design, claims)
            mending = context.roles.coder.edit(design, base.candidate.source, findings, tools)
        source, refused = base.candidate.source, mending.refused
        source = apply_edits(source, mending.edits) if mending.edits else source
    except RoleError:
        # The coder holds that it keeps the new rules as it stands.
        source, refused = base.candidate.source, ()
    except EditError:
        return go_on("code", state, state.holding(claims))
    same = design.num_players == base.design.num_players and state.settings == context.settings
    if source == base.candidate.source and same:  # the same matches: none is played again
        shutil.copytree(old.journals, folder.journals, dirs_exist_ok=True)
    folder.write_text("game.py", source)
    writer_of(runtime.stream_writer)(Recoded(changes=len(findings)))
    draft = Candidate(number=0, source=source, refused=refused)
    after = state.with_versions(draft).holding(claims)
    return go_on("check", state, after.saying(code_message(draft), "recode"))


def _to_do(before: Design, after: Design) -> list[Finding]:
    """The changes that the code needs, a finding for each changed rule or setting."""
    return [
        Finding(
            check="revision",
            outcome="failed",
            rule=line.name if line.name.startswith("R") else "",
            evidence=f"the person changed the game; {line.name}, {line.state}: {line.text}",
        )
        for line in rule_changes(before, after)
    ]
