"""Seeds of commands: given, of work that was begun, or drawn and told."""

from pathlib import Path

from app.console import note


def seed_or_drawn(given: int | None, begun: object = None) -> int:
    """The seed that was given; else the one of work that was begun; else one that is drawn.

    Args:
        given: The option.
        begun: The seed of what this command goes on with, where it goes on with something.
    """
    from games.streams import drawn_seed

    if given is not None:
        return given
    seed = begun if type(begun) is int and begun >= 0 else drawn_seed()
    tell_seed(seed)
    return seed


def seed_of_journal(given: int | None, journal: Path | None) -> int:
    """The same for matches that a journal may hold already, with its seed."""
    from tools.playtest.journal import identity_at

    return seed_or_drawn(given, identity_at(journal).get("seed"))


def tell_seed(seed: int) -> None:
    """Note a seed that nobody gave."""
    note(f"seed: {seed} (--seed {seed} repeats this)")
