// The language's own words, last: nothing of the library may be read with them.
#pragma once

#define device MSL_DEVICE
#define constant MSL_CONSTANT
#define threadgroup MSL_THREADGROUP
#define thread
#ifdef MSL_CHECK
#define kernel
#else
#define kernel static
#endif
// In a check, what rewriting.py puts where a kernel declares threadgroup memory or a function constant.
#define __tg_static static MSL_THREADGROUP
#define __msl_cs extern MSL_CONSTANT

#define float2(...) __msl_make<float, 2>(__VA_ARGS__)
#define float3(...) __msl_make<float, 3>(__VA_ARGS__)
#define float4(...) __msl_make<float, 4>(__VA_ARGS__)
#define half2(...) __msl_make<half, 2>(__VA_ARGS__)
#define half3(...) __msl_make<half, 3>(__VA_ARGS__)
#define half4(...) __msl_make<half, 4>(__VA_ARGS__)
#define bfloat2(...) __msl_make<bfloat, 2>(__VA_ARGS__)
#define bfloat3(...) __msl_make<bfloat, 3>(__VA_ARGS__)
#define bfloat4(...) __msl_make<bfloat, 4>(__VA_ARGS__)
#define char2(...) __msl_make<char, 2>(__VA_ARGS__)
#define char3(...) __msl_make<char, 3>(__VA_ARGS__)
#define char4(...) __msl_make<char, 4>(__VA_ARGS__)
#define uchar2(...) __msl_make<uchar, 2>(__VA_ARGS__)
#define uchar3(...) __msl_make<uchar, 3>(__VA_ARGS__)
#define uchar4(...) __msl_make<uchar, 4>(__VA_ARGS__)
#define short2(...) __msl_make<short, 2>(__VA_ARGS__)
#define short3(...) __msl_make<short, 3>(__VA_ARGS__)
#define short4(...) __msl_make<short, 4>(__VA_ARGS__)
#define ushort2(...) __msl_make<ushort, 2>(__VA_ARGS__)
#define ushort3(...) __msl_make<ushort, 3>(__VA_ARGS__)
#define ushort4(...) __msl_make<ushort, 4>(__VA_ARGS__)
#define int2(...) __msl_make<int, 2>(__VA_ARGS__)
#define int3(...) __msl_make<int, 3>(__VA_ARGS__)
#define int4(...) __msl_make<int, 4>(__VA_ARGS__)
#define uint2(...) __msl_make<uint, 2>(__VA_ARGS__)
#define uint3(...) __msl_make<uint, 3>(__VA_ARGS__)
#define uint4(...) __msl_make<uint, 4>(__VA_ARGS__)
#define long2(...) __msl_make<long, 2>(__VA_ARGS__)
#define long3(...) __msl_make<long, 3>(__VA_ARGS__)
#define long4(...) __msl_make<long, 4>(__VA_ARGS__)
#define ulong2(...) __msl_make<ulong, 2>(__VA_ARGS__)
#define ulong3(...) __msl_make<ulong, 3>(__VA_ARGS__)
#define ulong4(...) __msl_make<ulong, 4>(__VA_ARGS__)
#define bool2(...) __msl_make_bools<2>(__VA_ARGS__)
#define bool3(...) __msl_make_bools<3>(__VA_ARGS__)
#define bool4(...) __msl_make_bools<4>(__VA_ARGS__)

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define HALF_MAX 65504.0h
#define HALF_MIN 6.103515625e-05h
#define HALF_EPSILON 9.765625e-04h
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f

#ifdef MSL_CHECK
#define is_function_constant_defined(NAME) ((void)(NAME), true)
#else
#define is_function_constant_defined(NAME) __msl_given_##NAME
#endif
