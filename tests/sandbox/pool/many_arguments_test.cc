// Tests the limits of a message of the judge (sandbox/pool/messages_judge.cc) with the most
// arguments.
#include <cstddef>
#include <string>
#include <utility>

#include "sandbox/pool/messages.h"
#include "sandbox/wire/argument.h"
#include "sandbox/wire/frame.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

TEST_CASE("eight cases with the most arguments fit into one message") {
  // Each parameter and each buffer of an imported model is an argument.
  json one = {{"id", "a"},
              {"seed", "0x1"},
              {"fixed", true},
              {"arguments", json::array()},
              {"structural", json::array()},
              {"inout", json::array()},
              {"outputs", json::array()},
              {"output_bytes", 4096},
              {"layout", true},
              {"device", {{"inputs", json::array()}, {"output_offset", 1 << 30}}}};
  for (std::size_t i = 0; i < kMaxArguments; ++i) {
    const std::string name =
        "p_features_denseblock4_layers_31_batch_norm_running_var_" + std::to_string(i);
    one["arguments"].push_back({{"name", name},
                                {"kind", "tensor"},
                                {"dtype", "float32"},
                                {"shape", {1024, 1024, 3, 3}},
                                {"strides", {9216, 9, 3, 1}},
                                {"fd", 0},
                                {"offset", 1 << 30},
                                {"nbytes", 1 << 30}});
    one["device"]["inputs"].push_back({{"name", name}, {"offset", 1 << 30}});
  }
  const json header = {{"type", "prepared"},
                       {"job", "j"},
                       {"device", {{"fd", 1}, {"bytes", 1 << 30}}},
                       {"cases", json::array_t(8, one)}};
  const std::string text = header.dump();
  CHECK(text.size() <= kTrustedHeader.bytes);
  Result<json> parsed = parse_header(text, kTrustedHeader.values);
  if (!parsed) FAIL(parsed.error().message);
  Frame frame;
  frame.header = std::move(*parsed);
  frame.fds.emplace_back(-1);
  frame.fds.emplace_back(-1);
  const Result<Prepared> prepared = parse_prepared(frame);
  if (!prepared) FAIL(prepared.error().message);
  CHECK(prepared->cases[7].arguments.size() == kMaxArguments);
}
