"""Pairs: settings that a person writes as NAME=VALUE, alone or among other words."""

import json
import re
from contextlib import suppress

from agents.composer.lexicon import PLAYERS, Lexicon, Phrase, game_of
from agents.composer.mentions import Mention, ParsedBrief
from agents.composer.patterns import Capture
from games.contract import Json

_PAIR = r"(\w+)\s*=\s*((?:[^\s,;=.]|\.\S)+(?:,(?!\w+\s*=)[^\s,;=.]+)*)"
_BESIDE = "()[]\"'“”!?"


def settings_chosen(answer: str) -> dict[str, Json]:
    """The settings of an answer that is nothing but NAME=VALUE pairs; empty for any other.

    >>> settings_chosen("ranks=13, suits=4 and board=0,3,1,1"), settings_chosen("make it rows=5")
    ({'ranks': 13, 'suits': 4, 'board': '0,3,1,1'}, {})
    >>> settings_chosen("players=3")
    {'num_players': 3}
    """
    if not re.fullmatch(rf"{_PAIR}(?:(?:\s|,|;|\band\b)+{_PAIR})*[\s.]*", answer.strip()):
        return {}
    return dict(_setting(name, value) for name, value in re.findall(_PAIR, answer))


def pairs_in(parsed: ParsedBrief, lexicon: Lexicon) -> list[Mention]:
    """The pairs of a brief that name how many play, a setting of the family, or none of any.

    What no setting is called, without a "_", may be anything: "the ace = 1 point".
    """
    found = []
    for match in re.finditer(_PAIR, parsed.words):
        name, value = _setting(match[1], match[2].strip(_BESIDE))
        if name != PLAYERS and name not in game_of(lexicon.family).parameters and "_" not in name:
            continue
        inside = (i for i, t in enumerate(parsed.tokens) if match.start() <= t.start < match.end())
        run = tuple(parsed.content(inside))
        if run and "<" not in match[2]:  # no hole, such as a phrase has
            numbers = (value,) if type(value) is int else ()
            capture = Capture(run, numbers, (), ())
            found.append(Mention(run, capture, Phrase("", sets={name: value}), exact=True))
    return found


def _setting(name: str, value: str) -> tuple[str, Json]:
    name = PLAYERS if name.lower() in ("players", "seats") else name.lower()
    with suppress(json.JSONDecodeError):
        return name, json.loads(value)
    return name, value
