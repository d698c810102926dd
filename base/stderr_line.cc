#include "base/stderr_line.h"

#include <cstdio>
#include <string>

namespace assay {

void stderr_line(std::string_view text) {
  const std::string line = std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace assay
