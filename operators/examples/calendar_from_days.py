"""The compiler turns divisions of integers by constants into multiplications (dates from day numbers, without branches)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _date_kernel(day_ptr, year_ptr, month_ptr, mday_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(day_ptr + at, mask=at < n, other=0) + 719468  # days since 0000-03-01
    era = z // 146097
    day = z - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    yday = day - (365 * year + year // 4 - year // 100)
    shifted = (5 * yday + 2) // 153
    month = tl.where(shifted < 10, shifted + 3, shifted - 9)
    tl.store(mday_ptr + at, yday - (153 * shifted + 2) // 5 + 1, mask=at < n)
    tl.store(month_ptr + at, month, mask=at < n)
    tl.store(year_ptr + at, year + era * 400 + (month <= 2).to(tl.int32), mask=at < n)


def dates(days):
    """Converts days since 1970-01-01 to dates. The year must not be negative."""
    year, month, mday = (torch.empty_like(days) for _ in range(3))
    _date_kernel[(triton.cdiv(days.numel(), 32),)](days, year, month, mday, days.numel(), BLOCK=32)
    return year, month, mday


def check():
    import datetime

    days = torch.randint(-300000, 300000, (60,), dtype=torch.int32)
    want = [datetime.date(1970, 1, 1) + datetime.timedelta(days=d) for d in days.tolist()]
    assert list(zip(*(part.tolist() for part in dates(days)), strict=True)) == [
        (d.year, d.month, d.day) for d in want
    ]
