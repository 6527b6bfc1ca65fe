"""The paraphrase pairs: two prompts that differ by one clause."""

import json
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, JsonValue

_HELD_OUT = "paraphrase_pairs_3.json"


class Pair(BaseModel):
    """Two prompts that differ by one clause.

    Attributes:
        id: Name of the pair.
        family: Family of prompt `a`; of both unless `kind` is "family".
        kind: What the differing clause is about; "none" where the demands are the same, and
            "unsupported" where no such program can honour it.
        a: The first prompt.
        b: The second prompt.
        clause_a: The words of the differing clause in `a`; empty where it is absent.
        clause_b: The same in `b`.
        value_a: What `clause_a` demands; None where it is absent.
        value_b: The same for `clause_b`.
        held_out: Whether the composer was never developed against it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    family: str
    kind: str
    a: str
    b: str
    clause_a: str
    clause_b: str
    value_a: JsonValue
    value_b: JsonValue
    held_out: bool = False


def load_pairs() -> list[Pair]:
    """The blind-written pairs, by three authors.

    The composer was developed against the first two sets once they had been measured; the third
    stays held out.
    """
    pairs: list[Pair] = []
    for name in ("paraphrase_pairs.json", "paraphrase_pairs_2.json", _HELD_OUT):
        text = (files("evals") / "data" / name).read_text(encoding="utf-8")
        held_out = {"held_out": name == _HELD_OUT}
        pairs += [Pair.model_validate({**fields, **held_out}) for fields in json.loads(text)]
    return pairs
