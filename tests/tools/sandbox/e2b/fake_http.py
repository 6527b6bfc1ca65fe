"""The calls that the fake service answers, in the form in which its client makes them."""

import base64
import json
import struct
import threading
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from tests.tools.sandbox.e2b.fake_service import Command, FakeMachine, FakeService

_ENVELOPE = struct.Struct(">BI")
_END_OF_STREAM = 2
_GONE = "The sandbox was not found"


class Handler(BaseHTTPRequestHandler):
    """One connection of the client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every small answer waits for the client's acknowledgement

    @property
    def service(self) -> "FakeService":
        """What this belongs to."""
        return self.server.service  # type: ignore[attr-defined, no-any-return]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Health."""
        self._body()
        if self._of_machine() is not None and self._noted("health", None):
            self._reply(204)

    def do_DELETE(self) -> None:
        """The end of a machine."""
        self._body()
        name = self.path.rpartition("/")[2]
        if self._noted("kill", name):
            ended = self.service.end(name)
            self._reply(204 if ended else 404, None if ended else {"code": 404, "message": "none"})

    def do_POST(self) -> None:
        """Everything else."""
        body = self._body()
        path = urlsplit(self.path).path
        if path == "/v2/sandboxes":
            self._create(json.loads(body))
        elif path.endswith("/timeout"):
            seconds = json.loads(body)["timeout"]
            if self._noted("extend", (path.split("/")[2], seconds)):
                self._reply(204)
        elif path == "/files":
            self._files(body)
        elif path == "/process.Process/Start":
            self._start(json.loads(body[_ENVELOPE.size :]))
        elif path == "/process.Process/SendInput":
            self._input(json.loads(body))
        elif path == "/process.Process/SendSignal":
            self._signal(json.loads(body))
        else:
            self._reply(404, {"code": 404, "message": f"the fake has no {path}"})

    def _create(self, order: dict[str, Any]) -> None:
        if self.headers.get("X-API-KEY", "").count("e2b_0") != 1:
            self._reply(401, {"code": 401, "message": "Invalid API key"})
        elif self._noted("create", order):
            machine = self.service.order()
            self._reply(
                201,
                {
                    "templateID": order["templateID"],
                    "sandboxID": machine.name,
                    "clientID": "fake",
                    "envdVersion": "0.6.8",
                    "envdAccessToken": "token",
                },
            )

    def _files(self, body: bytes) -> None:
        machine = self._of_machine()
        if machine is None:
            return
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        written = []
        for part in BytesParser().parsebytes(head + body).walk():
            path = part.get_filename()
            if path:
                target = machine.folder / path.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(part.get_payload(decode=True))  # type: ignore[arg-type]
                written.append({"path": path, "name": target.name, "type": "file"})
        user = parse_qs(urlsplit(self.path).query).get("username")
        if self._noted("files", (user, [entry["path"] for entry in written])):
            self._reply(200, written)

    def _start(self, order: dict[str, Any]) -> None:
        machine = self._of_machine()
        process = order["process"]
        line = process["args"][-1]
        if machine is None or not self._noted("start", (process, order.get("stdin"))):
            return
        try:
            command = machine.run(line, process.get("envs", {}))
        except PermissionError as error:
            self._reply(403, {"code": "permission_denied", "message": str(error)})
            return
        self._follow(machine, command)

    def _follow(self, machine: "FakeMachine", command: "Command") -> None:
        """Stream a command's events until it ends or the client is gone."""
        command.pumps += [
            threading.Thread(target=_pump, args=(command, command.process.stdout, "stdout")),
            threading.Thread(target=_pump, args=(command, command.process.stderr, "stderr")),
        ]
        command.buriers.append(threading.Thread(target=command.bury))
        for thread in (*command.pumps, *command.buriers):
            thread.start()
        self.send_response(200)
        self.send_header("Content-Type", "application/connect+json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.service.streams[self.connection] = machine.name
        try:
            self._event({"start": {"pid": command.process.pid}})
            number = 0
            while True:
                with command.arrived:
                    while len(command.events) <= number:
                        command.arrived.wait()
                    event = command.events[number]
                number += 1
                self._event(event)
                if "end" in event:
                    break
            self._chunk(_ENVELOPE.pack(_END_OF_STREAM, 2) + b"{}")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
        finally:
            self.service.streams.pop(self.connection)

    def _input(self, order: dict[str, Any]) -> None:
        machine = self._of_machine()
        pid = order["process"]["pid"]
        if machine is None or not self._noted("input", pid):
            return
        command = machine.commands.get(pid)
        if command is None or command.process.stdin is None:
            self._reply(404, {"code": "not_found", "message": f"process with pid {pid} not found"})
            return
        try:
            rest = memoryview(base64.b64decode(order["input"]["stdin"]))
            while rest:
                rest = rest[command.process.stdin.write(rest) :]
        except (OSError, ValueError) as error:
            message = f"error writing to stdin: {error}"
            self._reply(400, {"code": "failed_precondition", "message": message})
            return
        self._reply(200, {})

    def _signal(self, order: dict[str, Any]) -> None:
        machine = self._of_machine()
        pid = order["process"]["pid"]
        if machine is None or not self._noted("signal", (pid, order["signal"])):
            return
        command = machine.commands.get(pid)
        if command is None:
            self._reply(404, {"code": "not_found", "message": f"process with pid {pid} not found"})
            return
        command.process.kill()
        self._reply(200, {})

    def _noted(self, what: str, details: object) -> bool:
        """Write the call down; False where it was refused or is never to be answered."""
        self.service.calls.append((what, details))
        if what in self.service.silent:
            self.service.closed.wait()
            self.close_connection = True
            return False
        if what in self.service.dropped:
            self.service.dropped.discard(what)
            self.close_connection = True
            return False
        if what in self.service.refusals:
            status, message = self.service.refusals[what]
            self._reply(status, {"code": status, "message": message})
            return False
        return True

    def _of_machine(self) -> "FakeMachine | None":
        """The machine this call is for; answers by itself where it has ended."""
        name = self.headers.get("E2b-Sandbox-Id", "")
        if name in self.service.alive:
            return self.service.machines[name]
        self._reply(502, {"code": 502, "message": _GONE, "sandboxId": name})
        return None

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _reply(self, status: int, value: object = None) -> None:
        content = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if value is not None:
            self.send_header("Content-Type", "application/json")
        if status >= 400:
            self.send_header("Should-Retry", "false")
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _event(self, event: dict[str, Any]) -> None:
        content = json.dumps({"event": event}).encode()
        self._chunk(_ENVELOPE.pack(0, len(content)) + content)

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))


def _pump(command: "Command", pipe: IO[bytes], name: str) -> None:
    while chunk := pipe.read(32 << 10):
        command.add({"data": {name: base64.b64encode(chunk).decode()}})
