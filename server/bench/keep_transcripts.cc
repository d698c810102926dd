#include "server/bench/keep_transcripts.h"

#include <system_error>

#include "server/bench/run.h"

namespace assay::bench {

Result<KeptTranscripts> keep_transcripts(server::Store& store, const RecordedBench& bench,
                                         const Clock& clock,
                                         const transcripts::TranscriptLimits& limits) {
  const transcripts::Redactor redactor = transcripts::Redactor::of_environment();
  KeptTranscripts result;
  for (const auto& [sample, run] : bench.journal.runs) {
    for (const std::string& name : run.operators) {
      const std::filesystem::path file = transcript_path(bench.directory, sample, name);
      std::error_code error;
      const bool is_there = std::filesystem::exists(file, error);
      if (!is_there && !error) continue;  // the attempt has not begun
      const auto transcript = transcripts::read_bench_transcript(file, redactor, limits);
      if (!transcript) {
        result.refused.push_back(transcript.error().message);
        continue;
      }
      ASSAY_RETURN_IF_ERROR(store.put_transcript(
          run.run, name, transcripts::transcript_text(*transcript), clock.unix_ms()));
      ++result.kept;
    }
  }
  return result;
}

}  // namespace assay::bench
