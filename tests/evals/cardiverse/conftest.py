"""Resources of a run, as the machine's tests have them."""

from tests.graph.conftest import make_context, passed, played, sandbox, snapshot, store

__all__ = ["make_context", "passed", "played", "sandbox", "snapshot", "store"]
