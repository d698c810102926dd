#include "server/runs/tracks.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace assay::server {
namespace {

using operators::Catalog;
using operators::Split;

constexpr std::size_t kMaxSuiteBytes = 16'384;
constexpr std::size_t kMaxNamedUnknowns = 3;

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto first = text.find_first_not_of(" \t\n", begin);
    if (first < end)
      names.push_back(text.substr(first, text.find_last_not_of(" \t\n", end - 1) - first + 1));
    begin = end + 1;
  }
  return names;
}

}  // namespace

std::int64_t limit_of(const tools::Budgets& budgets, sandbox::JobKind kind) {
  switch (kind) {
    case sandbox::JobKind::compile: return budgets.compiles;
    case sandbox::JobKind::test: return budgets.tests;
    case sandbox::JobKind::profile: return budgets.profiles;
    case sandbox::JobKind::grade: return budgets.submissions;
  }
  return 0;
}

Result<std::vector<std::string>> resolve_suite(const std::string& suite, const Catalog& catalog) {
  const std::string valid =
      "a suite is \"all\", a split (standard, ood, dsl) or a comma-separated list of operators";
  if (suite.size() > kMaxSuiteBytes)
    return fail(ErrorCode::invalid_argument,
                "the suite is longer than " + std::to_string(kMaxSuiteBytes) + " bytes; " + valid);
  std::set<std::string> wanted;
  std::string unknown;
  std::size_t unknown_count = 0;
  for (const std::string& name : split_list(suite)) {
    bool known = catalog.find(name) != nullptr;
    if (known) wanted.insert(name);
    for (const auto& op : catalog.all()) {
      if (name != "all" && name != operators::to_string(op.split)) continue;
      wanted.insert(op.name);
      known = true;
    }
    for (const Split split : {Split::standard, Split::ood, Split::dsl})
      known = known || name == operators::to_string(split);
    if (known) continue;
    if (++unknown_count <= kMaxNamedUnknowns)
      unknown += (unknown.empty() ? "" : "; ") + catalog.unknown(name).message;
  }
  if (unknown_count > kMaxNamedUnknowns)
    unknown += "; and " + std::to_string(unknown_count - kMaxNamedUnknowns) + " more unknown names";
  if (unknown_count > 0) return fail(ErrorCode::not_found, unknown + "; " + valid);
  if (wanted.empty())
    return fail(ErrorCode::invalid_argument, "suite '" + suite + "' names no operator; " + valid);
  std::vector<std::string> names;
  for (const auto& op : catalog.all()) {
    if (wanted.count(op.name) > 0) names.push_back(op.name);
  }
  return names;
}

}  // namespace assay::server
