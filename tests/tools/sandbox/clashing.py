"""An operation whose name is taken."""

from tests.tools.sandbox.offered import run

OPERATIONS = {"run": run}
