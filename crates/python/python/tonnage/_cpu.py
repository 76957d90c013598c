"""Refuse a processor that the native library was not built for, before it dies of it."""

import platform
from pathlib import Path

NEEDED = ("avx2", "bmi2", "pclmulqdq")


def check(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Raise ImportError when the processor lacks an instruction that the library uses.

    Where the processor cannot be asked, nothing is refused.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    try:
        text = cpuinfo.read_text(errors="replace")
    except OSError:
        return
    flags = next((line for line in text.splitlines() if line.startswith("flags")), None)
    if flags is None:
        return
    missing = [name for name in NEEDED if name not in flags.split()]
    if missing:
        raise ImportError(
            f"this processor lacks {', '.join(missing)}, which this build of tonnage uses: "
            "build it from source for this machine"
        )
