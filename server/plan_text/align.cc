#include "server/plan_text/align.h"

#include <dtl/dtl.hpp>

namespace assay::server {

std::vector<Aligned> align(const std::vector<std::string>& left,
                           const std::vector<std::string>& right) {
  dtl::Diff<std::string, std::vector<std::string>> diff(left, right);
  diff.onHuge();
  diff.compose();
  std::vector<Aligned> pairs;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const auto& [element, info] : diff.getSes().getSequence()) {
    if (info.type == dtl::SES_DELETE) {
      pairs.push_back({i++, std::nullopt});
    } else if (info.type == dtl::SES_ADD) {
      pairs.push_back({std::nullopt, j++});
    } else {
      pairs.push_back({i++, j++});
    }
  }
  return pairs;
}

}  // namespace assay::server
