"""`games` and `players`: what there is, with parameters."""

from typing import Any, cast

from app.console import print_json, say


def list_games(*, as_json: bool) -> None:
    """Families and presets of the library."""
    from games import library

    rows = []
    for name in library.names():
        game = library.read_game(library.source(name))
        preset = library.preset(name)
        rows.append(
            {
                "name": name,
                "family": preset.family,
                "summary": game["summary"],
                "players": [game["min_players"], game["max_players"]],
                "parameters": game.get("parameters", {}) if name == preset.family else {},
                "fixed": dict(preset.parameters),
                "heuristics": sorted(library.heuristic_sources(name)),
            }
        )
    if as_json:
        print_json({"games": rows})
        return
    for row in rows:
        _show_game(row)


def _show_game(row: dict[str, Any]) -> None:
    fewest, most = row["players"]
    seats = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    say(f"{row['name']}  ({seats} players)  {row['summary']}")
    if row["fixed"]:
        settings = ", ".join(f"{key}={value}" for key, value in row["fixed"].items())
        say(f"    {row['family']} with {settings}")
    for name, field in cast("dict[str, dict[str, Any]]", row["parameters"]).items():
        allowed = field.get("choices") or field.get("range")
        say(f"    {name} = {field['default']!r}  {allowed}  {field['meaning']}")


def list_players(*, as_json: bool) -> None:
    """Players with their settings."""
    from agents.players import known_players

    infos = known_players()
    if as_json:
        rows = [
            {
                "name": info.name,
                "meaning": info.meaning,
                "parameters": {
                    p.name: {
                        "default": p.default,
                        "choices": list(p.choices),
                        "least": None if isinstance(p.default, str) else p.least,
                        "most": None if isinstance(p.default, str) else p.most,
                        "meaning": p.meaning,
                    }
                    for p in info.parameters
                },
            }
            for info in infos
        ]
        print_json({"players": rows})
        return
    for info in infos:
        say(f"{info.name}  {info.meaning}")
        for parameter in info.parameters:
            allowed = ", ".join(parameter.choices)
            if not isinstance(parameter.default, str):
                allowed = f"{parameter.least:g} to {parameter.most:g}"
            shown = f"  [{allowed}]" if allowed else ""
            say(f"    {parameter.name} = {parameter.default}{shown}  {parameter.meaning}")
