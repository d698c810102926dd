#include "sandbox/job/operator_revision.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/handle.h"

namespace assay::sandbox {

std::string operator_revision(const std::string& operator_dir) {
  std::string all;
  for (const char* name : {"spec.toml", "reference.py", "oracle.py"}) {
    std::ostringstream text;
    std::error_code code;
    // An operator without an oracle has no such file. Its text counts as empty.
    const bool may_be_missing = std::string_view(name) == "oracle.py";
    if (!may_be_missing || std::filesystem::exists(operator_dir + "/" + name, code)) {
      std::ifstream file(operator_dir + "/" + name, std::ios::binary);
      if (!file) return {};
      text << file.rdbuf();
    }
    all += std::to_string(text.str().size()) + ":" + text.str();
  }
  return sha256_hex(all);
}

}  // namespace assay::sandbox
