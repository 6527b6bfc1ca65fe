"""Measurements page: `docs/measurements.md`, made from the result files beside it.

    python scripts/measurements.py run NAME [--seed N]   run an evaluation, keep its result file
    python scripts/measurements.py page                  write the page from the result files

A result file holds the evaluation's own document, its command, commit, machine, date and seconds.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "measurements"
PAGE = ROOT / "docs" / "measurements.md"
HEAD = """# Measurements

`python scripts/measurements.py page` makes this page from the files in `docs/measurements/`.
Each figure comes from one run of one command. Machines differ, and some were busy:
compare ratios, not times.
"""
# Evaluations without a result file: where each last ran, before such files were kept.
EARLIER = {
    "battleship-tag": "parts of it at e50794a; see evals/lechat2026/README.md",
    "battleship-fixed": "three players, at a commit before 08af4fb; see evals/lechat2026/README.md",
    "battleship-ludii": "few games, at a commit before 08af4fb; see evals/lechat2026/README.md",
    "strength": "in two parts, at a commit before 08af4fb",
    "solving": "without its level of 10,000 simulations, at a commit before 08af4fb",
    "cwm-arena": "in part at f256e62, 60 simulations a decision, one rollout; points over "
    "even against gt: tic-tac-toe 0.5 (-2.9 to 3.9), connect four 3.0 (-2.7 to 8.7), Leduc poker "
    "0.0 (-3.9 to 3.9), Hand of War 0.8 (-4.5 to 6.0, n = 5), bargaining -5.7 (-11.2 to -0.2); "
    "at 80e5bf0, models of closed decks, protocol paper: Quadranto 1.1 (-8.4 to 10.5, 94 matches), "
    "Hand of War 1.0 (-6.1 to 8.0, 104 matches)",
    "cardiverse-players": "in part at 813a793: Battleship, without a model, 17.3 points over "
    "random play (15.3 to 19.3) in 1,000 deals",
    "cwm-inference": "its quick variant alone",
    "cwm-synthesis": "in two parts at f256e62: 100 fresh matches of each of twelve tasks, all "
    "transitions and draws right; 20 of gin rummy (0.995 of the transitions, none of the knock "
    "phase, which no recorded match shows) and of backgammon (1.0); gin rummy with --active, 100 "
    "fresh matches, the model of its answers of 2026-11-25: 0.99993 of 15,004 transitions, worst "
    "phase 15 of 16",
    "cwm-ppo": "its quick variant alone",
    "gomcts-hearts": "its quick variant alone",
    "information": "its quick variant alone, at a commit before 08af4fb",
    "speed": "at a commit before 08af4fb",
    "sandbox-soak": "at a commit before 08af4fb",
}


def run(name: str, seed: int) -> None:
    """Run one evaluation and keep its result, whether it passes or fails."""
    command = ["rulewright", "eval", "run", name, "--seed", str(seed), "--json"]
    start = time.monotonic()
    binary = str(Path(sys.executable).parent / "rulewright")
    done = subprocess.run([binary, *command[1:]], stdout=subprocess.PIPE, text=True, check=False)
    result = json.loads(done.stdout)
    kept = {
        "command": " ".join(command),
        "commit": _git("rev-parse", "--short", "HEAD"),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}",
        "seconds": round(time.monotonic() - start),
        "exit_code": done.returncode,
        "result": {key: result[key] for key in ("name", "scores", "effective", "unscored")},
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(kept, indent=1, sort_keys=True) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


def page() -> str:
    """The page's text."""
    from evals.results import known_evals

    parts = [HEAD]
    for info in known_evals():
        path = RESULTS / f"{info.name}.json"
        parts.append(f"## {info.name}\n\n{info.question}\n")
        if path.exists():
            parts.append(_section(json.loads(path.read_text(encoding="utf-8"))))
        else:
            parts.append(f"Not run for this page. Last run: {EARLIER.get(info.name, 'not run')}.\n")
    return "\n".join(parts)


def _section(kept: dict[str, Any]) -> str:
    result = kept["result"]
    lines = [
        f"`{kept['command']}`, commit {kept['commit']}, {kept['date']}, {kept['seconds']} s, "
        f"{kept['machine']}; exit code {kept['exit_code']}.\n",
        "| figure | value | required | samples |",
        "|---|---|---|---|",
    ]
    for score in result["scores"]:
        value, low, high = score["value"], score["at_least"], score["at_most"]
        bounds = [] if low is None else [f"at least {low:g}"]
        bounds += [] if high is None else [f"at most {high:g}"]
        broken = (low is not None and value < low) or (high is not None and value > high)
        mark = " **missed**" if broken or (bounds and score["unscored"]) else ""
        missing = f", {score['unscored']} not scored" if score["unscored"] else ""
        lines.append(
            f"| {score['name']} | {value:.4g}{mark} | {', '.join(bounds)} | "
            f"{score['scored']}{missing} |"
        )
    lines += [f"| {name} | not scored: {why} | | |" for name, why in result["unscored"].items()]
    return "\n".join(lines) + "\n"


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def main() -> None:
    """Run an evaluation, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parts = parser.add_subparsers(dest="action", required=True)
    runner = parts.add_parser("run")
    runner.add_argument("name")
    runner.add_argument("--seed", type=int, default=0)
    parts.add_parser("page")
    options = parser.parse_args()
    if options.action == "run":
        run(options.name, options.seed)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
