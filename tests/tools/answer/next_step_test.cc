#include <limits>

#include "tests/catch.h"
#include "tests/tools/fixture.h"
#include "tools/answer/verdict_answer.h"
#include "tools/answer/wrong_hint.h"

namespace assay::tools {
namespace {

using namespace sandbox;
using testing::has;

Verdict ended(ErrorKind kind, const std::string& message = "",
              std::optional<std::int64_t> line = {}) {
  Verdict verdict;
  verdict.kind = JobKind::test;
  verdict.operator_name = "vector_add";
  verdict.error_kind = kind;
  verdict.stage = Stage::run;
  if (!message.empty())
    verdict.diagnostic = Diagnostic{
        .exception = "Error", .message = message, .line = line, .code = "", .traceback = ""};
  return verdict;
}

std::string next_of(const Verdict& verdict) {
  static const testing::TemporaryCatalog catalog;
  return next_step(verdict, catalog->find("vector_add"));
}

}  // namespace

TEST_CASE("the step after an exception names its line, if it has one") {
  CHECK(next_of(ended(ErrorKind::value_error, "no", 3)) ==
        "Repair the source at that line, then `run_tests`.");
  CHECK(next_of(ended(ErrorKind::value_error, "no")) == "Repair the source, then `run_tests`.");
  CHECK(next_of(ended(ErrorKind::compilation_error, "no", 3)) ==
        "Repair the kernel at that line, then `compile` again.");
}

TEST_CASE("the step after a failed call of the entry function shows the signature") {
  const std::string next = next_of(
      ended(ErrorKind::type_error, "vector_add() missing 1 required positional argument: 'out'"));
  CHECK(has(next, "`vector_add(x: Tensor, y: Tensor) -> Tensor`"));
  CHECK_FALSE(has(next, "line"));
  CHECK(next_of(ended(ErrorKind::missing_entry, "the source does not define it")) ==
        "Define `vector_add(x: Tensor, y: Tensor) -> Tensor`.");
}

TEST_CASE("the step after a failed call by an adapter shows this call, not the entry") {
  const testing::TemporaryCatalog catalog;
  operators::Operator imported = *catalog->find("vector_add");
  imported.adapter = "def call_add(a0, a1):\n    return add(a0, other=a1)\n";
  imported.call = "add(a0, other=a1)";
  const Verdict failed = ended(ErrorKind::type_error, "add() got an unexpected argument 'other'");
  const Verdict missing = ended(ErrorKind::missing_entry, "the source does not define `add`");
  CHECK(next_step(failed, &imported) ==
        "Assay calls `add(a0, other=a1)`. Define a function that takes these arguments.");
  CHECK(next_step(missing, &imported) ==
        "Define the function that the message names. Assay calls `add(a0, other=a1)`.");
  Verdict inside = ended(ErrorKind::assertion_error, "no message", 3);
  inside.stage = Stage::import;
  CHECK(next_step(inside, &imported) == "Repair the source at that line, then `run_tests`.");
  inside.stage = Stage::record;
  CHECK(next_step(inside, &imported) ==
        "Assay calls `add(a0, other=a1)`. Repair the source at that line, then `run_tests`.");
  imported.call.clear();
  CHECK(has(next_step(failed, &imported), "`fetch_spec` shows how Assay calls it."));
}

TEST_CASE("the step after a class that does not fit names its model") {
  CHECK(has(next_of(ended(ErrorKind::interface_mismatch, "it lacks norm.weight")), "of Model"));
}

TEST_CASE("a modified input is named, whether the candidate or the judge noticed it") {
  const std::string words = "argument x was modified; the operator's spec has it as an input";
  const std::string wanted = "Write to a new tensor (torch.empty_like), not to x.";
  Verdict seen = ended(ErrorKind::output_mismatch, words);
  seen.diagnostic->subject = "x";
  CHECK(next_of(seen) == wanted);
  Verdict judged = ended(ErrorKind::output_mismatch);
  CaseRecord record;
  record.outcome = Outcome::fail;
  record.reason = words;
  record.modified = "x";
  judged.cases = {record};
  CHECK(next_of(judged) == wanted);
  CHECK(has(next_of(ended(ErrorKind::output_mismatch, "output 0 is NoneType; want a torch.Tensor")),
            "Return every output"));
}

TEST_CASE(
    "an operation of torch is to be replaced with a kernel; for a read on the host the advice is "
    "general") {
  Verdict verdict = ended(ErrorKind::not_recordable, "any words");
  verdict.diagnostic->subject = "aten::sigmoid";
  CHECK(next_of(verdict) == "Replace aten::sigmoid with a kernel of your own.");
  CHECK(has(
      next_of(ended(ErrorKind::not_recordable,
                    "aten::_local_scalar_dense reads the value of a device tensor on the host")),
      ".item()"));
}

TEST_CASE("only a plain name is repeated from an error") {
  for (const std::string& subject : {std::string("\x1b[2J"), std::string(1000, 'x')}) {
    Verdict verdict = ended(ErrorKind::not_recordable, "any words");
    verdict.diagnostic->subject = subject;
    CHECK_FALSE(has(next_of(verdict), subject));
    CHECK(has(next_of(verdict), ".item()"));
  }
}

TEST_CASE("CUDA C++ without a manifest shows one, with the operator's names") {
  Verdict verdict = ended(ErrorKind::missing_entry, "the file does not begin with a manifest");
  verdict.language = "cuda";
  CHECK(has(next_of(verdict),
            "/* assay launch = [{kernel = \"k\", grid = \"ceil_div(z.numel, 256)\", block = 256, "
            "args = [\"x\", \"y\", \"z\"]}] */"));
}

TEST_CASE("steps after too few resources, and after a crash in the interpreter") {
  Verdict resources =
      ended(ErrorKind::compilation_error,
            "out of resource: shared memory, Required: 262144, Hardware limit: 232448", 7);
  resources.diagnostic->exception = "OutOfResources";
  CHECK(has(next_of(resources), "smaller blocks"));
  CHECK_FALSE(has(next_of(resources), "line"));
  Verdict crashed = ended(ErrorKind::crash);
  CHECK(has(next_of(crashed), "ctypes"));
  crashed.tier = Tier::interpreter;
  CHECK(has(next_of(crashed), "tl.load or tl.store"));
}

TEST_CASE(
    "the step after `unsupported` does not depend on the exception that the submission names") {
  Verdict verdict = ended(ErrorKind::unsupported);
  const std::string step = next_of(verdict);
  CHECK(has(step, "another device, target or operator"));
  verdict.diagnostic.emplace().exception = "MissingDialect";
  CHECK(next_of(verdict) == step);
}

TEST_CASE("the step after a profile of compiled code does not depend on its suggestion") {
  Verdict verdict = ended(ErrorKind::unsupported);
  verdict.profile.emplace();
  CHECK(next_of(verdict).starts_with("`run_tests` checks"));
  CHECK_FALSE(has(next_of(verdict), "suggested"));
}

TEST_CASE("the step after a wrong result comes from its description") {
  Verdict verdict = ended(ErrorKind::wrong_result);
  verdict.cases.resize(1);
  CHECK(has(next_of(verdict), "Compare with the reference"));
  verdict.cases[0].wrong = {{.output = "z", .elements = 10, .all = {.count = 10}, .ratio = 2.0}};
  CHECK(next_of(verdict) == wrong_hint(verdict));
  CHECK(has(next_of(verdict), "doubled"));
}

TEST_CASE("an error in a line that runs at import is answered with the removal of the line") {
  Verdict verdict = ended(ErrorKind::not_recordable, "any words", 16);
  verdict.stage = sandbox::Stage::import;
  CHECK(has(next_of(verdict), "Remove this line"));
}

}  // namespace assay::tools
