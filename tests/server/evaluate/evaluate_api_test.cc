#include "server/evaluate/evaluate_api.h"

#include <malloc.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

/// Notes how many bytes the process has allocated while somebody waits for a job.
class MeasuredJobs final : public tools::JobService {
 public:
  explicit MeasuredJobs(tools::JobService& jobs) : jobs_(jobs) {}

  Result<std::string> submit(const tools::Principal& principal, sandbox::Job job,
                             const std::string& run, const std::string& device) override {
    return jobs_.submit(principal, std::move(job), run, device);
  }
  Result<tools::JobStatus> wait(const tools::Principal& principal, const std::string& job,
                                std::int64_t wait_ms,
                                const std::function<bool(const tools::JobStatus&)>& progress,
                                std::stop_token stop) override {
    bytes = allocated();
    return jobs_.wait(principal, job, wait_ms, progress, std::move(stop));
  }
  Status cancel(const tools::Principal& principal, const std::string& job) override {
    return jobs_.cancel(principal, job);
  }
  Result<bool> cancel_queued(const tools::Principal& principal, const std::string& job) override {
    return jobs_.cancel_queued(principal, job);
  }
  Result<tools::JobSource> source(const tools::Principal& principal,
                                  const std::string& job) override {
    return jobs_.source(principal, job);
  }
  std::vector<std::string> devices() const override { return jobs_.devices(); }

  /// Returns 0 if a sanitizer has replaced malloc.
  static std::size_t allocated() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  std::size_t bytes = 0;

 private:
  tools::JobService& jobs_;
};

}  // namespace

TEST_CASE("the body of a request is not kept while the request waits for verdicts") {
  constexpr std::size_t kBodyBytes = 64U << 20;
  testing::ServicesFixture services;
  MeasuredJobs jobs(services->jobs());
  const tools::Services all = {.catalog = *services.catalog,
                               .runs = services->runs(),
                               .jobs = jobs,
                               .artifacts = services->artifacts()};
  InputGroups groups(services.clock);
  EvaluateApi api(all, groups);
  mcp::HttpRequest head;
  head.method = "POST";
  head.path = "/v1/evaluate";
  const std::size_t before = MeasuredJobs::allocated();
  std::string body =
      R"({"wait_ms":20000,"evaluations":[{"operator":"vector_add","source":"# fake: pass\n"}]})";
  body.resize(kBodyBytes, ' ');
  const mcp::ApplicationAnswer answer = api.answer({.request = head, .body = std::move(body)});
  CHECK(answer.reply.status == 200);
  CHECK(jobs.bytes < before + kBodyBytes / 2);
}

}  // namespace assay::server
