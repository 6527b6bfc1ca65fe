"""Landlock with no path at all: not one file can be opened, whatever else goes wrong."""

import ctypes
import os
import struct

from tools.guest.kernel import call

# The numbers are the same on x86_64 and aarch64.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION_FLAG = 1

# linux/landlock.h: rights over files that each version of the interface knows.
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NETWORK_RIGHTS = 0x3  # bind and connect TCP, from version 4
_SCOPES = 0x3  # abstract sockets and signals, from version 6
_NETWORK_FROM, _SCOPES_FROM = 4, 6


def version() -> int:
    """The newest version of the interface that this kernel has; 0 where it has none."""
    try:
        return call(_CREATE_RULESET, 0, 0, _VERSION_FLAG)
    except OSError:
        return 0


def forbid_everything(version: int) -> None:
    """Take away every right that `version` knows; needs no-new-privileges.

    Raises:
        OSError: If the kernel refuses.
    """
    rights = struct.pack("=Q", _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))])
    if version >= _NETWORK_FROM:
        rights += struct.pack("=Q", _NETWORK_RIGHTS)
    if version >= _SCOPES_FROM:
        rights += struct.pack("=Q", _SCOPES)
    ruleset = call(
        _CREATE_RULESET, ctypes.create_string_buffer(rights, len(rights)), len(rights), 0
    )
    try:
        call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
