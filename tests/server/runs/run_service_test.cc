
#include "server/runs/run_service.h"

#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using sandbox::JobKind;
using testing::ServicesFixture;
using tools::Track;

constexpr const char* kA = "a";
constexpr const char* kB = "b";

}  // namespace

TEST_CASE("a suite is all, a split or a list; operators are in catalog order, each once") {
  const testing::TemporaryCatalog catalog;
  using Names = std::vector<std::string>;
  CHECK(*resolve_suite("all", *catalog) == Names{"row_sum", "vector_add"});
  CHECK(*resolve_suite("standard", *catalog) == Names{"row_sum", "vector_add"});
  CHECK(*resolve_suite(" vector_add , row_sum,vector_add,", *catalog) ==
        Names{"row_sum", "vector_add"});
  CHECK(*resolve_suite("vector_add", *catalog) == Names{"vector_add"});
  const auto unknown = resolve_suite("vector_add,vectoradd,softmaxx", *catalog);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  for (const char* word :
       {"vectoradd", "softmaxx", "did you mean 'vector_add'", "standard, ood, dsl"}) {
    INFO(word);
    CHECK(unknown.error().message.find(word) != std::string::npos);
  }
  CHECK_FALSE(resolve_suite("", *catalog));
  CHECK_FALSE(resolve_suite("ood", *catalog));  // a split without operators
}

TEST_CASE("one_shot: one call of each kind per operator, always with the first source") {
  ServicesFixture services;
  const std::string run = services.start(Track::one_shot);
  for (const JobKind kind : {JobKind::compile, JobKind::test, JobKind::profile, JobKind::grade}) {
    INFO(to_string(kind));
    const Status other = services.accept(run, "row_sum", kind, kA);
    REQUIRE(other);
    const Status again = services.accept(run, "row_sum", kind, kA);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::permission_denied);
    CHECK(again.error().message.find("one_shot track allows 1") != std::string::npos);
  }
  REQUIRE(services.accept(run, "vector_add", JobKind::test, kA));
  const Status changed = services.accept(run, "vector_add", JobKind::grade, kB);
  REQUIRE_FALSE(changed);
  CHECK(changed.error().message.find("one source per operator") != std::string::npos);
  CHECK(services.accept(run, "vector_add", JobKind::grade, kA));
}

TEST_CASE("iterative: 20 compiles, 10 tests, 10 profiles, 1 submission per operator, any source") {
  ServicesFixture services;
  const std::string run = services.start(Track::iterative);
  const std::vector<std::pair<JobKind, int>> budgets = {
      {JobKind::compile, 20}, {JobKind::test, 10}, {JobKind::profile, 10}, {JobKind::grade, 1}};
  for (const auto& [kind, limit] : budgets) {
    for (int i = 0; i < limit; ++i)
      REQUIRE(services.accept(run, "vector_add", kind, std::to_string(i)));
    CHECK_FALSE(services.accept(run, "vector_add", kind, kA));
    CHECK(services.accept(run, "row_sum", kind, kA));  // budgets are per operator
  }
}

TEST_CASE("practice has no budget") {
  ServicesFixture services;
  const std::string run = services.start(Track::practice);
  for (int i = 0; i < 50; ++i)
    REQUIRE(services.accept(run, "vector_add", JobKind::grade, std::to_string(i)));
}

TEST_CASE(
    "a run ends after 24 hours, refuses operators outside its suite, and needs a valid handle") {
  ServicesFixture services;
  auto& runs = services->runs();
  const std::string run = services.start(Track::iterative, "vector_add");
  const Status outside = services.accept(run, "row_sum", JobKind::test, kA);
  REQUIRE_FALSE(outside);
  CHECK(outside.error().message.find("not in this run's suite") != std::string::npos);
  CHECK(runs.find({}, "job_1").error().code == ErrorCode::invalid_argument);
  CHECK(runs.find({}, new_handle("run")).error().code == ErrorCode::not_found);
  services.clock.advance_ms(86'399'000);
  CHECK(services.accept(run, "vector_add", JobKind::test, kA));
  services.clock.advance_ms(2'000);
  CHECK(services.accept(run, "vector_add", JobKind::test, kA).error().code ==
        ErrorCode::permission_denied);
  CHECK_FALSE(runs.report_usage({}, run, {.input_tokens = 1, .output_tokens = 1, .cost_usd = 0}));
  CHECK(runs.scorecard({}, run));
}

TEST_CASE("a clock that is set back does not reopen a run that was over") {
  ServicesFixture services;
  const std::string run = services.start(Track::iterative, "vector_add");
  const std::string other = services.start(Track::iterative, "vector_add");
  services.clock.advance_ms(86'401'000);
  CHECK_FALSE(services.accept(run, "vector_add", JobKind::test, kA));
  services.clock.advance_ms(-3'600'000);
  CHECK(services.accept(run, "vector_add", JobKind::test, kA).error().code ==
        ErrorCode::permission_denied);
  CHECK(services.accept(other, "vector_add", JobKind::test, kA));  // no call had found it over
}

TEST_CASE("the scaled track allows 10 x 10 versions within a week") {
  ServicesFixture services;
  auto& runs = services->runs();
  const std::string run = services.start(Track::scaled, "vector_add");
  for (const JobKind kind : {JobKind::compile, JobKind::test, JobKind::profile}) {
    for (int i = 0; i < 100; ++i)
      REQUIRE(services.accept(run, "vector_add", kind, std::to_string(i)));
    CHECK_FALSE(services.accept(run, "vector_add", kind, kA));
  }
  services.clock.advance_ms(7 * 86'400'000LL - 1'000);
  CHECK(services.accept(run, "vector_add", JobKind::grade, kA));
  services.clock.advance_ms(2'000);
  CHECK(runs.report_usage({}, run, {.input_tokens = 1}).error().code ==
        ErrorCode::permission_denied);
}

TEST_CASE("usage adds up, and impossible values are refused") {
  ServicesFixture services;
  auto& runs = services->runs();
  const std::string run = services.start(Track::iterative);
  CHECK_FALSE(runs.scorecard({}, run)->usage.cost_known);
  REQUIRE(runs.report_usage(
      {}, run, {.input_tokens = 100, .output_tokens = 10, .cost_usd = 0.5, .cost_known = true}));
  REQUIRE(runs.report_usage(
      {}, run, {.input_tokens = 1, .output_tokens = 2, .cost_usd = 0.25, .cost_known = true}));
  const auto card = runs.scorecard({}, run);
  REQUIRE(card);
  CHECK(card->usage.input_tokens == 101);
  CHECK(card->usage.output_tokens == 12);
  CHECK(card->usage.cost_usd == Approx(0.75));
  CHECK(card->usage.cost_known);
  REQUIRE(runs.report_usage({}, run, {.input_tokens = 1, .cost_usd = 0, .cost_known = true}));
  CHECK(runs.scorecard({}, run)->usage.cost_known);
  REQUIRE(runs.report_usage({}, run, {.input_tokens = 1}));
  CHECK_FALSE(runs.scorecard({}, run)->usage.cost_known);
  CHECK(runs.scorecard({}, run)->usage.cost_usd == Approx(0.75));
  CHECK_FALSE(runs.report_usage({}, run, {.input_tokens = -1, .output_tokens = 0, .cost_usd = 0}));
  CHECK_FALSE(runs.report_usage({}, run,
                                {.input_tokens = 0,
                                 .output_tokens = 0,
                                 .cost_usd = std::numeric_limits<double>::infinity()}));
}

TEST_CASE("a repeated report of usage counts once in its run") {
  ServicesFixture services;
  auto& runs = services->runs();
  const std::string run = services.start(Track::iterative);
  const std::string other = services.start(Track::iterative);
  for (const std::string& in : {run, run, other})
    REQUIRE(runs.report_usage({}, in, {.input_tokens = 100, .call_id = "reply_1"}));
  REQUIRE(runs.report_usage({}, run, {.input_tokens = 10, .call_id = "reply_2"}));
  for (int i = 0; i < 2; ++i) REQUIRE(runs.report_usage({}, run, {.input_tokens = 1}));
  CHECK(runs.scorecard({}, run)->usage.input_tokens == 112);
  CHECK(runs.scorecard({}, other)->usage.input_tokens == 100);
  CHECK(runs.report_usage({}, run, {.call_id = std::string(801, 'x')}).error().code ==
        ErrorCode::invalid_argument);
}

TEST_CASE(
    "Pass@1 is over the whole suite, and Perf@1 exists only where every right submission was "
    "timed") {
  ServicesFixture services;
  auto& runs = services->runs();
  const std::string run = services.start(Track::iterative);
  const auto submit = [&](const std::string& op, const std::string& source) {
    const auto handle =
        services->jobs().submit({}, services.job(source, JobKind::grade, op), run, "");
    REQUIRE(handle);
    services.end_of(*handle);
  };
  CHECK(runs.scorecard({}, run)->pass_at_1 == 0);
  submit("row_sum", "# fake: pass\n");  // a pass without a time
  auto card = runs.scorecard({}, run);
  REQUIRE(card);
  CHECK(card->pass_at_1 == Approx(0.5));
  CHECK(card->submitted == 1);
  CHECK_FALSE(card->perf_at_1.has_value());
  submit("vector_add", "# fake: perf=1.5\n");
  card = runs.scorecard({}, run);
  CHECK(card->passed == 2);
  CHECK_FALSE(card->perf_at_1.has_value());  // 0.75 would count the untimed pass as a failure
  CHECK(card->operators[1].tool_calls == 1);
}

TEST_CASE("a failure counts as 0 in Perf@1 and needs no time") {
  ServicesFixture services;
  auto& runs = services->runs();
  const std::string run = services.start(Track::iterative);
  for (const auto& [op, source] : {std::pair<std::string, std::string>("row_sum", "# fake: fail\n"),
                                   {"vector_add", "# fake: perf=1.5\n"}}) {
    const auto handle =
        services->jobs().submit({}, services.job(source, JobKind::grade, op), run, "");
    REQUIRE(handle);
    services.end_of(*handle);
  }
  const auto card = runs.scorecard({}, run);
  REQUIRE(card);
  REQUIRE(card->perf_at_1.has_value());
  CHECK(*card->perf_at_1 == Approx(0.75));
}

TEST_CASE("a principal that starts runs too fast is refused, and others are not") {
  ServicesFixture services;
  const tools::RunRequest request = {.agent = "a", .model = "m"};
  StoredRuns runs(services->store(), *services.catalog, services.clock,
                  {.per_second = 0.5, .burst = 3});
  for (int i = 0; i < 3; ++i) REQUIRE(runs.start({.name = "alice"}, request));
  const auto refused = runs.start({.name = "alice"}, request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("try again in 2 s") != std::string::npos);
  CHECK(runs.start({.name = "bob"}, request));
  for (int i = 0; i < 9; ++i) CHECK(runs.start({}, request));  // no tokens: no limit
  services.clock.advance_ms(2'000);
  CHECK(runs.start({.name = "alice"}, request));
  CHECK_FALSE(runs.start({.name = "alice"}, request));
}

TEST_CASE("200 agents of one principal can start a run each at the same moment") {
  ServicesFixture services;
  for (int i = 0; i < 200; ++i)
    REQUIRE(services->runs().start({.name = "team"}, {.agent = "a", .model = "m"}));
}

}  // namespace assay::server
