"""Tables under load: four persons at each of twenty tables, a move a second; stops by itself.

    python -m scripts.tables_under_load --seconds 180

It starts a server of its own on this machine, plays through its pages as browsers do (a stream of
events a seat, the part of the page after each event), and prints one JSON object: requests, errors,
seconds a move took, the server's own processor seconds a move, and its memory over time.
"""

import argparse
import asyncio
import html
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

GAME, PERSONS = "whist", 4
_FIELD = re.compile(r'name="(csrf|ply)" value="([^"]*)"')
_MARK = re.compile(r'data-mark="([^"]*)"')
_MOVE = re.compile(r'<button[^>]*name="action"[^>]*value="([^"]*)"')


@dataclass
class Figures:
    """What was measured."""

    requests: int = 0
    moves: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    events: int = 0


@dataclass
class Seat:
    """One person's browser."""

    client: httpx2.AsyncClient
    link: str
    figures: Figures
    page: str = ""
    asked: int = 0
    moving: bool = False
    news: str = ""

    async def load(self) -> None:
        """Fetch what the seat sees now; a later answer counts, whichever comes first."""
        self.figures.requests += 1
        self.asked += 1
        number = self.asked
        answer = await self.client.get(self.link, headers={"x-part": "1"})
        if answer.status_code != httpx2.codes.OK:
            self.figures.errors.append(f"{answer.status_code} {answer.text[:200]}")
        if number == self.asked:
            self.page = answer.text

    async def hear(self, mark: str) -> None:
        """Fetch the part again, unless it is shown, or a move is answered with it."""
        if self.moving:
            self.news = mark
        elif mark not in _MARK.findall(self.page):
            await self.load()

    async def follow(self) -> None:
        """Hear of each event, as the page's script does."""
        while True:
            try:
                async with self.client.stream("GET", f"{self.link}/events") as stream:
                    if stream.status_code != httpx2.codes.OK:
                        self.figures.errors.append(f"stream: {stream.status_code}")
                    async for line in stream.aiter_lines():
                        if line.startswith("data:"):
                            self.figures.events += 1
                            await self.hear(line.removeprefix("data:").strip())
            except httpx2.HTTPError as error:
                self.figures.errors.append(f"stream: {error!r}")
            await asyncio.sleep(1)

    async def move(self) -> bool:
        """Make the first move that is offered; False where none is."""
        found = _MOVE.search(self.page)
        if found is None:
            return False
        fields = {name: html.unescape(value) for name, value in _FIELD.findall(self.page)}
        fields["action"], self.page = html.unescape(found[1]), ""
        self.asked += 1
        began = time.monotonic()
        self.figures.requests += 1
        self.moving = True
        answer = await self.client.post(f"{self.link}/move", data=fields, headers={"x-part": "1"})
        self.moving = False
        self.figures.moves.append(time.monotonic() - began)
        if answer.status_code != httpx2.codes.OK:
            self.figures.errors.append(f"move: {answer.status_code} {answer.text[:200]}")
        else:
            self.page = answer.text
        news, self.news = self.news, ""
        if news:
            await self.hear(news)
        return True


def memory_mib(process: int) -> float:
    """The server's own memory; its workers have bounds of their own."""
    text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return round(int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024, 1)


def processor_s(process: int) -> float:
    """Processor seconds of the server so far, without its workers'."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def seats_of(client: httpx2.AsyncClient, figures: Figures, seed: int) -> list[Seat]:
    """The seats of a new table."""
    form = dict(_FIELD.findall((await client.get("/design")).text))
    people = {f"seat{number}": "person" for number in range(PERSONS)}
    laid = await client.post(
        "/tables", data={**form, **people, "game": GAME, "seed": str(seed)}, follow_redirects=True
    )
    links = re.findall(r'href="(/table/[^"]+)"', laid.text)[:PERSONS]
    return [Seat(client, link, figures) for link in links]


async def table(client: httpx2.AsyncClient, figures: Figures, seed: int, until: float) -> None:
    """Make a move a second until a time, whoever's turn it is; after a match another one."""
    while time.monotonic() < until:
        seats = await seats_of(client, figures, seed)
        followed = [asyncio.create_task(seat.follow()) for seat in seats]
        while time.monotonic() < until and not any('id="result"' in seat.page for seat in seats):
            began = time.monotonic()
            for seat in seats:
                if await seat.move():
                    break
            await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))
        for task in followed:
            task.cancel()


async def load(base: str, process: int, tables: int, seconds: float) -> dict[str, object]:
    """The figures of so many tables over so long."""
    figures = Figures()
    limits = httpx2.Limits(max_connections=None)
    before = processor_s(process)
    async with httpx2.AsyncClient(base_url=base, limits=limits, timeout=30) as client:
        until = time.monotonic() + seconds
        plays = [asyncio.create_task(table(client, figures, seed, until)) for seed in range(tables)]
        memory = []
        while time.monotonic() < until:
            memory.append(memory_mib(process))
            await asyncio.sleep(min(5.0, seconds / 12))
        await asyncio.gather(*plays)
    moves = sorted(figures.moves)
    return {
        "tables": tables,
        "seconds": seconds,
        "moves": len(moves),
        "requests": figures.requests,
        "events": figures.events,
        "errors": figures.errors[:10],
        "error_count": len(figures.errors),
        "move_s_median": round(statistics.median(moves), 4),
        "move_s_99": round(moves[int(0.99 * (len(moves) - 1))], 4),
        "move_s_most": round(moves[-1], 4),
        "processor_s_a_move": round((processor_s(process) - before) / len(moves), 4),
        "memory_mib": memory,
    }


def main() -> None:
    """Start a server, load it, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=180)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "app.cli", "serve", "--port", "0"]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "RULEWRIGHT_RUNS": folder},
        )
        try:
            assert process.stdout is not None
            base = process.stdout.readline().split()[-1].rstrip("/")
            found = asyncio.run(load(base, process.pid, asked.tables, asked.seconds))
        finally:
            process.terminate()
            process.wait(30)
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
