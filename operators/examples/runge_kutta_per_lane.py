"""Each lane solves one small problem and keeps its two state variables in registers (a pendulum by four-stage Runge-Kutta)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _pendulum_kernel(angle_ptr, speed_ptr, n, dt, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    angle = tl.load(angle_ptr + at, mask=at < n, other=0.0)
    speed = tl.load(speed_ptr + at, mask=at < n, other=0.0)
    for _ in range(steps):
        k1 = -tl.sin(angle)
        k2 = -tl.sin(angle + 0.5 * dt * speed)
        k3 = -tl.sin(angle + 0.5 * dt * speed + 0.25 * dt * dt * k1)
        k4 = -tl.sin(angle + dt * speed + 0.5 * dt * dt * k2)
        angle += dt * speed + dt * dt / 6.0 * (k1 + k2 + k3)
        speed += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    tl.store(angle_ptr + at, angle, mask=at < n)
    tl.store(speed_ptr + at, speed, mask=at < n)


def swing_(angle, speed, dt, steps):
    """Advances the pendulums in place."""
    _pendulum_kernel[(triton.cdiv(angle.numel(), 32),)](
        angle, speed, angle.numel(), dt, steps, BLOCK=32
    )


def check():
    angle, speed = torch.rand(40) * 2, torch.rand(40)
    energy = speed**2 / 2 - angle.cos()
    swing_(angle, speed, 0.05, 20)
    torch.testing.assert_close(speed**2 / 2 - angle.cos(), energy, atol=1e-5, rtol=1e-5)
