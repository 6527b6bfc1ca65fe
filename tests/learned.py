"""Models written by hand in the form of learned sources, completed to modules by environments."""

from pathlib import Path

from tools.sources import environment_game, learned_module

MODELS = Path(__file__).parent / "models"


def model_file(folder: Path, name: str, *changes: tuple[str, str], stem: str = "") -> Path:
    """The file of a model of `openspiel:NAME`, with changes to its source."""
    source = (MODELS / f"{name}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    game = environment_game(f"openspiel:{name}")
    start = game.opened().open(game.num_players, game.parameters).state
    file = folder / f"{stem or name}.py"
    file.write_text(
        learned_module(
            source,
            name=name,
            num_players=game.num_players,
            initial_state=start,
            parameters=game.parameters,
        ),
        encoding="utf-8",
    )
    return file
