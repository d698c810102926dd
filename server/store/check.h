// Checks whether the file of a store is whole: its pages, the references between its rows, and the
// rows that Assay derives from others. The command `assay store check` uses it. The check only
// reads, and works even while a server uses the file.
//
//   const Result<StoreCheck> check = check_store("assay.db");
//   if (check && check->problems.empty()) log::info("the store is whole");
//
// The function keeps no state. Several processes may call it at once. Errors: those of
// Store::open() with read_only, if the file cannot be checked at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// A kind of damage, and how often the store has it.
struct StoreProblem {
  enum class Kind {
    pages,       // SQLite found damaged pages or indexes
    references,  // a row refers to a row that does not exist
    sizes,     // the sizes of artifacts disagree with the artifacts, so limits are applied wrongly
    verdicts,  // a finished job has no verdict, or an unfinished job has one
  };
  Kind kind = Kind::pages;
  std::int64_t count = 0;
  std::string what;  // a sentence for people
};

struct StoreCheck {
  std::vector<StoreProblem> problems;  // empty: the store is whole
  std::int64_t jobs = 0;
  std::int64_t unfinished_jobs = 0;  // jobs that the next server runs; they are no problem
};

/// Reads the whole file. The time grows with its size.
Result<StoreCheck> check_store(const std::filesystem::path& path);

}  // namespace assay::server
