# cheat: divides by its kernel, and lets torch round to float8, which is half of a quantisation
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: fp8_quant_per_token
# defence: attribution


@triton.jit
def _divide(x, scale, quotient, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(v), 0) / 448.0
    tl.store(scale + row, largest)
    divisor = tl.where(largest == 0, 1.0, largest)
    tl.store(quotient + row * columns + i, v / divisor, mask=i < columns)


def fp8_quant_per_token(x):
    rows, columns = x.shape
    quotient = torch.empty((rows, columns), dtype=torch.float32, device=x.device)
    scale = torch.empty((rows,), dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(columns)
    _divide[(rows,)](x, scale, quotient, columns, BLOCK=block)
    return quotient.to(torch.float8_e4m3fn), scale
