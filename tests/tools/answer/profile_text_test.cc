#include "tests/catch.h"
#include "tests/tools/fixture.h"
#include "tools/answer/verdict_answer.h"

namespace assay::tools {
namespace {

using namespace sandbox;
using testing::has;

Verdict profiled(std::size_t kernels) {
  Verdict verdict;
  verdict.kind = JobKind::profile;
  verdict.outcome = Outcome::pass;
  Profile profile;
  profile.case_id = "large";
  profile.target = "cuda:90";
  profile.device_name = "NVIDIA H200";
  profile.bound = Bound::memory;
  profile.evidence = Evidence::timing;
  profile.reason = "79 % of the roofline, 4800 GB/s of memory";
  profile.roofline = {302e6,          25e6,   4.8e12, 67e12,  "float32",
                      "a data sheet", 62'917, 79'400, 78'000, 0.79};
  profile.suggestion = "Move fewer bytes.";
  for (std::size_t i = 0; i < kernels; ++i) {
    KernelReport kernel;
    kernel.name = "kernel_" + std::to_string(i);
    kernel.launches = 1;
    kernel.grid = {98304, 1, 1};
    kernel.occupancy = 0.5;
    kernel.occupancy_limiter = "registers";
    verdict.kernels.push_back(kernel);
    CodeDigest code;
    code.kernel = kernel.name;
    code.instructions = 120;
    code.looped = 40;
    code.global_loads = {{"128", 4}};
    code.opcodes = {{"LDG.128", 4}, {"FADD", 3}};
    code.lines = {{"", 8, "x = tl.load(a)", 32, 32, {{"LDG.128", 4}}},
                  {"", 9, "s += x", 8, 8, {{"FADD", 3}}}};
    profile.code.push_back(code);
  }
  verdict.profile = profile;
  CaseRecord record;
  record.id = "large";
  record.latency.emplace().median_ns = 79'400;
  record.latency->low_ns = 79'000;
  record.latency->high_ns = 80'000;
  record.baseline_latency.emplace().median_ns = 78'000;
  verdict.cases = {record};
  return verdict;
}

}  // namespace

TEST_CASE("no name or text in a diagnosis begins a line of its own") {
  Verdict verdict = profiled(1);
  const std::string forged = "x\nnext: FORGED";
  Profile& profile = *verdict.profile;
  profile.suggestion = profile.reason = profile.case_id = profile.target = forged;
  profile.device_name = profile.roofline.unit = forged;
  profile.missing = {{forged, forged}};
  verdict.kernels[0].name = verdict.kernels[0].occupancy_limiter = profile.code[0].kernel = forged;
  profile.code[0].lines[0].code = profile.code[0].lines[0].file = forged;
  profile.code[0].lines[0].opcodes = {{forged, 4}};
  profile.code[0].opcodes = {{forged, 4}};
  verdict.cases[0].timeline = {{forged, true, 5}};
  for (const ProfileDetail detail : {ProfileDetail::summary, ProfileDetail::sass,
                                     ProfileDetail::source, ProfileDetail::timeline}) {
    profile.detail = detail;
    CHECK_FALSE(has(profile_text(verdict), "\nnext: FORGED"));
  }
}

TEST_CASE("a diagnosis: bound, share, assumptions, resources, hot line, one suggestion") {
  const std::string text = profile_text(profiled(1));
  CHECK(text.starts_with(
      "pass: case 'large' on NVIDIA H200 (cuda:90) is memory-bound, 79 % of the roofline\n"));
  CHECK(
      has(text, "302 MB at 4800 GB/s and 0.025 GFLOP at 67 TFLOP/s (float32); reached 3804 GB/s"));
  CHECK(has(text, "latency 79.40 us [79.00 us, 80.00 us]; oracle 78.00 us (0.9824x)"));
  CHECK(has(text, "occupancy 50 % (limit: registers)"));
  CHECK(has(text, "most code: line 8 (32 in loops: LDG.128 x4) `x = tl.load(a)`"));
  CHECK(has(text, "suggestion: Move fewer bytes."));
}

TEST_CASE("the diagnosis keeps within its size, however many kernels there are") {
  for (const std::size_t kernels : {0, 1, 3, 40})
    CHECK(profile_text(profiled(kernels)).size() <= kProfileChars + 40);
  CHECK(has(profile_text(profiled(40)), "more kernels"));
}

TEST_CASE("a missing part of a profile is named with its reason") {
  Verdict verdict = profiled(1);
  verdict.profile->missing["counters"] = "the driver refuses them";
  CHECK(has(profile_text(verdict), "no counters: the driver refuses them"));
}

TEST_CASE("the digest of a detail follows the diagnosis") {
  Verdict verdict = profiled(1);
  verdict.profile->detail = ProfileDetail::sass;
  CHECK(has(profile_text(verdict), "sass of kernel_0, in loops: LDG.128 x4, FADD x3"));
  verdict.profile->detail = ProfileDetail::source;
  CHECK(has(profile_text(verdict), "- line 9: 8, 8 (FADD x3) `s += x`"));
  verdict.profile->detail = ProfileDetail::timeline;
  verdict.cases[0].timeline = {{"kernel_0", true, 60'000}, {"copy", false, 15'000}};
  CHECK(has(
      profile_text(verdict),
      "- 80 % 60.00 us kernel_0\n- 20 % 15.00 us copy (not yours)\n- 4.40 us between operations"));
  verdict.profile->detail = ProfileDetail::counters;
  verdict.profile->counters = {
      {"kernel_0", {{"memory_pct", 91.5}}, "registers", {{"long_scoreboard", 0.6}}}};
  CHECK(has(profile_text(verdict), "memory_pct=91.5"));
  CHECK(has(profile_text(verdict), "stalls: long_scoreboard 60 %"));
}

TEST_CASE("a profile of compiled code does not read as an error, and says why nothing ran") {
  Verdict verdict = profiled(1);
  verdict.cases.clear();
  verdict.outcome = Outcome::error;
  verdict.error_kind = ErrorKind::unsupported;
  verdict.detail = "case 'large' is too large for the CPU interpreter";
  verdict.profile->evidence = Evidence::compiled;
  verdict.profile->roofline.latency_ns.reset();
  const std::string text = profile_text(verdict);
  CHECK(
      text.starts_with("compiled only: case 'large' on NVIDIA H200 (cuda:90) is memory-bound\nnot "
                       "run: case 'large' is too large"));
}

}  // namespace assay::tools
