#include "sandbox/launcher/process/messages.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

TEST_CASE("`primed` and `sample` frame the change of inputs") {
  const auto message = [](const char* type) {
    Frame frame;
    frame.header = {{"type", type}};
    return frame;
  };
  CHECK(primed_message("small") == json({{"type", "primed"}, {"case", "small"}}));
  CHECK(check_sample(message("sample")));
  CHECK(check_sample(message("launch")).error().message ==
        "message `launch` is not due; valid: sample");
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
