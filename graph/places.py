"""Where things lie that are not one run's own: the store's home, the folder of runs."""

import os
from pathlib import Path


def home() -> Path:
    """Where the store lies: `RULEWRIGHT_HOME`, else a folder of the user's cache."""
    named = os.environ.get("RULEWRIGHT_HOME")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "rulewright"


def runs_folder() -> Path:
    """Where runs go that name no folder: `RULEWRIGHT_RUNS`, else `runs` here."""
    return Path(os.environ.get("RULEWRIGHT_RUNS", "runs"))
