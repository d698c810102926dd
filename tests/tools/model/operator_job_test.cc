#include "tools/model/operator_job.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::tools;
using sandbox::JobKind;

namespace {

operators::Operator sample() {
  operators::Operator op;
  op.name = "axpy";
  op.entry = "axpy";
  op.oracle_source = "def axpy(): ...";
  for (const char* id : {"small", "secret", "large"}) {
    operators::Case one;
    one.id = id;
    one.hidden = one.id == "secret";
    op.cases.push_back(one);
  }
  return op;
}

std::vector<std::string> ids(const sandbox::Job& job) {
  std::vector<std::string> out;
  for (const sandbox::CaseRequest& one : job.cases) out.push_back(one.id);
  return out;
}

}  // namespace

TEST_CASE("only graded jobs have hidden cases; only profile and grade have the oracle") {
  const operators::Operator op = sample();
  for (const JobKind kind : {JobKind::compile, JobKind::test, JobKind::profile})
    CHECK(ids(operator_job(op, kind, "s")) == std::vector<std::string>{"small", "large"});
  CHECK(ids(operator_job(op, JobKind::grade, "s")) ==
        std::vector<std::string>{"small", "large", "secret"});  // the hidden cases come last
  CHECK(operator_job(op, JobKind::test, "s").baseline_source.empty());
  CHECK(operator_job(op, JobKind::profile, "s").baseline_source == op.oracle_source);
  CHECK(operator_job(op, JobKind::grade, "s").baseline_source == op.oracle_source);
  CHECK(operator_job(op, JobKind::test, "s").id != operator_job(op, JobKind::test, "s").id);
}

TEST_CASE("a job of an operator without an oracle names the other baseline") {
  operators::Operator op = sample();
  CHECK(operator_job(op, JobKind::grade, "s").baseline == Baseline::oracle);
  op.oracle_source.clear();
  op.baseline = Baseline::torch_eager;
  for (const JobKind kind : {JobKind::test, JobKind::profile, JobKind::grade}) {
    CHECK(operator_job(op, kind, "s").baseline == Baseline::torch_eager);
    CHECK(operator_job(op, kind, "s").baseline_source.empty());
  }
}

TEST_CASE("a job takes only the languages of its operator's dialect") {
  operators::Operator op = sample();
  op.dialect = "triton";
  sandbox::Job job = operator_job(op, JobKind::test, "s");
  CHECK(job.language == "python");
  REQUIRE(choose_language(job, "cuda"));
  CHECK(job.language == "cuda");
  REQUIRE(choose_language(job, ""));
  CHECK(job.language == "python");
  const Status unknown = choose_language(job, "fortran");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "unknown language 'fortran'; valid: python, cuda");
  for (const char* dialect : {"gluon", "tlx"}) {
    op.dialect = dialect;
    job = operator_job(op, JobKind::test, "s");
    CHECK(choose_language(job, "python"));
    const Status refused = choose_language(job, "cuda");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find(dialect) != std::string::npos);
  }
}

TEST_CASE("choose_case keeps the named case or the last one; its error names the valid cases") {
  sandbox::Job job = operator_job(sample(), JobKind::profile, "s");
  REQUIRE(choose_case(job, ""));
  CHECK(ids(job) == std::vector<std::string>{"large"});
  job = operator_job(sample(), JobKind::profile, "s");
  REQUIRE(choose_case(job, "small"));
  CHECK(ids(job) == std::vector<std::string>{"small"});
  job = operator_job(sample(), JobKind::profile, "s");
  const Status unknown = choose_case(job, "secret");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message ==
        "operator 'axpy' has no public case 'secret'; valid: small, large");
  job.cases.clear();
  CHECK_FALSE(choose_case(job, ""));
}

TEST_CASE("an operator's adapter is no part of a source") {
  operators::Operator op = sample();
  CHECK(operator_job(op, JobKind::grade, "s").adapter.empty());
  op.adapter = "def axpy(): ...";
  const sandbox::Job job = operator_job(op, JobKind::grade, "def inner(): ...");
  CHECK(job.adapter == op.adapter);
  CHECK(job.source == "def inner(): ...");
  CHECK(job.baseline_source == op.oracle_source);
}

TEST_CASE("a target must have its form; the error for another name suggests the target") {
  CHECK(check_target("cuda:90"));
  CHECK(check_target("hip:gfx942"));
  const auto problem = [](const std::string& target) {
    return check_target(target).error().message;
  };
  CHECK(problem("sm_90").ends_with("hip:gfx950; did you mean cuda:90?"));
  CHECK(problem("sm_90a").ends_with("did you mean cuda:90?"));
  CHECK(problem("NVIDIA H100").ends_with("did you mean cuda:90?"));
  CHECK(problem("sm_100").ends_with("did you mean cuda:100?"));
  CHECK(problem("MI300X").ends_with("did you mean hip:gfx942?"));
  CHECK(problem("MI250").ends_with("did you mean hip:gfx90a?"));
  CHECK(
      problem("tpu:1").ends_with("valid: cuda:80, cuda:90, cuda:100, hip:gfx90a, hip:gfx942, "
                                 "hip:gfx950"));
}
