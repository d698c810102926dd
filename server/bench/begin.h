// From the chosen pairs to a plan: each pair's journal is opened, which says what earlier parts of
// the bench did.
//
//   Result<BenchJournals> journals = open_journals(options, setup, store);
//   BenchPlan plan = make_plan(options, setup, *journals, agents_dir);
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "server/bench/journal.h"
#include "server/bench/options.h"
#include "server/bench/pairs.h"
#include "server/bench/plan.h"

namespace assay::server {

using BenchJournals = std::vector<std::unique_ptr<BenchJournal>>;

/// One for each pair. A bench of several that is resumed may have died before it began some of
/// them. Errors: those of BenchJournal::open().
Result<BenchJournals> open_journals(const BenchOptions& options, const BenchSetup& setup,
                                    const std::filesystem::path& store);

/// What it points to is in `setup` and `journals`. Tells on stderr which pairs there are, and where
/// their files lie.
BenchPlan make_plan(const BenchOptions& options, const BenchSetup& setup,
                    const BenchJournals& journals, const std::filesystem::path& agents_dir);

}  // namespace assay::server
