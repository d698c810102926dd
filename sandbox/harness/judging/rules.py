"""Makes the rules by which the outputs of a case are compared.

rules = scaled_rules(operator, rules_for(operator, case), expected)"""

from __future__ import annotations

from dataclasses import replace

import torch

from harness.judging.compare import Rule
from harness.judging.fitted_rules import typical_size
from harness.operator import Case, Operator


def rules_for(operator: Operator, case: Case) -> list[Rule]:
    return [
        Rule(
            o.name,
            operator.dtype_of(o.dtype, case),
            operator.output_shape(o, case),
            o.max_abs_error,
            operator.scale(o, case),
            operator.imported,
            o.or_relative,
        )
        for o in operator.outputs
    ]


def scaled_rules(operator: Operator, rules: list[Rule], expected: list[torch.Tensor]) -> list[Rule]:
    """Returns the rules with the scales of relative outputs, which depend on the right output."""
    return [
        replace(rule, scale=1 / typical_size(right), relative=True) if output.relative else rule
        for output, rule, right in zip(operator.outputs, rules, expected, strict=True)
    ]
