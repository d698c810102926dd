#include "server/bench/options.h"

#include <string>
#include <vector>

#include "sandbox/device/make_device.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::bench;

TEST_CASE("unknown devices, splits and tracks are refused") {
  for (const char* good : {"cpu", "fake", "cuda:0", "cuda:12"})
    CHECK(sandbox::check_device_name(good));
  for (const char* bad : {"", "tpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:9999"}) {
    CHECK(sandbox::check_device_name(bad).error().message.find(
              "cpu, cuda:N, hip:N, emulated, fake") != std::string::npos);
  }
  BenchOptions options;
  CHECK(*suite_of(options, nullptr) == "all");
  options.split = "ood";
  CHECK(*suite_of(options, nullptr) == "ood");
  options.split = "odd";
  CHECK(suite_of(options, nullptr).error().message.find("standard, ood, dsl") != std::string::npos);
  options.split = "";
  options.operators = " vector_add, gelu_tanh ,,vector_add";
  CHECK(*suite_of(options, nullptr) == "vector_add,gelu_tanh");
  options.operators = " , ";
  CHECK(suite_of(options, nullptr).error().code == ErrorCode::invalid_argument);
  options.track = "scaled";
  CHECK(check_options(options));
  options.track = "weekend";
  CHECK(check_options(options).error().code == ErrorCode::not_found);
  CHECK(check_options(options).error().message.find("practice, one_shot, iterative, scaled") !=
        std::string::npos);
}

TEST_CASE("a model that can answer only some operators runs only these") {
  const Result<operators::Catalog> catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators");
  REQUIRE(catalog);
  const std::vector<std::string> answerable = {"clamped_affine_scan", "no_operator", "vector_add"};
  BenchOptions options;
  CHECK(*suite_of(options, &*catalog, answerable) == "clamped_affine_scan,vector_add");
  options.split = "ood";
  CHECK(*suite_of(options, &*catalog, answerable) == "clamped_affine_scan");
  options.split = "dsl";
  CHECK(suite_of(options, &*catalog, answerable).error().code == ErrorCode::not_found);
  options.split = "";
  options.operators = "gelu_tanh";
  CHECK(*suite_of(options, &*catalog, answerable) == "gelu_tanh");
}

TEST_CASE("the default directory is a plain name") {
  BenchOptions options;
  options.models = {"together:../../etc/x y"};
  CHECK(bench_directory(options, "one_shot", options.models[0]) ==
        "bench-out/one_shot_together_.._.._etc_x_y");
  options.out = "/tmp/here";
  CHECK(bench_directory(options, "one_shot", options.models[0]) == "/tmp/here");
  options.agents.emplace_back("leader?rounds=4");  // with several pairs, each pair has a folder
  CHECK(bench_directory(options, "leader?rounds=4", options.models[0]) ==
        "/tmp/here/leader_rounds_4_together_.._.._etc_x_y");
}

TEST_CASE("the time limit of a bench is a duration of at most 30 days") {
  CHECK(*duration_from("1h30m") == 5'400);
  CHECK(*duration_from("720h") == kMostBenchSeconds);
  for (const char* bad : {"", "0", "721h", "31d", "10 m"}) {
    INFO(bad);
    REQUIRE_FALSE(duration_from(bad));
    CHECK(duration_from(bad).error().message.find("1h30m") != std::string::npos);
  }
}

TEST_CASE("--price takes dollars per million tokens, for all models or for one") {
  const auto all = price_from("2,10.5");
  REQUIRE(all);
  CHECK(all->model.empty());
  CHECK(all->price.cost_usd(1'000'000, 2'000'000) == 23);
  const auto one = price_from("openai-compatible:a=b=0,0");
  REQUIRE(one);
  CHECK(one->model == "openai-compatible:a=b");
  CHECK(one->price.is_free());
  for (const char* bad : {"", "2", "2,", ",2", "2;3", "-1,2", "nan,1", "1,2,3", "=1,2", "m=1"}) {
    INFO(bad);
    const auto price = price_from(bad);
    REQUIRE_FALSE(price);
    CHECK(price.error().code == ErrorCode::invalid_argument);
  }
}
