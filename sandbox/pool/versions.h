// Versions: the software that a zygote or a judge has loaded, as its `ready` reports it.
//
//   HeaderReader in(frame.header, "ready");
//   const Versions versions = read_versions(in);  // its torch is for example "2.9.1+cu130"
//
// A value and a pure function, thread-safe.
#pragma once

#include <string>

#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {

struct Versions {
  std::string torch, triton, python;
  std::string nvrtc;  // empty without NVRTC; only a zygote has it
};

Versions read_versions(HeaderReader& in);

}  // namespace assay::sandbox
