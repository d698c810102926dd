// Copies the transcripts of a bench into the store of its runs, from which sites and bundles show
// them. Only the owner of a store does so: a bench after its server has ended, and `assay import
// transcripts` for a bench that used another server.
//
//   ASSAY_TRY(store, server::Store::open(path, server::StoreMode::read_write));
//   ASSAY_TRY(journal, read_journal(directory));
//   ASSAY_TRY(kept, keep_transcripts(*store, {directory, std::move(journal)}, system_clock()));
//   std::printf("%zu transcripts, %zu left out\n", kept.kept, kept.refused.size());
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/bench/journal.h"
#include "server/store/store.h"
#include "server/transcripts/transcript.h"

namespace assay::bench {

struct KeptTranscripts {
  std::size_t kept = 0;
  std::vector<std::string> refused;  // why a file is not stored, a sentence for each; it names it
};

/// Stores the transcripts of all attempts of the bench that have one, without the secrets of this
/// process's environment. A transcript replaces an earlier one of the same attempt. A file that is
/// no transcript does not stop the others. Errors: not_found if the store has no run of the bench;
/// the errors of the store.
Result<KeptTranscripts> keep_transcripts(server::Store& store, const RecordedBench& bench,
                                         const Clock& clock,
                                         const transcripts::TranscriptLimits& limits = {});

}  // namespace assay::bench
