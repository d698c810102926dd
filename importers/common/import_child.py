"""What every process that imports one file in the jail does: it says that it waits, gets the file,
and works on it.

    def serve(channel, layers):  # of a module that import_zygote.py names in CHILDREN
        return serve_one(channel, layers, lambda frame: work(channel, frame))"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from harness.entry.thread_pool import renew_thread_pool
from harness.wire.frames import Channel, Frame

DEFECT = 3  # the exit status after an exception


def serve_one(channel: Channel, layers: list[dict[str, Any]], work: Callable[[Frame], None]) -> int:
    """Calls `work` with the importer's request. Returns the exit status of this process."""
    try:
        renew_thread_pool()
        channel.send({"type": "parked", "layers": layers})
        frame = channel.receive()
        if frame is not None:
            work(frame)
        return 0
    except (BrokenPipeError, ConnectionError):
        return 0  # the importer has closed the connection
    except BaseException:
        traceback.print_exc()
        return DEFECT
