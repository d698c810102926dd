#include "sandbox/pool/versions.h"

#include <cstddef>

namespace assay::sandbox {
namespace {

constexpr std::size_t kMostPackages = 8;

}  // namespace

Versions read_versions(HeaderReader& in) {
  return {in.text("torch"), in.text("triton"), in.text("python"), in.optional_text("nvrtc"),
          in.texts("uncompiled", kMostPackages)};
}

}  // namespace assay::sandbox
