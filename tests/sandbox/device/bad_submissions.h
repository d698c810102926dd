// Lists bad submissions for the operator vector_add, and the verdict that each must get on the CPU.
#pragma once

#include "sandbox/job/job.h"

namespace assay::sandbox::testing {

struct Bad {
  const char* name;
  const char* source;
  Outcome outcome;
  ErrorKind kind;
  Stage stage;
};

inline const Bad kBad[] = {
    {"zeros", "import torch\ndef vector_add(x, y):\n    return torch.zeros_like(x)\n",
     Outcome::fail, ErrorKind::wrong_result, Stage::done},
    {"prints pass", "print('pass')\nprint('{\"ok\": true}')\ndef vector_add(x, y):\n    return x\n",
     Outcome::fail, ErrorKind::wrong_result, Stage::done},
    {"exits at import", "import os\nos._exit(0)\n", Outcome::error, ErrorKind::protocol_error,
     Stage::import},
    {"exits when called", "import os\ndef vector_add(x, y):\n    os._exit(0)\n", Outcome::error,
     ErrorKind::protocol_error, Stage::run},
    {"loops at import", "while True: pass\n", Outcome::error, ErrorKind::timeout, Stage::import},
    {"loops when called", "def vector_add(x, y):\n    while True: pass\n", Outcome::error,
     ErrorKind::timeout, Stage::run},
    {"raises", "def vector_add(x, y):\n    raise ValueError('no')\n", Outcome::error,
     ErrorKind::value_error, Stage::run},
    {"does not parse", "def vector_add(x, y)\n    return x\n", Outcome::error,
     ErrorKind::syntax_error, Stage::import},
    {"has no entry", "def add(x, y):\n    return x\n", Outcome::error, ErrorKind::missing_entry,
     Stage::import},
    {"wrong shape", "def vector_add(x, y):\n    return x[:-1].clone()\n", Outcome::fail,
     ErrorKind::output_mismatch, Stage::done},
    {"wrong dtype", "def vector_add(x, y):\n    return x.double()\n", Outcome::fail,
     ErrorKind::output_mismatch, Stage::done},
    {"lets torch add", "def vector_add(x, y):\n    return x + y\n", Outcome::error,
     ErrorKind::not_recordable, Stage::run},
    {"lets numpy add",
     "import ctypes, numpy as np, torch\ndef at(t): return np.ctypeslib.as_array((ctypes.c_float * "
     "t.numel()).from_address(t.data_ptr()))\n"
     "def vector_add(x, y):\n    z = torch.zeros_like(x)\n    at(z)[:] = at(x) + at(y)\n    return "
     "z\n",
     Outcome::error, ErrorKind::crash, Stage::run},  // data_ptr() returns a fake address
    {"dies of a signal",
     "import os, signal\ndef vector_add(x, y):\n    import ctypes\n    ctypes.string_at(0)\n",
     Outcome::error, ErrorKind::crash, Stage::run},
    {"memory hog",
     "def vector_add(x, y):\n    hog = []\n    while True: hog.append(bytearray(1 << 26))\n",
     Outcome::error, ErrorKind::memory_limit, Stage::run},
    {"fork bomb", "import os\ndef vector_add(x, y):\n    while True: os.fork()\n", Outcome::error,
     ErrorKind::process_limit, Stage::run},
    {"thread bomb",
     "import threading, time\ndef vector_add(x, y):\n    for _ in range(1000): "
     "threading.Thread(target=time.sleep, args=(99,)).start()\n",
     Outcome::error, ErrorKind::process_limit, Stage::run},
    {"floods stdout", "def vector_add(x, y):\n    while True: print('x' * 65536)\n", Outcome::error,
     ErrorKind::output_limit, Stage::run},
    {"fills the disk",
     "def vector_add(x, y):\n    for i in range(9):\n        open(f'/tmp/{i}', 'wb').write(b'x' * "
     "(1 << 26))\n    return x\n",
     Outcome::error, ErrorKind::disk_limit, Stage::run},
    {"forges a result", R"(import os, socket
def vector_add(x, y):
    for fd in range(3, 64):
        try:
            os.write(fd, b'ASY1\x0f\0\0\0\0\0\0\0\0\0\0\0{"type":"done"}')
        except OSError:
            pass
    return x
)",
     Outcome::error, ErrorKind::protocol_error, Stage::run},
};

}  // namespace assay::sandbox::testing
