// ScriptInput is the input of a Python script that does the rest of a command: an unlinked
// temporary file with one JSON document in each line. run_export_script() replaces this process
// with the script, so the script's exit status is the exit status of the command.
//
//   Result<ScriptInput> input = ScriptInput::make();
//   if (input && input->add({{"job", "job_1"}}))
//     return run_export_script("export dataset", paths, "importers/dataset/export_dataset.py",
//                              std::move(*input), {"--out", "data"});
//   return 1;
//
// Not thread-safe.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/app/workspace.h"

namespace assay::server {

class ScriptInput {
 public:
  /// Error: unavailable if no temporary file can be made.
  static Result<ScriptInput> make();
  /// Adds a line. Error: unavailable if it cannot be written, for example because the disk is full.
  Status add(const nlohmann::json& document);
  /// Writes what is buffered. Returns the path by which this process and what it executes read the
  /// lines from their beginning. Error: unavailable.
  Result<std::string> path();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit ScriptInput(std::FILE* file) : file_(file) {}
  std::unique_ptr<std::FILE, Close> file_;
};

/// Replaces this process with the script, which gets `--input PATH` and then `words`. Returns only
/// after an error, which is printed with the name of `command`.
int run_export_script(const std::string& command, const Paths& paths, const std::string& script,
                      ScriptInput input, const std::vector<std::string>& words);

}  // namespace assay::server
