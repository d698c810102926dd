#include "sandbox/wire/launch_reply.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sandbox/wire/header_reader.h"
#include "sandbox/wire/launch_request.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

namespace {

DeviceFacts facts() {
  return {.name = "NVIDIA H200",
          .target = "cuda:90",
          .cc = "9.0",
          .driver = "580.159.03 (CUDA 13.0)",
          .sms = 132,
          .l2_bytes = 50 << 20,
          .memory_bytes = 141LL << 30,
          .clock_khz = 1'980'000,
          .bandwidth_bytes_per_s = 4'800'000'000'000};
}

LauncherReady ready() {
  return {.device = facts(),
          .layers = {{.name = "seccomp", .active = true, .detail = ""},
                     {.name = "cgroup", .active = false, .detail = "no delegation"}}};
}

Launched untimed() {
  return {
      .case_id = "small",
      .outputs = {{.name = "output_0",
                   .dtype = "float32",
                   .shape = {2, 3},
                   .strides = {3, 1},
                   .offset = 256,
                   .nbytes = 24}},
      .kernels =
          {{.name = "add", .registers = 32, .local_bytes = 8, .shared_bytes = 1024, .launches = 2}},
      .choices = {"BLOCK: 128"},
      .chosen = {1},
      .modified = {"x"},
      .moves = 2,
      .reordered = true,
      .parts = {.ms = {0, 1.5, 0, 0.25}},
      .holds_memory = true};
}

Launched timed() {
  Launched launched = untimed();
  launched.modified.clear();
  launched.samples = LaunchSamples{.cold_ns = {3.5, 1.25, 2},
                                   .warm_ns = {1, 1.5},
                                   .wall_ns = {9},
                                   .overhead_ns = 2.5,
                                   .fresh_ns = {4, 5},
                                   .clock_mhz = 1980,
                                   .discarded = 1,
                                   .first_run_ns = 3.5};
  launched.inspection = Inspection{.deterministic = true,
                                   .timeline = {{.name = "copy", .submitted = false, .ns = 1.5},
                                                {.name = "add", .submitted = true, .ns = 2.5}}};
  return launched;
}

/// Returns the frame as the other process receives it.
Frame received(const json& header) {
  Frame frame;
  frame.header = json::parse(header.dump());
  return frame;
}

template <class Message>
using Parser = Result<Message> (*)(const Frame&);

/// Checks that a message does not change when it is written and read.
template <class Message>
Message round_trip(const Message& message, Parser<Message> parse) {
  const json header = to_header(message);
  const Result<Message> read = parse(received(header));
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(to_header(*read) == header);
  return *read;
}

/// Checks that a changed message is rejected, and that the error names the reason.
template <class Message>
void refuses(const Message& message, Parser<Message> parse, const std::string& reason,
             const std::function<void(json&)>& change) {
  json header = to_header(message);
  change(header);
  const Result<Message> read = parse(received(header));
  INFO(reason);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::corrupt);
  CHECK(read.error().message == reason);
}

/// Checks that each field of the object at `path` is required and has a fixed type.
template <class Message>
void needs_each_field(const Message& message, Parser<Message> parse, const std::string& path,
                      const std::vector<std::string>& optional = {}) {
  const json::json_pointer at(path);
  const json header = to_header(message);
  for (const auto& [name, value] : header.at(at).items()) {
    INFO(path << " " << name);
    json missing = header;
    missing.at(at).erase(name);
    const bool may_be_missing = std::find(optional.begin(), optional.end(), name) != optional.end();
    CHECK(parse(received(missing)).has_value() == may_be_missing);
    if (name == "type") continue;  // parse_header() has checked that it is a string
    json wrong = header;
    wrong.at(at)[name] = json::object({{"no", "value"}});
    // The wrong value is an object without the fields that a reader needs. So it is also wrong for
    // a field that must be an object.
    const Result<Message> read = parse(received(wrong));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::corrupt);
  }
}

}  // namespace

TEST_CASE("a launcher's `ready` survives writing and reading") {
  const LauncherReady read = round_trip(ready(), parse_launcher_ready);
  CHECK(read.device.name == "NVIDIA H200");
  CHECK(read.device.driver == "580.159.03 (CUDA 13.0)");
  CHECK(read.device.bandwidth_bytes_per_s == 4'800'000'000'000);
  REQUIRE(read.layers.size() == 2);
  CHECK(read.layers[1].detail == "no delegation");
  CHECK(to_header(ready()) ==
        json({{"type", "ready"},
              {"device",
               {{"name", "NVIDIA H200"},
                {"cc", "9.0"},
                {"target", "cuda:90"},
                {"sms", 132},
                {"l2_bytes", 50 << 20},
                {"memory_bytes", 141LL << 30},
                {"driver", "580.159.03 (CUDA 13.0)"},
                {"clock_khz", 1'980'000},
                {"bandwidth_bytes_per_s", 4'800'000'000'000}}},
              {"layers",
               {{{"name", "seccomp"}, {"active", true}, {"detail", ""}},
                {{"name", "cgroup"}, {"active", false}, {"detail", "no delegation"}}}}}));
}

TEST_CASE("a launcher's `ready` without a field, or with a wrong one, is refused") {
  needs_each_field(ready(), parse_launcher_ready, "");
  needs_each_field(ready(), parse_launcher_ready, "/device");
  needs_each_field(ready(), parse_launcher_ready, "/layers/0");
  const auto refused = [](const std::string& reason, const std::function<void(json&)>& change) {
    refuses(ready(), parse_launcher_ready, reason, change);
  };
  refused("got a message `launched` where `ready` was due",
          [](json& header) { header["type"] = "launched"; });
  refused("ready: `device` is not an object", [](json& header) { header["device"] = "GPU"; });
  refused("device: `sms` is not a number from 1 to 9223372036854775807",
          [](json& header) { header["device"]["sms"] = 0; });
  refused("device: `l2_bytes` is not a number from 0 to 9223372036854775807",
          [](json& header) { header["device"]["l2_bytes"] = -1; });
  refused("device: `bandwidth_bytes_per_s` is not a number from 0 to 9223372036854775807",
          [](json& header) { header["device"]["bandwidth_bytes_per_s"] = 4.8e12; });
}

TEST_CASE("`primed` survives writing and reading") {
  CHECK(round_trip(Primed{"small"}, parse_primed).case_id == "small");
  CHECK(to_header(Primed{"small"}) == json({{"type", "primed"}, {"case", "small"}}));
  needs_each_field(Primed{"small"}, parse_primed, "");
}

TEST_CASE("the result of a launch survives writing and reading") {
  const Launched read = round_trip(untimed(), parse_launched);
  CHECK(read.case_id == "small");
  REQUIRE(read.outputs.size() == 1);
  CHECK(read.outputs[0].name == "output_0");
  CHECK(read.outputs[0].offset == 256);
  CHECK(read.outputs[0].nbytes == 24);
  REQUIRE(read.kernels.size() == 1);
  CHECK(read.kernels[0].local_bytes == 8);
  CHECK(read.choices == std::vector<std::string>{"BLOCK: 128"});
  CHECK(read.chosen == std::vector<std::int64_t>{1});
  CHECK(read.modified == std::vector<std::string>{"x"});
  CHECK(read.moves == 2);
  CHECK(read.reordered);
  CHECK(read.parts[LaunchPart::map] == 0.25);
  CHECK(read.parts.total() == 1.75);
  CHECK(read.holds_memory);
  CHECK_FALSE(read.samples);
  CHECK_FALSE(read.inspection);
  CHECK(to_header(untimed()) == json({{"type", "launched"},
                                      {"case", "small"},
                                      {"outputs",
                                       {{{"name", "output_0"},
                                         {"kind", "tensor"},
                                         {"dtype", "float32"},
                                         {"shape", {2, 3}},
                                         {"strides", {3, 1}},
                                         {"offset", 256},
                                         {"nbytes", 24}}}},
                                      {"kernels",
                                       {{{"name", "add"},
                                         {"registers", 32},
                                         {"local_bytes", 8},
                                         {"shared_bytes", 1024},
                                         {"launches", 2}}}},
                                      {"canary_ok", true},
                                      {"choices", {"BLOCK: 128"}},
                                      {"chosen", {1}},
                                      {"modified", {"x"}},
                                      {"moves", 2},
                                      {"reordered", true},
                                      {"parts_ms", {{"allocate", 1.5}, {"map", 0.25}}},
                                      {"holds_memory", true},
                                      {"samples_ns", json::array()},
                                      {"median_ns", nullptr},
                                      {"low_ns", nullptr},
                                      {"high_ns", nullptr}}));
}

TEST_CASE("the result of a timed launch carries samples, their interval and a timeline") {
  const Launched read = round_trip(timed(), parse_launched);
  REQUIRE(read.samples);
  CHECK(read.samples->cold_ns == std::vector<double>{3.5, 1.25, 2});
  CHECK(read.samples->warm_ns == std::vector<double>{1, 1.5});
  CHECK(read.samples->wall_ns == std::vector<double>{9});
  CHECK(read.samples->overhead_ns == 2.5);
  CHECK(read.samples->clock_mhz == 1980);
  CHECK(read.samples->discarded == 1);
  CHECK(read.samples->first_run_ns == 3.5);
  CHECK(read.samples->fresh_ns == std::vector<double>{4, 5});
  REQUIRE(read.inspection);
  CHECK(read.inspection->deterministic == true);
  REQUIRE(read.inspection->timeline.size() == 2);
  CHECK(read.inspection->timeline[1].name == "add");
  CHECK(read.inspection->timeline[1].submitted);
  CHECK(read.inspection->timeline[1].ns == 2.5);
  const json header = to_header(timed());
  CHECK(header["samples_ns"] == json({3.5, 1.25, 2.0}));
  CHECK(header["median_ns"] == 2.0);
  CHECK(header["low_ns"] == 1.25);
  CHECK(header["high_ns"] == 3.5);
  Launched plain = timed();
  plain.samples->first_run_ns.reset();
  plain.inspection->deterministic.reset();
  CHECK_FALSE(to_header(plain).contains("first_run_ns"));
  CHECK(to_header(plain)["deterministic"].is_null());
  const Launched again = round_trip(plain, parse_launched);
  CHECK_FALSE(again.samples->first_run_ns);
  CHECK_FALSE(again.inspection->deterministic);
}

TEST_CASE("the parts of several launches are added up by name") {
  LaunchFigures figures;
  figures.add(untimed().parts);
  figures.add(LaunchPart::wait, 2);
  LaunchFigures more{.ms = {{"map", 1}}, .new_contexts = 1, .kept_contexts = 2};
  figures.add(more);
  CHECK(figures.ms == std::map<std::string, double>{{"allocate", 1.5}, {"map", 1.25}, {"wait", 2}});
  CHECK(figures.new_contexts == 1);
  CHECK(figures.kept_contexts == 2);
  for (const std::string_view name : kLaunchPartNames)
    CHECK(to_string(launch_part_from(name).value()) == name);
  CHECK_FALSE(launch_part_from("sleep"));
}

TEST_CASE("the result of a launch without a field, or with a wrong one, is refused") {
  needs_each_field(untimed(), parse_launched, "",
                   {"median_ns", "low_ns", "high_ns", "parts_ms", "holds_memory"});
  needs_each_field(timed(), parse_launched, "",
                   {"first_run_ns", "timeline", "deterministic", "parts_ms", "holds_memory"});
  needs_each_field(timed(), parse_launched, "/outputs/0", {"name"});
  needs_each_field(timed(), parse_launched, "/kernels/0");
  needs_each_field(timed(), parse_launched, "/timeline/0");
  refuses<Launched>(untimed(), parse_launched, "launched: `low_ns` has a value without samples",
                    [](json& header) { header["low_ns"] = 1; });
  const auto refused = [](const std::string& reason, const std::function<void(json&)>& change) {
    refuses(timed(), parse_launched, reason, change);
  };
  refused("launched: `canary_ok` is not true", [](json& header) { header["canary_ok"] = false; });
  refused("launched: `chosen` has an entry that is not a number from 0 to 9223372036854775807",
          [](json& header) { header["chosen"] = {-1}; });
  refused("launched: `choices` has more than 4096 entries",
          [](json& header) { header["choices"] = json::array_t(kMaxTunables + 1, "a"); });
  refused("launched: `samples_ns` has an entry that is not a number",
          [](json& header) { header["samples_ns"][0] = "nan"; });
  refused("launched: `median_ns`, `low_ns` and `high_ns` are not those of `samples_ns`",
          [](json& header) { header["median_ns"] = 1.9; });
  refused("a kernel: `launches` is not a number from 0 to 9223372036854775807",
          [](json& header) { header["kernels"][0]["launches"] = -1; });
}

TEST_CASE("each error of a launch survives writing and reading") {
  for (const LaunchErrorKind kind : kLaunchErrorKinds) {
    const LaunchFailure read =
        round_trip(LaunchFailure{"small", {kind, "why"}}, parse_launch_failure);
    CHECK(read.case_id == "small");
    CHECK(read.error.kind == kind);
    CHECK(read.error.message == "why");
  }
  const LaunchFailure fault{"small", {LaunchErrorKind::gpu_fault, "why"}};
  CHECK(to_header(fault) == json({{"type", "launch_error"},
                                  {"case", "small"},
                                  {"kind", "gpu_fault"},
                                  {"message", "why"}}));
  needs_each_field(fault, parse_launch_failure, "");
  for (const char* kind : {"none", "wrong_result", "timeout", ""}) {
    refuses(fault, parse_launch_failure, "launch_error: `kind` is not a kind of a launch error",
            [&](json& header) { header["kind"] = kind; });
  }
}

TEST_CASE("the output of --probe survives writing and reading") {
  DeviceFacts other = facts();
  other.name = "another";
  const std::string line = to_line({.devices = {facts(), other}});
  CHECK(line.find('\n') == std::string::npos);
  const json written = json::parse(line);
  CHECK(written["devices"][0]["index"] == 0);
  CHECK(written["devices"][1]["index"] == 1);
  CHECK(written["reason"] == "");
  const Result<LauncherProbe> read = parse_launcher_probe(line + "\n");
  REQUIRE(read);
  REQUIRE(read->devices.size() == 2);
  CHECK(read->devices[1].name == "another");
  CHECK(to_line(*read) == line);
  const Result<LauncherProbe> none = parse_launcher_probe(to_line({.reason = "no driver"}));
  REQUIRE(none);
  CHECK(none->devices.empty());
  CHECK(none->reason == "no driver");
}

TEST_CASE("a wrong output of --probe is refused, and the error names the field") {
  const json right = json::parse(to_line({.devices = {facts()}}));
  const auto refused = [](const std::string& line, const std::string& reason) {
    const Result<LauncherProbe> read = parse_launcher_probe(line);
    INFO(reason);
    REQUIRE_FALSE(read);
    CHECK(read.error().message == reason);
  };
  refused("", "probe: is not an object");
  refused("[1]", "probe: is not an object");
  json wrong = right;
  wrong["devices"][0]["index"] = 1;
  refused(wrong.dump(), "device: `index` is not a number from 0 to 0");
  wrong = right;
  wrong["devices"][0].erase("driver");
  refused(wrong.dump(), "device: `driver` is missing");
  wrong = right;
  wrong.erase("reason");
  refused(wrong.dump(), "probe: `reason` is missing");
}
