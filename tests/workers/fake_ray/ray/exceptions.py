"""The exceptions of Ray that assay.ray catches."""


class RayError(Exception):
    pass


class RayActorError(RayError):
    pass


class RaySystemError(RayError):
    pass


class GetTimeoutError(RayError):
    pass
