#include "operators/search/example_search.h"

#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using assay::ErrorCode;
using assay::operators::Example;
using assay::operators::ExampleSearch;
using assay::operators::FullText;
using assay::operators::Hit;

namespace {

const std::vector<Example> kExamples = {
    {"tail_mask", "Masking the tail of a vector", "tl.load(x, mask=mask)"},
    {"running_sum", "A scan over rows", "tl.associative_scan(x, 0, add)  # no masked element"},
    {"vote", "Counting with atomics", "tl.atomic_add(bins + x, 1)"},
    {"speed", "Near words", "column: name"}};

std::vector<std::size_t> found(const std::string& words, std::size_t k = 10) {
  const auto index = FullText::make(kExamples);
  REQUIRE(index);
  const auto hits = (*index)->search(words, k);
  INFO((hits ? std::string() : hits.error().message));
  REQUIRE(hits);
  std::vector<std::size_t> places;
  for (const Hit& hit : *hits) places.push_back(hit.index);
  return places;
}

}  // namespace

TEST_CASE("every example of the repository is the first hit for itself") {
  const auto search = ExampleSearch::load(std::string(ASSAY_SOURCE_DIR) + "/operators/examples");
  INFO((search ? std::string() : search.error().message));
  REQUIRE(search);
  for (const Example& example : (*search)->all()) {
    INFO(example.name);
    const auto by_code = (*search)->by_code(example.source, 3);
    REQUIRE(by_code);
    REQUIRE_FALSE(by_code->empty());
    CHECK(by_code->front().example == &example);
    CHECK(by_code->front().score == Approx(1));
    const auto by_words = (*search)->by_words(example.name + " " + example.title, 3);
    REQUIRE(by_words);
    REQUIRE_FALSE(by_words->empty());
    CHECK(by_words->front().example == &example);
  }
}

TEST_CASE("searches from many threads agree, even while the first search makes the index") {
  const ExampleSearch search({{"a", "A scan", "y = tl.associative_scan(x, 0, add)\n"},
                              {"b", "A sum", "y = tl.sum(x, 0) + tl.max(x, 0)\n"}});
  std::vector<std::thread> threads;
  std::vector<int> right(8, 0);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&search, &right, t] {
      for (int i = 0; i < 50; ++i) {
        const auto words = search.by_words("scan", 3);
        const auto code = search.by_code("z = tl.sum(w, 0) + tl.max(w, 0)", 1);
        if (words && words->size() == 1 && words->front().example->name == "a" && code &&
            code->front().example->name == "b")
          ++right[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(8, 50));
}

TEST_CASE("too little code to compare is refused") {
  const ExampleSearch search({{"a", "A scan", "y = tl.associative_scan(x, 0, add)\n"}});
  CHECK(search.by_code("x", 3).error().message.find("five tokens") != std::string::npos);
  CHECK(search.by_words("", 3).error().message.find("no word") != std::string::npos);
}

TEST_CASE("a folder that is missing is named") {
  CHECK(ExampleSearch::load("/nowhere/examples").error().message.find("/nowhere/examples") !=
        std::string::npos);
}

TEST_CASE("any word of a query finds, by its stem and within names; the best hit is first") {
  CHECK(found("masks") == std::vector<std::size_t>{0, 1});  // a title weighs more than a comment
  CHECK(found("masks", 1) == std::vector<std::size_t>{0});
  CHECK(found("tl.associative_scan")[0] == 1);
  CHECK(found("ATOMIC counts") == std::vector<std::size_t>{2});
  CHECK(found("zebra").empty());
}

TEST_CASE("operators of a query language are ordinary words") {
  CHECK(found("name : zebra") == std::vector<std::size_t>{3});
  CHECK(found("zebra OR vote") == std::vector<std::size_t>{2});
  CHECK(found("vote NOT counting") == std::vector<std::size_t>{2});
  CHECK(found("vo*").empty());
  CHECK(found("{source} : atomic").size() == 1);
  for (const char* odd : {"\"", "a\"b", "vote\" OR \"x", "NEAR(vote counting, 2", "^vote", "-vote",
                          "(((", "vote; DROP TABLE examples", "'", "\xc3\xa4", "a AND"}) {
    INFO(odd);
    const auto index = FullText::make(kExamples);
    REQUIRE(index);
    const auto hits = (*index)->search(odd, 3);
    CHECK((hits || hits.error().code == ErrorCode::invalid_argument));
  }
  found(std::string("vote\0x", 6));
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "w" + std::to_string(i) + " ";
  CHECK(found(many).empty());
}

TEST_CASE("a query without a word is refused") {
  const auto index = FullText::make(kExamples);
  REQUIRE(index);
  for (const char* empty : {"", " ", "\"*()-"}) {
    const auto hits = (*index)->search(empty, 3);
    REQUIRE(!hits);
    CHECK(hits.error().code == ErrorCode::invalid_argument);
    CHECK(hits.error().message.find("segmented scan") != std::string::npos);
  }
}
