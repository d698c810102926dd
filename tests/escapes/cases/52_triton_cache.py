# attempt: poisons Triton's and torch's caches for the next job
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_tmp, job_mount_namespace

import pathlib

poison = pathlib.Path(__file__).parent / "triton-cache"
folders = [
    pathlib.Path(os.environ["TRITON_CACHE_DIR"]),
    pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]),
    poison,
    pathlib.Path("/tmp/torchinductor_assay"),
]
for folder in dict.fromkeys(folders):
    require(f"{folder} holds nothing of an earlier job", not (folder / "poisoned").exists())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "poisoned").write_text("fake cubin")
require("the folder of the caches is this job's own", os.stat("/tmp").st_dev != os.stat("/").st_dev)
