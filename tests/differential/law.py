"""What the operators mean, once more, in numpy and plain Python: the judge between this crate and its peers.

Elements are unsigned integers (their bits) beside their values (floats, integers), so that NaN and the sign of zero
are seen as they are.
"""

import math
from itertools import product

import ml_dtypes
import numpy as np

TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
}
FLOATS = ("f32", "f16", "bf16", "f64")
NANS = {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0, "f64": 0x7FF8 << 48}
LEAST = {"f32": 0xFF800000, "f16": 0xFC00, "bf16": 0xFF80, "f64": 0xFFF0 << 48}


def name_of(array):
    return next(name for name, numpy in TYPES.items() if np.dtype(numpy) == array.dtype)


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def elements(array):
    """The flat list of (bits, value)."""
    values = array.astype(np.float64) if name_of(array) in FLOATS else array
    return list(zip(bits(array).ravel().tolist(), values.ravel().tolist()))


def from_bits(flat, dtype, shape):
    width = np.dtype(TYPES[dtype]).itemsize
    return np.array(flat, dtype=f"u{width}").view(TYPES[dtype]).reshape(shape)


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def top(dtype):
    """The highest bit of a type."""
    return 1 << (np.dtype(TYPES[dtype]).itemsize * 8 - 1)


def is_subnormal(value, dtype):
    return dtype in FLOATS and 0 < abs(value) < float(ml_dtypes.finfo(TYPES[dtype]).smallest_normal)


def least(dtype):
    """The bits of a type's least value."""
    return LEAST.get(dtype, top(dtype) if dtype[0] == "i" else 0)


def least_finite(dtype):
    """The bits of a type's least value that is finite: what lies beside negative infinity."""
    return least(dtype) - (dtype in FLOATS)


def maximum(window, dtype, of_nothing=least):
    """The bits of the maximum of these elements."""
    if any(is_nan(value) for _, value in window):
        return NANS[dtype]
    if not window:
        return of_nothing(dtype)
    return max(window, key=lambda e: (e[1], math.copysign(1, e[1]) if isinstance(e[1], float) else 0))[0]


def position(window, last=False):
    """The index of the first (or last) maximum."""
    nans = [i for i, (_, value) in enumerate(window) if is_nan(value)]
    best = max((value for _, value in window), default=None) if not nans else None
    found = nans or [i for i, (_, value) in enumerate(window) if value == best]
    return found[-1 if last else 0]


def windows(array, reduced):
    """Shape of the kept dimensions, and for each of their positions the elements reduced there."""
    kept = [d for d in range(array.ndim) if d not in reduced]
    shape = [array.shape[d] for d in kept]
    moved = np.transpose(array, kept + sorted(reduced))
    len_ = math.prod(array.shape[d] for d in reduced)
    return shape, [elements(moved[index].reshape(len_)) for index in product(*map(range, shape))]


def left(shape, reduced, keep):
    return [1 if d in reduced else s for d, s in enumerate(shape) if keep or d not in reduced]


class Case:
    """A valid node's answer, and for each element of it the operands that it comes from."""

    def __init__(self, answer, operands):
        self.answer, self.operands = answer, operands


def reduce_max(array, reduced, keep, of_nothing=least):
    dtype = name_of(array)
    _, rows = windows(array, reduced)
    found = [maximum(row, dtype, of_nothing) for row in rows]
    return Case(from_bits(found, dtype, left(array.shape, reduced, keep)), rows)


def arg_max(array, axis, keep, last):
    _, rows = windows(array, [axis])
    answer = np.array([position(row, last) for row in rows], np.int64).reshape(left(array.shape, [axis], keep))
    return Case(answer, rows)


def hardmax(array, slices):
    """slices: the dimensions of one slice."""
    kept, rows = windows(array, slices)
    ones = np.zeros([len(rows), math.prod(array.shape[d] for d in slices)], array.dtype)
    for n, row in enumerate(rows if ones.size else []):
        ones[n, position(row)] = 1
    order = [d for d in range(array.ndim) if d not in slices] + sorted(slices)
    moved = ones.reshape(kept + [array.shape[d] for d in sorted(slices)])
    answer = np.ascontiguousarray(np.transpose(moved, np.argsort(order) if order else None))
    index = np.arange(len(rows))[:, None].repeat(ones.shape[1], 1).reshape(moved.shape)
    index = np.transpose(index, np.argsort(order) if order else None).ravel()
    return Case(answer.reshape(array.shape), [rows[i] for i in index])


def max_of(arrays):
    stretched = np.broadcast_arrays(*arrays)
    rows = list(zip(*[elements(np.ascontiguousarray(a)) for a in stretched]))
    dtype = name_of(arrays[0])
    return Case(from_bits([maximum(row, dtype) for row in rows], dtype, stretched[0].shape), rows)
