#include "server/site/spec.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::site;

TEST_CASE("the data of an operator has no hidden case and no oracle") {
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  std::int64_t hidden = 0;
  for (const operators::Operator& op : catalog.all()) {
    const nlohmann::ordered_json spec = operator_spec(op);
    const std::string text = spec.dump();
    for (const operators::Case& item : op.cases) {
      if (!item.hidden) continue;
      ++hidden;
      for (const auto& shown : spec["cases"]) CHECK(shown["id"] != item.id);
    }
    CHECK(text.find("adversar") == std::string::npos);
    CHECK(spec["cases"].size() + spec["hidden_cases"].get<std::size_t>() == op.cases.size());
    CHECK(operator_line(op)["name"] == op.name);
  }
  CHECK(hidden > 100);
}
