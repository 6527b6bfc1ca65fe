"""What is overwritten can be found nowhere in a process's memory; what it needs goes on living."""

import subprocess
import sys

PROGRAM = """
import re, sys
import tools.guest.zygote  # as much memory as a zygote has
from tools.guest.confine.residue import overwrite

root = "/" + sys.stdin.read(24)
freed = [root + f"/module_{number}.py" for number in range(2000)]
del freed
kept = [root + "/kept.py", {root + "/key": 1}, root.encode() * 3]
cousin = root + "-cousin"
overwrite([root, root + "/deeper"])
print(kept[0], cousin == "/" + sys.argv[1] + "-cousin")
sys.stdout.flush()
found = 0
word = sys.argv[1].encode()
pattern = re.compile(b"/" + word[:-1] + b"[" + word[-1:] + b"]/")  # that is no find itself
regions = [line.split()[0].split("-") for line in open("/proc/self/maps") if " rw" in line]
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for start, end in regions:
        memory.seek(int(start, 16))
        try:
            held = memory.read(int(end, 16) - int(start, 16))
            found += len(pattern.findall(held))
        except OSError:
            continue
print(found)
"""


def test_a_path_is_gone_from_live_and_freed_memory() -> None:
    word = "residue-of-a-test-folder"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, word],
        input=word,
        capture_output=True,
        text=True,
        check=True,
    )
    kept, found = done.stdout.splitlines()
    assert kept == "x" * (len(word) + 1) + "/kept.py True"
    assert found == "0"
