#include "reference_agents/core/reply_code.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

TEST_CASE("the last python block wins, whatever else is fenced") {
  CHECK(extract_code("a\n```python\nx = 1\n```\nb\n```python\nx = 2\n```\n```text\nout\n```\n",
                     "") == "x = 2\n");
  CHECK(extract_code("```py\nx = 1\n```", "") == "x = 1\n");
  CHECK(extract_code("```Python title=\"k.py\"\r\nx = 1\r\n```\r\n", "") == "x = 1\n");
  CHECK(extract_code("```\nx = 1\n```\n```bash\nls\n```", "") == "x = 1\n");
  CHECK(extract_code("```\nlog\n```\n```python\nx = 1\n```\n```\nlog\n```", "") == "x = 1\n");
}

TEST_CASE("a block that defines the entry beats a later example") {
  const std::string reply =
      "```python\ndef f(x):\n    return x\n```\nUse it so:\n```python\nimport m\nm.f(1)\n```\n";
  CHECK(extract_code(reply, "f") == "def f(x):\n    return x\n");
  CHECK(extract_code(reply, "g") == "import m\nm.f(1)\n");
  CHECK(extract_code("```python\ndef ff(x): pass\n```\n```python\ny\n```", "f") == "y\n");
}

TEST_CASE("fences: longer ones hold shorter ones, tildes, indented, unclosed") {
  CHECK(extract_code("````python\ns = '''\n```\n'''\n````\n", "") == "s = '''\n```\n'''\n");
  CHECK(extract_code("~~~python\nx = 1\n~~~\n", "") == "x = 1\n");
  CHECK(extract_code("- so:\n  ```python\n  if x:\n    y\n  ```\n", "") == "if x:\n  y\n");
  CHECK(extract_code("```python\nx = 1\ny =", "") == "x = 1\ny =\n");
  CHECK(extract_code("use ```x``` here", "") == "use ```x``` here");
}

TEST_CASE("no fences: the whole text; nothing usable: nothing") {
  CHECK(extract_code("def f(x):\n    return x\n", "f") == "def f(x):\n    return x\n");
  CHECK(extract_code("", "f").empty());
  CHECK(extract_code(" \n\t\n", "f").empty());
  CHECK(extract_code("```python\n\n```\n", "f").empty());
  CHECK(extract_code("```bash\nls\n```\n", "f").empty());
}

namespace {

std::string code_in(const std::string& text, ReplyEnd end = ReplyEnd::whole) {
  CompletionReply reply;
  reply.text = text;
  reply.end = end;
  return code_of(reply, "f");
}

}  // namespace

TEST_CASE("prose is no code, with and without a fence") {
  CHECK(code_in("Sorry, I cannot do that.").empty());
  CHECK(code_in("").empty());
  CHECK(code_in("def f(x):\n    return x\n") == "def f(x):\n    return x\n");
  CHECK(code_in("from math import pi\nx = pi\n") == "from math import pi\nx = pi\n");
  CHECK(code_in("from the shapes it follows\n").empty());
  CHECK(code_in("```python\n# fake: pass\n```") == "# fake: pass\n");
}

TEST_CASE("of a reply that was cut off, only a closed block is code") {
  CHECK(code_in("```python\ndef f(x):\n    ret", ReplyEnd::cut_off).empty());
  CHECK(code_in("def f(x):\n    ret", ReplyEnd::cut_off).empty());
  const std::string whole = "```python\ndef f(x):\n    return x\n```\n";
  CHECK(code_in(whole + "And then", ReplyEnd::cut_off) == "def f(x):\n    return x\n");
  CHECK(code_in(whole + "Better:\n```python\ndef f(x):\n    ret", ReplyEnd::cut_off) ==
        "def f(x):\n    return x\n");
}

TEST_CASE("the provider's word decides whether a reply was cut off") {
  for (const char* word : {"length", "max_tokens", "model_context_window_exceeded"})
    CHECK(reply_end_from(word) == ReplyEnd::cut_off);
  for (const char* word : {"", "stop", "end_turn", "content_filter", "LENGTH of it"})
    CHECK(reply_end_from(word) == ReplyEnd::whole);
  CompletionReply cut;
  cut.stop_reason = "length";
  cut.end = ReplyEnd::cut_off;
  CHECK(why_no_code(cut).find("cut off before its code was complete (stop reason: length)") !=
        std::string::npos);
}
