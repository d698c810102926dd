# attempt: leaves bytecode, .pth files and sitecustomize modules, and looks for preload variables
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, environment

import site
import sysconfig

folders = {
    sysconfig.get_paths()["purelib"],
    sysconfig.get_paths()["stdlib"],
    os.path.dirname(torch.__file__),
    *site.getsitepackages(),
}
for folder in sorted(folders):
    for name in ("escape.pth", "sitecustomize.py", "usercustomize.py", "__pycache__/escape.pyc"):
        denied(f"{folder}/{name}", os.open, os.path.join(folder, name), os.O_CREAT | os.O_WRONLY)
require(
    "no module of its own choice is loaded at start",
    "sitecustomize" not in sys.modules
    or not sys.modules["sitecustomize"].__file__.startswith("/tmp"),
)
for name in ("PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"):
    require(f"{name} is not set", name not in os.environ)
require("isolated mode", sys.flags.isolated == 1 and sys.dont_write_bytecode)
