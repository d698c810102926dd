"""Records submissions in CUDA C++. A manifest in the source lists the launches, NVRTC compiles the
kernels, and the result is a launch plan. See runner.py."""
