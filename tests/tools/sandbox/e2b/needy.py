"""A package to preload that needs something no machine of the fake has."""

from yaml import __version__

from games.values import Json


def version(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    return __version__


OPERATIONS = {"version": version}
