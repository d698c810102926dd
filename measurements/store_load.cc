// Defines assay-store-load, a program that measures how many jobs and verdicts the store writes in
// a second. measurements/store.py runs the program.
//
//   assay-store-load FILE THREADS SECONDS
//
// Each thread accepts a job and then stores the job's verdict, again and again, like the calls of
// one client. Both writes are durable. The program prints one line of JSON for each thread: the
// nanoseconds of each accept() and of each finish().
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"
#include "base/json.h"
#include "server/store/store.h"

namespace {

using namespace assay;          // NOLINT: this is a main file
using namespace assay::server;  // NOLINT
using Time = std::chrono::steady_clock;

constexpr int kArguments = 3;
constexpr int kUsage = 2;
constexpr int kSourceBytes = 3'000;  // about the median size of published answers of models
constexpr int kCases = 9;            // about the number of cases of most operators

struct Samples {
  std::vector<std::int64_t> accept_ns, finish_ns;
  std::string error;
};

sandbox::Job a_job(const std::string& run) {
  sandbox::Job job;
  job.id = new_handle("job");
  job.run = run;
  job.kind = sandbox::JobKind::test;
  job.operator_name = "vector_add";
  job.source.assign(kSourceBytes, 'x');
  return job;
}

sandbox::Verdict its_verdict(const sandbox::Job& job) {
  sandbox::Verdict verdict;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.summary = "pass: all cases are right";
  for (int i = 0; i < kCases; ++i) {
    sandbox::CaseRecord record;
    record.id = "case_" + std::to_string(i);
    verdict.cases.push_back(record);
  }
  return verdict;
}

std::int64_t ns_since(Time::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Time::now() - begin).count();
}

Samples load(Store& store, const std::string& run, Time::time_point until) {
  Samples samples;
  while (Time::now() < until) {
    const sandbox::Job job = a_job(run);
    auto begin = Time::now();
    const auto accepted = store.accept(job, "cpu", {}, 1);
    samples.accept_ns.push_back(ns_since(begin));
    if (!accepted) samples.error = accepted.error().message;
    begin = Time::now();
    const auto stored = store.finish(job.id, tools::JobState::finished, its_verdict(job), false, 2);
    samples.finish_ns.push_back(ns_since(begin));
    if (!stored) samples.error = stored.error().message;
    if (!samples.error.empty()) return samples;
  }
  return samples;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != kArguments + 1) {
    std::fputs("assay-store-load: usage: FILE THREADS SECONDS\n", stderr);
    return kUsage;
  }
  const auto store = Store::open(argv[1], StoreMode::read_write);
  if (!store) {
    std::fprintf(stderr, "assay-store-load: %s\n", store.error().message.c_str());
    return 1;
  }
  tools::RunInfo run;
  run.handle = new_handle("run");
  run.operators = {"vector_add"};
  if (const Status stored = (*store)->insert_run(run, ""); !stored) {
    std::fprintf(stderr, "assay-store-load: %s\n", stored.error().message.c_str());
    return 1;
  }
  std::vector<Samples> samples(std::strtoul(argv[2], nullptr, 10));
  const auto until = Time::now() + std::chrono::seconds(std::strtol(argv[3], nullptr, 10));
  {
    std::vector<std::jthread> threads;
    for (Samples& mine : samples)
      threads.emplace_back([&] { mine = load(**store, run.handle, until); });
  }
  for (const Samples& one : samples) {
    if (!one.error.empty()) {
      std::fprintf(stderr, "assay-store-load: %s\n", one.error.c_str());
      return 1;
    }
    std::cout << nlohmann::json{{"accept_ns", one.accept_ns}, {"finish_ns", one.finish_ns}} << '\n';
  }
}
