#include "sandbox/jail/environment.h"

#include <unistd.h>

#include <algorithm>

namespace assay::sandbox {
namespace {

const std::vector<std::pair<std::string, std::string>> kFixed = {
    {"PATH", "/usr/local/bin:/usr/bin:/bin"},
    {"HOME", "/tmp"},
    {"TMPDIR", "/tmp"},
    {"USER", "assay"},
    {"LOGNAME", "assay"},
    {"LANG", "C.UTF-8"},
    // One thread per library: threads do not survive a fork, and jobs share the machine's
    // processors.
    {"OMP_NUM_THREADS", "1"},
    {"OPENBLAS_NUM_THREADS", "1"},
    {"MKL_NUM_THREADS", "1"},
    {"CUDA_VISIBLE_DEVICES", ""},
    {"PYTHONDONTWRITEBYTECODE", "1"},
    {"TRITON_CACHE_DIR", "/tmp/triton-cache"},
    {"TORCHINDUCTOR_CACHE_DIR", "/tmp/inductor-cache"},
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::vector<std::string> jail_environment(
    const std::vector<std::pair<std::string, std::string>>& added,
    const std::vector<LayerReport>& layers) {
  std::vector<std::string> out;
  const auto is_added = [&](const std::string& name) {
    return std::any_of(added.begin(), added.end(),
                       [&](const auto& entry) { return entry.first == name; });
  };
  for (const auto& [name, value] : kFixed) {
    if (!is_added(name)) out.push_back(name + "=" + value);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  out.push_back("ASSAY_TEMPLATE_LAYERS=" + layers_json(layers));
  return out;
}

Status execute(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& added,
               const std::vector<LayerReport>& layers) {
  const std::vector<std::string> environment = jail_environment(added, layers);
  ::execve(command.front().c_str(), pointers(command).data(), pointers(environment).data());
  return fail_errno("execve " + command.front());
}

}  // namespace assay::sandbox
