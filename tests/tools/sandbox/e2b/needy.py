"""A package to preload that needs something no machine of the fake has."""

from pydantic import VERSION

from games.contract import Json


def version(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    return VERSION


OPERATIONS = {"version": version}
