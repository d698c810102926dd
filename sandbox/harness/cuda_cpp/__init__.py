"""Submissions in CUDA C++: a manifest says what is launched, NVRTC compiles, a launch plan comes
out. See runner.py."""
