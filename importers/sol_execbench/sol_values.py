"""Decides how SOL-ExecBench draws the random values of an input, by its name, description and shape.

    values_of("input_layernorm_weight", "", ("H",))  # "ones"

The benchmark has no other data about an input (its evaluator, `core/bench/io.py`). The kinds are
those of harness/imported/input_values.py. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from string import digits as DIGITS

NORMAL = "normal"
LEAST_MATRIX_RANK = 2


@dataclass(frozen=True)
class Kind:
    """Inputs of one kind. An input has the kind if its name matches one of `names`, or one of
    `described` and its description has all words of one of `words`."""

    values: str
    names: tuple[str, ...] = ()
    described: tuple[str, ...] = ("*",)
    words: tuple[tuple[str, ...], ...] = ()
    matrices: bool = False  # only of inputs with two axes or more
    square: bool = False  # only if the last two axes are equal


# The first kind that fits counts. A name also matches without the digits at its end.
KINDS = (
    Kind("ones", ("norm_weight", "*_norm_weight", "*layernorm_weight", "*norm[0-9]_weight")),
    Kind("zeros", ("norm_bias", "*_norm_bias", "*layernorm_bias", "*norm[0-9]_bias")),
    Kind(
        "causal_mask",
        ("attention_mask", "causal_mask"),
        words=(("causal", "attention mask"),),
        matrices=True,
        square=True,
    ),
    Kind(
        "binary",
        ("x_mask", "text_mask", "aspect_ratio_mask", "drop_mask", "attention_mask"),
        described=("*_mask",),
        words=(("binary",), ("{0, 1}",), ("0 or 1",), ("1.0 for valid",), ("0.0 for masked",)),
    ),
    Kind("cosine", ("cos", "cos_cached", "rope_cos")),
    Kind("sine", ("sin", "sin_cached", "rope_sin")),
    Kind(
        "positive",
        ("rstd", "std", "variance", "var", "*_rstd", "*_std", "*_var", "*_variance"),
    ),
    Kind("decay", ("A",)),
    Kind("log_decay", ("A_log",)),
    Kind("decay_sums", ("A_cumsum",)),
    Kind("gate", ("g",)),
    Kind(
        "softmax",
        ("attn_weights", "attention_weights", "routing_weights"),
        words=(("softmax", "output"),),
    ),
    Kind(
        "weight",
        ("weight", "*_weight", "*_weights", "*_proj", "*_projs", "*_weight_matrix"),
        matrices=True,
    ),
)


def values_of(name: str, description: str, shape: tuple[str, ...]) -> str:
    """`shape` contains names of axes; two axes with one name have one size."""
    text, names = description.lower(), {name, name.rstrip(DIGITS)}
    is_square = len(shape) >= LEAST_MATRIX_RANK and shape[-1] == shape[-2]
    for one in KINDS:
        named = any(fnmatchcase(each, pattern) for each in names for pattern in one.names)
        described = any(fnmatchcase(name, pattern) for pattern in one.described) and any(
            all(word in text for word in words) for words in one.words
        )
        fits = (not one.matrices or len(shape) >= LEAST_MATRIX_RANK) and (
            not one.square or is_square
        )
        if (named or described) and fits:
            return one.values
    return NORMAL
