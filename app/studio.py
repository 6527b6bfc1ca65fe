"""Graph `vary` of a server, whose variants in words become games by the machine of `new`."""

from app.making import make_game
from graph.vary.export import served_variation

graph = served_variation(make_game)
