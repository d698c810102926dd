"""Runs workers on a Ray cluster: a pool of actors for a trainer, or one worker for a server.

    import assay, assay.ray

    with assay.ray.pool(8, num_gpus=1, accelerator_type="H100") as workers:
        results = workers.evaluate([assay.Evaluation("vector_add", source=source)])

    assay serve --worker-command "python -m assay.ray worker --num-gpus 1 -- assay worker"

docs/how-to/use-ray.md describes both. Needs the package ray."""

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError("assay.ray needs Ray: pip install 'assay[ray]'") from error

from assay.ray.actors import Placement, RayEngine, pool
from assay.worker_pool import PoolReport, WorkerPool

__all__ = ["Placement", "PoolReport", "RayEngine", "WorkerPool", "pool"]
