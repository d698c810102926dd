// Reads a file with verdicts that were judged elsewhere, and writes them into a store as runs, from
// which reports and sites are made. The file has names of operators and kinds of errors, and no
// sources. Its format is assay.verdicts/1 (docs/reference/verdict-files.md). Each run is marked
// with the file's provenance, and its suite has no digest, so it is never ranked together with runs
// that a server judged.
//
//   ASSAY_TRY(file, parse_verdict_file(text));
//   ASSAY_TRY(store, server::Store::open(path, server::StoreMode::read_write));
//   ASSAY_TRY(runs, import_verdicts(*store, file, {"gpt-4o"}));
//   std::printf("%zu runs\n", runs);
//
// A file is untrusted: parse_verdict_file() accepts any bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "server/store/store.h"
#include "tools/model/tracks.h"

namespace assay::imports {

inline constexpr const char* kVerdictFormat = "assay.verdicts/1";

/// Limits of a file. docs/reference/verdict-files.md describes them.
struct VerdictFileLimits {
  std::size_t file_bytes = 64U << 20;
  std::size_t operators = 10'000;
  std::size_t runs = 1'000;
  std::size_t name_bytes = 512;          // of a name
  std::size_t provenance_bytes = 2'000;  // of the sentence that says where the verdicts are from
  int depth = 8;                         // levels of JSON
};

struct FileVerdict {
  std::size_t operator_index = 0;
  bool is_judged = false;  // false: there was a submission without a verdict
  sandbox::ErrorKind error_kind = sandbox::ErrorKind::none;
  sandbox::Stage stage = sandbox::Stage::done;
  sandbox::Tier tier = sandbox::Tier::none;
};

struct FileRun {
  std::string agent, model;
  std::vector<FileVerdict> verdicts;  // at most one for each operator
};

struct VerdictFile {
  std::string sha256;  // of the file's text
  std::string provenance, suite_name, suite_version, device, device_name, triton, torch;
  tools::Track track = tools::Track::one_shot;
  std::int64_t judged_unix_ms = 0;
  std::vector<std::string> operators;
  std::vector<FileRun> runs;
};

/// Errors: corrupt if a member is missing, has another type or contradicts another one;
/// resource_exhausted if a limit is exceeded.
Result<VerdictFile> parse_verdict_file(std::string_view text, const VerdictFileLimits& limits = {});

/// Writes the runs into the store, all or none, and returns their number. `models` names the models
/// whose runs are written; empty: all. Errors: not_found if a model is not in the file;
/// invalid_argument if one of the runs was imported before; the errors of the store.
Result<std::size_t> import_verdicts(server::Store& store, const VerdictFile& file,
                                    const std::vector<std::string>& models);

}  // namespace assay::imports
