"""``python -m tests.server.faulty FOLDER PORT``: a server whose disk fails from SIGUSR1 on, until SIGUSR2.

``FAULT`` is the call that fails, and its error. Without the shim nothing fails.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import warnings
from pathlib import Path

from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host
from rosenblatt.server.processes import serve


def main(folder, port):
    call, code = (os.environ["FAULT"] or "none 0").split()
    mark = folder / "failing"
    (folder / "pid").write_text(str(os.getpid()))

    def fail(*_):
        ctypes.CDLL(None).fault_set(str(folder / "data").encode(), call.encode(), 1, int(code), 1)
        mark.touch()

    def recover(*_):
        ctypes.CDLL(None).fault_set(b"", b"none", 0, 0, 0)
        mark.unlink()

    signal.signal(signal.SIGUSR1, fail)
    signal.signal(signal.SIGUSR2, recover)
    host = Host(folder / "data", {"m": folder / "m.model"})
    return serve(host, door=FrontDoor(), port=port, ready=lambda _: print("ready", flush=True))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
