// What the device tests share: the real harness, jail and Python of this build, and jobs for operators/standard/vector_add.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sandbox/device/device.h"

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
  config.python = python != nullptr && *python != '\0' ? python : (source / ".venv/bin/python").string();
  config.harness_dir = (source / "sandbox/harness").string();
  config.launcher = (binary / "bin/assay-launcher").string();
  config.jail_exec = (binary / "bin/assay-jail").string();
  config.state_dir = (binary / "test-state").string();
  std::filesystem::create_directories(config.state_dir);
  return config;
}

/// Two small public cases, a hidden one, and one that only a GPU can run.
inline Job vector_add(JobKind kind, const std::string& source) {
  static int count = 0;
  Job job;
  job.id = "job_test" + std::to_string(++count);
  job.kind = kind;
  job.operator_name = "vector_add";
  job.operator_dir = std::string(ASSAY_SOURCE_DIR) + "/operators/standard/vector_add";
  job.entry = "vector_add";
  job.source = source;
  job.cases = {{.id = "small", .hidden = false, .interpreter = true, .axes = {{"n", 4097}}, .dtype = "float32", .distribution = "normal"},
               {.id = "large", .hidden = false, .interpreter = false, .axes = {{"n", 8388608}}, .dtype = "float32", .distribution = "normal"},
               {.id = "hidden_small", .hidden = true, .interpreter = true, .axes = {{"n", 12289}}, .dtype = "float32", .distribution = "cancellation"}};
  return job;
}

inline std::string oracle() { return read_text(std::string(ASSAY_SOURCE_DIR) + "/operators/standard/vector_add/oracle.py"); }

}  // namespace assay::sandbox::testing
