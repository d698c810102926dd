#include "operators/search/example_search.h"

#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using assay::operators::Example;
using assay::operators::ExampleSearch;

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

TEST_CASE("searches from many threads agree, the first of them included") {
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
