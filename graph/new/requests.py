"""Request of a run: all that a person said, from which the whole run can be made again."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.protocols import Choices
from graph.new.answers import is_words
from graph.new.form import FORM
from graph.run.checkpoints import discard_checkpoints
from graph.run.folder import RunFolder, RunFolderError
from graph.run.settings import RunSettings

_REQUEST = ".state/request.json"
_FORMAT: Literal[3] = 3


class Remedy(BaseModel):
    """What a person decides for a run that gave up with a game that does not pass.

    Attributes:
        rounds: Refinements beyond those it had.
        drop: Id of a claim that no candidate is held against any more.
        accept: Whether the best candidate is taken as it is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = 0
    drop: str = ""
    accept: bool = False


class Request(BaseModel):
    """What a run was asked.

    Attributes:
        format: Version of the run folder's machine part.
        prompt: The person's words.
        choices: What the person fixed beside them.
        answers: What the person answered to the run's questions, in order.
        remedies: What the person decided where the run gave up, in order.
        settings: Of the run; its rounds include those of the remedies.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[3] = _FORMAT
    prompt: str
    choices: Choices = Choices()
    answers: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    settings: RunSettings

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
    """What a run was asked.

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
    try:
        return Request.model_validate(fields)
    except ValidationError as error:
        raise RunFolderError(
            f"{folder.path / _REQUEST} is no request ({error.error_count()} faults); start the "
            "run anew: rulewright new"
        ) from error


def write_request(request: Request, folder: RunFolder) -> None:
    """Keep what a run was asked, so that it can be resumed from its very first moment."""
    folder.write_json(_REQUEST, request.model_dump(mode="json"))


def by_form(request: Request, choices: Choices) -> Request:
    """A request with a person's form: it goes before all that was said, and keeps the words."""
    words = (request.prompt, *filter(is_words, request.answers))
    return request.model_copy(
        update={"prompt": "\n".join(words), "choices": choices, "answers": ()}
    )


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
