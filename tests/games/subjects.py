"""Trusted sources as subjects of the checks, in this process."""

from games.checks.sampling import Subject
from games.contract import Game, LocalModule
from games.table import GameTable


def subject(source: str, players: int) -> Subject:
    game = Game(LocalModule(source))
    return Subject(game, GameTable(game), players, {})
