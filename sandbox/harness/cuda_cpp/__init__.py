"""Submissions in CUDA C++: a manifest lists the launches, NVRTC compiles the kernels, and the
result is a launch plan. See runner.py."""
