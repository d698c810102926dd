// TemporaryCatalog is a catalog of two small operators in a temporary folder: vector_add and
// row_sum. Each operator has three public and three hidden cases. The catalog is loaded like the
// real catalog.
//
//   assay::testing::TemporaryCatalog catalog;
//   const operators::Operator* op = catalog->find("vector_add");
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/handle.h"
#include "operators/catalog.h"

namespace assay::testing {

/// A temporary folder. The destructor removes the folder with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / new_handle("assay-test")) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string spec_toml(const std::string& name) {
  std::string text = "name = \"" + name +
                     "\"\nsplit = \"standard\"\nfamily = \"elementwise\"\ndialect = "
                     "\"triton\"\ndifficulty = 1\nsummary = \"Sum of two vectors\"\n"
                     "description = \"\"\"\nz[i] = x[i] + y[i].\n\"\"\"\nentry = \"" +
                     name + "\"\nsignature = \"" + name + "(x: Tensor, y: Tensor) -> Tensor\"\n";
  for (const char* argument : {"x", "y"}) {
    text += "\n[[arguments]]\nname = \"" + std::string(argument) +
            "\"\ntype = \"tensor\"\ndtype = \"case\"\nshape = [\"n\"]\nrole = "
            "\"input\"\ndescription = \"contiguous\"\n";
  }
  text +=
      "\n[[outputs]]\nname = \"z\"\ndtype = \"case\"\nshape = [\"n\"]\nmax_abs_error = 0.01\nscale "
      "= 1\n";
  const auto add_case = [&](const std::string& id, bool hidden, const std::string& dtype, int n,
                            const std::string& distribution) {
    text += "\n[[cases]]\nid = \"" + id + "\"\nvisibility = \"" + (hidden ? "hidden" : "public") +
            "\"\ninterpreter = " + (n < 5000 ? "true" : "false") + "\ndtype = \"" + dtype +
            "\"\naxes = { n = " + std::to_string(n) + " }\ndistribution = \"" + distribution +
            "\"\n";
  };
  add_case("small", false, "float32", 4097, "normal");
  add_case("awkward", false, "float16", 1000003, "normal");
  add_case("large", false, "float32", 25165824, "normal");
  add_case("secret_tiny", true, "float32", 12, "cancellation");
  add_case("secret_half", true, "float16", 777777, "normal");
  add_case("secret_tail", true, "float32", 888888, "tail");
  return text;
}

inline const char* reference_py() {
  return "\"\"\"Sum.\"\"\"\n\nfrom __future__ import annotations\n\nimport torch\nfrom "
         "harness.operator import Case, Cost, Rng\nfrom torch import Tensor\n\n\n"
         "def inputs(case: Case, rng: Rng) -> dict[str, Tensor]:\n    return _cancelling(case, "
         "rng)\n\n\ndef _cancelling(case: Case, rng: Rng) -> dict[str, "
         "Tensor]:\n    return {}\n\n\n"
         "def reference(x: Tensor, y: Tensor) -> Tensor:\n    return _sum(x, y)\n\n\ndef _sum(x: "
         "Tensor, y: Tensor) -> Tensor:\n    return torch.add(x, "
         "y)\n\n\n"
         "def cost(case: Case) -> Cost:\n    return Cost(bytes=12 * case.axes[\"n\"], "
         "flops=case.axes[\"n\"])\n";
}

class TemporaryCatalog {
 public:
  TemporaryCatalog() {
    for (const char* name : {"row_sum", "vector_add"}) {
      const auto folder = folder_.path() / "standard" / name;
      write_file(folder / "spec.toml", spec_toml(name));
      write_file(folder / "reference.py", reference_py());
      write_file(folder / "oracle.py",
                 "ORACLE_SECRET = 1\n\n\ndef " + std::string(name) + "(x, y):\n    return x\n");
    }
    auto loaded = operators::Catalog::load(folder_.path());
    if (!loaded) throw std::runtime_error(loaded.error().message);
    catalog_ = std::move(*loaded);
  }
  const operators::Catalog& operator*() const { return catalog_; }
  const operators::Catalog* operator->() const { return &catalog_; }

 private:
  TemporaryFolder folder_;
  operators::Catalog catalog_;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace assay::testing
