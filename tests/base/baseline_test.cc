#include "base/baseline.h"

#include "tests/catch.h"

namespace assay {

TEST_CASE("every baseline has a name that is read back, and a title") {
  for (const Baseline baseline : kBaselines) {
    CHECK(baseline_from(to_string(baseline)) == baseline);
    CHECK_FALSE(title_of(baseline).empty());
  }
  CHECK(to_string(Baseline::torch_eager) == "torch_eager");
  CHECK(over_text(Baseline::oracle).empty());
  CHECK(over_text(std::nullopt).empty());
  CHECK(over_text(Baseline::torch_eager) == " over PyTorch eager");
  for (const char* bad : {"", "Oracle", "torch", "pytorch"}) CHECK_FALSE(baseline_from(bad));
}

}  // namespace assay
