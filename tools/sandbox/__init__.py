"""The sandbox for generated code: one worker process per module and role, never in our process.

with Sandbox() as sandbox, sandbox.worker("referee", source) as worker:
    worker.load(source)
    table = SandboxTable(worker)
"""

from tools.sandbox.backends import Grade as Grade
from tools.sandbox.backends import Limits as Limits
from tools.sandbox.backends import SandboxUnavailableError as SandboxUnavailableError
from tools.sandbox.host import ReusedWorkers as ReusedWorkers
from tools.sandbox.host import Sandbox as Sandbox
from tools.sandbox.module import SandboxedModule as SandboxedModule
from tools.sandbox.module import SandboxTable as SandboxTable
from tools.sandbox.worker import OperationError as OperationError
from tools.sandbox.worker import Worker as Worker
