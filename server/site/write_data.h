// Writes the data of a site: the results of all runs of some stores, as parts that a page loads
// when it needs them. docs/reference/site-data.md describes the parts. The function reads one group
// of runs at a time, so that its memory does not grow with the number of runs. Not thread-safe.
//
//   FolderSink sink("site");
//   const DataOptions options;
//   const Result<DataSummary> written = write_data(options, stores, catalogs, sink);
//   std::printf("%zu groups\n", written->groups);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/report/model/rows.h"
#include "server/site/attempt.h"
#include "server/site/bundle.h"
#include "server/site/data_sink.h"

namespace assay::site {

/// The format of the data. It is increased when a member changes its meaning.
inline constexpr const char* kDataFormat = "assay.site/1";

/// The live server's part of the data: which snapshot the data is, and how many older runs it
/// leaves out.
struct LiveData {
  std::int64_t snapshot = 0;
  std::string revision;  // of the store
  std::size_t runs_left_out = 0;
  std::int64_t jobs_per_attempt = 100;       // the newest; more would be too much to hold in memory
  std::size_t transcript_bytes = 32U << 10;  // of each attempt, for the same reason
};

struct DataOptions {
  std::string title;
  std::string assay;                 // the version of Assay
  std::int64_t written_unix_ms = 0;  // when the data is written
  std::size_t attempts_per_part = 8'192;
  std::size_t details_part_bytes = 512U << 10;  // a part of details ends after this many bytes
  ShownSources sources = ShownSources::models;
  std::optional<LiveData> live = std::nullopt;  // set by a live server, whose data may be empty
  /// Changes the report of a group before it is written, for example to add CodeBLEU. May be null.
  std::function<Status(report::Report&)> amend = nullptr;
};

/// A store, and the runs of it that are written, or all if `runs` has no value.
struct DataStore {
  std::filesystem::path path;
  std::optional<std::vector<std::string>> runs = std::nullopt;
  /// Set if the store has the run of a bundle: the fingerprint of its key, and the checks of its
  /// submissions by job. A submission without a check is only claimed.
  std::string origin = {};
  std::map<std::string, Check> checks = {};
};

struct DataSummary {
  std::size_t runs = 0, groups = 0, attempts = 0, parts = 0;
};

/// Writes the data. The operators of a run are those of the catalog with the digest of the run's
/// suite or, if there is none, of the catalog with the suite's name. `catalogs` must not be empty;
/// runs of an unknown suite belong to the first catalog. Errors: not_found if no store has a run
/// and the data is not live, or if a run is not in its store; the errors of server::list_runs();
/// io.
Result<DataSummary> write_data(const DataOptions& options, const std::vector<DataStore>& stores,
                               const std::vector<const operators::Catalog*>& catalogs,
                               DataSink& sink);

/// Returns a page that is a single file, with the data of some runs of one store. Errors: those of
/// write_data() and page_with().
Result<std::string> page_of(const Bundle& bundle, const DataOptions& options,
                            const DataStore& store, const operators::Catalog& catalog);

}  // namespace assay::site
