#include "server/commands/new_operator.h"

#include <string>

#include "tests/catch.h"

using assay::server::inputs_of_kind;
using assay::server::read_signature;

TEST_CASE("a signature has a name and parameters with types") {
  const auto signature =
      read_signature(" swish_gate( x: Tensor , g:Tensor, beta: float )->Tensor ");
  REQUIRE(signature);
  CHECK(signature->name == "swish_gate");
  REQUIRE(signature->parameters.size() == 3);
  CHECK(signature->parameters[1].name == "g");
  CHECK(signature->parameters[1].type == "Tensor");
  CHECK(signature->parameters[2].type == "float");
}

TEST_CASE("a wrong signature is refused with what is valid") {
  const auto why = [](const std::string& text) {
    const auto signature = read_signature(text);
    REQUIRE(!signature);
    return signature.error().message;
  };
  CHECK(why("f") ==
        "signature 'f': '(' or ')' is missing; a signature is like 'swish_gate(x: "
        "Tensor, g: Tensor, beta: float) -> Tensor'");
  CHECK(why("(x: Tensor) -> Tensor").find("it has no name") != std::string::npos);
  CHECK(why("f() -> Tensor").find("'' is no parameter") != std::string::npos);
  CHECK(why("f(x: Tensor,) -> Tensor").find("'' is no parameter") != std::string::npos);
  CHECK(why("f(x: str) -> Tensor").find("the type 'str'; valid: Tensor, int, float, bool") !=
        std::string::npos);
  CHECK(why("f(x: Tensor) -> None").find("return one Tensor") != std::string::npos);
  CHECK(why("f(x: Tensor)").find("return one Tensor") != std::string::npos);
}

TEST_CASE("the inputs of a kind are those of a check") {
  const auto signature = read_signature("f(x: Tensor, w: Tensor, k: int) -> Tensor");
  REQUIRE(signature);
  const auto rows = inputs_of_kind("rows", "f16", *signature);
  REQUIRE(rows);
  CHECK((*rows)[0].dtype == "float16");
  CHECK((*rows)[0].shape == std::vector<std::string>{"rows", "cols"});
  CHECK((*rows)[1].shape == std::vector<std::string>{"cols"});
  CHECK((*rows)[2].type == "int");
  CHECK((*rows)[2].value == "2");
  const auto matmul = inputs_of_kind("matmul", "f32", *signature);
  REQUIRE(matmul);
  CHECK((*matmul)[1].shape == std::vector<std::string>{"k", "n"});
  CHECK(inputs_of_kind("conv", "f32", *signature).error().message ==
        "unknown kind 'conv'; valid: elementwise, rows, matmul");
  CHECK(inputs_of_kind("rows", "f64", *signature).error().message ==
        "unknown dtype 'f64'; valid: f16, bf16, f32");
}
