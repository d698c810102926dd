#include "server/runs/verdict_writer.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "tests/catch.h"
#include "tests/server/store/failing_store.h"

using namespace assay;
using namespace assay::server;
using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Verdict;

namespace {

/// Calls a function instead of waiting.
class CallingClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override { return 0; }
  std::int64_t unix_ms() const override { return 1; }
  using Clock::wait_until;
  bool wait_until(Condition&, MutexLock&, std::stop_token, std::int64_t,
                  const std::function<bool()>&) const override {
    ++waits;
    if (on_wait) on_wait();
    return false;
  }
  std::function<void()> on_wait;
  mutable int waits = 0;
};

struct WriterFixture {
  sandbox::Job accepted_job() {
    sandbox::Job job = store.job();
    REQUIRE(store.store->accept(job, "fake", {.limit = 10}, 1));
    return job;
  }
  void refuse_verdicts() { store.fail_at("INSERT ON verdicts"); }
  int charged() { return store.count("tool_calls WHERE refunded = 0"); }

  stored::FailingStore store;
  CallingClock clock;
};

}  // namespace

TEST_CASE("a store that fails for a moment costs neither the verdict nor the charge") {
  WriterFixture setup;
  VerdictWriter writer(*setup.store.store, setup.clock);
  const sandbox::Job job = setup.accepted_job();
  setup.refuse_verdicts();
  setup.clock.on_wait = [&] {
    if (setup.clock.waits == 2) setup.store.work_again();
  };
  const Verdict shown = writer.store(job, stored::verdict_of(job), {});
  CHECK(shown.outcome == Outcome::pass);
  CHECK(setup.clock.waits == 2);
  CHECK_FALSE(writer.unstored(job.id));
  CHECK((*setup.store.store->finished_job(job.id, ""))->verdict.outcome == Outcome::pass);
  CHECK(setup.charged() == 1);
}

TEST_CASE(
    "a verdict that cannot be stored becomes an error of the server, which is stored later and not "
    "charged") {
  WriterFixture setup;
  VerdictWriter writer(*setup.store.store, setup.clock);
  const sandbox::Job lost = setup.accepted_job(), next = setup.accepted_job();
  setup.refuse_verdicts();
  const Verdict shown = writer.store(lost, stored::verdict_of(lost), {});
  CHECK(shown.error_kind == ErrorKind::internal_error);
  CHECK(setup.clock.waits == VerdictWriter::Patience{}.attempts - 1);
  REQUIRE(writer.unstored(lost.id));
  CHECK(writer.unstored(lost.id)->run == setup.store.run.handle);
  CHECK_FALSE(*setup.store.store->finished_job(lost.id, ""));

  setup.store.work_again();
  CHECK(writer.store(next, stored::verdict_of(next), {}).outcome == Outcome::pass);
  CHECK_FALSE(writer.unstored(lost.id));
  CHECK((*setup.store.store->finished_job(lost.id, ""))->verdict.error_kind ==
        ErrorKind::internal_error);
  CHECK(setup.charged() == 1);
}

TEST_CASE("a stop ends the attempts") {
  WriterFixture setup;
  VerdictWriter writer(*setup.store.store, setup.clock);
  const sandbox::Job job = setup.accepted_job();
  setup.refuse_verdicts();
  std::stop_source stop;
  stop.request_stop();
  CHECK(writer.store(job, stored::verdict_of(job), stop.get_token()).error_kind ==
        ErrorKind::internal_error);
  CHECK(setup.clock.waits == 1);
}

TEST_CASE("a verdict that cannot be stored does not disturb those that are stored with it") {
  WriterFixture setup;
  VerdictWriter writer(*setup.store.store, setup.clock);
  const sandbox::Job first = setup.accepted_job(), last = setup.accepted_job();
  const sandbox::Job unknown = setup.store.job();  // the store has no such job
  const Verdict right = stored::verdict_of(first), unstorable = stored::verdict_of(unknown),
                also_right = stored::verdict_of(last);
  const std::vector<Result<Verdict>> tried =
      writer.try_all({{&first, &right}, {&unknown, &unstorable}, {&last, &also_right}});
  REQUIRE(tried.size() == 3);
  CHECK(tried[0]->outcome == Outcome::pass);
  CHECK_FALSE(tried[1]);
  CHECK(tried[2]->outcome == Outcome::pass);
  CHECK((*setup.store.store->finished_job(last.id, ""))->verdict.outcome == Outcome::pass);
  CHECK(setup.clock.waits == 0);
}

TEST_CASE("a verdict that can never be stored does not hold others that wait for the store") {
  WriterFixture setup;
  VerdictWriter writer(*setup.store.store, setup.clock, {.attempts = 1});
  std::vector<sandbox::Job> jobs = {setup.store.job(), setup.accepted_job(), setup.store.job()};
  setup.refuse_verdicts();
  for (const sandbox::Job& job : jobs) writer.store(job, stored::verdict_of(job), {});
  CHECK(writer.unstored(jobs[1].id));
  setup.store.work_again();
  writer.write_unstored();
  CHECK(writer.unstored(jobs[0].id));
  CHECK_FALSE(writer.unstored(jobs[1].id));
  CHECK(writer.unstored(jobs[2].id));
}
