#include "tools/model/fitting_guides.h"

#include "operators/guides.h"
#include "tests/catch.h"

namespace assay::tools {

TEST_CASE("every operator has guides, and each of them exists") {
  const auto catalog = operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators");
  const auto guides = operators::load_guides(std::string(ASSAY_SOURCE_DIR) + "/operators/guides");
  REQUIRE(catalog);
  REQUIRE(guides);
  for (const operators::Operator& op : catalog->all()) {
    INFO(op.name);
    const auto topics = fitting_guides(op, "python");
    CHECK(topics.size() == 2);
    for (const std::string& topic : topics) {
      INFO(topic);
      CHECK(std::any_of(guides->begin(), guides->end(),
                        [&](const operators::Guide& guide) { return guide.topic == topic; }));
    }
  }
  const operators::Operator* softmax = catalog->find("softmax_last_dim");
  CHECK(fitting_guides(*softmax, "python") ==
        std::vector<std::string>{"triton-pitfalls", "reductions-and-scans"});
  CHECK(fitting_guides(*softmax, "cuda") == std::vector<std::string>{"reductions-and-scans"});
}

}  // namespace assay::tools
