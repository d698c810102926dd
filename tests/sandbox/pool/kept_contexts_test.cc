#include "sandbox/pool/kept_contexts.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::int64_t kMemoryOfH200 = 140LL << 30, kSmallMemory = 1LL << 30;
constexpr std::int64_t kNow = 5'000'000'000'000, kMs = kNsPerMs;

}  // namespace

TEST_CASE("contexts are kept in half of the memory, and in a quarter after a shortage") {
  KeptContexts limit;
  CHECK(limit.most(kMemoryOfH200, kNow) == 275);
  limit.note_shortage(kNow);
  CHECK(limit.most(kMemoryOfH200, kNow) == 137);
  CHECK(limit.most(kMemoryOfH200, kNow + (KeptContexts::kShortageMs - 1) * kMs) == 137);
  CHECK(limit.most(kMemoryOfH200, kNow + KeptContexts::kShortageMs * kMs) == 275);
}

TEST_CASE("a few contexts are kept on a device with little or unknown memory") {
  KeptContexts limit;
  CHECK(limit.most(kSmallMemory, kNow) == KeptContexts::kFewest);
  CHECK(limit.most(0, kNow) == KeptContexts::kFewest);
}
