"""Every attack probe: its property, its group, what the host lays out for it."""

import ast
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

StageName: TypeAlias = Literal[
    "none",
    "folder",
    "hidden",
    "process",
    "sibling",
    "next_worker",
    "tcp",
    "tcp6",
    "udp",
    "unix",
    "abstract",
    "segment",
    "left_behind",
]
Seen: TypeAlias = Literal["unconfined", "unlimited", "sometimes", "never"]


@dataclass(frozen=True)
class Probe:
    """One attack.

    Attributes:
        name: Its file's name.
        group: What it goes for.
        stage: What the host lays out before and looks at afterwards.
        seen: Where it is seen to breach: "unconfined" in a worker that only resource limits
            hold, "unlimited" in a plain process of the interpreter; the proof that the probe
            can see a breach. "sometimes" in either, where the machine's settings or the user's
            privileges allow it; "never" where the kernel and our protocol stop it anyway.
        safe_without_isolation: Whether it may run in a process that nothing holds back.
        endless: Whether its ways are to run until somebody ends them.
        holds: What the sandbox holds when the probe fails: its file's first line.
        source: The module.
    """

    name: str
    group: str
    stage: StageName = "none"
    seen: Seen = "never"
    safe_without_isolation: bool = True
    endless: bool = False
    holds: str = field(init=False)
    source: str = field(init=False, repr=False)

    @property
    def breaches_without_isolation(self) -> bool:
        """Whether any user's unconfined worker is breached by it, on any Linux."""
        return self.seen == "unconfined"

    def __post_init__(self) -> None:
        path = files("evals.probes.attacks") / f"{self.name}.py"
        source = path.read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(source)) or ""
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "holds", docstring.splitlines()[0] if docstring else "")


# Name, stage, where it is seen to breach.
_GROUPS: dict[str, tuple[tuple[str, StageName, Seen], ...]] = {
    "files": (
        ("read_password_file", "none", "unconfined"),
        ("read_secret_file", "folder", "unconfined"),
        ("create_file", "folder", "unconfined"),
        ("list_folders", "folder", "unconfined"),
        ("stat_metadata", "folder", "unconfined"),
        ("make_links", "folder", "unconfined"),
        ("change_modes", "folder", "unconfined"),
        ("delete_files", "folder", "unconfined"),
        ("watch_files", "folder", "unconfined"),
        ("change_folder", "folder", "unconfined"),
        ("file_handles", "none", "sometimes"),
    ),
    "disk": (
        ("many_empty_files", "folder", "unconfined"),
        ("fill_disk", "folder", "unconfined"),
        ("shared_memory_files", "left_behind", "unconfined"),
    ),
    "environment": (
        ("environment_values", "none", "sometimes"),
        ("argument_blocks", "hidden", "unlimited"),
        ("paths_in_memory", "hidden", "unlimited"),
        ("scan_memory", "hidden", "unlimited"),
        ("own_process_files", "none", "unconfined"),
        ("host_name", "none", "unconfined"),
    ),
    "parents and siblings": (
        ("parent_environment", "process", "unconfined"),
        ("read_process_memory", "process", "sometimes"),
        ("write_process_memory", "process", "sometimes"),
        ("trace_process", "process", "sometimes"),
        ("signal_process", "process", "unconfined"),
        ("signal_parent", "none", "unconfined"),
        ("signal_by_descriptor", "process", "unconfined"),
        ("take_descriptors", "process", "sometimes"),
        ("see_processes", "process", "unconfined"),
        ("change_processes", "process", "unconfined"),
        ("compare_processes", "process", "sometimes"),
        ("kill_sibling", "sibling", "unconfined"),
        ("poison_next_worker", "next_worker", "never"),
    ),
    "network": (
        ("tcp_connect", "tcp", "unconfined"),
        ("tcp6_connect", "tcp6", "sometimes"),
        ("listen", "none", "unconfined"),
        ("udp_send", "udp", "unconfined"),
        ("unix_connect", "unix", "unconfined"),
        ("abstract_connect", "abstract", "unconfined"),
        ("netlink", "none", "unconfined"),
        ("raw_packets", "none", "sometimes"),
        ("machine_sockets", "none", "sometimes"),
        ("every_socket_family", "none", "unconfined"),
        ("name_lookup", "udp", "unconfined"),
        ("socket_pairs", "none", "unconfined"),
        ("hand_over_descriptors", "none", "unconfined"),
    ),
    "processes and threads": (
        ("fork", "none", "unlimited"),
        ("run_program", "folder", "unlimited"),
        ("fork_bomb", "none", "unlimited"),
        ("surviving_child", "folder", "unlimited"),
        ("outlive_host", "none", "unconfined"),
        ("threads", "none", "unlimited"),
        ("outlive_request", "folder", "unlimited"),
    ),
    "memory": (
        ("memory_by_lists", "none", "sometimes"),
        ("memory_by_mappings", "none", "sometimes"),
        ("memory_by_files", "none", "unlimited"),
        ("memory_by_pipes", "none", "sometimes"),
        ("memory_by_arrays", "none", "sometimes"),
        ("memory_that_stays", "left_behind", "unconfined"),
        ("shared_segment", "segment", "unconfined"),
        ("read_outside_an_array", "hidden", "sometimes"),
        ("deep_recursion", "none", "sometimes"),
        ("output_flood", "none", "never"),
        ("reply_flood", "none", "never"),
    ),
    "deadlines": (
        ("alarm_disabled", "none", "never"),
        ("alarm_ignored", "none", "never"),
        ("alarm_swallowed", "none", "never"),
        ("endless_c_call", "none", "never"),
        ("stopped", "none", "never"),
        ("never_reads_again", "none", "never"),
        ("raw_frames", "none", "never"),
    ),
    "kernel": (
        ("unshare_namespaces", "none", "sometimes"),
        ("clone_into_namespaces", "none", "sometimes"),
        ("enter_namespaces", "process", "sometimes"),
        ("mount", "folder", "sometimes"),
        ("change_root", "folder", "sometimes"),
        ("keyrings", "none", "sometimes"),
        ("io_uring", "none", "sometimes"),
        ("page_faults", "none", "sometimes"),
        ("kernel_programs", "none", "sometimes"),
        ("performance_events", "none", "sometimes"),
        ("personality", "none", "sometimes"),
        ("set_clock", "none", "sometimes"),
        ("other_machine_calls", "none", "never"),
    ),
    "privileges": (
        ("raise_limits", "none", "sometimes"),
        ("core_dump", "folder", "sometimes"),
        ("become_root", "none", "sometimes"),
    ),
    "code": (
        ("writable_code", "none", "unconfined"),
        ("made_executable", "none", "unconfined"),
        ("execute_from_files", "none", "unconfined"),
        ("import_host_modules", "hidden", "unconfined"),
        ("escapes_of_the_language", "none", "unlimited"),
    ),
    "descriptors": (
        ("inherited_descriptors", "none", "never"),
        ("change_through_descriptors", "none", "never"),
        ("terminal", "none", "unconfined"),
        ("written_past_python", "none", "never"),
    ),
}
_UNSAFE = ("mount", "set_clock", "file_handles")


@cache
def probes() -> tuple[Probe, ...]:
    """Every attack probe, group by group."""
    return tuple(
        Probe(
            name,
            group,
            stage,
            seen=seen,
            safe_without_isolation=name not in _UNSAFE,
            endless=group == "deadlines",
        )
        for group, entries in _GROUPS.items()
        for name, stage, seen in entries
    )
