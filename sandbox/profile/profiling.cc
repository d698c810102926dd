#include "sandbox/profile/profiling.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/text.h"
#include "sandbox/profile/diagnosis.h"
#include "sandbox/profile/listing.h"
#include "sandbox/profile/sass.h"
#include "sandbox/profile/targets.h"

namespace assay::sandbox {
namespace {

// The maximum numbers of entries in a verdict's profile. The artifacts contain the whole listings
// of the kernels in the profile.
constexpr std::size_t kKeptKernels = 6;
constexpr std::size_t kArtifactNameBytes = 1'024;  // of a kernel, in the name of its listing
constexpr std::size_t kKeptOpcodes = 6, kKeptOpcodesInDetail = kMaxDigestOpcodes;
constexpr std::size_t kKeptLines = 2, kKeptLinesInDetail = 10;

constexpr std::int64_t kWideBytes = 16;  // the number of bytes that a thread's widest load moves

ProfileDetail detail_of(const Job& job) { return job.detail.value_or(ProfileDetail::summary); }

/// Returns the listings of the subject's kernels. If they cannot be created, writes the reason into
/// the profile.
std::vector<Artifact> listings_of(JobExecution& run, Recorder& recorder,
                                  const ProfileSubject& subject, Profile& profile) {
  if (subject.target.starts_with("hip:")) {
    std::vector<Artifact> text;
    std::copy_if(subject.assembly.begin(), subject.assembly.end(), std::back_inserter(text),
                 [](const Artifact& one) { return one.kind == "amdgcn"; });
    if (text.empty())
      profile.missing["code"] =
          "there is no assembly; for HIP C++ it needs ROCm's library libamd_comgr, and stderr says "
          "what failed";
    return text;
  }
  if (subject.plan.empty()) {
    profile.missing["code"] = "there is no launch plan, so there are no binaries to disassemble";
    return {};
  }
  Result<std::vector<Artifact>> made = recorder.disassemble(run, subject.target, subject.plan);
  if (made) return std::move(*made);
  profile.missing["code"] = made.error().message;
  return {};
}

void keep_listing(Verdict& verdict, ProfileDetail detail, const Artifact& listing,
                  const CodeDigest& digest, const Job& job) {
  // The name of an artifact has a limit, also where a worker sends it.
  const std::string name = cut_end(digest.kernel, kArtifactNameBytes) + " " + digest.target;
  if (detail == ProfileDetail::sass) verdict.artifacts.push_back({"sass", name, listing.bytes});
  if (detail == ProfileDetail::source)
    verdict.artifacts.push_back({"source", name, annotated_source(job.source, digest)});
}

void shorten(CodeDigest& digest, ProfileDetail detail) {
  const std::size_t opcodes = detail == ProfileDetail::sass ? kKeptOpcodesInDetail : kKeptOpcodes;
  const std::size_t lines = detail == ProfileDetail::source ? kKeptLinesInDetail : kKeptLines;
  if (digest.opcodes.size() > opcodes) digest.opcodes.resize(opcodes);
  if (digest.lines.size() > lines) digest.lines.resize(lines);
}

std::vector<CodeDigest> digest_listings(JobExecution& run, Recorder& recorder,
                                        const ProfileSubject& subject, Profile& profile) {
  std::vector<CodeDigest> digests;
  std::set<std::string> seen;
  for (const Artifact& listing : listings_of(run, recorder, subject, profile)) {
    const auto reported =
        std::find_if(subject.kernels.begin(), subject.kernels.end(), [&](const KernelReport& one) {
          return (one.symbol.empty() ? one.name : one.symbol) == listing.name;
        });
    if (reported == subject.kernels.end() || digests.size() >= kKeptKernels ||
        !seen.insert(listing.name).second)
      continue;
    CodeDigest digest =
        digest_code(listing.bytes,
                    {.kernel = listing.name, .target = subject.target, .source = run.job().source});
    if (digest.instructions == 0) {
      profile.missing["code"] = "the listing has no instructions: " + listing.bytes.substr(0, 200);
      continue;
    }
    digest.kernel = reported->name;
    keep_listing(run.verdict(), profile.detail, listing, digest, run.job());
    digests.push_back(std::move(digest));
  }
  return digests;
}

void add_times(Roofline& roof, const CaseRecord* record, std::optional<Baseline> baseline) {
  if (record == nullptr || !record->latency || record->latency->median_ns <= 0) return;
  roof.latency_ns = record->latency->median_ns;
  if (record->baseline_latency && baseline == Baseline::oracle)
    roof.oracle_ns = record->baseline_latency->median_ns;
  roof.share = roof.floor_ns / *roof.latency_ns;
}

}  // namespace

std::int64_t unaligned_row_bytes(const Argument& argument) {
  const std::size_t digits = argument.dtype.find_first_of("123456789");
  if (!argument.is_tensor || argument.shape.size() != argument.strides.size()) return 0;
  // The first number in a dtype's name is the number of bits, as in "float8_e4m3fn". Only the name
  // "bool" contains no number. An element of that dtype has one byte.
  const std::int64_t item_bytes =
      digits == std::string::npos ? 1 : std::max(std::atoi(argument.dtype.c_str() + digits) / 8, 1);
  for (std::size_t i = 0; i < argument.shape.size(); ++i) {
    const std::int64_t bytes = argument.strides[i] * item_bytes;
    if (argument.shape[i] > 1 && argument.strides[i] > 1 && bytes % kWideBytes != 0) return bytes;
  }
  return 0;
}

std::string profile_target(const Job& job, const std::string& own) {
  return job.targets.empty() ? own : job.targets.front();
}

ProfileSubject subject_of(const std::string& target, const CaseRequest& request,
                          const PreparedCase& prepared, const CandidateResults& recorded) {
  ProfileSubject subject;
  subject.target = target;
  if (!recorded.cases.empty()) subject.plan = recorded.cases.front().plan;
  subject.assembly = recorded.artifacts;
  subject.request = &request;
  subject.cost_bytes = prepared.cost_bytes;
  subject.cost_flops = prepared.cost_flops;
  subject.peaks = peaks_of_product(target, "", 0);
  for (const Argument& argument : prepared.arguments)
    subject.unaligned_row_bytes =
        std::max(subject.unaligned_row_bytes, unaligned_row_bytes(argument));
  if (const auto limits = target_limits(target)) subject.multiprocessors = limits->multiprocessors;
  return subject;
}

void add_profile(JobExecution& run, Recorder& recorder, const ProfileSubject& subject) {
  Profile profile;
  profile.case_id = subject.request->id;
  profile.target = subject.target;
  profile.device_name = subject.peaks.device_name;
  profile.detail = detail_of(run.job());
  profile.missing = subject.missing;
  profile.code = digest_listings(run, recorder, subject, profile);
  profile.roofline = roofline({subject.peaks, subject.cost_bytes, subject.cost_flops,
                               subject.request->dtype, profile.code});
  add_times(profile.roofline, subject.record, run.verdict().baseline);
  profile.counters = subject.counters;
  if (profile.detail == ProfileDetail::timeline) {
    if (subject.record == nullptr || subject.record->timeline.empty())
      profile.missing.emplace("timeline",
                              "no times of single operations: they need a GPU that timed this case "
                              "as a launch plan of few operations");
    else
      run.verdict().artifacts.push_back(
          {"timeline", profile.case_id, timeline_text(subject.record->timeline)});
  }
  if (profile.detail == ProfileDetail::counters && profile.counters.empty())
    profile.missing.emplace(
        "counters",
        "no hardware counters without a GPU; the diagnosis rests on the compiled kernels");
  if (profile.detail == ProfileDetail::sanitize && !run.verdict().sanitizer)
    profile.missing.emplace("sanitizer", "nothing was replayed: compute-sanitizer needs a GPU");
  const Finding finding =
      find_bound({profile.roofline, subject.kernels, profile.counters, subject.multiprocessors});
  profile.bound = finding.bound;
  profile.evidence = finding.evidence;
  profile.reason = finding.reason;
  const bool is_half = subject.request->dtype == "float16" || subject.request->dtype == "bfloat16";
  profile.suggestion =
      suggestion({.finding = finding,
                  .roofline = profile.roofline,
                  .kernels = subject.kernels,
                  .code = profile.code,
                  .counters = profile.counters,
                  .target = subject.target,
                  .dtype = subject.request->dtype,
                  .multiprocessors = subject.multiprocessors,
                  .unaligned_row_bytes = subject.unaligned_row_bytes,
                  .tensor_flops_per_s = is_half ? subject.peaks.float16_tensor : 0});
  for (CodeDigest& digest : profile.code) shorten(digest, profile.detail);
  run.verdict().profile = std::move(profile);
}

}  // namespace assay::sandbox
