"""Remedies of a person for a run that gave up: more rounds, a test dropped, the game accepted."""

from typing import Any

from langgraph.types import Command

from graph.new.claims import updated, without_struck
from graph.new.requests import Remedy
from graph.new.state import RunState
from graph.run.folder import RunFolder, RunFolderError
from graph.run.pool import best


def require_remedy(state: RunState, remedy: Remedy, folder: RunFolder) -> None:
    """Refuse a remedy that the run cannot take.

    Raises:
        RunFolderError: Saying why, and what it could take.
    """
    if state.end != "gave_up" or not state.candidates:
        raise RunFolderError(
            f"the run in {folder.path} did not give up a game that does not pass (its end: "
            f"{state.end}); --rounds, --drop-test and --accept are for such a run"
        )
    held = [claim.id for claim in state.claims if claim.counts]
    if remedy.drop and remedy.drop not in held:
        known = ", ".join(held) or "none"
        raise RunFolderError(
            f"no candidate is held against a claim {remedy.drop!r}; those in force: {known} "
            f"(checks.json in {folder.path} has their words)"
        )


def remedied(state: RunState, remedy: Remedy, folder: RunFolder) -> "Command[Any]":
    """The step that takes a remedy in: where the run goes on, and from what.

    Raises:
        RunFolderError: For `require_remedy`'s reasons.
    """
    require_remedy(state, remedy, folder)
    update: dict[str, Any] = {"remedied": state.remedied + 1, "end": None, "reason": ""}
    if remedy.accept:
        chosen = best(state.candidates)
        return Command(goto="strategize", update={**update, "accepted": chosen.number})
    if not remedy.drop:
        return Command(goto="refine", update=update)
    claims = updated(
        state.claims,
        [
            claim.model_copy(update={"status": "dropped"})
            for claim in state.claims
            if claim.id == remedy.drop
        ],
    )
    pool = without_struck(state.candidates, claims)
    again = best(pool)
    if again != pool[-1]:
        pool.append(again.model_copy(update={"number": len(pool), "parent": again.number}))
    return Command(goto="check", update={**update, "claims": claims, "candidates": pool})
