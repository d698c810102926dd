#include "reference_agents/alphaevolve/database.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace assay::agents;

namespace {

/// Makes a program whose length doubles with its number. A cell has programs of similar length, so
/// each program is in a different cell.
Program program(int number, Level level, std::optional<double> perf = std::nullopt) {
  Program made{std::to_string(number) + std::string(std::size_t{1} << number, ' '), {}};
  made.evaluation.level = level;
  made.evaluation.perf = perf;
  return made;
}

int number_of(const Program& made) { return std::stoi(made.code); }

std::vector<int> numbers_of(const std::vector<Program>& programs) {
  std::vector<int> numbers;
  for (const Program& made : programs) numbers.push_back(number_of(made));
  return numbers;
}

std::set<int> parents_of(Database& database, int draws) {
  std::set<int> parents;
  for (int i = 0; i < draws; ++i) parents.insert(number_of(database.parent(0)));
  return parents;
}

}  // namespace

TEST_CASE("without islands and archive: the best program, the newest others") {
  Database database({}, SeededRng(0, "f"));
  CHECK(database.empty());
  database.add(0, program(1, Level::broken));
  database.add(0, program(2, Level::correct, 0.5));
  database.add(0, program(3, Level::compiles));
  database.add(0, program(4, Level::correct, 0.5));  // as good as program 2, but newer
  const Program parent = database.parent(0);
  CHECK(number_of(parent) == 4);
  CHECK(numbers_of(database.others(0, parent, 2)) == std::vector<int>{3, 2});
  CHECK(number_of(database.best()) == 4);
}

TEST_CASE("islands are independent until their best programs migrate, one island in each round") {
  Database database({.islands = 3}, SeededRng(0, "f"));
  database.add(0, program(1, Level::correct, 2.0));
  database.add(1, program(2, Level::correct, 1.0));
  CHECK(number_of(database.parent(1)) == 2);
  CHECK(database.empty(2));
  database.migrate();
  CHECK(number_of(database.parent(1)) == 1);
  CHECK(number_of(database.parent(2)) == 2);
  database.migrate();
  CHECK(number_of(database.parent(2)) == 1);
  database.migrate();
  CHECK(numbers_of(database.others(0, database.parent(0), 9)) ==
        std::vector<int>{2});  // island 0 already has the program that would migrate to it
  CHECK(number_of(database.best()) == 1);
}

TEST_CASE("with the archive, elites of other cells can be parents if they reached the same level") {
  Database database({.archive = true}, SeededRng(0, "f"));
  database.add(0, program(3, Level::broken));
  CHECK(parents_of(database, 20) == std::set<int>{3});
  database.add(0, program(4, Level::compiles));
  database.add(0, program(5, Level::compiles));
  CHECK(parents_of(database, 60) == std::set<int>{4, 5});
  database.add(0, program(6, Level::correct, 0.2));
  database.add(0, program(7, Level::correct, 0.9));
  CHECK(parents_of(database, 60) == std::set<int>{6, 7});
}

TEST_CASE("a correct program below min_perf is a parent only if there is no faster one") {
  Database database({.archive = true, .min_perf = 0.5}, SeededRng(0, "f"));
  database.add(0, program(3, Level::correct, 0.1));
  database.add(0, program(4, Level::correct, 0.2));
  CHECK(parents_of(database, 60) == std::set<int>{3, 4});
  database.add(0, program(5, Level::correct, 0.6));
  CHECK(parents_of(database, 60) == std::set<int>{5});
}

TEST_CASE(
    "others from the archive: the best and random ones, never the parent, equal for equal seeds") {
  std::vector<std::vector<int>> shown;
  std::set<int> diverse;
  for (int repeat = 0; repeat < 2; ++repeat) {
    Database database({.archive = true}, SeededRng(0, "f\nsample 1"));
    for (int i = 1; i <= 8; ++i)
      database.add(0, program(i, i < 4 ? Level::broken : Level::correct,
                              i < 4 ? std::nullopt : std::optional<double>(0.1 * i)));
    for (int draw = 0; draw < 20; ++draw) {
      const std::vector<int> others = numbers_of(database.others(0, program(8, Level::correct), 4));
      REQUIRE(others.size() == 4);
      CHECK(others[0] == 7);
      CHECK(others[1] == 6);
      CHECK(std::set<int>(others.begin(), others.end()).size() == 4);
      CHECK(std::set<int>(others.begin(), others.end()).count(8) == 0);
      diverse.insert(others.begin() + 2, others.end());
      shown.push_back(others);
    }
  }
  CHECK(diverse == std::set<int>{1, 2, 3, 4, 5});
  CHECK(std::vector(shown.begin(), shown.begin() + 20) ==
        std::vector(shown.begin() + 20, shown.end()));
}

using namespace assay::agents;

namespace {

Program program(const std::string& code, Level level, std::optional<double> perf = std::nullopt) {
  Program made{code, {}};
  made.evaluation.level = level;
  made.evaluation.perf = perf;
  return made;
}

}  // namespace

TEST_CASE("a cell is the length in half doublings and the result") {
  const std::string text(1'000, 'x');
  CHECK(cell_of(program(text, Level::correct, 1.0)) ==
        cell_of(program(text + "y", Level::correct, 1.9)));
  CHECK(cell_of(program(text, Level::correct, 1.0)) < cell_of(program(text, Level::correct, 2.0)));
  CHECK(cell_of(program(text, Level::correct, 1.0)) !=
        cell_of(program(text + text, Level::correct, 1.0)));
  CHECK(cell_of(program(text, Level::broken)) < cell_of(program(text, Level::compiles)));
  CHECK(cell_of(program(text, Level::compiles)) < cell_of(program(text, Level::correct)));
  CHECK(cell_of(program(text, Level::correct)) <
        cell_of(program(text, Level::correct, 1e-9)));  // any time is better than none
  CHECK(cell_of(program(text, Level::correct, 1e9)) ==
        cell_of(program(text, Level::correct, 1'024)));
}

TEST_CASE("a cell keeps its best program, and the newer of two equal ones") {
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
