"""Graphs of a server that take two machines: a chat that varies its game, and `vary` that makes."""

from app.making import invent, make_game
from graph.new.export import served_chat
from graph.vary.export import served_variation

chat = served_chat(invent)
graph = served_variation(make_game)
