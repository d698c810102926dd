// Defines a verdict for tests in which every field differs from its default. The ids of its hidden
// cases are in kHiddenIds. Every field about a hidden case contains "secret", "888" or "31337".
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::testing {

inline const std::vector<std::string> kHiddenIds = {"secret_tail", "secret_half"};

inline sandbox::Verdict full_verdict() {
  using namespace sandbox;
  Verdict v;
  v.job = "job_1";
  v.kind = JobKind::grade;
  v.operator_name = "vector_add";
  v.language = "cuda";
  v.outcome = Outcome::fail;
  v.error_kind = ErrorKind::wrong_result;
  v.stage = Stage::judge;
  v.summary = "fail (wrong_result): 2 of 2 cases wrong";
  v.detail = "more";
  v.diagnostic = Diagnostic{.exception = "ValueError",
                            .message = "no",
                            .line = 14,
                            .code = "tl.load(x)",
                            .traceback = "line 14",
                            .subject = "n888888",
                            .advice = "write n888888"};
  CaseRecord shown;
  shown.id = "small";
  shown.outcome = Outcome::fail;
  shown.reason = "wrong";
  shown.max_abs_error = std::numeric_limits<double>::infinity();
  shown.float64_error = 0.5;
  shown.strict_pass = false;
  shown.elements = 4097;
  shown.mismatches = 17;
  shown.first_mismatch = Mismatch{.output = "z",
                                  .index = {3, 4},
                                  .expected = 1.5,
                                  .actual = -std::numeric_limits<double>::infinity(),
                                  .unstored = true};
  WrongOutput wrong;
  wrong.output = "z";
  wrong.shape = {7, 333};
  wrong.elements = 2331;
  wrong.allowed = 0.01;
  wrong.scale = 100;
  wrong.all = {.count = 17, .share = 0.5, .spans = {{1, 332, 332, 1, 0}}};
  wrong.unstored = {.count = 7, .share = 1, .spans = {{kFlat, 3, 99, 2, 8}}};
  wrong.nan = {.count = 1, .share = 0.25, .spans = {}};
  wrong.memory = -1;
  wrong.constant = 1.25;
  wrong.ratio = 2.5;
  wrong.offset = -3.5;
  wrong.row_ratios = {0.5, 0.75};
  wrong.worst = {{.index = {1, 2}, .expected = 4, .actual = 5, .inputs = {{"x", 6}}}};
  shown.wrong = {wrong};
  shown.modified = "x";
  shown.latency =
      Timing{.median_ns = 100, .low_ns = 99, .high_ns = 101, .samples_ns = {99, 100, 101}};
  shown.baseline_latency =
      Timing{.median_ns = 120, .low_ns = 119, .high_ns = 121, .samples_ns = {120}};
  shown.pytorch_ns = 140;
  shown.torch_compile_ns = 130;
  shown.torch_compile_unsupported = "no time";
  shown.floor_ns = 90;
  shown.timeline = {{"k", true, 12.5}, {"copy", false, 2.5}};
  shown.own_share = 0.8;
  shown.deterministic = false;
  shown.cost_bytes = 49164;
  shown.cost_flops = 4097;
  CaseRecord hidden = shown;
  hidden.id = "secret_tail";
  hidden.hidden = true;
  hidden.reason = "max abs error 31337.5";
  hidden.first_mismatch->expected = 31337.5;
  hidden.wrong[0].worst[0].expected = 31337.5;
  hidden.elements = 888888;
  v.cases = {shown, hidden};
  v.skipped_cases = {
      {{"large", "secret_half"}, 2, SkipReason::too_large, "too large for the interpreter"},
      {{"secret_tail"}, 0, SkipReason::other, "needs a GPU"}};
  KernelReport kernel;
  kernel.name = "add";
  kernel.target = "cuda:90";
  kernel.num_warps = 4;
  kernel.registers = 32;
  kernel.spill_bytes = 8;
  kernel.shared_bytes = 16;
  kernel.binary_bytes = 1000;
  kernel.occupancy = 0.5;
  kernel.occupancy_limiter = "registers";
  kernel.grid = {888, 1, 1};
  kernel.launches = 2;
  kernel.gpu_time_share = 0.9;
  v.kernels = {kernel};
  v.hints = {{HintKind::would_be_slow, "small", "would be slow: one program"},
             {HintKind::spills, "secret_tail", "spills 888888 bytes"}};
  v.artifacts = {{"plan", "small", std::string("\0\x01\xff\n", 4)}};
  v.artifacts_dropped = {{"plan", "secret_tail", 888888, DropReason::store_quota}};
  v.stdout_text = "n = 888888";
  v.stderr_text = "888888";
  v.tier = Tier::interpreter;
  v.tier_reason = "no GPU";
  Profile profile;
  profile.case_id = "small";
  profile.target = "cuda:90";
  profile.device_name = "NVIDIA H200";
  profile.detail = ProfileDetail::sass;
  profile.evidence = Evidence::counters;
  profile.bound = Bound::compute;
  profile.reason = "85 %";
  profile.roofline = {1, 2, 3, 4, "float32", "a data sheet", 5, 6, 7, 0.8};
  profile.suggestion = "less";
  profile.code = {{"add",
                   "cuda:90",
                   9,
                   8,
                   7,
                   "tf32 tensor",
                   6,
                   5,
                   {{"128", 4}},
                   {{"64", 3}},
                   {{"32", 2}},
                   {{"16", 1}},
                   {{"HMMA", 7}},
                   {{"standard.py", 3, "x", 2, 1, {{"FADD", 1}}}}}};
  profile.counters = {{"add", {{"sm_pct", 85}}, "registers", {{"barrier", 0.5}}}};
  profile.missing = {{"timeline", "no GPU"}};
  v.profile = profile;
  v.sanitizer = {.case_id = "secret_tail",
                 .tools = {SanitizerTool::memcheck},
                 .findings = {{.tool = SanitizerTool::memcheck,
                               .text = "888888",
                               .places = {{"k888888", "f", 3, "x"}},
                               .address = "0x888888",
                               .thread = {888888, 0, 0},
                               .block = {1, 2, 3}}},
                 .total = 888888};
  v.baseline = Baseline::torch_eager;
  v.perf = 1.25;
  v.stage_ms = {{"import", 1.5}};
  v.gpu_alone_ms = 2.5;
  v.launch = {.ms = {{"map", 0.5}}, .new_contexts = 1, .kept_contexts = 2};
  v.provenance = {.device = "cpu",
                  .device_name = "CPU",
                  .driver = "d",
                  .torch = "2",
                  .triton = "3",
                  .python = "3.11",
                  .assay = "0.1.0",
                  .nvrtc = "12.8",
                  .seeds = {{"small", "1"}, {"secret_tail", "2"}, {"secret_half", "3"}},
                  .missing_layers = {"cgroup"},
                  .suite_id = {"assay", "1", "0123"},
                  .operator_revision = "abc",
                  .source_sha256 = "def",
                  .plans = {{{"small", "0123"}}}};
  return v;
}

}  // namespace assay::testing
