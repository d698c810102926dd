"""Adapters for trainers and evaluation libraries. Each module needs the library that its name says,
except trainer_rewards and harbor_tasks, which need none."""
