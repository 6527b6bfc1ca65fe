"""The sandbox for generated code: one worker process per module and role, never in our process.

with Sandbox() as sandbox, sandbox.worker("referee", source) as worker:
    worker.load(source)
    table = SandboxTable(worker)
"""

from tools.sandbox.backends import Grade, Limits, SandboxUnavailableError
from tools.sandbox.host import ReusedWorkers, Sandbox
from tools.sandbox.module import SandboxedModule, SandboxTable
from tools.sandbox.worker import OperationError, Worker

__all__ = [
    "Grade",
    "Limits",
    "OperationError",
    "ReusedWorkers",
    "Sandbox",
    "SandboxTable",
    "SandboxUnavailableError",
    "SandboxedModule",
    "Worker",
]
