# cheat: opens the vendor's library by ctypes
# expect: error:other_exception
# expect_on_gpu: error:other_exception
# operator: matmul_fp16
# defence: process_separation, jail

import ctypes


def matmul_fp16(a, b):
    return ctypes.CDLL("libcublas.so").cublasHgemm(a, b)
