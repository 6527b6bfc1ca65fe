"""The mechanic designer, asked of a chat model to read a game's mechanic graph, or to breed.

Cardiverse §3.1.1 and §3.1.2.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from pydantic import BaseModel, Field

from agents.model.chat import ChatModel
from agents.model.errors import ReplyError
from agents.model.recording import current_place, place
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import RoleError
from games.mechanics import (
    ROOT,
    GraphError,
    Kind,
    Mechanic,
    MechanicEdge,
    MechanicGraph,
    bounded,
)
from games.text import bare_words, one_line
from vectorstore.mechanics import BredMechanic, MechanicCluster

DEEPEST = 4
"""Levels below “the game ends” that are asked for."""
MUTATIONS = {
    "turned round": "Turn the idea round: what was an advantage costs something now.",
    "at a price": "Let the same thing be had only for a price that the players set themselves.",
    "together": "Let it depend on what two players do, or on what the others have.",
    "in time": "Let it come sooner, later, or again and again, so that its moment is a choice.",
    "hidden": "Let a part of it be secret until it happens.",
    "risked": "Let a player who goes further win more and risk what there is.",
    "from afar": "Take the idea from another kind of game, and say it with these components.",
    "smaller": "Take away what the cluster takes for granted, and make do without it.",
}
"""Instructions by which mechanics are bred, as PromptBreeder varies prompts (the paper's [47])."""
BRED_A_CALL = 3
_BARREN = 2  # replies without anything new, after which a cluster is left
_LONGEST = 40_000  # characters of a rules text: as many as a design may have
_MOST_NAME = 80
_MARKED = re.compile(r"^\W*(R[0-9]+)\s*[:.)]\s*(\S.*)$")
_HEADING = re.compile(r"^\s*(?:#|```)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")


class FoundMechanicReply(BaseModel, extra="forbid"):
    """One mechanic that leads to others."""

    name: str = Field(description="A short English phrase.")
    text: str = Field(description="One sentence.")
    kind: Kind
    rules: list[str] = Field(description="Ids of the rules that say it.")
    leads_to: list[str] = Field(description="Ids of mechanics that it directly leads to.")


class ExpansionReply(BaseModel, extra="forbid"):
    """All that directly leads to the mechanics that are to be expanded."""

    mechanics: list[FoundMechanicReply]
    problems: list[str] = Field(description="Contradictions and gaps of the rules.")


class BredReply(BaseModel, extra="forbid"):
    """One new mechanic."""

    name: str = Field(description="A short English phrase.")
    text: str = Field(description="Exactly what happens, in one or two sentences.")


class BreedReply(BaseModel, extra="forbid"):
    """A cluster's theme, and new mechanics of it."""

    theme: str
    variation: str
    mechanics: list[BredReply]


@dataclass(frozen=True)
class Extraction:
    """A mechanic graph as a model read it from rules.

    Attributes:
        graph: With depths; each mechanic but the root names the rules that back it.
        problems: What the model found contradictory or open in the rules.
    """

    graph: MechanicGraph
    problems: tuple[str, ...]


def numbered_rules(text: str) -> dict[str, str]:
    r"""The rules of a text by id: its own ids where it has them, else its sentences R1, R2, ...

    Raises:
        RoleError: If it says nothing, or is longer than any rulebook.

    >>> numbered_rules("# War\n- R2: Deal.\n- R3: Turn a card."), numbered_rules("Deal. Play on!")
    ({'R2': 'Deal.', 'R3': 'Turn a card.'}, {'R1': 'Deal.', 'R2': 'Play on!'})
    """
    if len(text) > _LONGEST:
        raise RoleError(
            f"the rules have {len(text)} characters; required: at most {_LONGEST}. Leave out what "
            "is no rule, such as examples and history"
        )
    lines = [line.strip() for line in text.splitlines() if not _HEADING.match(line)]
    marked = {found[1]: found[2] for line in lines if (found := _MARKED.match(line))}
    if marked:
        return marked
    said = [part.strip(" -*") for part in _SENTENCE.split(" ".join(lines))]
    sentences = [part for part in said if re.search(r"\w", part)]
    if not sentences:
        raise RoleError("the rules are empty; required: the rules of a game, in sentences")
    return {f"R{number}": sentence for number, sentence in enumerate(sentences, 1)}


def extract_graph(model: ChatModel, rules: Mapping[str, str], deepest: int = DEEPEST) -> Extraction:
    """Search backward from “the game ends”, breadth first: one question a level.

    The paper asks once for each mechanic; a level at once needs fewer calls, and sees what its
    mechanics have in common.

    Args:
        model: Whom to ask.
        rules: By id.
        deepest: Levels below the root.

    Raises:
        RoleError: If no rule says how the game ends.
        MalformedReplyError: If no reply was a graph that the rules back.
    """
    where, problems = current_place(), dict[str, None]()
    graph = MechanicGraph(nodes=(Mechanic(id="M1", name=ROOT, kind="end"),), edges=())
    waiting = ["M1"]
    for level in range(1, deepest + 1):
        messages = load_prompt("designer_extract").fill(
            rules="\n".join(f"{id_}: {text}" for id_, text in rules.items()),
            known=[_shown(node, graph) for node in graph.nodes],
            open=", ".join(waiting),
            deepest=level == deepest,
        )
        before = len(graph.nodes)
        accept = partial(_accepted, graph, frozenset(waiting), rules)
        with place(f"{where}/{level}"):
            graph, said = ask_structured(model, messages, ExpansionReply, accept)
        problems |= dict.fromkeys(said)
        waiting = [node.id for node in graph.nodes[before:]]
        if not waiting:
            break
    if len(graph.nodes) == 1:
        told = f" The model says: {'; '.join(problems)}" if problems else ""
        raise RoleError(f"no rule says how the game ends: add one that does.{told}")
    return Extraction(graph.ordered(), tuple(problems))


def _accepted(
    graph: MechanicGraph, asked: frozenset[str], rules: Mapping[str, str], reply: ExpansionReply
) -> tuple[MechanicGraph, list[str]]:
    return expanded(graph, asked, rules, reply), reply.problems


def expanded(
    graph: MechanicGraph, asked: frozenset[str], rules: Mapping[str, str], reply: ExpansionReply
) -> MechanicGraph:
    """The graph with one level more.

    Args:
        graph: As it was.
        asked: Ids of the mechanics that were to be expanded.
        rules: By id.
        reply: The model's.

    Raises:
        ReplyError: Naming what cannot be: a mechanic without a rule, a circle, too many of them.
    """
    nodes, edges = list(graph.nodes), dict.fromkeys((e.source, e.target) for e in graph.edges)
    known = {bare_words(node.name): node.id for node in nodes}
    for one in reply.mechanics:
        name = one_line(one.name).strip(" .")
        if not name or len(name) > _MOST_NAME:
            raise ReplyError(f"a name is a short phrase, not {name[:_MOST_NAME]!r}")
        if strangers := [to for to in one.leads_to if to not in graph.by_id]:
            raise ReplyError(f"{name!r} leads to {strangers}, which are not listed")
        if not asked & {*one.leads_to}:
            raise ReplyError(f"{name!r} leads to none of {', '.join(sorted(asked))}")
        if not one.rules or (unknown := [rule for rule in one.rules if rule not in rules]):
            what = f"the rules {unknown}, which there are not" if one.rules else "no rule"
            raise ReplyError(f"{name!r} names {what}; leave it out where no rule says it")
        id_ = known.setdefault(bare_words(name), f"M{len(nodes) + 1}")
        if id_ == f"M{len(nodes) + 1}":
            told = tuple(dict.fromkeys(one.rules))
            nodes.append(Mechanic(id=id_, name=name, text=one.text, kind=one.kind, rules=told))
        edges |= dict.fromkeys((id_, to) for to in one.leads_to)
    made = MechanicGraph(
        nodes=tuple(nodes), edges=tuple(MechanicEdge(source=a, target=b) for a, b in edges)
    )
    try:
        bounded(made)
    except GraphError as error:
        raise ReplyError(f"{error}; name only what matters most") from error
    if faults := made.faults(rules):
        raise ReplyError("; ".join(faults))
    return made


def breed(
    model: ChatModel, cluster: MechanicCluster, wanted: int, is_known: Callable[[str, str], bool]
) -> MechanicCluster:
    """The cluster with its theme, and with new mechanics: one question a mutation.

    Args:
        model: Whom to ask.
        cluster: One that has some already keeps them.
        wanted: New mechanics that it shall have.
        is_known: Whether two names say the same.

    Raises:
        MalformedReplyError: If no reply could be used.
    """
    where, barren = current_place(), 0
    mutations = [*MUTATIONS][int(cluster.id[1:]) % len(MUTATIONS) :] + [*MUTATIONS]
    for turn, mutation in enumerate(dict.fromkeys(mutations), 1):
        if len(cluster.bred) >= wanted or barren == _BARREN:
            break
        messages = load_prompt("designer_breed").fill(
            depth=cluster.depth,
            members=[*dict.fromkeys(one.name for one in cluster.members)],
            bred=cluster.bred,
            mutation=MUTATIONS[mutation],
            wanted=min(BRED_A_CALL, wanted - len(cluster.bred)),
        )
        with place(f"{where}/{turn}"):
            reply = ask_structured(model, messages, BreedReply, _sound_breed)
        new = list(cluster.bred)
        for one in reply.mechanics[:BRED_A_CALL]:
            names = [*(known.name for known in cluster.members), *(known.name for known in new)]
            if len(new) < wanted and not any(is_known(one.name, name) for name in names):
                new.append(BredMechanic(name=one.name, text=one.text, mutation=mutation))
        barren = barren + 1 if len(new) == len(cluster.bred) else 0
        told = {} if cluster.theme else {"theme": reply.theme, "variation": reply.variation}
        cluster = cluster.model_copy(update={**told, "bred": tuple(new)})
    lacks = len(cluster.bred) < wanted
    remark = f"{len(cluster.bred)} of {wanted} new ones: the model gave the same again" * lacks
    return cluster.model_copy(update={"remark": remark})


def _sound_breed(reply: BreedReply) -> BreedReply:
    for one in reply.mechanics:
        if not one.text.strip() or not 0 < len(one_line(one.name)) <= _MOST_NAME:
            raise ReplyError("each mechanic has a short `name` and a `text`; one of them has not")
    if not reply.mechanics or not reply.theme.strip():
        raise ReplyError("required: a `theme`, and new mechanics")
    return reply


def _shown(node: Mechanic, graph: MechanicGraph) -> str:
    leads = ", ".join(sorted(graph.targets(node.id), key=lambda id_: int(id_[1:])))
    return f"{node.id} {node.name}" + (f" → {leads}" if leads else "")
