// Versions contains the versions of the software that a zygote has loaded. The zygote reports these
// versions in its message `ready`.
//
//   HeaderReader in(frame.header, "ready");
//   const Versions versions = read_versions(in);  // its torch is for example "2.9.1+cu130"
//
// A plain struct and a pure function. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {

struct Versions {
  std::string torch, triton, python;
  std::string nvrtc;  // empty without NVRTC
  // The folders of packages whose Python files are not compiled. Each start compiles them again.
  std::vector<std::string> uncompiled;
};

Versions read_versions(HeaderReader& in);

}  // namespace assay::sandbox
