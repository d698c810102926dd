#include "sandbox/pool/versions.h"

namespace assay::sandbox {

Versions read_versions(HeaderReader& in) {
  return {in.text("torch"), in.text("triton"), in.text("python"), in.optional_text("nvrtc")};
}

}  // namespace assay::sandbox
