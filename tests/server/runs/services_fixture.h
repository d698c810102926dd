// The real services over a store in a folder of its own, with the fake device.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/handle.h"
#include "sandbox/device/fake.h"
#include "server/runs/services.h"
#include "tests/tools/fixture.h"

namespace assay::testing {

class ServicesFixture {
 public:
  explicit ServicesFixture(server::QueueLimits queue = {}, int concurrency = 2)
      : queue_(queue), concurrency_(concurrency) {
    open();
  }

  server::ServerServices* operator->() { return services_.get(); }
  void close() { services_.reset(); }
  void open(const std::string& device = "fake") {
    open(device, sandbox::make_fake_device(concurrency_));
  }
  void open(const std::string& name, std::unique_ptr<sandbox::Device> device) {
    server::Devices devices;
    devices.emplace_back(name, std::move(device));
    server::ServicesOptions options;
    options.queue = queue_;
    options.clock = &clock;
    auto opened = server::ServerServices::open(store_path(), *catalog, std::move(devices), options);
    if (!opened) throw std::runtime_error(opened.error().message);
    services_ = std::move(*opened);
  }
  /// The services of tools, over this backend.
  tools::Services tool_services() const {
    return {.catalog = *catalog,
            .runs = services_->runs(),
            .jobs = services_->jobs(),
            .artifacts = services_->artifacts()};
  }
  std::filesystem::path store_path() const { return folder_.path() / "assay.db"; }

  sandbox::Job job(const std::string& source, sandbox::JobKind kind = sandbox::JobKind::test,
                   const std::string& op = "vector_add") const {
    sandbox::Job job;
    job.kind = kind;
    job.operator_name = op;
    job.source = source;
    job.cases.resize(1);
    job.cases[0].id = "small";
    return job;
  }
  /// Charges the run and stores a job that no device gets.
  Status accept(const std::string& run, const std::string& op, sandbox::JobKind kind,
                const std::string& source) {
    sandbox::Job accepted = job(source, kind, op);
    accepted.id = new_handle("job");
    accepted.run = run;
    return services_->runs().accept(accepted, "fake");
  }
  /// The handle of an artifact of a finished practice job.
  std::string artifact(sandbox::Artifact artifact) {
    sandbox::Job made = job("");
    made.id = new_handle("job");
    sandbox::Verdict verdict;
    verdict.artifacts = {std::move(artifact)};
    server::Store& store = services_->store();
    if (!store.accept(made, "fake", {}, 1) ||
        !store.finish(made.id, tools::JobState::finished, std::move(verdict), false, 2))
      throw std::runtime_error("the store refused an artifact");
    return store.list_artifacts(made.id)->at(0).first;
  }
  std::string start(tools::Track track, const std::string& suite = "all") {
    auto run = services_->runs().start(
        {.agent = "tester", .model = "none", .track = track, .suite = suite});
    if (!run) throw std::runtime_error(run.error().message);
    return run->handle;
  }
  tools::JobStatus end_of(const std::string& handle) {
    auto status = services_->jobs().wait(handle, 20'000, nullptr);
    if (!status) throw std::runtime_error(status.error().message);
    if (!status->verdict) throw std::runtime_error("job " + handle + " did not end");
    return *status;
  }

  TemporaryCatalog catalog;
  ManualClock clock;

 private:
  TemporaryFolder folder_;
  server::QueueLimits queue_;
  int concurrency_;
  std::unique_ptr<server::ServerServices> services_;
};

}  // namespace assay::testing
