"""Checks that code decides by types and never by the words of Assay's own messages. So a new
wording of a message changes no behaviour. The tests find every search for prose in product code.
Only files that read text of other programs may contain such searches."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The folders whose code is checked. Tests are left out, because they may check messages. The Python
# code of operators is left out, because it is data.
CPP = ("base", "metrics", "operators", "reference_agents", "sandbox", "server", "tools")
PYTHON = ("sandbox/harness",)

# Functions and methods that search a text, including Assay's own helper functions.
SEARCHES = ("find", "rfind", "starts_with", "ends_with", "says", "mentions", "name_between")

# Maps a file that may search for prose to the foreign text that it reads. Foreign text is written
# by another program, a compiler or a submission.
FOREIGN: dict[str, str] = {
    "operators/catalog.cc": "the Python source of a reference",
    "operators/guides.cc": "the Python source of an example",
    "reference_agents/core/reply_code.cc": "the reply of a model",
    "reference_agents/sim/clients.cc": "a prompt: a simulated model sees nothing else",
    "reference_agents/sim/sim_landscape.h": "a source that a prompt quotes",
    "reference_agents/sim/sim_landscape.cc": "a source that a prompt quotes",
    "reference_agents/sim/sim_mutations.cc": "the Python source of an oracle",
    "server/transcripts/redact.cc": "private keys in PEM",
    "sandbox/device/fake.cc": "directives in the source of a submission",
    "sandbox/harness/triton_adapter/interpreter.py": "module names of Triton",
    "sandbox/harness/triton_adapter/libdevice.py": "LLVM's text of libdevice",
    "sandbox/harness/triton_adapter/parameters.py": "type names of Triton",
    "sandbox/jail/gpu_nodes.cc": "files of the NVIDIA driver",
    "sandbox/jail/root_filesystem.cc": "file names of Python",
    "sandbox/launch/counters.cc": "the report of Nsight Compute",
    "sandbox/profile/sass.cc": "listings of nvdisasm and of compilers",
    "sandbox/record/candidate_error.cc": "messages of Python, torch and the CUDA driver",
    "server/conformance/input_tools.cc": "state that the client hands back",
    "server/mcp/client/channel_http.cc": "HTTP headers",
    "server/mcp/http/http_metrics.cc": "files of /proc",
    "server/mcp/http/socket_io.cc": "error texts of OpenSSL",
    "server/mcp/http/tokens.cc": "the token file, which a person writes",
    "server/mcp/oauth/access_tokens.cc": "names that an identity provider gives",
    "server/mcp/oauth/jwt.cc": "headers of tokens of an identity provider",
    "server/report/model/label.cc": "the model's label, which the client chose",
    "tools/answer/reference_source.cc": "the Python source of a reference",
}


def is_prose(literal: str) -> bool:
    """Returns whether a literal looks like a part of a sentence: it has a word next to a space, or
    it is a long word."""
    if re.fullmatch(r"[/.<]\S*", literal):  # a path, a suffix or a tag
        return False
    return bool(re.search(r"[A-Za-z] | [A-Za-z]|[A-Za-z]{6}", literal))


CALL = re.compile(rf"\b(?P<function>{'|'.join(SEARCHES)})\((?P<arguments>[^;{{}}]*)")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
CONSTANT = re.compile(r'constexpr[^;=()]*\b(k\w+)(?:\[\])? =\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
COMMENT = re.compile(r"(?m)//[^\n]*$")


def first_arguments(text: str) -> str:
    """Returns the arguments of a call. `text` begins after the opening parenthesis, and the result
    ends before the closing one."""
    depth, quoted, at = 1, False, 0
    while at < len(text):
        character = text[at]
        if character == "\\" and quoted:
            at += 1
        elif character == '"':
            quoted = not quoted
        elif not quoted and character == "(":
            depth += 1
        elif not quoted and character == ")":
            depth -= 1
            if depth == 0:
                break
        at += 1
    return text[:at]


def searches_in_cpp(source: str) -> list[str]:
    """Returns the prose that a C++ source searches for. Ignores a single word that is looked up in
    a map or a JSON object, because a key is not prose. Such a lookup is a call of find() without a
    comparison with npos."""
    code = "\n".join(
        line if '"' in line.split("//")[0] and "://" in line else COMMENT.sub("", line)
        for line in source.split("\n")
    )
    constants = {name: LITERAL.findall(value) for name, value in CONSTANT.findall(code)}
    found = []
    for call in CALL.finditer(code):
        arguments = first_arguments(call["arguments"])
        literals = LITERAL.findall(arguments)
        for name in re.findall(r"\bk[A-Z]\w*", arguments):
            literals += constants.get(name, [])
        is_lookup = call["function"] == "find" and "npos" not in call["arguments"]
        found += [
            literal
            for literal in literals
            if is_prose(literal) and (" " in literal or not is_lookup)
        ]
    return found


def searches_in_python(source: str) -> list[str]:
    """Returns the prose that a Python source searches for."""
    found = []
    for node in ast.walk(ast.parse(source)):
        literals: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("find", "rfind", "startswith", "endswith"):
                literals = [value for argument in node.args for value in ast.walk(argument)]  # type: ignore[misc]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            literals = [node.left]
        for literal in literals:
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                is_key = isinstance(node, ast.Compare) and " " not in literal.value
                if is_prose(literal.value) and not is_key:
                    found.append(literal.value)
    return found


def tracked(folders: tuple[str, ...], *endings: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return sorted(
        name
        for name in listed.stdout.decode().split("\0")
        if name.endswith(endings) and (ROOT / name).is_file()
    )


def all_searches() -> dict[str, list[str]]:
    found = {}
    for name in tracked(CPP, ".cc", ".h"):
        found[name] = searches_in_cpp((ROOT / name).read_text(encoding="utf-8"))
    for name in tracked(PYTHON, ".py"):
        found[name] = searches_in_python((ROOT / name).read_text(encoding="utf-8"))
    return {name: searches for name, searches in found.items() if searches}


def test_code_decides_on_types_and_not_on_its_own_words() -> None:
    strange = {name: searches for name, searches in all_searches().items() if name not in FOREIGN}
    assert not strange, (
        "these files search for prose. Give the fact a type (an enum, a field); only a reader of "
        f"foreign text belongs in FOREIGN: {strange}"
    )


def test_no_file_is_excused_without_need() -> None:
    assert sorted(FOREIGN) == sorted(set(FOREIGN) & set(all_searches()))


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ('if (hint.find("would be slow") != std::string::npos) x();', ["would be slow"]),
        ('if (hint.starts_with("could not be")) return;', ["could not be"]),
        ('return error.message.find("killed") != npos ? a : b;', ["killed"]),
        (
            'constexpr const char* kWords = "largest error ";\nat = t.find(kWords);',
            ["largest error "],
        ),
        ('const bool out = says("out of memory");', ["out of memory"]),
        ('if (params.find("cursor"); found != params.end()) x();', []),
        ('if (url.starts_with("https://")) x();', []),
        ('text += "is not found";', []),
        ('// find("in a comment")', []),
    ],
)
def test_a_search_for_prose_is_seen_in_cpp(source: str, prose: list[str]) -> None:
    assert searches_in_cpp(source) == prose


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ('message.startswith("argument ")', ["argument "]),
        ('x = "was modified" in str(error)', ["was modified"]),
        ('x = "run_wall_ms" in header', []),
        ('path.startswith("/dev/kfd")', []),
    ],
)
def test_a_search_for_prose_is_seen_in_python(source: str, prose: list[str]) -> None:
    assert searches_in_python(source) == prose
