#include "server/bench/keep_transcripts.h"

#include <system_error>

#include "server/bench/run.h"

namespace assay::bench {

Result<std::size_t> keep_transcripts(server::Store& store, const RecordedBench& bench,
                                     const Clock& clock,
                                     const transcripts::TranscriptLimits& limits) {
  const transcripts::Redactor redactor = transcripts::Redactor::of_environment();
  std::size_t kept = 0;
  for (const auto& [sample, run] : bench.journal.runs) {
    for (const std::string& name : run.operators) {
      const std::filesystem::path file = transcript_path(bench.directory, sample, name);
      std::error_code error;
      if (!std::filesystem::exists(file, error)) continue;  // the attempt has not begun
      ASSAY_TRY(transcript, transcripts::read_bench_transcript(file, redactor, limits));
      ASSAY_RETURN_IF_ERROR(store.put_transcript(
          run.run, name, transcripts::transcript_text(transcript), clock.unix_ms()));
      ++kept;
    }
  }
  return kept;
}

}  // namespace assay::bench
