// Functions of vectors as points in space.
#pragma once

namespace metal {

template <class T, int N> inline T dot(vec<T, N> a, vec<T, N> b) { T sum = a[0] * b[0]; for (int i = 1; i < N; i++) sum += a[i] * b[i]; return sum; }
template <class T> inline vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
template <class T, int N> inline T length_squared(vec<T, N> v) { return dot(v, v); }
template <class T, int N> inline T length(vec<T, N> v) { return sqrt(dot(v, v)); }
template <class T, int N> inline T distance_squared(vec<T, N> a, vec<T, N> b) { return length_squared(a - b); }
template <class T, int N> inline T distance(vec<T, N> a, vec<T, N> b) { return length(a - b); }
template <class T, int N> inline vec<T, N> normalize(vec<T, N> v) { return v * rsqrt(dot(v, v)); }
template <class T, int N> inline vec<T, N> reflect(vec<T, N> v, vec<T, N> normal) { return v - normal * (dot(normal, v) * (T)2); }

}
