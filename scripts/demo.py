"""`make demo`: the main job with the words in the environment variable PROMPT."""

import os
import sys

from app.cli import main

if __name__ == "__main__":
    sys.exit(main(["new", "--quick", "--", os.environ.get("PROMPT", "")]))
