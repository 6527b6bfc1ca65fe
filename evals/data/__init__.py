"""Data that evaluations read, and their reader."""

import json
from importlib.resources import files
from typing import Any

import yaml


def read_data(path: str) -> Any:  # noqa: ANN401 - whoever asks knows what it holds
    """What a YAML or JSON file below `evals` holds."""
    text = files("evals").joinpath(path).read_text(encoding="utf-8")
    return json.loads(text) if path.endswith(".json") else yaml.safe_load(text)
