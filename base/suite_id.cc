#include "base/suite_id.h"

#include <algorithm>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t kShownDigestChars = 12;

}  // namespace

std::string text_of(const SuiteId& suite) {
  if (suite.name.empty()) return "unknown";
  std::string text = suite.name + (suite.version.empty() ? "" : " " + suite.version);
  if (!suite.digest.empty()) text += " (digest " + suite.digest.substr(0, kShownDigestChars) + ")";
  return escape_line(text);
}

SuiteId without_digest(SuiteId suite) {
  suite.digest.clear();
  return suite;
}

bool have_several_digests(const std::vector<SuiteId>& suites) {
  return std::any_of(suites.begin(), suites.end(),
                     [&](const SuiteId& suite) { return suite.digest != suites.front().digest; });
}

}  // namespace assay
