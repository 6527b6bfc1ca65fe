"""Examples of the README and of the pages under docs, run as a reader would; one line each.

python scripts/examples.py [--list] [--seconds N] [PART]

Only examples that hold PART are run. Each page has a folder of its own, in which its examples run
in their order. What needs a key or a person, or has a word without a value, is skipped.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ANSWERS = (0, 1, 4)  # done; done, and the answer is no; the sandbox ended what was run in it
VALUES = {
    "GAME": "connect_four",
    "FILE_OR_GAME": "connect_four",
    "ENV": "openspiel:kuhn_poker",
    "RUN": "made_run",
    "RUN_OR_GAME": "connect_four",
    "R12": "R1",
}
MADE = "rulewright new 'four in a row' --quick --out made_run"
NEEDS = {
    r"\blearn\b|\bllm:|\bcwm:|\brun/model\.py": "needs a model",
    r"--executor ray\b|--langsmith\b": "needs Ray, or a key",
    r"--call\b": "needs a file that its page describes",
    r"rulewright (play|resume|revise)\b": "needs a person, or a run that waits",
    r"[\[\]|]|\.\.\.": "is no command but its form",
    r"pip install|git clone|\buv\b|\bmake\b": "installs",
}


def examples(page: Path) -> Iterator[str]:
    """The commands in a page's code blocks, without their prompts and remarks."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith(("rulewright ", "$ rulewright ")):
                shown = re.sub(r"^\$ ", "", line)
                yield re.sub(r" +", " ", re.split(r"\s{3,}(?!-)|\s+#\s", shown)[0]).strip()


def filled_in(command: str) -> tuple[str, str]:
    """The command with values for its placeholders, and the reason why it is skipped, if any."""
    for pattern, reason in NEEDS.items():
        if re.search(pattern, command):
            return command, reason
    for word in re.findall(r"(?<![\w./=-])[A-Z][A-Z_0-9]*(?![\w./])", command):
        if word not in VALUES:
            return command, f"has no value for {word}"
        command = re.sub(rf"\b{word}\b", VALUES[word], command)
    return command, ""


def failure(command: str, folder: Path, seconds: float) -> str:
    """The words on what went wrong; empty where the command gave an answer."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    try:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done in {seconds:g} s"
    if done.returncode in ANSWERS and "Traceback" not in done.stderr:
        return ""
    return f"exit code {done.returncode}: {' '.join(done.stderr.splitlines()[-1:])}"


def main() -> int:
    """Run the examples; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", type=float, default=600)
    asked = parser.parse_args()
    failed = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            for shown in dict.fromkeys(examples(page)):
                if asked.part not in shown:
                    continue
                command, reason = filled_in(shown)
                start = time.monotonic()
                if not reason and not asked.list:
                    if VALUES["RUN"] in command and not (Path(folder) / VALUES["RUN"]).exists():
                        command = f"{MADE} && {command}"
                    wrong = failure(command, Path(folder), asked.seconds)
                    failed += bool(wrong)
                    reason = f"FAILS, {wrong}" if wrong else f"{time.monotonic() - start:.0f} s"
                elif reason:
                    reason = f"skipped: it {reason}"
                sys.stdout.write(f"{page.name}: {command}: {reason or 'runs'}\n")
                sys.stdout.flush()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
