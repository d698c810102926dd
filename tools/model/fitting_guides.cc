#include "tools/model/fitting_guides.h"

#include <map>

#include "sandbox/job/job.h"

namespace assay::tools {
namespace {

constexpr const char* kMemory = "memory-bound-kernels";
constexpr const char* kReductions = "reductions-and-scans";
constexpr const char* kTiling = "gemm-tiling";

/// Returns the guide for each family of operators.
const std::map<std::string, std::string, std::less<>>& guide_of_family() {
  static const std::map<std::string, std::string, std::less<>> kGuides = {
      {"activation", kMemory},    {"attention", "attention"}, {"convolution", kTiling},
      {"elementwise", kMemory},   {"fused", kMemory},         {"gemm", kTiling},
      {"layout", kMemory},        {"loss", kReductions},      {"normalization", kReductions},
      {"optimizer", kMemory},     {"positional", kMemory},    {"quantization", kMemory},
      {"reduction", kReductions}, {"sampling", "atomics"},    {"scan", kReductions},
      {"softmax", kReductions},   {"sparse", "atomics"},
  };
  return kGuides;
}

}  // namespace

std::vector<std::string> fitting_guides(const operators::Operator& op, std::string_view language) {
  std::vector<std::string> topics;
  if (op.dialect != "triton")
    topics.push_back(op.dialect);  // the guides of dialects have the dialects' names
  else if (language != sandbox::kCudaCpp)
    topics.emplace_back("triton-pitfalls");
  const auto found = guide_of_family().find(op.family);
  if (found != guide_of_family().end()) topics.push_back(found->second);
  return topics;
}

}  // namespace assay::tools
