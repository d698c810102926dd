// Reads the messages of the judge.
#include <atomic>
#include <cstdint>
#include <limits>

#include "base/text.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/wrong_messages.h"
#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxCases = 1'024;
constexpr std::size_t kMaxChecks = 65'536;

PreparedCase read_case(const json& object, HeaderReader& outer, std::size_t fds) {
  HeaderReader in(object, "a prepared case");
  PreparedCase one;
  one.id = in.text("id");
  one.seed = in.text("seed");
  one.fixed = in.flag("fixed");
  one.arguments = read_arguments(in, "arguments");
  for (const Argument& argument : one.arguments) {
    if (argument.fd && (*argument.fd < 0 || static_cast<std::size_t>(*argument.fd) >= fds))
      in.reject("an argument names a descriptor that did not come");
  }
  one.structural = in.texts("structural", kMaxArguments);
  one.inout = in.texts("inout", kMaxArguments);
  if (const json* axes = in.optional_object("axes"); axes != nullptr) {
    HeaderReader from(*axes, "the axes of a case");
    for (const auto& [name, extent] : axes->items())
      one.axes[name] = from.integer(name.c_str(), 0, kHighestInteger);
    in.merge(from);
  }
  for (const json& entry : in.list("outputs", kMaxArguments)) {
    HeaderReader from(entry, "a prepared output");
    PreparedOutput output;
    output.name = from.text("name");
    output.dtype = from.text("dtype");
    output.shape = from.integers("shape", kMaxTensorRank);
    output.nbytes = from.integer("nbytes", 0, kHighestInteger);
    output.from = from.optional_text("from");
    in.merge(from);
    one.outputs.push_back(std::move(output));
  }
  one.output_bytes = in.integer("output_bytes", 0, kHighestInteger);
  if (const json* device = in.optional_object("device"); device != nullptr) {
    HeaderReader from(*device, "the device memory of a case");
    one.device.emplace();
    one.device->output_offset = from.integer("output_offset", 0, kHighestInteger);
    for (const json& entry : from.list("inputs", kMaxArguments)) {
      HeaderReader place(entry, "a place in device memory");
      one.device->inputs[place.text("name")] = place.integer("offset", 0, kHighestInteger);
      from.merge(place);
    }
    for (const Argument& argument : one.arguments) {
      if (argument.is_tensor && !one.device->inputs.contains(argument.name))
        from.reject("argument '" + argument.name + "' has no place");
    }
    in.merge(from);
  }
  if (const json* cost = in.optional_object("cost"); cost != nullptr) {
    HeaderReader from(*cost, "the cost of a case");
    one.cost_bytes = from.number("bytes");
    one.cost_flops = from.number("flops");
    in.merge(from);
  }
  one.is_layout = in.flag("layout");
  outer.merge(in);
  return one;
}

Compared read_compared(HeaderReader& in) {
  Compared compared;
  const bool ok = in.flag("ok");
  const std::optional<ErrorKind> kind = error_kind_from(in.text("kind"));
  if (!kind || (*kind != ErrorKind::none && *kind != ErrorKind::wrong_result &&
                *kind != ErrorKind::output_mismatch))
    in.reject("`kind` is none, wrong_result or output_mismatch");
  compared.kind = kind.value_or(ErrorKind::wrong_result);
  if (ok != (compared.kind == ErrorKind::none)) in.reject("`ok` and `kind` disagree");
  CaseRecord& record = compared.record;
  record.id = in.text("case");
  record.outcome = ok ? Outcome::pass : Outcome::fail;
  record.reason = in.optional_text("reason");
  record.max_abs_error = in.optional_number("max_abs_error");
  record.float64_error = in.optional_number("float64_error");
  record.strict_pass = in.optional_flag("strict_pass");
  record.elements = in.integer("elements", 0, kHighestInteger);
  record.mismatches = in.integer("mismatches", 0, kHighestInteger);
  if (const json* first = in.optional_object("first_mismatch"); first != nullptr) {
    HeaderReader from(*first, "first_mismatch");
    record.first_mismatch =
        Mismatch{from.text("output"), from.integers("index", kMaxTensorRank),
                 from.number("expected"), from.number("actual"), from.flag("unstored")};
    in.merge(from);
  }
  record.wrong = read_wrong_outputs(in);
  record.reason += wrong_text(record.wrong);
  return compared;
}

/// Reads a timing. Returns nothing if the timing has no samples.
std::optional<Timing> read_timing(HeaderReader& in) {
  Timing timing;
  timing.samples_ns = in.numbers("samples_ns", kMaxSamples);
  if (timing.samples_ns.empty()) return std::nullopt;
  timing.median_ns = in.number("median_ns");
  timing.low_ns = in.number("low_ns");
  timing.high_ns = in.number("high_ns");
  return timing;
}

}  // namespace

Result<JudgeReady> parse_judge_ready(const Frame& frame) {
  if (Status type = expect_type(frame, "ready"); !type) return fail(type.error());
  HeaderReader in(frame.header, "ready");
  JudgeReady ready{in.text("torch"), in.text("device_name")};
  if (Status read = in.status(); !read) return fail(read.error());
  return ready;
}

namespace {

std::uint64_t next_memory_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Result<Prepared> parse_cases(const Frame& frame, const char* type) {
  if (Status expected = expect_type(frame, type); !expected) return fail(expected.error());
  HeaderReader in(frame.header, type);
  Prepared prepared;
  if (const json* device = in.optional_object("device"); device != nullptr) {
    HeaderReader from(*device, "the device memory");
    prepared.device =
        DeviceMemory{from.integer("fd", 0, static_cast<std::int64_t>(frame.fds.size()) - 1),
                     from.integer("bytes", 1, kHighestInteger), next_memory_id()};
    in.merge(from);
  }
  for (const json& entry : in.list("cases", kMaxCases)) {
    prepared.cases.push_back(read_case(entry, in, frame.fds.size()));
    if (!has_memory(prepared.cases.back(), prepared.device.has_value()))
      in.reject("a case has no memory for its tensors");
  }
  if (Status read = in.status(); !read) return fail(read.error());
  return prepared;
}

}  // namespace

Result<Prepared> parse_prepared(const Frame& frame) { return parse_cases(frame, "prepared"); }

Result<Prepared> parse_described(const Frame& frame) { return parse_cases(frame, "described"); }

Result<Compared> parse_compared(const Frame& frame) {
  if (Status type = expect_type(frame, "compared"); !type) return fail(type.error());
  HeaderReader in(frame.header, "compared");
  Compared compared = read_compared(in);
  if (Status read = in.status(); !read) return fail(read.error());
  return compared;
}

Result<HostJudged> parse_host_judged(const Frame& frame) {
  if (Status type = expect_type(frame, "host_judged"); !type) return fail(type.error());
  HeaderReader in(frame.header, "host_judged");
  HostJudged judged;
  const std::string broken = in.optional_text("broken");
  if (broken.empty()) {
    judged.compared = read_compared(in);
    judged.timing = read_timing(in);
    judged.seed = in.text("seed");
    judged.unattributed = in.optional_text("unattributed");
    judged.needs_no_kernel = in.optional_flag("needs_no_kernel").value_or(false);
  } else {
    judged.message = in.text("message");
    judged.others_bytes = in.optional_integer("others_bytes").value_or(0);
    using Broken = HostJudged::Broken;
    judged.broken = broken == "ended"    ? Broken::ended
                    : broken == "late"   ? Broken::late
                    : broken == "memory" ? Broken::memory
                                         : Broken::protocol;
  }
  if (Status read = in.status(); !read) return fail(read.error());
  return judged;
}

Result<Attributed> parse_attributed(const Frame& frame) {
  if (Status type = expect_type(frame, "attributed"); !type) return fail(type.error());
  HeaderReader in(frame.header, "attributed");
  Attributed attributed{in.flag("ok"), in.text("reason")};
  if (attributed.ok != attributed.reason.empty()) in.reject("`ok` and `reason` disagree");
  if (Status read = in.status(); !read) return fail(read.error());
  return attributed;
}

Result<std::vector<double>> parse_timed_reference(const Frame& frame) {
  if (Status type = expect_type(frame, "timed_reference"); !type) return fail(type.error());
  HeaderReader in(frame.header, "timed_reference");
  std::optional<Timing> timing = read_timing(in);
  if (!timing) in.reject("`samples_ns` is empty");
  if (Status read = in.status(); !read) return fail(read.error());
  return std::move(timing->samples_ns);
}

Result<CompiledTime> parse_timed_compiled(const Frame& frame) {
  if (Status type = expect_type(frame, "timed_compiled"); !type) return fail(type.error());
  HeaderReader in(frame.header, "timed_compiled");
  const std::string reason = in.optional_text("unsupported");
  CompiledTime timed{.case_id = in.text("case"),
                     .ns = in.optional_number("ns"),
                     .unsupported = escape_text(reason.substr(0, reason.find('\n')))};
  if (timed.ns.has_value() == !timed.unsupported.empty())
    in.reject("wants either `ns` or `unsupported`");
  if (Status read = in.status(); !read) return fail(read.error());
  return timed;
}

Result<std::string> parse_refreshed(const Frame& frame) {
  if (Status type = expect_type(frame, "refreshed"); !type) return fail(type.error());
  HeaderReader in(frame.header, "refreshed");
  std::string seed = in.optional_text("seed");
  if (Status read = in.status(); !read) return fail(read.error());
  return seed;
}

Result<bool> parse_was_set_aside(const Frame& frame) {
  if (Status type = expect_type(frame, "was_set_aside"); !type) return fail(type.error());
  HeaderReader in(frame.header, "was_set_aside");
  const bool kept = in.flag("kept");
  if (Status read = in.status(); !read) return fail(read.error());
  return kept;
}

Error parse_judge_error(const Frame& frame) {
  HeaderReader in(frame.header, "judge_error");
  const std::string reason = in.optional_text("reason");
  const ErrorCode code = reason == "context_lost"  ? ErrorCode::unavailable
                         : reason == "no_memory"   ? ErrorCode::resource_exhausted
                         : reason == "unknown_job" ? ErrorCode::not_found
                         : reason == "needs_gpu"   ? ErrorCode::unsupported
                         : reason == "reference"   ? ErrorCode::reference
                                                   : ErrorCode::internal;
  return {.code = code, .message = in.optional_text("message")};
}

Status parse_referenced(const Frame& frame) { return expect_type(frame, "referenced"); }

Status parse_settled(const Frame& frame) { return expect_type(frame, "settled"); }

Result<DeviceRoom> parse_freed(const Frame& frame) {
  if (Status type = expect_type(frame, "freed"); !type) return fail(type.error());
  HeaderReader in(frame.header, "freed");
  DeviceRoom room{.total_bytes = in.optional_integer("total_bytes").value_or(0),
                  .own_bytes = in.optional_integer("own_bytes").value_or(0),
                  .others_bytes = in.optional_integer("others_bytes").value_or(0),
                  .others_before_bytes = in.optional_integer("others_before_bytes").value_or(0)};
  if (Status read = in.status(); !read) return fail(read.error());
  return room;
}

Result<std::vector<LintCheck>> parse_linted(const Frame& frame) {
  if (Status type = expect_type(frame, "linted"); !type) return fail(type.error());
  HeaderReader in(frame.header, "linted");
  std::vector<LintCheck> checks;
  for (const json& entry : in.list("checks", kMaxChecks)) {
    HeaderReader from(entry, "a check");
    LintCheck check;
    check.case_id = from.optional_text("case");
    check.check = from.text("check");
    check.detail = from.optional_text("detail");
    check.ok = from.flag("ok");
    check.mutant = from.flag("mutant");
    in.merge(from);
    checks.push_back(std::move(check));
  }
  if (Status read = in.status(); !read) return fail(read.error());
  return checks;
}

bool answers(const Frame& frame, const std::string& job, const std::string& case_id) {
  HeaderReader in(frame.header, "reply");
  if (in.optional_text("job") != job) return false;
  return case_id.empty() || frame.type() == "judge_error" || in.optional_text("case") == case_id;
}

}  // namespace assay::sandbox
