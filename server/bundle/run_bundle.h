// A RunBundle is one run with its sources, launch plans, verdicts, transcripts and environment, in
// one signed file. Whoever has measured a run sends the file to others, who can judge the sources
// again. A verdict in a bundle is a public verdict, so a bundle contains nothing about hidden
// cases. The format is assay.run/1 (docs/reference/run-bundle.md).
//
//   ASSAY_TRY(file, write_bundle(run, key));
//   ASSAY_TRY(claimed, read_bundle(file));
//   show(claimed.run.request.model, claimed.fingerprint);
//
// A bundle is untrusted: read_bundle() accepts any bytes, and what it returns is only a claim. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "server/bundle/envelope.h"
#include "server/transcripts/transcript.h"
#include "tools/model/services.h"

namespace assay::bundle {

inline constexpr const char* kPayloadFormat = "assay.run/1";
inline constexpr const char* kPayloadType = "application/vnd.assay.run+json";

/// Limits of a bundle. read_bundle() refuses a bundle beyond them.
struct BundleLimits {
  std::size_t jobs = 20'000;
  std::size_t operators = 2'000;
  std::size_t name_bytes = 512;                   // of the names of an agent, a model, a suite, ...
  std::size_t source_bytes = 1U << 20;            // of one source
  std::size_t plan_bytes = 4U << 20;              // of one plan; larger plans are left out
  std::size_t all_plan_bytes = 8U << 20;          // of all plans; further plans are left out
  std::size_t all_transcript_bytes = 16U << 20;   // of all transcripts; further ones are left out
  transcripts::TranscriptLimits transcript = {};  // of one transcript
  int depth = 24;                                 // levels of JSON
};

struct BundledJob {
  std::string job, operator_name, device, language;
  sandbox::JobKind kind = sandbox::JobKind::test;
  tools::JobState state = tools::JobState::finished;
  std::string source;
  std::int64_t queued_unix_ms = 0, finished_unix_ms = 0;
  sandbox::Verdict verdict;
  std::map<std::string, std::string> plans = {};  // the bytes of launch plans, by "CASE TARGET"
};

struct RunBundle {
  std::string assay;  // the version of Assay that wrote the bundle
  tools::RunInfo run;
  tools::Usage usage;
  std::vector<std::string> devices;  // the names of the devices that judged the jobs
  std::vector<BundledJob> jobs;      // the finished jobs by operator, in the order of acceptance
  std::map<std::string, transcripts::Transcript> transcripts = {};  // by operator
  std::string fingerprint = {};  // of the key that signed the bundle; set by read_bundle()
};

/// Returns the signed file. The verdicts must be public verdicts. Errors: those of seal().
Result<std::string> write_bundle(const RunBundle& bundle, const SigningKey& key);

/// Checks the signature and every member, and returns the claims. Errors: those of
/// open_envelope(); corrupt if a member is missing, has another type or contradicts another one;
/// resource_exhausted if a limit is exceeded.
Result<RunBundle> read_bundle(std::string_view file, const BundleLimits& limits = {});

/// Reads the payload of a bundle. read_bundle() calls it, and the fuzzer.
Result<RunBundle> parse_payload(std::string_view payload, const BundleLimits& limits = {});
/// Returns the payload of a bundle.
std::string payload_of(const RunBundle& bundle);

}  // namespace assay::bundle
