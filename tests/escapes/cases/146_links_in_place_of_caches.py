# attempt: puts links to /etc and to another job's folder where compilers and the server keep caches
# expect: error:other_exception (the compiler cannot write there)
# needs: nothing
# defence: root_filesystem, job_tmp

import shutil

caches = [os.environ["TRITON_CACHE_DIR"], os.environ["TORCHINDUCTOR_CACHE_DIR"], "/tmp/job-other"]
for target, cache in zip(("/etc", "/root", "/"), caches, strict=True):
    shutil.rmtree(cache, ignore_errors=True)
    os.symlink(target, cache)
denied("a file of its own in /etc", open, os.path.join(caches[0], "escape"), "w")
