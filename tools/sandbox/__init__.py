"""Where generated code runs: one worker process per module and role, never in our process.

with Sandbox() as sandbox, sandbox.worker("referee", source) as worker:
    worker.load(source)
    table = SandboxTable(worker)
"""

from tools.sandbox.backends import SandboxUnavailableError
from tools.sandbox.claims import OperationError
from tools.sandbox.host import Sandbox
from tools.sandbox.limits import Grade, Limits
from tools.sandbox.module import SandboxedModule
from tools.sandbox.table import SandboxTable
from tools.sandbox.worker import Worker

__all__ = [
    "Grade",
    "Limits",
    "OperationError",
    "Sandbox",
    "SandboxTable",
    "SandboxUnavailableError",
    "SandboxedModule",
    "Worker",
]
