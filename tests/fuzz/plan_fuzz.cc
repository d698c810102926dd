// Fuzzes the reader of launch plans, which is the first trusted code that parses data of an
// untrusted submission.
//
// For any bytes there must be no crash and no undefined behaviour. If a decoded plan is encoded
// again, the result must be the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/plan/plan_check.h"
#include "tests/sandbox/launcher/plan_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::sandbox;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto plan = decode_plan(bytes);
  if (!plan) return 0;
  if (encode_plan(*plan) != bytes) std::abort();
  const PlanRules rules{"cuda:90", {{"x", 256}, {"y", 256}}, 1 << 20};
  if (check_plan(*plan, rules) && output_offsets(*plan).back() > rules.output_bytes) std::abort();
  return 0;
}
