"""Which process holds an attempt, and whether it still lives.

A pid alone is not a process: pids come back. So a lease names the process by its pid and its start.
"""

from __future__ import annotations

import os


def this_process() -> tuple[int, str]:
    """The pid of this process and the mark of its start."""
    return os.getpid(), start_of(os.getpid())


def lives(pid: int, start: str) -> bool:
    """Whether the process that had this pid and this start is still running on this machine."""
    now = start_of(pid)
    # An unreadable start must not turn a living holder into a dead one.
    return now == start if now and start else bool(now) or _exists(pid)


def start_of(pid: int) -> str:
    """The mark of a process's start, "" when there is no such process or the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The command's name may hold blanks and parentheses; the fields begin after the last one.
            fields = file.read().rpartition(b")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
    except OSError:
        return "" if os.path.exists("/proc/self/stat") else _start_by_ps(pid)
    if fields[0] in (b"Z", b"X"):
        return ""
    return f"{boot} {fields[19].decode('ascii')}"


def _start_by_ps(pid: int) -> str:
    import subprocess

    asked = ["ps", "-o", "lstart=", "-p", str(pid)]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _exists(pid: int) -> bool:
    if os.path.exists("/proc/self/stat"):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
