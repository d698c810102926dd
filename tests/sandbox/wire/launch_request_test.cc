#include "sandbox/wire/launch_request.h"

#include <sys/eventfd.h>

#include <utility>

#include "sandbox/wire/argument.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

namespace {

json request_header() {
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

Frame with_two_descriptors(json header) {
  Frame frame;
  frame.header = std::move(header);
  frame.payload = "plan";
  for (int i = 0; i < 2; ++i) frame.fds.emplace_back(::eventfd(0, EFD_CLOEXEC));
  return frame;
}

}  // namespace

TEST_CASE("a launch request survives writing and reading") {
  LaunchRequest request{.case_id = "small",
                        .inputs = {{"x", 0, 256, 1024, true}, {"y", 0, 2048, 64, false}},
                        .output_fd = 1,
                        .output_offset = 512,
                        .output_bytes = 4096,
                        .device_bytes = 8192,
                        .memory_id = 77,
                        .gpu_memory_bytes = 1 << 20,
                        .ablated = true,
                        .chosen = {2, 0},
                        .time = TimedBlock{.max_samples = 50, .side_samples = 2, .all_fresh = true},
                        .inspect = true,
                        .stage_next_inputs = true,
                        .returns_outputs = false};
  const json header = to_header(request);
  CHECK(header["inputs"][0]["inout"] == true);
  CHECK(header["inputs"][1]["inout"] == false);
  const json received = json::parse(header.dump());
  const Result<LaunchRequest> read = parse_launch_request(with_two_descriptors(received));
  REQUIRE(read);
  CHECK(to_header(*read) == header);
  CHECK(read->memory_id == 77);
  CHECK_FALSE(read->returns_outputs);
  CHECK(read->time->max_samples == 50);
  CHECK(read->time->all_fresh);
  CHECK(read->chosen == request.chosen);
  request = {.case_id = "small", .output_fd = 1, .chosen = {1}};
  const json plain = to_header(request);
  CHECK(parse_launch_request(with_two_descriptors(plain))->chosen == request.chosen);
  CHECK(plain["time"] == false);
  CHECK(plain["ablated"] == false);
  CHECK(plain["inspect"] == false);
  CHECK_FALSE(parse_launch_request(with_two_descriptors(plain)).value().time);
}

TEST_CASE("a launch header becomes a struct") {
  const Result<LaunchRequest> request =
      parse_launch_request(with_two_descriptors(request_header()));
  REQUIRE(request);
  CHECK(request->case_id == "small");
  REQUIRE(request->inputs.size() == 1);
  CHECK(request->inputs[0].name == "x");
  CHECK(request->inputs[0].offset == 256);
  CHECK(request->inputs[0].bytes == 1024);
  CHECK(request->output_fd == 1);
  CHECK(request->output_bytes == 4096);
  CHECK(request->inputs[0].inout);
  CHECK(request->ablated);
  CHECK(request->inspect);
  CHECK(request->time);
  CHECK(request->time->max_samples == 500);
  CHECK(request->time->side_samples == TimedBlock{}.side_samples);
  CHECK_FALSE(request->time->all_fresh);
  CHECK(request->gpu_memory_bytes == 1 << 20);
  CHECK_FALSE(request->stage_next_inputs);
  CHECK(request->returns_outputs);
}

TEST_CASE("new inputs before the samples may be requested") {
  json header = request_header();
  header["stage_next_inputs"] = true;
  CHECK(parse_launch_request(with_two_descriptors(header))->stage_next_inputs);
  header["stage_next_inputs"] = 1;
  CHECK(parse_launch_request(with_two_descriptors(header))
            .error()
            .message.find("stage_next_inputs") != std::string::npos);
}

TEST_CASE("a request may set the warm-up and the number of side samples") {
  json header = request_header();
  header["warm_up_ms"] = 1;
  header["side_samples"] = 2;
  const Result<LaunchRequest> request = parse_launch_request(with_two_descriptors(header));
  REQUIRE(request);
  CHECK(request->time->warm_up_ms == 1);
  CHECK(request->time->side_samples == 2);
}

TEST_CASE("the numbers for timing may be missing if the launch is not timed") {
  json header = request_header();
  header["time"] = false;
  header.erase("inspect");
  header.erase("min_samples");
  header.erase("max_samples");
  header.erase("max_time_ms");
  CHECK(parse_launch_request(with_two_descriptors(header)));
}

TEST_CASE("the error names a missing or wrong field") {
  for (const char* name : {"case", "inputs", "output_fd", "output_offset", "output_bytes",
                           "device_bytes", "gpu_memory_bytes", "ablated", "time", "inspect",
                           "min_samples", "max_samples", "max_time_ms"}) {
    json header = request_header();
    header.erase(name);
    const auto missing = parse_launch_request(with_two_descriptors(header));
    INFO(name);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::corrupt);
    CHECK(missing.error().message == "launch: `" + std::string(name) + "` is missing");
    header[name] = json::object();
    const auto wrong = parse_launch_request(with_two_descriptors(header));
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find(name) != std::string::npos);
  }
  const auto refused = [](const char* name, json value, const std::string& reason) {
    json header = request_header();
    header[name] = std::move(value);
    const Result<LaunchRequest> request = parse_launch_request(with_two_descriptors(header));
    REQUIRE_FALSE(request);
    CHECK(request.error().message == reason);
  };
  refused("output_fd", 2, "launch: `output_fd` is not a number from 0 to 1");
  const std::string no_size =
      "launch: `output_bytes` is not a number from 0 to 9223372036854775807";
  refused("output_bytes", -1, no_size);
  refused("output_bytes", 1.5, no_size);
  refused("output_bytes", 18446744073709551615ULL, no_size);
  refused("max_samples", 0, "launch: `max_samples` is not a number from 1 to 100000");
  refused("max_samples", 100'001, "launch: `max_samples` is not a number from 1 to 100000");
  refused("chosen", {0, -1},
          "launch: `chosen` has an entry that is not a number from 0 to 9223372036854775807");
  refused("inputs", {1}, "launch: an input: is not an object");
  refused("inputs", json::array_t(kMaxArguments + 1, json::object()),
          "launch: `inputs` has more than 1024 entries");
  refused("type", "stop", "got a message `stop` where `launch` was due");
  Frame bare = with_two_descriptors(request_header());
  bare.fds.clear();
  const Result<LaunchRequest> request = parse_launch_request(bare);
  REQUIRE_FALSE(request);
  CHECK(request.error().message == "launch: no descriptors came with it");
}

TEST_CASE("a sample request has no fields, and no other message is taken for one") {
  Frame frame;
  frame.header = to_header(SampleRequest{});
  CHECK(frame.header == json({{"type", "sample"}}));
  CHECK(parse_sample_request(frame));
  frame.header["type"] = "launch";
  const Status other = parse_sample_request(frame);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::corrupt);
  CHECK(other.error().message == "got a message `launch` where `sample` was due");
}
