"""Entry of the command: a Ctrl-C while it still loads ends it without a word."""

import os
import signal
import sys


def load_and_run() -> int:
    """Load the command and run it; see `app.cli.main`."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from app.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(load_and_run())
