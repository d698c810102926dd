#include "operators/spec_toml.h"

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.h"

namespace assay::operators {
namespace {

const std::string kFile = "operators/standard/demo/spec.toml";

std::string case_text(const std::string& id, const std::string& visibility,
                      const std::string& interpreter) {
  return "[[cases]]\nid = \"" + id + "\"\nvisibility = \"" + visibility +
         "\"\ninterpreter = " + interpreter +
         "\ndtype = \"float32\"\naxes = { n = 7 }\ndistribution = \"normal\"\n";
}

/// Returns a small valid spec with every kind of table.
std::string valid() {
  return R"(name = "demo"
split = "standard"
family = "elementwise"
dialect = "triton"
difficulty = 1
summary = "Adds a number in place"
description = "x += a"
entry = "demo"
signature = "demo(x: Tensor, a: float) -> Tensor"
[[arguments]]
name = "x"
type = "tensor"
dtype = "case"
shape = ["n", "2*n", 3]
role = "inout"
description = "contiguous"
[[arguments]]
name = "a"
type = "float"
role = "input"
description = "what is added"
[[outputs]]
name = "y"
dtype = "float32"
shape = ["n"]
max_abs_error = 0.01
scale = "n"
[[outputs]]
name = "x"
dtype = "case"
shape = ["n", "2*n", 3]
max_abs_error = 0
from = "x"
)" + case_text("p1", "public", "true") +
         case_text("p2", "public", "false") + case_text("p3", "public", "false") +
         case_text("h1", "hidden", "true") + case_text("h2", "hidden", "false") +
         case_text("h3", "hidden", "false");
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = valid();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const Result<Operator> op = parse_spec(text, kFile);
  REQUIRE_FALSE(op.has_value());
  CHECK(op.error().code == ErrorCode::invalid_argument);
  CHECK(op.error().message.starts_with(kFile));
  return op.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  INFO("expected to contain: " << part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

struct KeyCase {
  const char* line;  // a line of valid() that starts with the key
  const char* key;
  const char* table;  // the name of the table in the message; empty for the top level
};

const std::array<KeyCase, 28> kRequired{{
    {"name = \"demo\"", "name", ""},
    {"split = \"standard\"", "split", ""},
    {"family = \"elementwise\"", "family", ""},
    {"dialect = \"triton\"", "dialect", ""},
    {"difficulty = 1", "difficulty", ""},
    {"summary = \"Adds a number in place\"", "summary", ""},
    {"description = \"x += a\"", "description", ""},
    {"entry = \"demo\"", "entry", ""},
    {"signature = \"demo(x: Tensor, a: float) -> Tensor\"", "signature", ""},
    {"name = \"x\"\ntype", "name", "[[arguments]] number 1"},
    {"type = \"float\"", "type", "[[arguments]] 'a'"},
    {"dtype = \"case\"\nshape = [\"n\", \"2*n\", 3]\nrole", "dtype", "[[arguments]] 'x'"},
    {"shape = [\"n\", \"2*n\", 3]\nrole", "shape", "[[arguments]] 'x'"},
    {"role = \"inout\"", "role", "[[arguments]] 'x'"},
    {"role = \"input\"", "role", "[[arguments]] 'a'"},
    {"description = \"contiguous\"", "description", "[[arguments]] 'x'"},
    {"description = \"what is added\"", "description", "[[arguments]] 'a'"},
    {"name = \"y\"", "name", "[[outputs]] number 1"},
    {"dtype = \"float32\"\nshape = [\"n\"]", "dtype", "[[outputs]] 'y'"},
    {"shape = [\"n\"]", "shape", "[[outputs]] 'y'"},
    {"max_abs_error = 0.01", "max_abs_error", "[[outputs]] 'y'"},
    {"id = \"p1\"", "id", "[[cases]] number 1"},
    {"visibility = \"public\"", "visibility", "[[cases]] 'p1'"},
    {"interpreter = true", "interpreter", "[[cases]] 'p1'"},
    {"dtype = \"float32\"\naxes", "dtype", "[[cases]] 'p1'"},
    {"axes = { n = 7 }", "axes", "[[cases]] 'p1'"},
    {"distribution = \"normal\"", "distribution", "[[cases]] 'p1'"},
    {"max_abs_error = 0\n", "max_abs_error", "[[outputs]] 'x'"},
}};

}  // namespace

TEST_CASE("a valid spec becomes an Operator", "[spec]") {
  const Result<Operator> op = parse_spec(valid(), kFile);
  INFO((op ? std::string() : op.error().message));
  REQUIRE(op.has_value());
  CHECK(op->name == "demo");
  CHECK(op->split == Split::standard);
  REQUIRE(op->arguments.size() == 2);
  CHECK(op->arguments[0].role == Role::inout);
  CHECK(op->arguments[0].shape == std::vector<std::string>{"n", "2*n", "3"});
  CHECK(op->arguments[1].type == ArgumentType::floating);
  CHECK(op->arguments[1].dtype.empty());
  REQUIRE(op->outputs.size() == 2);
  CHECK(op->outputs[0].scale == "n");
  CHECK(op->outputs[0].max_abs_error == Approx(0.01));
  CHECK(op->outputs[1].scale == "1");
  CHECK(op->outputs[1].from == "x");
  REQUIRE(op->cases.size() == 6);
  CHECK(op->cases[0].interpreter);
  CHECK(op->cases[3].hidden);
  CHECK(op->cases[3].axes.at("n") == 7);
}

TEST_CASE("each required key that is missing is named", "[spec]") {
  for (const KeyCase& key : kRequired) {
    INFO(key.table << " " << key.key);
    const std::string line = std::string(key.line).substr(0, std::string(key.line).find('\n'));
    std::string rest = std::string(key.line).substr(line.size());
    const std::string message = error_of(replaced(key.line, rest));
    contains(message, std::string(key.table) + (*key.table != '\0' ? ": " : "") + "key '" +
                          key.key + "' is missing; required: ");
  }
  for (const char* table : {"arguments", "outputs", "cases"}) {
    std::string text;
    for (const char* other : {"arguments", "outputs", "cases"}) {
      if (std::string(other) != table) continue;
      text = valid();
      for (std::size_t at;
           (at = text.find("[[" + std::string(table) + "]]")) != std::string::npos;) {
        const std::size_t next = text.find("[[", at + 2);
        text.erase(at, next == std::string::npos ? std::string::npos : next - at);
      }
    }
    contains(error_of(text), "key '" + std::string(table) + "' is missing");
  }
}

TEST_CASE(
    "each required key that is misspelt is named with the key that was meant and the valid ones",
    "[spec]") {
  for (const KeyCase& key : kRequired) {
    INFO(key.table << " " << key.key);
    std::string line = key.line;
    // A scalar argument has neither dtype nor shape. If a table has no name, the message gives the
    // table's number.
    line.insert(std::string(key.key).size(), "z");
    const std::string message = error_of(replaced(key.line, line));
    contains(message, "key '" + std::string(key.key) + "z' is unknown");
    contains(message, "did you mean '" + std::string(key.key) + "'?");
    contains(message, "; valid: ");
    contains(message, std::string(key.table));
  }
}

TEST_CASE("unknown values are errors that list the valid ones", "[spec]") {
  contains(error_of(replaced("split = \"standard\"", "split = \"normal\"")),
           "key 'split' is 'normal'; valid: standard, ood, dsl");
  contains(error_of(replaced("dialect = \"triton\"", "dialect = \"cuda\"")),
           "valid: triton, gluon, tlx");
  contains(error_of(replaced("family = \"elementwise\"", "family = \"misc\"")),
           "valid: elementwise, activation");
  contains(error_of(replaced("type = \"float\"", "type = \"double\"")),
           "valid: tensor, int, float, bool");
  contains(error_of(replaced("role = \"inout\"", "role = \"out\"")),
           "valid: input, inout, structural");
  contains(error_of(replaced("role = \"input\"", "role = \"structural\"")),
           "valid for a scalar: input");
  contains(error_of(replaced("visibility = \"public\"", "visibility = \"secret\"")),
           "valid: public, hidden");
  contains(error_of(replaced("dtype = \"float32\"\naxes", "dtype = \"fp32\"\naxes")),
           "valid: float64, float32");
  contains(error_of(replaced("interpreter = true", "interpreter = \"yes\"")),
           "must be true or false");
  contains(error_of(replaced("difficulty = 1", "difficulty = 6")),
           "must be an integer from 1 to 5");
  contains(error_of(replaced("max_abs_error = 0.01", "max_abs_error = 0.1")),
           "must be a number from 0 to 0.01");
  contains(error_of(replaced("max_abs_error = 0.01", "max_abs_error = nan")),
           "must be a number from 0 to 0.01");
  contains(error_of(replaced("axes = { n = 7 }", "axes = { n = 0 }")),
           "must be an integer from 1 to");
  contains(error_of(replaced("axes = { n = 7 }", "axes = 7")), "must be a table of integers");
  contains(error_of(replaced("name = \"demo\"", "name = \"../demo\"")),
           "valid: lower-case letters");
  contains(error_of(replaced("summary = \"Adds a number in place\"", "summary = \"\"")),
           "must be a string that is not empty");
  contains(error_of(replaced("type = \"float\"", "type = \"float\"\ndtype = \"float32\"")),
           "key 'dtype' is unknown");
}

TEST_CASE("the relations between the parts are checked", "[spec]") {
  contains(error_of(replaced("a: float", "a: int")),
           "with these arguments and outputs it must be 'demo(x: Tensor, a: float) -> Tensor'");
  contains(error_of(replaced("shape = [\"n\"]", "shape = [\"m\"]")),
           "'m' is neither an integer nor an axis; axes: n");
  contains(error_of(replaced("scale = \"n\"", "scale = \"cols\"")), "key 'scale': extent 'cols'");
  contains(error_of(replaced("scale = \"n\"", "scale = -1")), "must be above 0");
  contains(error_of(replaced("from = \"x\"", "from = \"a\"")),
           "key 'from' is 'a'; valid inout arguments: x");
  contains(error_of(replaced("from = \"x\"\n", "")), "with these arguments and outputs it must be");
  contains(error_of(replaced("id = \"p2\"", "id = \"p1\"")), "the name is used twice");
  contains(error_of(replaced("axes = { n = 7 }", "axes = { n = 7, k = 2 }")),
           "every case has the same axes");
  contains(error_of(replaced(case_text("p3", "public", "false"), "")),
           "2 public cases; at least 3 are needed");
  contains(
      error_of(replaced(case_text("h1", "hidden", "true"), case_text("h1", "hidden", "false"))),
      "no hidden case has interpreter = true");
  contains(error_of(replaced("dialect = \"triton\"", "dialect = \"gluon\"")),
           "key 'interpreter' must be false");
  contains(error_of(replaced("dtype = \"float32\"\naxes", "dtype = \"bfloat16\"\naxes")),
           "in which the interpreter computes wrongly");
}

TEST_CASE("an imported operator may have few cases, but needs a public one", "[spec]") {
  const std::string head =
      "imported = true\nadapter = \"def demo(x, a): ...\"\ncall = \"f(x, a)\"\n";
  const std::string text = head + valid();
  const std::string one =
      text.substr(0, text.find("[[cases]]")) + case_text("p1", "public", "false");
  const Result<Operator> op = parse_spec(one, kFile);
  REQUIRE(op);
  CHECK(op->imported);
  CHECK(op->adapter == "def demo(x, a): ...");
  CHECK(op->call == "f(x, a)");
  CHECK_FALSE(parse_spec(valid(), kFile)->imported);
  contains(error_of(head + valid().substr(0, valid().find("[[cases]]")) +
                    case_text("h1", "hidden", "false")),
           "no public case");
  contains(error_of(one.substr(one.find('\n') + 1)), "at least");
}

TEST_CASE("only outputs of imported operators may have a relative tolerance", "[spec]") {
  const std::string fixed = "max_abs_error = 0.01\nscale = \"n\"";
  const std::string text = replaced(fixed, "max_abs_error = 0.01\nrelative = true");
  contains(error_of(text), "only for operators with imported = true");
  const std::string head = "imported = true\nbenchmark_tolerance = \"allclose\"\n";
  const Result<Operator> op = parse_spec(head + text, kFile);
  REQUIRE(op);
  CHECK(op->outputs.front().relative);
  CHECK(op->provenance.tolerance == "allclose");
  contains(error_of(head + replaced(fixed, "max_abs_error = 0\nrelative = true")),
           "needs a max_abs_error above 0");
  contains(error_of(head + replaced(fixed, fixed + "\nrelative = true")), "and no scale");
}

TEST_CASE("any bytes give an error and never a crash", "[spec]") {
  contains(error_of(""), "is missing");
  contains(error_of("\xff\xfe\x01"), "not valid TOML");
  contains(error_of("name = "), ":1: not valid TOML");
  contains(error_of(std::string(3, '\0')), kFile);
  contains(error_of("cases = [1, 2]"), kFile);
  contains(error_of("[[name]]\n"), kFile);
  const std::string text = valid();
  for (std::size_t size = 0; size < text.size() - 2; size += 7) {
    INFO(size);
    CHECK_FALSE(parse_spec(text.substr(0, size), kFile).has_value());
  }
}

TEST_CASE("a message names the line", "[spec]") {
  contains(error_of(replaced("difficulty = 1", "difficulty = 9")), kFile + ":5: key 'difficulty'");
}

TEST_CASE("an adversarial distribution names what it breaks, and a hidden case has it", "[spec]") {
  const std::string hidden = case_text("h3", "hidden", "false");
  const std::string slow =
      replaced(hidden, "[[cases]]" + hidden.substr(9, hidden.rfind("normal") - 9) + "slow\"\n");
  const auto with = [&](const std::string& distribution, const std::string& breaks,
                        const std::string& more) {
    return slow + "[[adversarial]]\ndistribution = \"" + distribution + "\"\nbreaks = [" + breaks +
           "]\nwhy = \"states decay slowly\"\n" + more;
  };
  const Result<Operator> op =
      parse_spec(with("slow", "\"forget_past\", \"low_precision\"", "axis = \"n\"\n"), kFile);
  INFO((op ? std::string() : op.error().message));
  REQUIRE(op.has_value());
  REQUIRE(op->adversaries.size() == 1);
  CHECK(op->adversaries[0].distribution == "slow");
  CHECK(op->adversaries[0].breaks == std::vector<std::string>{"forget_past", "low_precision"});
  CHECK(op->adversaries[0].axis == "n");

  contains(
      error_of(with("slow", "\"forgets\"", "")),
      "[[adversarial]] 'slow': key 'breaks' has 'forgets'; valid: skip_negligible, forget_past");
  contains(error_of(with("slow", "", "")), "[[adversarial]] 'slow': key 'breaks' is empty");
  contains(error_of(with("slow", "\"forget_past\"", "axis = \"m\"\n")),
           "[[adversarial]] 'slow': key 'axis' is 'm'; valid: n");
  contains(error_of(with("fast", "\"forget_past\"", "")),
           "[[adversarial]] 'fast': no hidden case has this distribution");
}

TEST_CASE("a loss of precision that no case can show names an input, and says why", "[spec]") {
  const auto with = [](const std::string& table) {
    return valid() + "[[indistinguishable]]\n" + table;
  };
  const std::string why = "why = \"x is only compared with 0\"\n";
  const Result<Operator> op =
      parse_spec(with("loss = \"rounded_input\"\nargument = \"x\"\n" + why), kFile);
  INFO((op ? std::string() : op.error().message));
  REQUIRE(op.has_value());
  REQUIRE(op->indistinguishable.size() == 1);
  CHECK(op->indistinguishable[0].loss == "rounded_input");
  CHECK(op->indistinguishable[0].argument == "x");

  contains(error_of(with("loss = \"half\"\n" + why)), "valid: rounded_input, float16_sums");
  contains(error_of(with("loss = \"float16_sums\"\n")), "'why'");
  contains(error_of(with("loss = \"float16_sums\"\nargument = \"x\"\n" + why)),
           "[[indistinguishable]] 'float16_sums': key 'argument' is only for");
  contains(error_of(with("loss = \"rounded_input\"\nargument = \"a\"\n" + why)),
           "[[indistinguishable]] 'rounded_input': key 'argument' is 'a'; valid: x");
}

}  // namespace assay::operators
