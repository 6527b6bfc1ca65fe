"""Attacks over the network, local servers included."""

from typing import Any

from evals.sandbox.attacks import Attack, each, first, held, known, libc, system_call

_INET, _INET6, _UNIX, _NETLINK, _PACKET = 2, 10, 1, 16, 17
_STREAM, _DGRAM, _RAW = 1, 2, 3


def _socket(family: int, kind: int, protocol: int = 0) -> Any:  # noqa: ANN401
    return held("_socket").socket(family, kind, protocol)


def _address() -> object:
    port: int = known("port")
    return b"\2\0" + port.to_bytes(2, "big") + b"\x7f\0\0\1" + bytes(8)


class TcpConnect(Attack, stage="tcp", seen="unconfined"):
    """Cannot reach a TCP server."""

    def _connected(self) -> object:
        return held("socket").create_connection(("127.0.0.1", known("port")), 1)

    def _low(self) -> object:
        endpoint = _socket(_INET, _STREAM)
        endpoint.connect(("127.0.0.1", known("port")))
        return endpoint.send(b"probe")

    def _fast_open(self) -> object:
        endpoint = _socket(_INET, _STREAM)
        return endpoint.sendto(b"probe", 0x20000000, ("127.0.0.1", known("port")))

    def _multipath(self) -> object:
        endpoint = _socket(_INET, _STREAM, 262)
        endpoint.connect(("127.0.0.1", known("port")))
        return endpoint.send(b"probe")

    def _c_library(self) -> object:
        return libc("connect", libc("socket", 2, 1, 0), _address(), 16) == 0

    def _by_system_call(self) -> object:
        return system_call(42, 203, system_call(41, 198, 2, 1, 0), _address(), 16) == 0


class Tcp6Connect(Attack, stage="tcp6", seen="sometimes"):
    """Cannot reach a TCP server over IPv6."""

    def _connected(self) -> object:
        return held("socket").create_connection(("::1", known("port")), 1)

    def _low(self) -> object:
        endpoint = _socket(_INET6, _STREAM)
        endpoint.connect(("::1", known("port")))
        return endpoint.send(b"probe")

    def _by_system_call(self) -> object:
        port: int = known("port")
        address = b"\x0a\0" + port.to_bytes(2, "big") + bytes(19) + b"\1" + bytes(4)
        return system_call(42, 203, system_call(41, 198, 10, 1, 0), address, 28) == 0


class Listen(Attack, seen="unconfined"):
    """Cannot offer a server of its own."""

    def _tcp(self) -> object:
        return held("socket").create_server(("127.0.0.1", 0)).getsockname()

    def _udp(self) -> object:
        endpoint = _socket(_INET, _DGRAM)
        endpoint.bind(("127.0.0.1", 0))
        return endpoint.getsockname()

    def _abstract(self) -> object:
        endpoint = _socket(_UNIX, _STREAM)
        endpoint.bind(f"\0probe-{held('os').getpid()}")
        return endpoint.listen() or "listens"

    def _on_its_connection(self) -> object:
        """A listening socket is made without `socket` by taking over one it holds."""
        return each(lambda number: (number, libc("listen", number, 5)), range(3, 16))


class UdpSend(Attack, stage="udp", seen="unconfined"):
    """Cannot send a datagram."""

    def _sent(self) -> object:
        socket = held("socket")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
            return endpoint.sendto(b"probe", ("127.0.0.1", known("port")))

    def _light(self) -> object:
        endpoint = _socket(_INET, _DGRAM, 136)
        return endpoint.sendto(b"probe", ("127.0.0.1", known("port")))

    def _by_system_call(self) -> object:
        endpoint = system_call(41, 198, 2, 2, 0)
        return system_call(44, 206, endpoint, b"probe", 5, 0, _address(), 16)


class UnixConnect(Attack, stage="unix", seen="unconfined"):
    """Cannot reach a server behind a socket file."""

    def _stream(self) -> object:
        socket = held("socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as endpoint:
            endpoint.connect(known("path"))
            return endpoint.send(b"probe")

    def _by_system_call(self) -> object:
        address = b"\1\0" + known("path").encode() + b"\0"
        return system_call(42, 203, system_call(41, 198, 1, 1, 0), address, len(address)) == 0

    def _system_log(self) -> object:
        endpoint = _socket(_UNIX, _DGRAM)
        return endpoint.connect("/dev/log") or "reached the system's log"


class AbstractConnect(Attack, stage="abstract", seen="unconfined"):
    """Cannot reach a server with an abstract name."""

    def _stream(self) -> object:
        socket = held("socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as endpoint:
            endpoint.connect("\0" + known("name"))
            return endpoint.send(b"probe")

    def _by_system_call(self) -> object:
        address = b"\1\0\0" + known("name").encode()
        return system_call(42, 203, system_call(41, 198, 1, 1, 0), address, len(address)) == 0

    def _on_its_connection(self) -> object:
        """Its own connection, connected anew to somebody else."""
        address = b"\1\0\0" + known("name").encode()
        return first(
            lambda number: libc("connect", number, address, len(address)) == 0, range(3, 16)
        )


class Netlink(Attack, seen="unconfined"):
    """Cannot ask the kernel about the host's network."""

    def _interfaces(self) -> object:
        return held("socket").if_nameindex()

    def _socket(self) -> object:
        return _socket(_NETLINK, _RAW, 0)

    def _events(self) -> object:
        return _socket(_NETLINK, _RAW, 15)

    def _by_system_call(self) -> object:
        return system_call(41, 198, 16, 3, 0)

    def _addresses(self) -> object:
        return libc("getifaddrs", held("ctypes").byref(held("ctypes").c_void_p())) == 0


class RawPackets(Attack, seen="sometimes"):
    """Cannot make or hear raw packets."""

    def _packet(self) -> object:
        return _socket(_PACKET, _RAW, 0x0300)

    def _internet(self) -> object:
        return _socket(_INET, _RAW, 1)

    def _by_system_call(self) -> object:
        return system_call(41, 198, 17, 3, 0x0300)


class MachineSockets(Attack, seen="sometimes"):
    """Cannot reach the machine that hosts this one."""

    def _by_system_call(self) -> object:
        return system_call(41, 198, 40, 1, 0)

    def _host(self) -> object:
        endpoint = _socket(40, _STREAM)
        endpoint.settimeout(0.2)
        return endpoint.connect((2, 1)) or "reached it"

    def _identifier(self) -> object:
        return held("io").open("/dev/vsock", "rb")


_PAIRS = [(family, kind) for family in range(46) for kind in (1, 2, 3, 5)]


class EverySocketFamily(Attack, seen="unconfined"):
    """Cannot make a socket of any family."""

    def _made(self) -> object:
        return each(lambda pair: (pair, _socket(*pair).close()), _PAIRS)

    def _by_system_call(self) -> object:
        return first(lambda pair: system_call(41, 198, *pair, 0), _PAIRS)

    def _cipher(self) -> object:
        endpoint = _socket(38, 5)
        endpoint.bind(("hash", "sha256"))
        return endpoint


class NameLookup(Attack, stage="udp", seen="unconfined"):
    """Cannot look up a name."""

    def _local(self) -> object:
        return held("socket").getaddrinfo("localhost", 80)

    def _old(self) -> object:
        return held("socket").gethostbyname("localhost")

    def _service(self) -> object:
        return held("socket").getservbyname("http")

    def _question(self) -> object:
        """A question put to the name server that the host runs for this probe."""
        endpoint = _socket(_INET, _DGRAM)
        return endpoint.sendto(
            b"\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", ("127.0.0.1", known("port"))
        )


class SocketPairs(Attack, seen="unconfined"):
    """Cannot make a pair of sockets to hand descriptors or memory through."""

    def _pair(self) -> object:
        return held("socket").socketpair()

    def _by_system_call(self) -> object:
        return system_call(53, 199, 1, 1, 0, (held("ctypes").c_int * 2)()) == 0


class HandOverDescriptors(Attack, seen="unconfined"):
    """Cannot hand a descriptor to the host through its own connection."""

    def _who_is_there(self) -> object:
        """The process id of the other side, from its credentials."""
        ctypes = held("ctypes")
        buffer, size = ctypes.create_string_buffer(12), ctypes.byref(ctypes.c_uint(12))
        answer = first(lambda number: libc("getsockopt", number, 1, 17, buffer, size), range(3, 16))
        return answer == 0 and int.from_bytes(buffer.raw[:4], "little")

    def _sent(self) -> object:
        socket, copy = held("socket"), held("os").dup
        return first(
            lambda n: socket.send_fds(socket.socket(fileno=copy(n)), [b"\0"], [0, 1, 2]),
            range(3, 16),
        )

    def _by_system_call(self) -> object:
        ctypes = held("ctypes")
        rights = (ctypes.c_int * 6)(20, 0, 1, 1, 0, 0)
        byte = ctypes.create_string_buffer(1)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(byte), 1)
        parts = (0, 0, ctypes.addressof(vector), 1, ctypes.addressof(rights), 24, 0)
        return first(
            lambda number: system_call(46, 211, number, (ctypes.c_void_p * 7)(*parts), 0),
            range(3, 16),
        )
