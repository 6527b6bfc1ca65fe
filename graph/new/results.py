"""Results of a run, for a person and for a program."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.evidence import ground_of, standing
from agents.protocols import Claim, Clause, Design
from games.checks import Finding
from games.checks.choices import CHECK
from games.text import quoted
from graph.new.claims import at_odds, unmended
from graph.new.requests import waits_for_words
from graph.new.state import RunState, folder_of
from graph.run.candidates import Candidate, best
from graph.run.folder import RunFolder
from graph.run.handle import Question
from tools.reporting.content import Evaluation, ReportLine
from tools.reporting.verdict import verdict_of, verdict_text
from tools.sandbox import Grade

_FILES = (
    "rulebook.md",
    "game.py",
    "design.yaml",
    "design.json",
    "changes.md",
    "checks.json",
    "players",
    "records",
    "report.html",
    "run.json",
    "trace.jsonl",
)

_ASKING = {"question": 3, "no_fit": 4}


@dataclass(frozen=True)
class RunResult:
    """One process's part of a run.

    Attributes:
        folder: Its folder.
        state: Its last state.
        question: What it waits for a person to answer; None where it ended.
        seconds: Wall time of this process's part of the run.
        sandbox: The weakest that the run's generated code was run in.
    """

    folder: RunFolder
    state: RunState
    question: Question | None
    seconds: float
    sandbox: Grade


def exit_code(state: RunState) -> int:
    """0: a checked game. 1: one that does not pass. 2: none. 3: a question. 4: nothing fits.

    A checked game is delivered though replies of the validator could not be read; one that a
    person accepted with open findings is still one that does not pass.
    """
    if state.accepted is not None and state.end in ("made", "delivered"):
        return 0 if state.candidate(state.accepted).outcome == "passed" else 1
    if state.end in _ASKING:
        return _ASKING[state.end]
    return 1 if state.candidates else 2


def final_text(state: RunState) -> str:
    """The chat's last message: what was made and where, or why not."""
    if state.end == "question":
        return state.reason
    if state.messages and state.messages[-1].name == "reply":
        return quoted(state.messages[-1].text)
    where = f"Everything is in {state.folder}"
    kept = folder_of(state).edited()
    if kept:
        where = (
            f"Kept as you changed them: {', '.join(kept)}. To build from a changed design.yaml: "
            f"rulewright resume {state.folder} --from design; to give changes up: --discard-edits\n"
            + where
        )
    if state.end not in ("made", "delivered") or state.design is None:
        if state.before is not None:
            before = folder_of(state).root.revision(state.before.revision)
            where = f"{where}\nThe game before it stays as it was: {before.path}"
        return "\n".join([*lacking(state), where]) + _ways_on(state)
    lines = [quoted(f"{state.design.title}: {state.design.summary}"), _checked(state)]
    if state.before is not None:
        names = ", ".join(f"{line.name} ({line.state})" for line in newest_changes(state))
        lines.append(f"Changed: {quoted(names or 'no rule')}; changes.md")
        lines.append(f"Reply: {quoted(revision_reply(state))}")
    missed = [clause for clause in state.design.clauses if clause.status == "not_honoured"]
    words = single_words(missed)
    lines += [
        quoted(
            f"{standing(clause).replace('_', ' ').capitalize()}: "
            f"{cited(text, state.brief.words if state.brief else '')} ({ground_of(clause)})"
        )
        for text, clause in {clause.text: clause for clause in missed}.items()
        if text not in words
    ]
    lines += [quoted(f"Not honoured, single words: {', '.join(words)}")] if words else []
    lines += verdict_lines(state)
    lines.append(f"{where}: open report.html, play with: rulewright play {state.folder}")
    lines += lacking(state)
    notes = [*overruled(state), *state.notes]
    notes = [*open_ends(state), *notes] if state.end != "delivered" else notes
    if state.evaluation is not None and not state.heuristics:
        notes.append("no heuristic was kept, so there is no `greedy` player; the report says why")
    lines += [quoted(f"Note: {note}") for note in notes]
    return "\n".join(lines)


def lacking(state: RunState) -> list[str]:
    """Why the game is no more than delivered, or none, in a line; nothing where it was made."""
    if state.end == "made":
        return []
    end = "Delivered, not made" if state.end == "delivered" else "No finished game"
    return [quoted(f"{end}: {state.reason}")]


def cited(text: str, words: str) -> str:
    """A demand, or several, between quotation marks where the person said each word for word.

    >>> cited("Three lives", "We have three lives."), cited("lives: three", "We have three lives.")
    ('“Three lives”', 'lives: three')
    """
    said = [re.findall(r"\w+", one.lower()) for one in (words, *text.split(", "))]
    whole, *parts = (f" {' '.join(one)} " for one in said)
    return f"“{text}”" if all(part in whole for part in parts) else text


def single_words(clauses: Sequence[Clause]) -> dict[str, None]:
    """Single words that are not honoured and hint at no setting: they are told in one line."""
    missed = [clause for clause in clauses if clause.status == "not_honoured"]
    kept = {clause.text for clause in missed if clause.perhaps}
    words = [clause.text for clause in missed if len(clause.text.split()) == 1]
    return dict.fromkeys(word for word in words if word not in kept)


def open_ends(state: RunState) -> list[str]:
    """Sentences, each on what keeps an accepted game from being more than delivered."""
    if state.accepted is None:
        return []
    shown = state.candidate(state.accepted)
    ends = [
        f"not all checks passed: {f.check}: {f.evidence}"
        for f in shown.findings or ()
        if f.outcome != "passed"
    ]
    ends += [
        f"{one.id}, a claim of the validator on {one.rule}, was dropped: {one.says}"
        for one in state.claims
        if one.status == "dropped"
    ]
    ends += [
        f"{one.id}, a claim of the validator on {one.rule}, was upheld, and this game was not seen "
        f"to mend it: {one.says}"
        for one in unmended(shown, state.claims)
        if one.id not in {f.claim for f in shown.findings or () if f.outcome != "passed"}
    ]
    return ends + [f"not judged: {what}" for what in shown.lacking]


def _against(claim: Claim) -> str:
    """The words against a claim; nothing where nobody spoke."""
    reasons = dict.fromkeys(vote.why for vote in claim.votes if not vote.upheld)
    return f" (against it: {' '.join(reasons)})" if reasons else ""


def overruled(state: RunState) -> list[str]:
    """Notes on claims that a vote settled: the game follows one against the coder, or none."""
    if state.accepted is None:
        return []
    open_still = unmended(state.candidate(state.accepted), state.claims)
    struck = [
        f"{one.id}, a claim of the validator on {one.rule}, was voted down, so nothing is held "
        f"against it: {one.says}{_against(one)}"
        for one in state.claims
        if one.status == "struck"
    ]
    return struck + [
        f"{one.id}, a claim of the validator on {one.rule}, was upheld by vote against the coder, "
        f"who said: {one.argument} The game follows the claim: {one.says}. If {one.rule} means "
        "otherwise, say so with `rulewright revise`"
        for one in state.claims
        if one.status == "upheld" and one.argument and one not in open_still
    ]


def _ways_on(state: RunState) -> str:
    """The ways in which a person can go on with a run whose game does not pass."""
    resume = f"rulewright resume {state.folder}"
    if state.end == "gave_up" and state.design is not None and not state.candidates:
        return f"\nTo go on: change design.yaml if you like, then: {resume} --from design"
    if state.end != "gave_up" or not state.candidates:
        return ""
    shown = best(state.candidates).findings or ()
    ways = [f"To try on: {resume} --rounds 3", f"to take it as it is: {resume} --accept"]
    if any(f.check == "decisions" and f.outcome == "failed" for f in shown):  # the rules' fault
        ways[0] = f"To change the game: edit design.yaml, then: {resume} --from design"
    held = {claim.id: claim for claim in state.claims if claim.counts}
    odds = [(held[claim], check) for claim, check in at_odds(state.candidates) if claim in held]
    blocking = [f.claim for f in shown if f.outcome != "passed" and f.claim in held]
    if drop := next(iter([*(claim.id for claim, _ in odds), *blocking]), None):
        kind = "test" if held[drop].test else "verdict"
        ways.insert(1, f"to give up a {kind}: {resume} --drop-test {drop}")
    told = [
        f"The claim {claim.id} on {claim.rule} ({claim.says}) and the check {check} were not held "
        "at once: whichever an edit satisfied, the other was open. One of them may be mistaken."
        for claim, check in odds
    ]
    return "\n".join(["", *map(quoted, told), "; ".join(ways)])


def closing_text(result: RunResult) -> str:
    """The outcome of a run or its question, and how to go on from there."""
    state, asked = result.state, result.question
    lines = [final_text(state) if asked is None else asked.ask]
    if asked is not None or waits_for_words(state):
        way = f"rulewright resume {result.folder.path} --answer"
        lines.append(f"answer with: {way} '{'...' if state.fit is None else 'yes'}'")
    elif state.before is not None and state.accepted is not None:
        old = folder_of(state).root.revision(state.before.revision).path
        lines.append(f"To compare both games: rulewright compare {old} {folder_of(state).path}")
    return "\n".join(lines)


def result_object(result: RunResult) -> dict[str, Any]:
    """The one JSON object of `new` and `resume`."""
    state = result.state
    folder = folder_of(state) if state.folder else result.folder
    return {
        **state_object(state),
        "end": "waiting" if result.question is not None else state.end,
        "question": result.question.ask if result.question is not None else None,
        "folder": str(folder.path),
        "title": state.design.title if state.design else None,
        "family": state.design.family if state.design else None,
        "players": state.design.num_players if state.design else None,
        "parameters": state.design.parameters if state.design else None,
        "clauses": [clause.model_dump(mode="json") for clause in state.design.clauses]
        if state.design
        else [],
        "edited": list(folder.edited()),
        "files": [name for name in _FILES if (folder.path / name).exists()],
        "sandbox": result.sandbox.model_dump(mode="json"),
        "reply": _newest_reply(state),
        "seed": state.seed,
        "summary": state.summary,
        "seconds": round(result.seconds, 3),
    }


def state_object(state: RunState) -> dict[str, Any]:
    """Fields that `run.json` and the object of a command share."""
    return {
        "end": state.end,
        "reason": state.reason,
        "fit": state.fit and state.fit.model_dump(mode="json"),
        "refinements": state.rounds,
        "claims": claims_object(state.claims),
        "evaluation": state.evaluation and state.evaluation.model_dump(mode="json"),
        "verdict": verdict_object(state),
        "notes": list(state.notes),
        "revision": state.revision,
        "reply": revision_reply(state),
    }


def claims_object(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The validator's claims with what became of them, without the records they rest on."""
    return [claim.model_dump(mode="json", exclude={"shown", "played", "older"}) for claim in claims]


def verdict_lines(state: RunState) -> list[str]:
    """The verdict of the play-test, a line a question; empty where nothing was played."""
    lines = verdict_text(state.evaluation, choiceless(state)) if state.evaluation else []
    return [line.replace("playtest RUN", f"playtest {state.folder}") for line in lines]


def choiceless(state: RunState) -> str:
    """The finding of the check of decisions; empty where the game passed."""
    shown = None if state.accepted is None else state.candidate(state.accepted)
    wrong = (f for f in (shown.findings if shown else None) or () if f.check == CHECK)
    return next((finding.evidence for finding in wrong if finding.outcome == "failed"), "")


def newest_changes(state: RunState) -> tuple[ReportLine, ...]:
    """Changes of the newest revision; none where there was no game before it."""
    if state.before is None or state.design is None:
        return ()
    return rule_changes(state.before.design, state.design)


def rule_changes(before: Design, after: Design) -> tuple[ReportLine, ...]:
    """Rules, seats and parameters that differ: their name, how, and both readings."""
    held = [
        {
            **{rule.id: rule.text for rule in design.rules},
            "num_players": str(design.num_players),
            **{name: str(value) for name, value in design.parameters.items()},
        }
        for design in (before, after)
    ]
    lines = []
    for name in dict.fromkeys((*held[0], *held[1])):
        old, new = (design.get(name) for design in held)
        if old is None:
            lines.append(ReportLine(name=name, state="new", text=str(new)))
        elif new is None:
            lines.append(ReportLine(name=name, state="dropped", text=old))
        elif old != new:
            lines.append(ReportLine(name=name, state="changed", text=f"{old} → {new}"))
    return tuple(lines)


def revision_reply(state: RunState) -> str:
    """The designer's words on its change; empty where it did not change the game."""
    said = [message.text for message in state.messages if message.name == "revise"]
    return said[-1] if said and state.before is not None else ""


def _newest_reply(state: RunState) -> str:
    """The answer to the newest message, be it a change or a question."""
    last = state.messages[-1:]
    said = [message.text for message in last if message.name in ("reply", "revise")]
    return said[0] if said else revision_reply(state)


def verdict_object(state: RunState) -> list[dict[str, str]]:
    """The verdict of the play-test, an object a question; empty where nothing was played."""
    lines = verdict_of(state.evaluation, choiceless(state)) if state.evaluation else ()
    return [{"question": line.name, "answer": line.state, "text": line.text} for line in lines]


def artefacts(state: RunState) -> dict[str, str]:
    """Text of what a client of a server cannot open: rules, design, code, checks and players."""
    folder = folder_of(state).path
    names = [name for name in _FILES if name.endswith((".md", ".json", ".py"))]
    players = sorted(path.relative_to(folder).as_posix() for path in folder.glob("players/*"))
    found = [name for name in (*names, *players) if (folder / name).is_file()]
    return {name: (folder / name).read_text("utf-8", "replace") for name in found}


def code_message(draft: Candidate) -> str:
    """A line for the chat on a module that was written."""
    return f"Wrote the code, {draft.source.count(chr(10))} lines."


def passed_checks(findings: Sequence[Finding], after: str = "") -> str:
    """Say that all checks passed, those apart that compare library code with itself.

    >>> plain, own = Finding(check="a", outcome="passed"), {"same_source": True}
    >>> passed_checks([plain, plain], " after 1 refinement")
    'All 2 checks passed after 1 refinement.'
    >>> passed_checks([plain, plain.model_copy(update=own)])
    '1 of 1 checks that could fail passed; 1 compares library code with itself.'
    """
    same = sum(found.same_source for found in findings)
    could = len(findings) - same
    if not same:
        return f"All {could} checks passed{after}."
    verb = "compares" if same == 1 else "compare"
    return (
        f"{could} of {could} checks that could fail passed{after}; "
        f"{same} {verb} library code with itself."
    )


def players_object(evaluation: Evaluation) -> dict[str, Any]:
    """`players/players.json`: the players in measured order, and the comparisons it rests on."""
    return {
        "players": list(evaluation.players),
        "order": "from the weakest to the strongest, as measured; neighbours whose comparison is "
        "undecided could not be told apart"
        + ("; who was not measured comes first" if evaluation.unmeasured else ""),
        "settings": evaluation.settings,
        "comparisons": [
            {
                "player": rung.stronger,
                "against": rung.weaker,
                "measure": rung.measure,
                "even": rung.even,
                "verdict": rung.verdict,
                **rung.figure.model_dump(include={"value", "low", "high", "n"}),
            }
            for rung in evaluation.ladder
        ],
    }


def _checked(state: RunState) -> str:
    if state.accepted is None:
        return "No candidate passed its checks."
    shown = state.candidate(state.accepted)
    findings, edited = shown.findings or (), state.rounds and shown.parent is not None
    after = f" after {state.rounds} refinement{'s' * (state.rounds > 1)}" if edited else ""
    wrong = sum(finding.outcome != "passed" for finding in findings)
    if wrong:
        return f"{wrong} of {len(findings)} checks did not pass{after}; accepted by a person."
    return passed_checks(findings, after)
