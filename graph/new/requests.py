"""Request of a run: all that a person said, from which the whole run can be made again."""

import json
import re
from collections import Counter
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field, JsonValue, ValidationError

from agents.protocols import NEW_FAMILY, Brief, Choices, Clause, Design, Fit
from games.library import exemplars, families
from games.library.settings import GameCard, game_of
from graph.new.context import RunSettings
from graph.new.state import PlayOn, Retried, RunState
from graph.run.checkpoints import discard_checkpoints
from graph.run.folder import RunFolder, RunFolderError

UNSURE = frozenset({"maybe", "perhaps", "not sure", "dunno", "i don t know", "don t know"})
YES = frozenset(
    {"", "y", "yes", "yeah", "yep", "ok", "okay", "sure", "approve", "approved", "agreed", "true"}
    | {"go", "on", "ahead", "anyway"}
)
NO = frozenset({"n", "no", "stop", "reject", "false"})
_POLITE = frozenset(
    {"please", "thanks", "thank", "you", "it", "this", "that", "is", "s", "all", "very", "for"}
    | {"me", "i", "like", "looks", "sounds", "works", "good", "great", "fine", "perfect"}
)
WHOLE = frozenset({"show", "see", "the", "whole", "full", "rulebook", "rules"})
_BACK = frozenset({"undo", "revert", "back", "was", "were", "previous", "forget", "scratch"})
_AROUND = frozenset(
    {"again", "as", "before", "change", "changes", "correction", "earlier", "go", "how", "last"}
    | {"make", "no", "one", "put", "set", "step", "take", "the", "things", "to", "way"}
)
AGAIN = YES | {"again", "try again", "retry", "continue", "resume"}
_MEANT = {"accept": "yes", "approve": "yes", "ignore": "no", "reject": "no"}
_REQUEST = ".state/request.json"
_QUESTION = ".state/question.json"
BRIEF = ".state/brief.json"
"""What a design was made of: no question is in it, and nothing that was undone."""
_FORMAT: Literal[4] = 4


def plain_answer(given: Any) -> str:  # noqa: ANN401 - whatever a client resumes with
    """The words of an answer, also of one in a form of Agent Chat UI or of Agent Inbox.

    >>> plain_answer(" yes "), plain_answer([{"type": "accept", "args": None}])
    ('yes', 'yes')
    >>> plain_answer([{"type": "response", "args": "four players"}])
    'four players'
    >>> plain_answer({"decisions": [{"type": "reject", "message": "four players"}]})
    'four players'
    """
    if isinstance(given, dict) and isinstance(given.get("decisions"), list):
        given = given["decisions"]
    if isinstance(given, list) and given:
        given = given[0]
    if not isinstance(given, dict):
        return str(given).strip()
    said = given.get("message") or given.get("args")
    return said.strip() if isinstance(said, str) else _MEANT.get(str(given.get("type")), "")


def means(answer: str, meant: frozenset[str]) -> bool:
    """True for an answer that says no more than these words, politely or not.

    >>> means("Yes, please!", YES), means("looks good", YES), means("No.", NO)
    (True, True, True)
    >>> means("yes, go ahead", YES), means("sure, this is perfect", YES)
    (True, True)
    >>> means("yes, but for four players", YES), means("do not go on", YES), means("please", NO)
    (False, False, False)
    >>> means("is that all?", YES)
    False
    """
    words = _plain_words(answer)
    if not words:
        return "" in meant and "?" not in answer  # a question approves nothing
    return " ".join(words) in meant or all(word in meant for word in words)


def _plain_words(answer: str) -> list[str]:
    return [word for word in re.findall(r"\w+", answer.lower()) if word not in _POLITE]


def undoes(answer: str) -> bool:
    """True for an answer that only asks to take the last change back.

    >>> undoes("Undo that, please"), undoes("back again"), undoes("make it as it was before")
    (True, True, True)
    >>> undoes("back to four players"), undoes("what was the last change?"), undoes("again")
    (False, False, False)
    """
    words = {*_plain_words(answer)}
    return "?" not in answer and bool(words & _BACK) and words <= _BACK | _AROUND


def human_words(state: RunState) -> list[str]:
    """The person's messages, oldest first, in characters that every file takes."""
    said = (m.text.strip() for m in state.messages if isinstance(m, HumanMessage))
    return [text.encode("utf-8", "replace").decode() for text in said]


def unread_parts(state: RunState) -> tuple[str, ...]:
    """A note on what of the newest message is no text, such as an image."""
    parts = next((m.content for m in reversed(state.messages) if m.type == "human"), "")
    kinds = [part.get("type") for part in parts if isinstance(part, dict)]
    other = ", ".join(sorted({str(kind) for kind in kinds if kind != "text"}))
    return (f"Only the words of the message were read; it also holds: {other}.",) if other else ()


def waits_for_words(state: RunState) -> bool:
    """True for a run that ended before a design, where more words can help."""
    refused = state.end == "gave_up" and state.design is None
    return refused or state.end in ("question", "no_fit")


def answered(state: RunState) -> int:
    """The number of answers that a run has taken: every human message but the prompt.

    >>> answered(RunState(messages=[HumanMessage("whist"), HumanMessage("yes")]))
    1
    """
    return sum(isinstance(message, HumanMessage) for message in state.messages) - 1


def tries_again(state: RunState) -> bool:
    """True for a run that stopped, where the newest message only says to go on."""
    stopped = not state.asks and state.stopped not in (None, "intake")
    said = human_words(state) if stopped else []
    return bool(said) and means(said[-1], AGAIN)


def first_node(state: RunState) -> Retried:
    """The node at which a message is taken in: intake, or where the model failed.

    >>> first_node(RunState([HumanMessage("go on")], stopped="code"))
    'code'
    >>> first_node(RunState([HumanMessage("for four players")], stopped="code"))
    'intake'
    """
    return state.stopped if state.stopped is not None and tries_again(state) else "intake"


def doubts_of(design: Design) -> list[Clause]:
    """Demands that may have meant a setting which was not applied; of each setting, one."""
    return list({clause.perhaps: clause for clause in design.clauses if clause.perhaps}.values())


def family_chosen(answer: str, fit: Fit | None) -> str | None:
    """The library's name that an answer chooses: its own words, or yes to the nearest family.

    >>> family_chosen("Connect Four", None), family_chosen("with four suits", None)
    ('connect_four', None)
    >>> nearest = Fit(family="shedding", kept=(), lost=("dice",))
    >>> family_chosen("yes", nearest), family_chosen("yes", None)
    ('shedding', None)
    """
    name = "_".join(answer.lower().split())
    if name in exemplars():
        return name
    return fit.family if fit is not None and means(answer, YES - {""}) else None


class Remedy(BaseModel, frozen=True, extra="forbid"):
    """A person's decision on a run that gave up with a game that does not pass.

    Attributes:
        rounds: Refinements beyond those it had.
        drop: Id of a claim that no candidate is held against any more.
        accept: Whether the best candidate is taken as it is.
    """

    rounds: int = 0
    drop: str = ""
    accept: bool = False


class Request(BaseModel, frozen=True, extra="forbid"):
    """The request to a run.

    Attributes:
        format: Version of the run folder's machine part.
        prompt: The person's words.
        choices: What the person fixed beside them.
        answers: What the person answered to the run's questions, in order.
        remedies: What the person decided where the run gave up, in order.
        played_on: How far the person had its finished game played on, in order.
        settings: Of the run; its rounds include those of the remedies.
    """

    format: Literal[4] = _FORMAT
    prompt: str
    choices: Choices = Choices()
    answers: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    played_on: tuple[PlayOn, ...] = ()
    settings: RunSettings

    def playing_on(self, wish: PlayOn) -> "Request":
        """The request with one more wish to play on."""
        return self.model_copy(update={"played_on": (*self.played_on, wish)})

    def answered(self, words: str) -> "Request":
        """The request with one more thing that the person said."""
        return self.model_copy(update={"answers": (*self.answers, words)})

    def remedied(self, remedy: Remedy) -> "Request":
        """The request with one more remedy."""
        rounds = self.settings.max_rounds + remedy.rounds
        return self.model_copy(
            update={
                "remedies": (*self.remedies, remedy),
                "settings": self.settings.model_copy(update={"max_rounds": rounds}),
            }
        )


def read_request(folder: RunFolder) -> Request:
    """Read a run's request from its folder.

    Raises:
        RunFolderError: If that cannot be read.
    """
    fields = folder.read_json(_REQUEST)
    found = fields.get("format", 1) if isinstance(fields, dict) else None
    if isinstance(fields, dict) and found != _FORMAT:
        raise RunFolderError(
            f"{folder.path} is a run of format {found}, made by another version of Rulewright; "
            f"required: format {_FORMAT}. Its files can be read; start the run anew: rulewright new"
        )
    wrong = "is no request ({} faults); start the run anew: rulewright new"
    return folder.read_model(_REQUEST, Request, wrong)


def write_request(request: Request, folder: RunFolder) -> None:
    """Keep what a run was asked, so that it can be resumed from its very first moment."""
    folder.write_json(_REQUEST, request.model_dump(mode="json"))


def leave_question(ask: str, request: Request, folder: RunFolder) -> None:
    """Keep what a run waits for where the list of runs finds it; empty for nothing."""
    if ask:
        folder.write_json(_QUESTION, {"ask": ask, "answers": len(request.answers)})
    else:
        (folder.path / _QUESTION).unlink(missing_ok=True)


def question_left(request: Request, folder: RunFolder) -> str:
    """The question a run waits with; empty where it waits for nothing, or was answered."""
    left = folder.read_json(_QUESTION) if (folder.path / _QUESTION).exists() else None
    is_open = isinstance(left, dict) and left.get("answers") == len(request.answers)
    return str(left["ask"]) if isinstance(left, dict) and is_open else ""


def by_form(request: Request, choices: Choices, folder: RunFolder) -> Request:
    """A request with a person's form: it goes before all that was said, and keeps the words.

    Raises:
        RunFolderError: If the words that its newest design was made of cannot be read.
    """
    folders = (*reversed(folder.revisions), folder)
    newest = next((one for one in folders if (one.path / BRIEF).exists()), folder)
    wrong = "is no brief ({} faults); start the run anew: rulewright new"
    brief = newest.read_model(BRIEF, Brief, wrong)
    return request.model_copy(update={"prompt": brief.words, "choices": choices, "answers": ()})


def begin_again(
    folder: RunFolder, database: str | None, *, form: Request | None = None, edits: bool = False
) -> None:
    """Let the next resumption make the run from its request, over what else is kept.

    Args:
        folder: The run's.
        database: Where its checkpoints are, as `resume_run` takes it.
        form: The request of a changed form, for another game; None for the same game again.
        edits: Whether files that a person changed are written anew too.
    """
    discard_checkpoints(folder.checkpoints, database, folder.thread)
    if form is None and not edits:
        return
    # The new request last: until it stands, a kill leaves the old run, whole, to be made again.
    folder.clear(edits=edits, journals=form is not None, keep=FORM if form else "")
    if form is not None:
        write_request(form, folder)
        folder.accept(FORM)


FORM = "design.yaml"
_HEAD = """\
# The form of this game. Edit it, then: rulewright resume RUN --from design
# Rulebook, code, play-test and report follow, and this file is written anew."""
_LONGEST = 2**16  # characters; of more, YAML is read for minutes
_REQUIRED = "Required: family, num_players and, under parameters, NAME: VALUE"


class _Form(BaseModel, extra="forbid", strict=True):
    family: str
    num_players: int = Field(ge=1)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


def form_text(design: Design) -> str:
    """The design as a form; a library family's settings with their meanings and bounds.

    What is no plain word stands as JSON, which YAML reads as what it is.
    """
    card = game_of(design.family) if design.family in families() else None
    seats = f"  # {card.min_players} to {card.max_players}" if card else ""
    lines = [_HEAD, f"family: {design.family}", f"num_players: {design.num_players}{seats}"]
    lines.append("parameters:" if design.parameters else "parameters: {}")
    for name, value in design.parameters.items():
        lines += [f"  # {line}" for line in wrap(_about(card, name), 96)]
        lines.append(f"  {_shown(name)}: {_shown(value)}")
    return "\n".join(lines) + "\n"


def read_form(folder: RunFolder) -> Choices:
    """The choices of a person in the form.

    Raises:
        RunFolderError: If there is none, or it is no form.
    """
    import yaml

    path = folder.path / FORM
    try:
        text = _short_text(path)
        _require_single(yaml.compose(text, yaml.SafeLoader))
        form = _Form.model_validate(yaml.safe_load(text))
        json.dumps(form.model_dump(), allow_nan=False).encode()
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be read ({error.strerror}); a run writes it as soon as it has a design"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RunFolderError(f"{path} is no form: {where} {first['msg']}. {_REQUIRED}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise RunFolderError(f"{path} cannot be read: {why}. {_REQUIRED}") from error
    return Choices(
        family=None if form.family == NEW_FAMILY else form.family,
        num_players=form.num_players,
        settings=form.parameters,
    )


def _short_text(path: Path) -> str:
    """The text of a form.

    Raises:
        ValueError: If it is longer than any form.
    """
    with path.open(encoding="utf-8") as file:
        text = file.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST >> 10} KiB")
    return text


def _require_single(root: Any) -> None:  # noqa: ANN401 - a node of YAML's, or None
    """Of two lines with one name, YAML drops the first: an edit would be lost without a word.

    What an alias repeats could be larger than any memory, or hold itself.
    """
    nodes, met = [root], set[int]()
    for node in nodes:
        if id(node) in met:
            raise ValueError("a value stands there by an alias (*NAME); write it out")
        met.add(id(node))
        pairs = node.value if node is not None and node.id == "mapping" else ()
        nodes += [value for _, value in pairs]
        if node is not None and node.id == "sequence":
            nodes += node.value
        for name, count in Counter(str(key.value) for key, _ in pairs).items():
            if count > 1:
                raise ValueError(f"{name} stands there twice")


def _shown(value: JsonValue) -> str:
    """A value as YAML reads it.

    >>> _shown("ten_second"), _shown("no"), _shown("a: b"), _shown(True)
    ('ten_second', '"no"', '"a: b"', 'true')
    """
    import yaml

    word = isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value)
    return str(value) if word and yaml.safe_load(str(value)) == value else json.dumps(value)


def _about(card: GameCard | None, name: str) -> str:
    """The meaning of a setting and its values; empty where nobody has said it."""
    if card is None:
        return ""
    field = card.every[name]
    known = map(_shown, field.choices or ())
    bounds = ", ".join(known) if field.range is None else f"{field.range[0]} to {field.range[1]}"
    return f"{field.meaning} ({bounds})"
