#include "sandbox/record/record_cases.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

PreparedCase vector_of(std::int64_t n) {
  PreparedCase one;
  Argument x;
  x.name = "x";
  x.dtype = "float32";
  x.shape = {n};
  x.strides = {1};
  one.arguments = {x};
  return one;
}

PreparedCase with_scalar(std::int64_t value) {
  PreparedCase one = vector_of(64);
  Argument scalar;
  scalar.name = "k";
  scalar.is_tensor = false;
  scalar.scalar_type = "int";
  scalar.value = value;
  one.arguments.push_back(scalar);
  return one;
}

using Parts = std::vector<std::vector<std::size_t>>;

Parts deal(std::vector<PreparedCase> cases, std::size_t parts) {
  PreparedJob prepared;
  prepared.cases = std::move(cases);
  return deal_cases(prepared.cases, all_cases(prepared), parts);
}

}  // namespace

TEST_CASE("cases that are specialised alike are recorded by one candidate") {
  CHECK(deal({vector_of(1024), vector_of(1000003), vector_of(4096), vector_of(77)}, 2) ==
        Parts{{0, 2}, {1, 3}});
  CHECK(deal({vector_of(64), vector_of(1), vector_of(128), vector_of(1)}, 2) ==
        Parts{{0, 2}, {1, 3}});
  CHECK(deal({with_scalar(16), with_scalar(3), with_scalar(32), with_scalar(5)}, 2) ==
        Parts{{0, 2}, {1, 3}});
  PreparedCase half = vector_of(64);
  half.arguments[0].dtype = "float16";
  CHECK(deal({vector_of(64), half, vector_of(64), half}, 2) == Parts{{0, 2}, {1, 3}});
}

TEST_CASE("parts are of nearly equal size, hold every case once, and begin with the first") {
  std::vector<PreparedCase> cases;
  for (std::size_t count = 1; count <= 9; ++count) {
    cases.push_back(vector_of(count % 3 == 0 ? 48 : 7));
    for (std::size_t parts = 1; parts <= 12; ++parts) {
      const Parts dealt = deal(cases, parts);
      CHECK(dealt.size() == std::min(parts, count));
      CHECK(dealt.front().front() == 0);
      std::vector<std::size_t> all;
      for (const auto& part : dealt) {
        CHECK(std::is_sorted(part.begin(), part.end()));
        CHECK(part.size() >= count / dealt.size());
        CHECK(part.size() <= count / dealt.size() + 1);
        all.insert(all.end(), part.begin(), part.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all.size() == count);
      CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
    }
  }
}

TEST_CASE("fewer candidates have the time of all candidates whose cases they have") {
  CHECK(recording_wall_ms(1000, 2, 2) == 1000);
  CHECK(recording_wall_ms(1000, 2, 1) == 2000);
  CHECK(recording_wall_ms(1000, 8, 5) == 4000);
  CHECK(recording_wall_ms(1000, 0, 1) == 1000);  // no cases
  std::vector<PreparedCase> cases;
  for (std::size_t count = 1; count <= 24; ++count) {
    cases.push_back(vector_of(count % 3 == 0 ? 48 : 7));
    for (std::size_t most = 1; most <= 9; ++most) {
      const Parts all = deal(cases, most);
      for (std::size_t parts = 1; parts <= most; ++parts) {
        const Parts fewer = deal(cases, parts);
        for (const auto& part : fewer) {
          // The parts of the full number of candidates that have cases of this part.
          const auto replaced = std::count_if(all.begin(), all.end(), [&](const auto& one) {
            return std::any_of(one.begin(), one.end(), [&](std::size_t i) {
              return std::find(part.begin(), part.end(), i) != part.end();
            });
          });
          CHECK(replaced <= recording_wall_ms(1, all.size(), fewer.size()));
        }
      }
    }
  }
}

TEST_CASE("without cases there is one empty part") {
  CHECK(deal({}, 2) == Parts{{}});
  CHECK(deal({vector_of(1)}, 0) == Parts{{0}});
}

TEST_CASE("a part of the cases is dealt by their indices") {
  const std::vector<PreparedCase> cases = {vector_of(16), vector_of(7), vector_of(32), vector_of(9),
                                           vector_of(48)};
  CHECK(deal_cases(cases, {1, 2, 3, 4}, 2) == Parts{{1, 3}, {2, 4}});
}

namespace {

CandidateResults results_of(const std::vector<std::size_t>& part) {
  CandidateResults results;
  for (const std::size_t i : part) {
    CaseDone done;
    done.id = std::to_string(i);
    results.cases.push_back(done);
  }
  return results;
}

/// Records four cases in four parts, which end in the order of their cases, and returns the
/// verdict. `throws` is called with each case and may throw an exception. `ended` is set to the
/// number of parts that have ended.
Verdict recorded_with_fault(const std::function<void(std::size_t)>& throws, int& ended) {
  Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  std::atomic<int> ends{0};
  const auto results = record_parts(run, {{0}, {1}, {2}, {3}}, {0, 1, 2, 3},
                                    [&](JobExecution&, const std::vector<std::size_t>& part) {
                                      const int before_me = static_cast<int>(part.front());
                                      for (int seen = ends; seen < before_me; seen = ends)
                                        ends.wait(seen);
                                      ++ends;
                                      ends.notify_all();
                                      throws(part.front());
                                      return std::optional<CandidateResults>(results_of(part));
                                    });
  ended = ends;
  CHECK(results.has_value() == !run.failed());
  if (results) CHECK(results->cases.size() == 4);
  return run.finish();
}

}  // namespace

TEST_CASE(
    "an exception in one of several recording parts ends the job after all parts, and not the "
    "server") {
  int ended = 0;
  for (const std::size_t faulty : {0, 1, 2, 3}) {
    INFO("part " << faulty);
    const Verdict verdict = recorded_with_fault(
        [&](std::size_t part) {
          if (part == faulty) throw std::runtime_error("no more threads");
        },
        ended);
    CHECK(verdict.outcome == Outcome::error);
    CHECK(verdict.error_kind == ErrorKind::internal_error);
    CHECK(verdict.detail.find("no more threads") != std::string::npos);
    CHECK(ended == 4);
  }
  CHECK(recorded_with_fault([](std::size_t) { throw std::bad_alloc(); }, ended).error_kind ==
        ErrorKind::internal_error);
  CHECK_FALSE(recorded_with_fault([](std::size_t) {}, ended).error_kind ==
              ErrorKind::internal_error);
}
