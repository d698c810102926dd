// Defines the only part of the driver's header that a kernel can use: the type of a TMA descriptor.
// The rest of that header declares host functions, which NVRTC refuses.
#pragma once
typedef struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
} CUtensorMap;
