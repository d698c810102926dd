// size_t is built into NVRTC.
#pragma once
typedef long ptrdiff_t;
