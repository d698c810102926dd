#include "reference_agents/alphaevolve/archive.h"

#include <optional>
#include <string>

#include "tests/catch.h"

using namespace assay::agents;

namespace {

Program program(const std::string& code, Level level, std::optional<double> perf = std::nullopt) {
  Program made{code, {}};
  made.evaluation.level = level;
  made.evaluation.perf = perf;
  return made;
}

}  // namespace

TEST_CASE("a cell: the length in half doublings, and what came of it") {
  const std::string text(1'000, 'x');
  CHECK(cell_of(program(text, Level::correct, 1.0)) ==
        cell_of(program(text + "y", Level::correct, 1.9)));
  CHECK(cell_of(program(text, Level::correct, 1.0)) < cell_of(program(text, Level::correct, 2.0)));
  CHECK(cell_of(program(text, Level::correct, 1.0)) !=
        cell_of(program(text + text, Level::correct, 1.0)));
  CHECK(cell_of(program(text, Level::broken)) < cell_of(program(text, Level::compiles)));
  CHECK(cell_of(program(text, Level::compiles)) < cell_of(program(text, Level::correct)));
  CHECK(cell_of(program(text, Level::correct)) <
        cell_of(program(text, Level::correct, 1e-9)));  // any time beats none
  CHECK(cell_of(program(text, Level::correct, 1e9)) ==
        cell_of(program(text, Level::correct, 1'024)));
}

TEST_CASE("a cell keeps its best program, and of equals the newer; other cells are left alone") {
  Archive archive;
  archive.add(program("aaaa", Level::correct, 1.0));
  archive.add(program("bbbb", Level::correct, 1.5));
  archive.add(program("cccc", Level::correct, 1.2));
  archive.add(program("dddd", Level::broken));
  archive.add(program("eeee", Level::broken));
  archive.add(program("ffff", Level::correct, 0.3));
  const auto elites = archive.elites();
  REQUIRE(elites.size() == 3);
  CHECK(elites[0].code == "eeee");
  CHECK(elites[1].code == "ffff");
  CHECK(elites[2].code == "bbbb");
}
