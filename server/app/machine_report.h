// Writes the report of `assay doctor --report`: what a machine has and can do, in one JSON file
// that a person can send. The part that Assay writes has no source code, no key and no name of a
// person: `~` stands for home folders. Files of results are copied as they are.
//
//   const Status written = write_machine_report("report.json", facts, {"oracles.json"});
//
// The functions keep no state.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/jail/amd_nodes.h"

namespace assay::server {

inline constexpr const char* kMachineReportFormat = "assay.machine-report/1";
inline constexpr std::size_t kMaxResultBytes = 64 << 20;  // of one file of results

/// Returns what the kernel driver says about AMD's GPUs, and the values of the variables that
/// choose GPUs.
nlohmann::json amd_json(const sandbox::AmdMachine& machine);

/// Replaces each path of a home folder in the text by `~`: a folder in /home or /Users, wherever
/// these are mounted, and the folders of `homes`.
std::string without_homes(std::string text, const std::vector<std::string>& homes);

/// Writes the report to `path`, with `~` for home folders in all but the files of results: `doctor`
/// is the answer of `assay doctor --json`, and each file of `results` is a JSON file that a
/// measurement wrote. Errors: not_found or io with the path; invalid_argument if a file of results
/// is no JSON object or has more than kMaxResultBytes.
Status write_machine_report(const std::string& path, const nlohmann::json& doctor,
                            const std::vector<std::string>& results);

}  // namespace assay::server
