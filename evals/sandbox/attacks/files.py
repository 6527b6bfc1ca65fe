"""Attacks on the host's files and folders, and on the room on its disks."""

from evals.sandbox.attacks import BAIT, Attack, first, held, known, libc, system_call

_PASSWORDS = "/etc/passwd"


class ReadPasswordFile(Attack, seen="unconfined"):
    """Cannot read the host's password file."""

    def _opened(self) -> object:
        return held("io").open(_PASSWORDS).read()

    def _descriptor(self) -> object:
        os = held("os")
        return os.read(os.open(_PASSWORDS, os.O_RDONLY), 100)

    def _relative(self) -> object:
        os = held("os")
        folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        return os.read(os.open("etc/passwd", os.O_RDONLY, dir_fd=folder), 100)

    def _through_process_root(self) -> object:
        return held("io").open("/proc/self/root/etc/passwd").read()

    def _line_cache(self) -> object:
        return held("linecache").getlines(_PASSWORDS)

    def _system_call(self) -> object:
        return held("os").read(system_call(257, 56, -100, _PASSWORDS.encode(), 0, 0), 100)

    def _old_system_call(self) -> object:
        return held("os").read(system_call(2, -1, _PASSWORDS.encode(), 0, 0), 100)

    def _opened_by_structure(self) -> object:
        how = held("ctypes").create_string_buffer(24)
        return held("os").read(system_call(437, 437, -100, _PASSWORDS.encode(), how, 24), 100)

    def _stream_of_the_c_library(self) -> object:
        return libc("fopen", _PASSWORDS.encode(), b"r")

    def _user_database(self) -> object:
        return held("pwd").getpwall()


class ReadSecretFile(Attack, stage="folder", seen="unconfined"):
    """Cannot read a secret file in a home folder."""

    def _opened(self) -> object:
        return held("io").open(known("secret"), "rb").read()

    def _through_the_module_search(self) -> object:
        loader = held("importlib.machinery").SourceFileLoader("secret", known("secret"))
        return loader.get_data(known("secret"))

    def _through_process_folder(self) -> object:
        return held("io").open(f"/proc/self/cwd/../../../../..{known('secret')}", "rb").read()

    def _mapped(self) -> object:
        os = held("os")
        descriptor = os.open(known("secret"), os.O_RDONLY)
        return held("mmap").mmap(descriptor, 0, prot=1)[:]

    def _by_numpy(self) -> object:
        return bytes(held("numpy").fromfile(known("secret"), dtype="uint8"))

    def _by_path_descriptor(self) -> object:
        os = held("os")
        handle = os.open(known("secret"), os.O_PATH)
        return os.read(os.open(f"/proc/self/fd/{handle}", os.O_RDONLY), 100)

    def _system_call(self) -> object:
        return held("os").read(system_call(257, 56, -100, known("secret").encode(), 0, 0), 100)


def _paths() -> list[str]:
    return [f"{known('folder')}/made", known("secret"), "/tmp/made-by-a-probe", "made-by-a-probe"]


class CreateFile(Attack, stage="folder", seen="unconfined"):
    """Cannot create or change a file of the host."""

    def _opened(self) -> object:
        made = []
        for path in _paths():
            try:
                held("io").open(path, "ab").close()
                made.append(path)
            except OSError:
                continue
        for path in made[1:]:
            if path.endswith("made-by-a-probe"):
                held("os").unlink(path)
        return made

    def _descriptor(self) -> object:
        os = held("os")
        return os.open(_paths()[0] + "-too", os.O_CREAT | os.O_WRONLY)

    def _system_call(self) -> object:
        return system_call(257, 56, -100, f"{_paths()[0]}-raw".encode(), 0o101, 0o600)

    def _created_by_old_call(self) -> object:
        return system_call(85, -1, f"{_paths()[0]}-old".encode(), 0o600)

    def _temporary_file(self) -> object:
        return held("tempfile").mkstemp(dir=known("folder"))

    def _special_file(self) -> object:
        return held("os").mkfifo(f"{known('folder')}/pipe") or "made a pipe"


class ListFolders(Attack, stage="folder", seen="unconfined"):
    """Cannot list a folder of the host."""

    def _listed(self) -> object:
        return held("os").listdir("/")

    def _scanned(self) -> object:
        return [entry.name for entry in held("os").scandir(BAIT.get("folder", "/tmp"))]

    def _globbed(self) -> object:
        return held("glob").glob("/*")

    def _current(self) -> object:
        return held("os").listdir(".")

    def _by_descriptor(self) -> object:
        os = held("os")
        return os.listdir(os.open("/", os.O_RDONLY | os.O_DIRECTORY))

    def _entries_by_system_call(self) -> object:
        ctypes = held("ctypes")
        descriptor = system_call(257, 56, -100, b"/", 0, 0)
        buffer = ctypes.create_string_buffer(1024)
        return system_call(217, 61, descriptor, buffer, 1024) and buffer.raw[:100]

    def _own_descriptors(self) -> object:
        return held("os").listdir("/proc/self/fd")


def _path() -> str:
    path: str = BAIT.get("secret", "/etc/passwd")
    return path


class StatMetadata(Attack, stage="folder", seen="unconfined"):
    """Cannot learn whether a file of the host exists, how large it is or when it changed."""

    def _stat(self) -> object:
        return held("os").stat(_path())

    def _link_stat(self) -> object:
        return held("os").lstat(_path())

    def _access(self) -> object:
        return held("os").access(_path(), 0)

    def _existence_by_error(self) -> object:
        """Two different errors for a file that is there and one that is not tell them apart."""
        os, seen = held("os"), list[object]()
        for path in (_path(), _path() + "-absent"):
            try:
                os.stat(path)
                seen.append(0)
            except OSError as error:
                seen.append(error.errno)
        return None if seen[0] == seen[1] else seen

    def _file_system(self) -> object:
        return held("os").statvfs("/")

    def _extended(self) -> object:
        buffer = held("ctypes").create_string_buffer(256)
        return system_call(332, 291, -100, _path().encode(), 0, 0xFFF, buffer) == 0

    def _old_system_call(self) -> object:
        buffer = held("ctypes").create_string_buffer(256)
        return system_call(4, -1, _path().encode(), buffer) == 0

    def _link_target(self) -> object:
        return held("os").readlink("/proc/self/exe")

    def _working_folder(self) -> object:
        return held("os").getcwd()

    def _attributes(self) -> object:
        return held("os").listxattr(_path()) == []


class MakeLinks(Attack, stage="folder", seen="unconfined"):
    """Cannot link to, rename or move a file of the host."""

    def _symlink(self) -> object:
        return held("os").symlink(known("secret"), f"{known('folder')}/symlink") or "linked"

    def _link(self) -> object:
        return held("os").link(known("secret"), f"{known('folder')}/link") or "linked"

    def _rename(self) -> object:
        return (
            held("os").rename(f"{known('folder')}/movable", f"{known('folder')}/moved") or "renamed"
        )

    def _symlink_by_system_call(self) -> object:
        place = f"{known('folder')}/raw".encode()
        return system_call(266, 36, known("secret").encode(), -100, place) == 0

    def _exchange(self) -> object:
        one, other = f"{known('folder')}/movable".encode(), known("secret").encode()
        return system_call(316, 276, -100, one, -100, other, 2) == 0


class ChangeModes(Attack, stage="folder", seen="unconfined"):
    """Cannot change the mode, owner or times of a file of the host."""

    def _mode(self) -> object:
        return held("os").chmod(known("secret"), 0o666) or "changed its mode"

    def _owner(self) -> object:
        os = held("os")
        return os.chown(known("secret"), os.getuid(), os.getgid()) or "changed its owner"

    def _times(self) -> object:
        return held("os").utime(known("secret"), (1, 1)) or "changed its times"

    def _mode_by_system_call(self) -> object:
        return system_call(268, 53, -100, known("secret").encode(), 0o666) == 0

    def _mode_by_newer_call(self) -> object:
        return system_call(452, 452, -100, known("secret").encode(), 0o666, 0) == 0

    def _attribute(self) -> object:
        return held("os").setxattr(known("secret"), "user.probe", b"1") or "set an attribute"


class DeleteFiles(Attack, stage="folder", seen="unconfined"):
    """Cannot delete or empty a file of the host."""

    def _unlinked(self) -> object:
        return held("os").unlink(f"{known('folder')}/movable") or "deleted it"

    def _truncated(self) -> object:
        return held("os").truncate(known("secret"), 0) or "emptied it"

    def _opened_for_writing(self) -> object:
        return held("io").open(known("secret"), "w")

    def _removed_tree(self) -> object:
        return held("os").rmdir(f"{known('folder')}/inner") or "removed a folder"

    def _unlinked_by_system_call(self) -> object:
        return system_call(263, 35, -100, known("secret").encode(), 0) == 0


class WatchFiles(Attack, stage="folder", seen="unconfined"):
    """Cannot watch what happens in a folder of the host."""

    def _watched(self) -> object:
        descriptor = libc("inotify_init1", 0)
        return libc("inotify_add_watch", descriptor, BAIT.get("folder", "/tmp").encode(), 0xFFF)

    def _watched_by_system_call(self) -> object:
        descriptor = system_call(294, 26, 0)
        return system_call(254, 27, descriptor, BAIT.get("folder", "/tmp").encode(), 0xFFF)

    def _whole_mount(self) -> object:
        descriptor = libc("fanotify_init", 0, 0)
        return (
            libc("fanotify_mark", descriptor, 1, 8, -100, BAIT.get("folder", "/tmp").encode()) == 0
        )

    def _notified_of_a_folder(self) -> object:
        os, fcntl = held("os"), held("fcntl")
        folder = os.open(BAIT.get("folder", "/tmp"), os.O_RDONLY)
        return fcntl.fcntl(folder, fcntl.F_NOTIFY, 0) == 0


class ChangeFolder(Attack, stage="folder", seen="unconfined"):
    """Cannot move into another folder of the host."""

    def _changed(self) -> object:
        return held("os").chdir(BAIT.get("folder", "/tmp")) or "moved"

    def _by_descriptor(self) -> object:
        os = held("os")
        return os.fchdir(os.open(BAIT.get("folder", "/tmp"), os.O_RDONLY)) or "moved"

    def _by_system_call(self) -> object:
        return system_call(80, 49, BAIT.get("folder", "/tmp").encode()) == 0


class FileHandles(Attack, seen="sometimes", confined_only=True):
    """Cannot open a file of the host by its number."""

    def _handle(self) -> object:
        ctypes = held("ctypes")
        handle = (ctypes.c_uint32 * 34)(128)
        place = ctypes.byref(ctypes.c_int())
        return system_call(303, 264, -100, b"/etc/passwd", handle, place, 0x400) == 0 and handle

    def _root_by_number(self) -> object:
        """The root of most file systems is number two."""
        ctypes = held("ctypes")
        handle = (ctypes.c_uint32 * 6)(8, 1, 2, 0)
        return first(
            lambda descriptor: system_call(304, 265, descriptor, handle, 0), (-100, 0, 1, 2, 3, 4)
        )


class ManyEmptyFiles(Attack, group="disk", stage="folder", seen="unconfined"):
    """Cannot use up the host's inodes with empty files or folders."""

    def _files(self) -> object:
        os = held("os")
        for number in range(100):
            os.close(os.open(f"{known('folder')}/{number}", os.O_CREAT | os.O_WRONLY))
        return "made 100 files"

    def _folders(self) -> object:
        for number in range(100):
            held("os").mkdir(f"{known('folder')}/folder-{number}")
        return "made 100 folders"

    def _nodes(self) -> object:
        for number in range(10):
            place = f"{known('folder')}/node-{number}".encode()
            system_call(259, 33, -100, place, 0o100600, 0)
        return "made 10 nodes"


_MEBIBYTE = 2**20


class FillDisk(Attack, group="disk", stage="folder", seen="unconfined"):
    """Cannot fill a disk of the host."""

    def _written(self) -> object:
        with held("io").open(f"{known('folder')}/filled", "wb", buffering=0) as file:
            return file.write(bytes(_MEBIBYTE))

    def _reserved(self) -> object:
        os = held("os")
        descriptor = os.open(f"{known('folder')}/reserved", os.O_CREAT | os.O_RDWR)
        return os.posix_fallocate(descriptor, 0, _MEBIBYTE) or "reserved 1 MiB"

    def _nameless(self) -> object:
        os = held("os")
        descriptor = os.open(BAIT.get("folder", "/tmp"), os.O_TMPFILE | os.O_RDWR)
        return os.write(descriptor, bytes(_MEBIBYTE))

    def _mapped(self) -> object:
        os = held("os")
        descriptor = os.open(f"{known('folder')}/mapped", os.O_CREAT | os.O_RDWR)
        os.ftruncate(descriptor, _MEBIBYTE)
        held("mmap").mmap(descriptor, _MEBIBYTE)[:] = b"x" * _MEBIBYTE
        return "wrote 1 MiB through a mapping"

    def _copied(self) -> object:
        os = held("os")
        source = os.open("/usr/lib/os-release", os.O_RDONLY)
        target = os.open(f"{known('folder')}/copied", os.O_CREAT | os.O_WRONLY)
        return os.sendfile(target, source, 0, _MEBIBYTE)


class SharedMemoryFiles(Attack, group="disk", stage="left_behind", seen="unconfined"):
    """Cannot leave a file in the host's shared memory folder."""

    def _opened(self) -> object:
        return held("io").open(f"/dev/shm/{known('name')}", "wb")

    def _by_the_c_library(self) -> object:
        return libc("shm_open", f"/{known('name')}".encode(), 0o102, 0o600)

    def _by_multiprocessing(self) -> object:
        return held("_posixshmem").shm_open(f"/{known('name')}", 0o102, 0o600) or "made"

    def _semaphore(self) -> object:
        ctypes = held("ctypes")
        function = ctypes.CDLL(None).sem_open
        function.restype = ctypes.c_void_p
        return function(f"/{known('name')}".encode(), 0o100, 0o600, 1)
