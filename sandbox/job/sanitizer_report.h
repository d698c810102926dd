// Defines SanitizerReport: the findings of NVIDIA Compute Sanitizer in the launches of one case. A
// report is part of a Verdict. This file contains plain structs and one pure function.
//
//   if (verdict.sanitizer && !verdict.sanitizer->findings.empty())
//     show(finding_text(verdict.sanitizer->findings.front()));
//
// Names of kernels and files come from the submission's binaries. They are only shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

/// The source position of an instruction.
struct SanitizerPlace {
  std::string kernel;
  std::string file;       // the last two parts of a library's path; empty for the submission
  std::int64_t line = 0;  // from 1; 0 if the binary has no line for the instruction
  std::string code;       // text of the line, if the line is in the submission
};

struct SanitizerFinding {
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string text;                    // the sanitizer's description, in one line
  std::vector<SanitizerPlace> places;  // for a race, both accesses; the submission's places first
  std::string address;                 // in hexadecimal; empty if the finding has no address
  std::vector<std::int64_t> thread;    // x, y, z in the block; empty if it is not known
  std::vector<std::int64_t> block;     // x, y, z in the grid; empty if it is not known
};

struct SanitizerReport {
  std::string case_id;
  std::vector<SanitizerTool> tools;        // the tools that ran to their end
  std::vector<SanitizerFinding> findings;  // the first few
  std::int64_t total = 0;                  // number of findings, up to kMaxSanitizerRecords
};

/// Returns one sentence about a finding: the tool, its description, kernel, line, address, thread
/// and block. The text is not escaped.
std::string finding_text(const SanitizerFinding& finding);

}  // namespace assay::sandbox
