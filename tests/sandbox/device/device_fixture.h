// Provides what the device tests share: the real harness, jail and Python of this build, and jobs
// for operators/standard/vector_add.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/text.h"
#include "sandbox/job/config.h"

namespace assay::sandbox::testing {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline SandboxConfig real_config() {
  const std::filesystem::path source = ASSAY_SOURCE_DIR, binary = ASSAY_BINARY_DIR;
  const char* python = std::getenv("ASSAY_PYTHON");
  SandboxConfig config;
  config.python =
      python != nullptr && *python != '\0' ? python : (source / ".venv/bin/python").string();
  config.harness_dir = (source / "sandbox/harness").string();
  config.launcher = (binary / "bin/assay-launcher").string();
  config.jail_exec = (binary / "bin/assay-jail").string();
  config.state_dir = (binary / "test-state").string();
  std::filesystem::create_directories(config.state_dir);
  return config;
}

/// A switch that makes a fake device fail its check. The launcher program reads the switch from the
/// file system.
class SickSwitch {
 public:
  explicit SickSwitch(const std::string& name)
      : config_(real_config()), file_(config_.state_dir + "/" + name + ".sick") {
    set(false);
    const std::string script = config_.state_dir + "/" + name + ".sh";
    std::ofstream(script) << "#!/bin/sh\n[ -e " << shell_word(file_)
                          << " ] && set -- \"$@\" --driver fake-sick\nexec "
                          << shell_word(config_.launcher) << " \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    config_.launcher = script;
  }
  const SandboxConfig& config() const { return config_; }
  void set(bool sick) const {
    if (sick)
      std::ofstream(file_) << "sick";
    else
      std::filesystem::remove(file_);
  }

 private:
  SandboxConfig config_;
  std::string file_;
};

/// Returns the configuration of a fake device whose memory is full for its second launcher, as if
/// other jobs had filled it. The memory is free for all other launchers. The launchers start one
/// after the other.
inline SandboxConfig filled_at_second_launcher(const std::string& name) {
  SandboxConfig config = real_config();
  config.parked_launchers = 1;
  const std::string mark = config.state_dir + "/" + name + ".start",
                    script = config.state_dir + "/" + name + ".sh";
  for (const char* number : {"1", "2"}) std::filesystem::remove(mark + number);
  std::ofstream(script) << "#!/bin/sh\nif mkdir " << shell_word(mark + "1")
                        << " 2>/dev/null; then :; elif mkdir " << shell_word(mark + "2")
                        << " 2>/dev/null; then set -- \"$@\" --driver fake-full; fi\nexec "
                        << shell_word(config.launcher) << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  config.launcher = script;
  return config;
}

/// Returns a configuration in which others have filled the memory of the GPU.
inline SandboxConfig filled(const std::string& name) {
  SandboxConfig config = real_config();
  const std::string script = config.state_dir + "/" + name + ".sh";
  std::ofstream(script) << "#!/bin/sh\nexec " << shell_word(config.launcher)
                        << " \"$@\" --driver fake-full\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  config.launcher = script;
  return config;
}

/// Returns a job with three cases: a small public case, a large public case that only a GPU can
/// run, and a small hidden case.
inline Job vector_add(JobKind kind, const std::string& source) {
  static std::atomic<int> count = 0;  // several threads create jobs
  Job job;
  job.id = "job_test" + std::to_string(++count);
  job.kind = kind;
  job.operator_name = "vector_add";
  job.operator_dir = std::string(ASSAY_SOURCE_DIR) + "/operators/standard/vector_add";
  job.entry = "vector_add";
  job.source = source;
  job.cases = {{.id = "small",
                .hidden = false,
                .interpreter = true,
                .axes = {{"n", 4097}},
                .dtype = "float32",
                .distribution = "normal"},
               {.id = "large",
                .hidden = false,
                .interpreter = false,
                .axes = {{"n", 8388608}},
                .dtype = "float32",
                .distribution = "normal"},
               {.id = "hidden_small",
                .hidden = true,
                .interpreter = true,
                .axes = {{"n", 12289}},
                .dtype = "float32",
                .distribution = "cancellation"}};
  return job;
}

inline std::string oracle() {
  return read_text(std::string(ASSAY_SOURCE_DIR) + "/operators/standard/vector_add/oracle.py");
}

/// Copies vector_add to a new folder. The copy's inputs() also runs `code`.
inline Job own_operator(const std::string& name, const std::string& code) {
  Job job = vector_add(JobKind::test, "");
  const std::filesystem::path folder = std::filesystem::path(real_config().state_dir) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* file : {"spec.toml", "oracle.py"})
    std::filesystem::copy_file(std::filesystem::path(job.operator_dir) / file, folder / file);
  std::ofstream(folder / "reference.py")
      << read_text(std::filesystem::path(job.operator_dir) / "reference.py")
      << "\n_inputs = inputs\n\n\ndef inputs(case, rng):\n    " << code
      << "\n    return _inputs(case, rng)\n";
  job.operator_dir = folder.string();
  return job;
}

}  // namespace assay::sandbox::testing
