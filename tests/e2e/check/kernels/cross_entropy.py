# inputs: ["logits=f32[{r},{v}]", "target=i64[{r}] range({v})"]
# axes: {"r": [7], "v": [53]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(logits, target, loss, vocabulary, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(logits + row * vocabulary + at, at < vocabulary, -float("inf"))
    top = tl.max(value, 0)
    right = tl.load(logits + row * vocabulary + tl.load(target + row))
    tl.store(loss + row, top + tl.log(tl.sum(tl.exp(value - top), 0)) - right)


def kernel(logits, target):
    loss = torch.empty(logits.shape[0], dtype=logits.dtype, device=logits.device)
    block = triton.next_power_of_2(logits.shape[1])
    _kernel[(logits.shape[0],)](logits, target, loss, logits.shape[1], block)
    return loss


def reference(logits, target):
    return torch.nn.functional.cross_entropy(logits, target, reduction="none")
