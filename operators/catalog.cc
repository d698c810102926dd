#include "operators/catalog.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>

#include "base/handle.h"
#include "base/result.h"
#include "base/text.h"
#include "operators/names.h"
#include "operators/spec_section.h"
#include "operators/spec_toml.h"

namespace assay::operators {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kShownNameBytes = 80;

Result<std::string> read_file(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) {
    return fail(
        ErrorCode::not_found,
        path.string() +
            ": no such file; an operator's folder holds spec.toml, reference.py and oracle.py "
            "(without an oracle, spec.toml has baseline = \"torch_eager\")");
  }
  const std::uintmax_t size = fs::file_size(path, code);
  if (code || size > kMaxFileBytes) {
    return fail(
        ErrorCode::invalid_argument,
        path.string() + ": " +
            (code ? code.message() : "larger than " + std::to_string(kMaxFileBytes) + " bytes"));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail_errno("open " + path.string());
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) return fail_errno("read " + path.string());
  if (text.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_argument,
                path.string() + ": not a text file (it has a zero byte)");
  return text;
}

/// Checks that a Python source defines a function. Without this check, the error would appear only
/// in the first job and not when the server starts.
Status require_function(const fs::path& path, const std::string& source,
                        const std::string& function) {
  if (source.starts_with("def " + function + "(") ||
      source.find("\ndef " + function + "(") != std::string::npos)
    return {};
  return fail(ErrorCode::invalid_argument,
              path.string() + ": does not define 'def " + function + "('");
}

/// Checks that outputs with a relative tolerance belong to an imported operator and have no scale.
Status check_or_relative(const fs::path& path, const Operator& op) {
  for (const Output& output : op.outputs) {
    if (!output.or_relative) continue;
    const std::string where =
        path.string() + ": [[outputs]] '" + output.name + "': key 'or_relative'";
    if (!op.imported)
      return fail(ErrorCode::invalid_argument, where + " is for operators with imported = true");
    if (output.max_abs_error == 0 || output.scale != "1")
      return fail(ErrorCode::invalid_argument,
                  where + " needs a max_abs_error above 0, and no scale");
  }
  return {};
}

/// Returns the text of oracle.py. Returns "" if the operator's baseline needs no oracle, and an
/// error if there is an oracle nevertheless.
Result<std::string> read_oracle(const fs::path& folder, Baseline baseline) {
  const fs::path path = folder / "oracle.py";
  if (baseline == Baseline::oracle) return read_file(path);
  std::error_code code;
  if (!fs::exists(path, code)) return std::string();
  return fail(ErrorCode::invalid_argument, (folder / "spec.toml").string() +
                                               ": key 'baseline' is '" +
                                               std::string(to_string(baseline)) +
                                               "', but the folder has an oracle.py; remove "
                                               "the key or the file");
}

/// Returns a hash that changes if any of the files changes. The hash includes the sizes of the
/// files, so it also changes when text moves from the end of one file to the start of the next.
std::string revision_of(std::initializer_list<const std::string*> files) {
  std::string all;
  for (const std::string* file : files)
    all.append(std::to_string(file->size())).append(":").append(*file);
  return sha256_hex(all);
}

/// Returns the operator folders of one split, sorted. Skips folders whose name starts with '.' or
/// '_', for example __pycache__.
Result<std::vector<fs::path>> folders_of(const fs::path& split_directory) {
  std::vector<fs::path> folders;
  std::error_code code;
  if (!fs::exists(split_directory, code)) return folders;
  for (fs::directory_iterator it(split_directory, code), end; !code && it != end;
       it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (it->is_directory() && !name.starts_with('.') && !name.starts_with('_'))
      folders.push_back(it->path());
  }
  if (code) return fail(ErrorCode::io, "list " + split_directory.string() + ": " + code.message());
  std::sort(folders.begin(), folders.end());
  return folders;
}

Result<std::int64_t> evaluate_factor(std::string_view factor, std::string_view expression,
                                     const Axes& axes) {
  const auto found = axes.find(std::string(factor));
  if (found != axes.end()) return found->second;
  const bool digits = !factor.empty() && std::all_of(factor.begin(), factor.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  std::int64_t value = 0;
  if (digits &&
      std::from_chars(factor.data(), factor.data() + factor.size(), value).ec == std::errc())
    return value;
  return fail(ErrorCode::invalid_argument,
              "extent '" + std::string(expression) + "': '" + std::string(factor) +
                  "' is neither an integer nor an axis; axes: " +
                  (axes.empty() ? "none" : join(axes, ", ", &Axes::value_type::first)));
}

constexpr const char* kSuiteFile = "suite.toml";
constexpr std::size_t kMaxSuiteWordBytes = 64;
constexpr const char* kSuiteWordRule =
    "must have 1 to 64 characters, of letters, digits, '.', '_', '+' and '-'";

/// Returns whether the text may be the name or the version of a suite. It needs no quotes anywhere.
bool is_suite_word(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSuiteWordBytes &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") ==
             std::string_view::npos;
}

/// Returns the name and the version of the suite in this folder.
Result<SuiteId> suite_of(const fs::path& root) {
  const fs::path path = root / kSuiteFile;
  std::error_code code;
  if (fs::exists(path, code)) {
    ASSAY_TRY(text, read_file(path));
    return parse_suite(text, path.string());
  }
  const fs::path folder = fs::absolute(root).lexically_normal();
  const std::string name =
      (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  std::string shown = name.substr(0, kMaxSuiteWordBytes);
  for (char& c : shown) c = is_suite_word(std::string_view(&c, 1)) ? c : '_';
  return SuiteId{shown.empty() ? "suite" : shown, "", ""};
}

}  // namespace

std::string_view to_string(Split split) {
  switch (split) {
    case Split::standard: return "standard";
    case Split::ood: return "ood";
    case Split::dsl: return "dsl";
  }
  return "standard";
}

Result<Operator> load_operator(const fs::path& directory) {
  std::error_code code;
  const fs::path folder = fs::canonical(directory, code);
  if (code) return fail(ErrorCode::not_found, directory.string() + ": " + code.message());
  const fs::path spec_path = folder / "spec.toml";
  ASSAY_TRY(spec, read_file(spec_path));
  Result<Operator> op = parse_spec(spec, spec_path.string());
  if (!op) return op;
  if (op->name != folder.filename()) {
    return fail(ErrorCode::invalid_argument, spec_path.string() + ": key 'name' is '" + op->name +
                                                 "'; it must be the folder's name '" +
                                                 folder.filename().string() + "'");
  }
  if (to_string(op->split) != folder.parent_path().filename().string()) {
    return fail(ErrorCode::invalid_argument, spec_path.string() + ": key 'split' is '" +
                                                 std::string(to_string(op->split)) +
                                                 "'; it must be the name of the folder above, '" +
                                                 folder.parent_path().filename().string() + "'");
  }
  ASSAY_RETURN_IF_ERROR(check_or_relative(spec_path, *op));
  ASSAY_TRY(reference, read_file(folder / "reference.py"));
  ASSAY_TRY(oracle, read_oracle(folder, op->baseline));
  for (const char* function : {"inputs", "reference", "cost"}) {
    ASSAY_RETURN_IF_ERROR(require_function(folder / "reference.py", reference, function));
  }
  // If the operator has an adapter, the adapter defines the entry function, and the oracle defines
  // only functions that the adapter calls.
  if (!op->adapter.empty()) {
    ASSAY_RETURN_IF_ERROR(require_function(spec_path, op->adapter, op->entry));
  } else if (op->baseline == Baseline::oracle) {
    ASSAY_RETURN_IF_ERROR(require_function(folder / "oracle.py", oracle, op->entry));
  }
  op->directory = folder;
  op->revision = revision_of({&spec, &reference, &oracle});
  op->reference_source = std::move(reference);
  op->oracle_source = std::move(oracle);
  return op;
}

Result<SuiteId> parse_suite(std::string_view text, const std::string& file) {
  Diagnostics diagnostics{file, std::nullopt};
  SuiteId suite;
  try {
    const toml::table root = toml::parse(text);
    Section section(root, "", diagnostics);
    section.keys({"name"}, {"version"});
    suite.name = section.text("name");
    if (section.has("version")) suite.version = section.text("version");
    if (!diagnostics.failed() && !is_suite_word(suite.name))
      section.report_error("name", kSuiteWordRule);
    if (!diagnostics.failed() && section.has("version") && !is_suite_word(suite.version))
      section.report_error("version", kSuiteWordRule);
  } catch (const toml::parse_error& error) {
    diagnostics.add(error.source().begin.line,
                    "not valid TOML: " + std::string(error.description()));
  }
  if (diagnostics.first) return fail(*diagnostics.first);
  return suite;
}

Result<Catalog> Catalog::load(const fs::path& root) {
  std::error_code code;
  if (!fs::is_directory(root, code)) {
    return fail(ErrorCode::not_found, root.string() +
                                          ": not a folder; the catalog is the repository's "
                                          "operators/, with standard/, ood/ and dsl/");
  }
  Catalog catalog;
  for (const Split split : kSplits) {
    ASSAY_TRY(folders, folders_of(root / to_string(split)));
    for (const fs::path& folder : folders) {
      ASSAY_TRY(op, load_operator(folder));
      if (const Operator* other = catalog.find(op.name)) {
        return fail(ErrorCode::invalid_argument,
                    (folder / "spec.toml").string() + ": key 'name' is '" + op.name + "', which " +
                        other->directory.string() +
                        " has already; names are unique over all splits");
      }
      catalog.operators_.push_back(std::move(op));
    }
  }
  if (catalog.operators_.empty())
    return fail(ErrorCode::not_found, root.string() + ": no operator in standard/, ood/ or dsl/");
  ASSAY_TRY(suite, suite_of(root));
  std::string text;
  for (const Operator& op : catalog.operators_) text += op.name + " " + op.revision + "\n";
  suite.digest = sha256_hex(text);
  for (Operator& op : catalog.operators_) op.suite = suite;
  catalog.suite_ = std::move(suite);
  return catalog;
}

const Operator* Catalog::find(std::string_view name) const {
  const auto found = std::find_if(operators_.begin(), operators_.end(),
                                  [&](const Operator& op) { return op.name == name; });
  return found == operators_.end() ? nullptr : &*found;
}

Error Catalog::unknown(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Operator& op : operators_) names.push_back(op.name);
  const std::string_view near = nearest(name, names);
  const std::string shown(name.size() > kShownNameBytes
                              ? std::string(name.substr(0, kShownNameBytes)) + "..."
                              : std::string(name));
  return Error{ErrorCode::not_found,
               "unknown operator '" + shown + "'; " +
                   (near.empty() ? std::string() : "did you mean '" + std::string(near) + "'? ") +
                   "`list_operators` names all " + std::to_string(names.size())};
}

Result<std::int64_t> evaluate_extent(std::string_view expression, const Axes& axes) {
  std::int64_t product = 1;
  for (std::string_view rest = expression;;) {
    const std::size_t star = rest.find('*');
    ASSAY_TRY(factor, evaluate_factor(rest.substr(0, star), expression, axes));
    if (__builtin_mul_overflow(product, factor, &product)) {
      return fail(ErrorCode::invalid_argument,
                  "extent '" + std::string(expression) + "' is larger than 64 bits for these axes");
    }
    if (star == std::string_view::npos) return product;
    rest.remove_prefix(star + 1);
  }
}

}  // namespace assay::operators
