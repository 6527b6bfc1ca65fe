"""An endpoint that plays all four roles for one tiny game, by the schema it is asked for."""

import re
from typing import Any

from tests.agents.model.endpoint import Answer, Request, as_json, message
from tests.agents.roles.games import high_draw

DESIGN: dict[str, Any] = {
    "title": "High Draw",
    "summary": "Keep your card or change it once; the highest card wins.",
    "num_players": 2,
    "parameters": [{"name": "ranks", "value": 9}],
    "rules": [
        {"id": "R1", "section": "Setup", "text": "Each player is dealt one of nine cards."},
        {"id": "R2", "section": "Turn", "text": "Each in turn keeps or changes the card, once."},
        {"id": "R3", "section": "Scoring", "text": "The highest card scores 1, the others 0."},
        {"id": "R4", "section": "Observations", "text": "Only the own card is seen until the end."},
    ],
    "mechanics": [{"id": "M1", "name": "The game ends", "text": "All have chosen."}],
    "edges": [],
    "clauses": [
        {"text": "two players", "status": "honoured", "setting": "R1", "reason": ""},
        {"text": "draw once", "status": "honoured", "setting": "R2", "reason": ""},
        {"text": "the highest card wins", "status": "honoured", "setting": "R3", "reason": ""},
    ],
    "assumptions": [],
}
SCORE = "def score(observation, action):\n    return float(action == 'keep')\n"
REPLIES: dict[str, Any] = {
    "ClarifyReply": {"question": None, "assumptions": []},
    "DesignReply": DESIGN,
    "RevisionReply": {
        "kind": "change",
        "reply": "The winner scores two.",
        "title": "High Draw",
        "summary": DESIGN["summary"],
        "num_players": 2,
        "parameters": DESIGN["parameters"],
        "rules": [
            {"id": "R3", "section": "Scoring", "text": "The highest card scores 2, the others 0."},
        ],
        "dropped": [],
        "assumptions": [],
        "clauses": [
            {"text": "score double", "status": "honoured", "setting": "R3", "reason": ""},
        ],
    },
    "EditsReply": {
        "cause": "R3 pays two points now.",
        "contested": [],
        "edits": [{"search": "[1 if card == max", "replace": "[2 if card == max"}],
    },
    "TestsReply": {
        "tests": [
            {
                "name": "chance deals first",
                "rule": "R1",
                "actions": [],
                "function": "get_current_player",
                "relation": "is",
                "derivation": "Nothing is dealt yet.",
                "expected_json": "-1",
            }
        ]
    },
    "VerdictReply": {
        "working": "Two deals, two choices, one score.",
        "illegal_ply": None,
        "rule": None,
        "explanation": "All is right.",
        "function": None,
    },
    "PoliciesReply": {
        "policies": [
            {"name": name, "policy": "Keep the card."}
            for name in ("keeper", "keeper_of_high", "keeper_of_low", "keeper_of_all")
        ]
    },
}
PROMPT = "a card game for two players: draw once, the highest card wins"


def schema_of(request: Request) -> str:
    """Which reply a request asks for; "" for the module."""
    form = request.get("response_format")
    return str(form["json_schema"]["name"]) if form else ""


def answer(request: Request) -> Answer:
    """A good answer to any role's request."""
    name = schema_of(request)
    if str(request["messages"][-1]["content"]).startswith("Work with the tools"):
        name = "EditsReply"  # an edit by tools may also be answered in words
    if not name:
        return message(f"```python\n{high_draw()}```\n")
    if name == "HeuristicsReply":
        return as_json({"heuristics": [{"name": n, "source": SCORE} for n in named_in(request)]})
    return as_json(REPLIES[name])


def named_in(request: Request) -> list[str]:
    """The policies that a request for code names, each under a heading of its own."""
    return re.findall(r"^## ([a-z0-9_]+)$", request["messages"][1]["content"], re.MULTILINE)
