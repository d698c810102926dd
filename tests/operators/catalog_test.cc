#include "operators/catalog.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "operators/spec_toml.h"
#include "tests/catch.h"

namespace assay::operators {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(ASSAY_SOURCE_DIR) / "operators";

/// A temporary folder with copies of some operator folders. The destructor removes the folder.
class Copy {
 public:
  Copy() {
    std::string name = (fs::temp_directory_path() / "assay-catalog-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  ~Copy() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  fs::path add(const std::string& name, const std::string& as) {
    const fs::path target = root_ / as;
    fs::create_directories(target);
    for (const char* file : {"spec.toml", "reference.py", "oracle.py"})
      fs::copy_file(kRoot / name / file, target / file);
    return target;
  }
  void write(const fs::path& path, const std::string& text) const {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string read(const fs::path& path) const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

/// Returns the text with `part` replaced by `by`. The text contains `part`.
std::string replaced(std::string text, const std::string& part, const std::string& by) {
  return text.replace(text.find(part), part.size(), by);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the repository's catalog loads", "[catalog]") {
  const Result<Catalog> catalog = Catalog::load(kRoot);
  INFO((catalog ? std::string() : catalog.error().message));
  REQUIRE(catalog.has_value());
  std::set<std::string> names;
  for (const Operator& op : catalog->all()) {
    INFO(op.name);
    names.insert(op.name);
    CHECK(op.signature == signature_of(op));
    CHECK(op.directory.is_absolute());
    CHECK(op.revision.size() == 64);
    CHECK(has(op.oracle_source, "def " + op.entry + "("));
    CHECK(has(op.reference_source, "def reference("));
  }
  for (const char* name :
       {"vector_add", "gelu_tanh", "softmax_last_dim", "layer_norm_fwd", "layer_norm_bwd",
        "matmul_fp16", "matmul_fp32_ieee", "quant_int8_rowwise", "embedding_bwd",
        "flash_attn_causal", "rope_neox", "jagged_softmax", "adamw_step", "cumsum_last_dim",
        "clamped_affine_scan", "gluon_blocked_add"}) {
    INFO(name);
    CHECK(names.contains(name));
    CHECK(catalog->find(name) != nullptr);
  }
  CHECK(names.size() >= 16);
  CHECK(catalog->find("vector_ad") == nullptr);
  const auto in_order = [](const Operator& a, const Operator& b) {
    return std::pair(a.split, a.name) < std::pair(b.split, b.name);
  };
  CHECK(std::is_sorted(catalog->all().begin(), catalog->all().end(), in_order));
}

TEST_CASE("unknown() suggests the nearest name", "[catalog]") {
  Copy copy;
  copy.add("standard/vector_add", "standard/vector_add");
  copy.add("standard/gelu_tanh", "standard/gelu_tanh");
  const Result<Catalog> catalog = Catalog::load(copy.root());
  REQUIRE(catalog.has_value());
  CHECK(catalog->unknown("vectoradd").message ==
        "unknown operator 'vectoradd'; did you mean 'vector_add'? `list_operators` names all 2");
  CHECK(catalog->unknown("conv2d").message ==
        "unknown operator 'conv2d'; `list_operators` names all 2");
  CHECK(catalog->unknown("vectoradd").code == ErrorCode::not_found);
  CHECK(catalog->unknown(std::string(1 << 20, 'x')).message.size() < 200);
}

TEST_CASE("a folder that does not fit its spec is an error", "[catalog]") {
  Copy copy;
  SECTION("the folder's name differs") {
    copy.add("standard/vector_add", "standard/vector_sum");
    const std::string message = Catalog::load(copy.root()).error().message;
    INFO(message);
    CHECK(has(message,
              "standard/vector_sum/spec.toml: key 'name' is 'vector_add'; it must be the folder's "
              "name 'vector_sum'"));
  }
  SECTION("the split differs") {
    copy.add("standard/vector_add", "ood/vector_add");
    const std::string message = Catalog::load(copy.root()).error().message;
    INFO(message);
    CHECK(has(message, "ood/vector_add/spec.toml: key 'split' is 'standard'"));
    CHECK(has(message, "'ood'"));
  }
  SECTION("the same name in two splits") {
    copy.add("standard/vector_add", "standard/vector_add");
    const fs::path second = copy.add("standard/vector_add", "ood/vector_add");
    std::string spec = copy.read(second / "spec.toml");
    spec.replace(spec.find("split = \"standard\""), 18, "split = \"ood\"");
    copy.write(second / "spec.toml", spec);
    const std::string message = Catalog::load(copy.root()).error().message;
    INFO(message);
    CHECK(has(message, "ood/vector_add/spec.toml: key 'name' is 'vector_add'"));
    CHECK(has(message, "standard/vector_add"));
    CHECK(has(message, "unique"));
  }
  SECTION("a file is missing") {
    for (const char* file : {"spec.toml", "reference.py", "oracle.py"}) {
      const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
      fs::remove(folder / file);
      const std::string message = Catalog::load(copy.root()).error().message;
      INFO(message);
      CHECK(has(message, std::string(file) + ": no such file"));
      CHECK(has(message, "spec.toml, reference.py and oracle.py"));
      fs::remove_all(folder);
    }
  }
  SECTION("a function is missing") {
    const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
    copy.write(folder / "oracle.py", "import torch\n");
    CHECK(has(Catalog::load(copy.root()).error().message,
              "oracle.py: does not define 'def vector_add('"));
    copy.write(folder / "reference.py", "def inputs(case, rng): ...\ndef reference(x, y): ...\n");
    CHECK(has(Catalog::load(copy.root()).error().message,
              "reference.py: does not define 'def cost('"));
  }
  SECTION("a file is binary or far too large") {
    const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
    copy.write(folder / "oracle.py", std::string("a\0b", 3));
    CHECK(has(Catalog::load(copy.root()).error().message, "oracle.py: not a text file"));
    copy.write(folder / "oracle.py", std::string(2 << 20, '#'));
    CHECK(has(Catalog::load(copy.root()).error().message, "oracle.py: larger than"));
  }
}

TEST_CASE("a root without operators is an error", "[catalog]") {
  Copy copy;
  CHECK(has(Catalog::load(copy.root() / "nowhere").error().message, "not a folder"));
  CHECK(has(Catalog::load(copy.root()).error().message, "no operator in standard/, ood/ or dsl/"));
}

TEST_CASE("a folder that a tool made is not an operator", "[catalog]") {
  Copy copy;
  copy.add("standard/vector_add", "standard/vector_add");
  fs::create_directories(copy.root() / "standard/__pycache__");
  fs::create_directories(copy.root() / "standard/.cache");
  const Result<Catalog> catalog = Catalog::load(copy.root());
  REQUIRE(catalog.has_value());
  CHECK(catalog->all().size() == 1);
}

TEST_CASE("a relative tolerance is for imported operators", "[catalog]") {
  Copy copy;
  const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
  const std::string spec = copy.read(folder / "spec.toml");
  const std::string scaled = "max_abs_error = 0.01\nscale = 100\n";
  REQUIRE(has(spec, scaled));
  const std::string relative = replaced(spec, scaled, "max_abs_error = 0.01\nor_relative = true\n");
  copy.write(folder / "spec.toml", relative);
  const Result<Operator> own = load_operator(folder);
  REQUIRE_FALSE(own);
  CHECK(has(own.error().message, "'z': key 'or_relative' is for operators with imported = true"));

  copy.write(folder / "spec.toml", "imported = true\n" + relative);
  const Result<Operator> imported = load_operator(folder);
  REQUIRE(imported);
  CHECK(imported->outputs.front().or_relative);

  copy.write(folder / "spec.toml",
             "imported = true\n" +
                 replaced(relative, "or_relative = true\n", "or_relative = true\nscale = 2\n"));
  const Result<Operator> both = load_operator(folder);
  REQUIRE_FALSE(both);
  CHECK(has(both.error().message, "needs a max_abs_error above 0, and no scale"));
}

TEST_CASE("an operator without an oracle says with what Perf compares", "[catalog]") {
  Copy copy;
  const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
  const std::string spec = copy.read(folder / "spec.toml");
  CHECK(load_operator(folder)->baseline == Baseline::oracle);

  copy.write(folder / "spec.toml", "baseline = \"torch_eager\"\n" + spec);
  const Result<Operator> both = load_operator(folder);
  REQUIRE_FALSE(both);
  CHECK(has(both.error().message, "key 'baseline' is 'torch_eager', but the folder has an oracle"));

  fs::remove(folder / "oracle.py");
  const Result<Operator> without = load_operator(folder);
  INFO((without ? std::string() : without.error().message));
  REQUIRE(without);
  CHECK(without->baseline == Baseline::torch_eager);
  CHECK(without->oracle_source.empty());
  CHECK(without->revision.size() == 64);
  CHECK_FALSE(without->has_golden_reference());

  copy.write(folder / "spec.toml", spec);
  const Result<Operator> missing = load_operator(folder);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(
      has(missing.error().message, "without an oracle, spec.toml has baseline = \"torch_eager\""));

  copy.write(folder / "spec.toml", "baseline = \"fast\"\n" + spec);
  const Result<Operator> unknown = load_operator(folder);
  REQUIRE_FALSE(unknown);
  CHECK(has(unknown.error().message, "key 'baseline' is 'fast'"));
  CHECK(has(unknown.error().message, "oracle, torch_eager"));
}

TEST_CASE("a change of any of the three files changes the revision", "[catalog]") {
  Copy copy;
  const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
  const std::string first = load_operator(folder).value().revision;
  CHECK(load_operator(folder).value().revision == first);
  std::set<std::string> seen{first};
  for (const char* file : {"spec.toml", "reference.py", "oracle.py"}) {
    copy.write(folder / file, copy.read(folder / file) + "\n");
    seen.insert(load_operator(folder).value().revision);
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("a suite has the name and the version in suite.toml, and a digest of its operators",
          "[catalog]") {
  Copy copy;
  const fs::path folder = copy.add("standard/vector_add", "standard/vector_add");
  const SuiteId unnamed = Catalog::load(copy.root()).value().suite();
  CHECK(unnamed.name == copy.root().filename().string());
  CHECK(unnamed.version.empty());
  CHECK(unnamed.digest.size() == 64);
  copy.write(copy.root() / "suite.toml", "name = \"mine\"\nversion = \"1.2+b\"\n");
  const Catalog named = Catalog::load(copy.root()).value();
  CHECK(named.suite() == SuiteId{"mine", "1.2+b", unnamed.digest});
  CHECK(named.all().front().suite == named.suite());
  copy.write(folder / "oracle.py", copy.read(folder / "oracle.py") + "\n");
  CHECK(Catalog::load(copy.root()).value().suite().digest != unnamed.digest);
  CHECK(Catalog::load(kRoot).value().suite().name == "assay");
}

TEST_CASE("a broken suite.toml is an error that names the key", "[catalog]") {
  const auto message = [](const std::string& text) {
    const Result<SuiteId> suite = parse_suite(text, "s/suite.toml");
    return suite ? std::string() : suite.error().message;
  };
  CHECK(message("name = \"a\"\n").empty());
  CHECK(has(message("version = \"1\"\n"), "key 'name' is missing"));
  CHECK(has(message("name = \"a b\"\n"), "s/suite.toml:1: key 'name' must have 1 to 64"));
  CHECK(has(message("name = \"a\"\nversion = \"\"\n"), ":2: key 'version'"));
  CHECK(has(message("name = \"a\"\nlicence = \"b\"\n"), "key 'licence' is unknown"));
  CHECK(has(message("name = \n"), "not valid TOML"));
}

TEST_CASE("evaluate_extent takes axes, integers and products", "[extent]") {
  const std::map<std::string, std::int64_t> axes{{"rows", 7}, {"cols", 33}};
  CHECK(evaluate_extent("rows", axes).value() == 7);
  CHECK(evaluate_extent("128", axes).value() == 128);
  CHECK(evaluate_extent("0", axes).value() == 0);
  CHECK(evaluate_extent("2*rows*cols", axes).value() == 462);
}

TEST_CASE("evaluate_extent says what is wrong and names the axes", "[extent]") {
  const std::map<std::string, std::int64_t> axes{{"rows", 7}, {"cols", 33}};
  for (const char* text : {"", "*", "rows*", "*rows", "row", "-1", "+1", " rows", "1.5", "rows+1",
                           "0x10", "99999999999999999999"}) {
    INFO(text);
    const Result<std::int64_t> value = evaluate_extent(text, axes);
    REQUIRE_FALSE(value.has_value());
    CHECK(value.error().code == ErrorCode::invalid_argument);
    CHECK(value.error().message.find("axes: cols, rows") != std::string::npos);
  }
  const Result<std::int64_t> large = evaluate_extent("9223372036854775807*2", axes);
  REQUIRE_FALSE(large.has_value());
  CHECK(large.error().message.find("64 bits") != std::string::npos);
  CHECK(evaluate_extent("rows", {}).error().message.find("axes: none") != std::string::npos);
}

}  // namespace assay::operators
