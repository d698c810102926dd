// Fuzzes the readers of verdicts and jobs in JSON. Assay reads this JSON from the store and from
// files, and it contains untrusted text.
//
// For any bytes there must be no crash and no undefined behaviour. A verdict that was read must be
// the same after it is written and read again. It must also be possible to write the part of the
// verdict that an agent may see.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "tools/json/verdict_json.h"
#include "tools/model/public_verdict.h"

namespace {

using namespace assay;
using nlohmann::json;

void must(bool holds) {
  if (!holds) std::abort();
}

void check_verdict(const json& document) {
  const auto verdict = tools::verdict_from_json(document);
  if (!verdict) return must(!verdict.error().message.empty());
  const json written = tools::verdict_to_json(*verdict);
  const auto again = tools::verdict_from_json(written);
  must(again.has_value());
  must(tools::verdict_to_json(*again) == written);
  (void)tools::verdict_to_json(tools::public_verdict(*verdict, nullptr).verdict()).dump();
}

void check_job(const json& document) {
  const auto job = tools::job_from_json(document);
  if (!job) return must(!job.error().message.empty());
  const json written = tools::job_to_json(*job);
  const auto again = tools::job_from_json(written);
  must(again.has_value());
  must(tools::job_to_json(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const json document = json::parse(data, data + size, nullptr, false);
  if (document.is_discarded()) return 0;
  check_verdict(document);
  check_job(document);
  return 0;
}
