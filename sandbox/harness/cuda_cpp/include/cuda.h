// Of the driver's header, what a kernel can use: the type of a TMA descriptor. NVRTC refuses the rest, which is functions of the host.
#pragma once
typedef struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
} CUtensorMap;
