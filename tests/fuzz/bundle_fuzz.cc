// Fuzzes the reader of bundles, which come from strangers: first as a whole file, then as the
// payload of one.
//
// For any bytes there must be no crash and no undefined behaviour. A payload that was read must
// keep its content when it is written and read again, and must be within the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/bundle/run_bundle.h"

namespace {

using namespace assay;
using namespace assay::bundle;

void must(bool holds) {
  if (!holds) std::abort();
}

void check_payload(std::string_view bytes) {
  const BundleLimits limits{.jobs = 4, .operators = 4, .name_bytes = 200};
  const auto bundle = parse_payload(bytes, limits);
  if (!bundle) return must(!bundle.error().message.empty());
  must(bundle->jobs.size() <= limits.jobs && bundle->run.operators.size() <= limits.operators);
  must(bundle->run.request.model.size() <= limits.name_bytes);
  for (const BundledJob& job : bundle->jobs) must(job.verdict.job == job.job);
  const auto again = parse_payload(payload_of(*bundle), limits);
  must(again.has_value());
  must(payload_of(*again) == payload_of(*bundle));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto bundle = read_bundle(bytes);
  must(bundle ? !bundle->fingerprint.empty() : !bundle.error().message.empty());
  check_payload(bytes);
  return 0;
}
