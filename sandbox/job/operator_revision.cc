#include "sandbox/job/operator_revision.h"

#include <fstream>
#include <sstream>

#include "base/handle.h"

namespace assay::sandbox {

std::string operator_revision(const std::string& operator_dir) {
  std::string all;
  for (const char* name : {"spec.toml", "reference.py", "oracle.py"}) {
    std::ifstream file(operator_dir + "/" + name, std::ios::binary);
    if (!file) return {};
    std::ostringstream text;
    text << file.rdbuf();
    all += std::to_string(text.str().size()) + ":" + text.str();
  }
  return sha256_hex(all);
}

}  // namespace assay::sandbox
