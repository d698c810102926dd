#include "sandbox/launcher/process/messages.h"

#include <sys/eventfd.h>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

namespace {

json launch_header() {
  return {
      {"type", "launch"},
      {"case", "small"},
      {"inputs", {{{"name", "x"}, {"fd", 0}, {"offset", 256}, {"nbytes", 1024}, {"inout", true}}}},
      {"output_fd", 1},
      {"output_offset", 0},
      {"output_bytes", 4096},
      {"device_bytes", 0},
      {"ablated", true},
      {"inspect", true},
      {"time", true},
      {"min_samples", 30},
      {"max_samples", 500},
      {"max_time_ms", 1000},
      {"gpu_memory_bytes", 1 << 20}};
}

Frame frame_of(json header) {
  Frame frame;
  frame.header = std::move(header);
  frame.payload = "plan";
  for (int i = 0; i < 2; ++i) frame.fds.emplace_back(::eventfd(0, EFD_CLOEXEC));
  return frame;
}

}  // namespace

TEST_CASE("a launch message becomes a struct") {
  const auto message = parse_launch(frame_of(launch_header()));
  REQUIRE(message);
  CHECK(message->case_id == "small");
  REQUIRE(message->inputs.size() == 1);
  CHECK(message->inputs[0].name == "x");
  CHECK(message->inputs[0].offset == 256);
  CHECK(message->inputs[0].bytes == 1024);
  CHECK(message->output_fd == 1);
  CHECK(message->output_bytes == 4096);
  CHECK(message->inputs[0].inout);
  CHECK(message->ablated);
  CHECK(message->inspect);
  CHECK(message->time);
  CHECK(message->timing.max_samples == 500);
  CHECK(message->timing.side_samples == TimingRules{}.side_samples);
  CHECK(message->gpu_memory_bytes == 1 << 20);
  CHECK(message->plan == "plan");
  CHECK(message->fds.size() == 2);
  CHECK_FALSE(message->stage_next_inputs);
}

TEST_CASE("new inputs before the samples: the request, `primed` and `sample`") {
  json header = launch_header();
  header["stage_next_inputs"] = true;
  CHECK(parse_launch(frame_of(header))->stage_next_inputs);
  header["stage_next_inputs"] = 1;
  CHECK(parse_launch(frame_of(header)).error().message.find("stage_next_inputs") !=
        std::string::npos);
  CHECK(primed_message("small") == json({{"type", "primed"}, {"case", "small"}}));
  CHECK(check_sample(frame_of({{"type", "sample"}})));
  CHECK(check_sample(frame_of({{"type", "launch"}})).error().message ==
        "message `launch` is not due; valid: sample");
}

TEST_CASE("a request may set the warm-up and the number of side samples") {
  json header = launch_header();
  header["warm_up_ms"] = 1;
  header["side_samples"] = 2;
  const auto message = parse_launch(frame_of(header));
  REQUIRE(message);
  CHECK(message->timing.warm_up_ms == 1);
  CHECK(message->timing.side_samples == 2);
}

TEST_CASE("the numbers for timing may be missing if the launch is not timed") {
  json header = launch_header();
  header["time"] = false;
  header.erase("inspect");
  header.erase("min_samples");
  header.erase("max_samples");
  header.erase("max_time_ms");
  CHECK(parse_launch(frame_of(header)));
}

TEST_CASE("the error names a missing or wrong field") {
  for (const char* name : {"case", "inputs", "output_fd", "output_offset", "output_bytes",
                           "device_bytes", "gpu_memory_bytes", "ablated", "time", "inspect",
                           "min_samples", "max_samples", "max_time_ms"}) {
    json header = launch_header();
    header.erase(name);
    const auto missing = parse_launch(frame_of(header));
    INFO(name);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::corrupt);
    CHECK(missing.error().message == "launch: `" + std::string(name) + "` is missing");
    header[name] = json::object();
    const auto wrong = parse_launch(frame_of(header));
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find(name) != std::string::npos);
  }
  const auto refused = [](const char* name, json value, const std::string& reason) {
    json header = launch_header();
    header[name] = std::move(value);
    const auto message = parse_launch(frame_of(header));
    REQUIRE_FALSE(message);
    CHECK(message.error().message == reason);
  };
  refused("output_fd", 2, "launch: `output_fd` is over 1");
  refused("output_bytes", -1, "launch: `output_bytes` is no number from 0 up");
  refused("output_bytes", 1.5, "launch: `output_bytes` is no number from 0 up");
  refused("output_bytes", 18446744073709551615ULL,
          "launch: `output_bytes` is over 9223372036854775807");
  refused("max_samples", 0, "launch: `max_samples` starts at 1");
  refused("max_samples", 100'001, "launch: `max_samples` is over 100000");
  refused("inputs", {1}, "launch: an input is no object");
  refused("type", "stop", "message `stop` is unknown; valid: launch");
  Frame bare = frame_of(launch_header());
  bare.fds.clear();
  const auto message = parse_launch(std::move(bare));
  REQUIRE_FALSE(message);
  CHECK(message.error().message == "launch came without descriptors");
}

TEST_CASE("a result carries descriptors, kernels, samples and the interval") {
  ReplayResult result;
  result.outputs = {{"float32", {2, 3}, {3, 1}, 256, 24}};
  result.kernels = {{"add", 32, 0, 1024, 2}};
  json message = launched_message("small", result);
  CHECK(message["type"] == "launched");
  CHECK(message["case"] == "small");
  CHECK(message["outputs"][0] == json({{"name", "output_0"},
                                       {"kind", "tensor"},
                                       {"dtype", "float32"},
                                       {"shape", {2, 3}},
                                       {"strides", {3, 1}},
                                       {"offset", 256},
                                       {"nbytes", 24}}));
  CHECK(message["kernels"][0] == json({{"name", "add"},
                                       {"registers", 32},
                                       {"local_bytes", 0},
                                       {"shared_bytes", 1024},
                                       {"launches", 2}}));
  CHECK(message["canary_ok"] == true);
  CHECK(message["samples_ns"].empty());
  CHECK(message["median_ns"].is_null());
  result.samples.cold_ns = {3, 1, 2};
  message = launched_message("small", result);
  CHECK(message["samples_ns"] == json({3.0, 1.0, 2.0}));
  CHECK(message["median_ns"] == 2.0);
  CHECK_FALSE(message.contains("first_run_ns"));
  result.samples.first_run_ns = 7;
  CHECK(launched_message("small", result)["first_run_ns"] == 7.0);
  CHECK(message["low_ns"] == 1.0);
  CHECK(message["high_ns"] == 3.0);
}

TEST_CASE("errors and the probe") {
  CHECK(launch_error_message("c", {LaunchErrorKind::gpu_fault, "why"}) ==
        json({{"type", "launch_error"}, {"case", "c"}, {"kind", "gpu_fault"}, {"message", "why"}}));
  const json none = probe_message(fail(ErrorCode::unavailable, "no driver"));
  CHECK(none["devices"].empty());
  CHECK(none["reason"] == "no driver");
  DeviceFacts facts;
  facts.name = "GPU";
  facts.cc_major = 9;
  const json two = probe_message(std::vector<DeviceFacts>{facts, facts});
  CHECK(two["devices"][1]["index"] == 1);
  CHECK(two["devices"][0]["cc"] == "9.0");
}
