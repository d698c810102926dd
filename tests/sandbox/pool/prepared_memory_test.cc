// Tests where the tensors of prepared cases may be: in device memory, or in memory files.
#include <cstdint>
#include <string>

#include "sandbox/pool/messages.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

nlohmann::json case_with_tensor(const std::string& id) {
  const nlohmann::json tensor = {{"name", "x"},  {"kind", "tensor"}, {"dtype", "float32"},
                                 {"shape", {4}}, {"strides", {1}},   {"fd", 0},
                                 {"offset", 0},  {"nbytes", 16}};
  return {{"id", id},
          {"seed", "0x1"},
          {"fixed", true},
          {"arguments", {tensor}},
          {"structural", nlohmann::json::array()},
          {"inout", nlohmann::json::array()},
          {"outputs", nlohmann::json::array()},
          {"output_bytes", 4096},
          {"layout", false}};
}

/// A job with the case "large" in device memory and the case "small" in a memory file.
nlohmann::json mixed_job() {
  nlohmann::json large = case_with_tensor("large");
  large["device"] = {{"inputs", {{{"name", "x"}, {"offset", 256}}}}, {"output_offset", 4096}};
  return {{"type", "prepared"},
          {"job", "j"},
          {"device", {{"fd", 1}, {"bytes", 1 << 20}}},
          {"cases", {large, case_with_tensor("small")}}};
}

Result<Prepared> parse_with_two_files(const nlohmann::json& header) {
  Frame with{header, {}, {}};
  with.fds.emplace_back(-1);
  with.fds.emplace_back(-1);
  return parse_prepared(with);
}

}  // namespace

TEST_CASE("a job may have cases in device memory and cases in memory files") {
  const Result<Prepared> prepared = parse_with_two_files(mixed_job());
  REQUIRE(prepared);
  CHECK(prepared->device->fd == 1);
  CHECK(prepared->device->bytes == 1 << 20);
  REQUIRE(prepared->cases[0].device);
  CHECK(prepared->cases[0].device->inputs.at("x") == 256);
  CHECK(prepared->cases[0].device->output_offset == 4096);
  CHECK_FALSE(prepared->cases[1].device);
}

TEST_CASE("each tensor of a job with device memory must have a place") {
  nlohmann::json without_file = mixed_job();
  without_file["cases"][1]["arguments"][0].erase("fd");
  CHECK_FALSE(parse_with_two_files(without_file));
  nlohmann::json without_offset = mixed_job();
  without_offset["cases"][0]["device"]["inputs"] = nlohmann::json::array();
  CHECK_FALSE(parse_with_two_files(without_offset));
  nlohmann::json without_handle = mixed_job();
  without_handle["device"]["fd"] = 2;
  CHECK_FALSE(parse_with_two_files(without_handle));
  nlohmann::json without_memory = mixed_job();
  without_memory.erase("device");
  CHECK_FALSE(parse_with_two_files(without_memory));
}

TEST_CASE("a request to prepare says which cases may go through memory files") {
  const nlohmann::json request = prepare_header({}, "cuda:0", {.bytes = 4096, .except = {"large"}});
  CHECK(request["host_case_bytes"] == 4096);
  CHECK(request["device_cases"] == nlohmann::json({"large"}));
}
