// Defines the limits of IEEE floats.
#pragma once
#ifndef FLT_MAX  // cuda/std defines them too
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MANT_DIG 53
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
