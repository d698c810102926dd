#include "sandbox/pool/wrong_messages.h"

#include <cstdint>
#include <utility>

#include "sandbox/wire/argument.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxWorst = 3;  // WORST in sandbox/harness/judging/wrong.py

Region read_region(HeaderReader& outer, const char* name, std::size_t rank) {
  Region region;
  const json* object = outer.object(name);
  if (object == nullptr) return region;
  HeaderReader in(*object, name);
  region.count = in.integer("count", 0, kHighestInteger);
  region.share = in.number("share");
  for (const json& entry : in.list("spans", kMaxTensorRank)) {
    HeaderReader from(entry, "a span");
    region.spans.push_back(
        {from.integer("axis", kFlat, static_cast<std::int64_t>(rank) - 1),
         from.integer("first", 0, kHighestInteger), from.integer("last", 0, kHighestInteger),
         from.integer("run", 1, kHighestInteger), from.integer("period", 0, kHighestInteger)});
    in.merge(from);
  }
  outer.merge(in);
  return region;
}

WrongElement read_wrong_element(const json& object, HeaderReader& outer) {
  HeaderReader in(object, "a wrong element");
  WrongElement element;
  element.index = in.integers("index", kMaxTensorRank);
  element.expected = in.number("expected");
  element.actual = in.number("actual");
  if (const json* inputs = in.object("inputs"); inputs != nullptr) {
    HeaderReader from(*inputs, "the inputs of a wrong element");
    for (const auto& [name, value] : inputs->items())
      element.inputs[name] = from.number(name.c_str());
    in.merge(from);
  }
  outer.merge(in);
  return element;
}

WrongOutput read_wrong_output(const json& object, HeaderReader& outer) {
  HeaderReader in(object, "a wrong output");
  WrongOutput wrong;
  wrong.output = in.text("output");
  wrong.shape = in.integers("shape", kMaxTensorRank, 0);
  wrong.elements = in.integer("elements", 0, kHighestInteger);
  wrong.allowed = in.number("allowed");
  wrong.scale = in.number("scale");
  wrong.relative = in.flag("relative");
  wrong.all = read_region(in, "all", wrong.shape.size());
  wrong.unstored = read_region(in, "unstored", wrong.shape.size());
  wrong.nan = read_region(in, "nan", wrong.shape.size());
  wrong.memory = in.optional_number("memory");
  wrong.constant = in.optional_number("constant");
  wrong.ratio = in.optional_number("ratio");
  wrong.offset = in.optional_number("offset");
  wrong.row_ratios = in.numbers("row_ratios", 2);
  for (const json& entry : in.list("worst", kMaxWorst))
    wrong.worst.push_back(read_wrong_element(entry, in));
  outer.merge(in);
  return wrong;
}

}  // namespace

std::vector<WrongOutput> read_wrong_outputs(HeaderReader& in) {
  std::vector<WrongOutput> outputs;
  if (!in.has("wrong")) return outputs;
  for (const json& entry : in.list("wrong", kMaxArguments))
    outputs.push_back(read_wrong_output(entry, in));
  return outputs;
}

}  // namespace assay::sandbox
