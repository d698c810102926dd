"""Trains a policy with six numbers: for each of two operators it learns which of three scripted
kernels to answer with. The rewards come from a server. This is GRPO without a language model: a
group of samples of one prompt, advantages relative to the group's mean, and a gradient step.

    assay serve --http 127.0.0.1:8080 --device fake
    PYTHONPATH=python python examples/train_tiny_policy.py --url http://127.0.0.1:8080

On the device `fake`, the comments "# fake:" choose the verdicts. Replace `answers` by the replies of
your model, and `Policy.learn` by your optimizer's step. tests/evaluate/adapter_training.py trains
this policy through each adapter."""

from __future__ import annotations

import argparse
import math
import random
import uuid
from collections.abc import Callable

import assay

OPERATORS = ["vector_add", "relu"]
KERNELS = {
    "wrong": "# fake: fail\n",
    "slow": "# fake: pass\n# fake: perf=0.5\n",
    "fast": "# fake: pass\n# fake: perf=2.0\n",
}


class Policy:
    """A softmax over the kernels for each operator."""

    def __init__(self, seed: int) -> None:
        self.logits = {name: dict.fromkeys(KERNELS, 0.0) for name in OPERATORS}
        self.random = random.Random(seed)

    def probabilities(self, operator: str) -> dict[str, float]:
        weights = {kernel: math.exp(value) for kernel, value in self.logits[operator].items()}
        total = sum(weights.values())
        return {kernel: weight / total for kernel, weight in weights.items()}

    def sample(self, operator: str, count: int) -> list[str]:
        chances = self.probabilities(operator)
        return self.random.choices(list(chances), list(chances.values()), k=count)

    def learn(self, operator: str, kernel: str, advantage: float, rate: float) -> None:
        """Takes a step along the gradient of advantage * log(probability of the kernel)."""
        for other, chance in self.probabilities(operator).items():
            gradient = (1.0 if other == kernel else 0.0) - chance
            self.logits[operator][other] += rate * advantage * gradient


# Returns the reward of each (operator, answer) of a step. None: masked, which must not count as 0.
Judge = Callable[[list[tuple[str, str]]], list[float | None]]


def through_client(client: assay.Client) -> Judge:
    # A profile is timed, so the reward sees the speed. Test would reward every right kernel alike.
    def judge(answers: list[tuple[str, str]]) -> list[float | None]:
        step = uuid.uuid4().hex  # a group has the same inputs, and its equal sources one verdict
        batch = [
            assay.Evaluation(name, completion=text, mode="profile", group=f"{step}/{name}")
            for name, text in answers
        ]
        results = client.evaluate_all(batch, rewards=["kevin"])
        return [result.rewards["kevin"] if result.usable else None for result in results]

    return judge


def train(judge: Judge, steps: int, group: int, rate: float, seed: int) -> Policy:
    policy = Policy(seed)
    for _ in range(steps):
        chosen = [(name, kernel) for name in OPERATORS for kernel in policy.sample(name, group)]
        answers = [f"Here it is:\n```python\n{KERNELS[kernel]}```\n" for _, kernel in chosen]
        rewards = judge([(name, text) for (name, _), text in zip(chosen, answers, strict=True)])
        for name in OPERATORS:
            pairs = zip(chosen, rewards, strict=True)
            usable = [(k, r) for (owner, k), r in pairs if owner == name and r is not None]
            mean = sum(reward for _, reward in usable) / max(len(usable), 1)
            for kernel, reward in usable:
                policy.learn(name, kernel, reward - mean, rate / len(usable))
    return policy


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--group", type=int, default=16)
    arguments = parser.parse_args()
    with assay.Client(arguments.url) as client:
        judge = through_client(client)
        policy = train(judge, arguments.steps, arguments.group, rate=1.0, seed=1)
    for name in OPERATORS:
        print(name, {kernel: round(p, 3) for kernel, p in policy.probabilities(name).items()})


if __name__ == "__main__":
    main()
