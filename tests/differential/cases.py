"""Random nodes: every operator, version, type, shape, axes form and edge value; some of them wrong on purpose."""

import random

import numpy as np
from onnx import TensorProto, helper

import law

NUMBERS = {
    "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f64": TensorProto.DOUBLE,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "u8": TensorProto.UINT8, "u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
}
FLOATS = ["f16", "f32", "f64"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
REDUCE = FLOATS + ["u32", "u64", "i32", "i64"]
TYPES = {
    "ReduceMax": {1: REDUCE, 11: REDUCE, 12: REDUCE + ["i8", "u8"], 13: REDUCE + ["i8", "u8", "bf16"],
                  18: REDUCE + ["i8", "u8", "bf16"], 20: REDUCE + ["i8", "u8", "bf16", "bool"]},
    "Hardmax": {1: FLOATS, 11: FLOATS, 13: FLOATS + ["bf16"]},
    "Max": {1: FLOATS, 6: FLOATS, 8: FLOATS, 12: FLOATS + INTEGERS, 13: FLOATS + INTEGERS + ["bf16"]},
    "ArgMax": {1: FLOATS + INTEGERS, 11: FLOATS + INTEGERS, 12: FLOATS + INTEGERS, 13: FLOATS + INTEGERS + ["bf16"]},
}
NEWEST_OPSET = 23


class Node:
    """A node with its inputs. Exactly one of `case` (the answer) and `wrong` (what is wrong with it) is set."""

    def __init__(self, rng):
        self.rng = rng
        self.op = rng.choice(list(TYPES))
        versions = sorted(TYPES[self.op])
        n = rng.randrange(len(versions))
        self.version = versions[n]
        newest = versions[n + 1] - 1 if n + 1 < len(versions) else NEWEST_OPSET
        self.opset = rng.choice([self.version, newest, rng.randint(self.version, newest)])
        self.attributes, self.inputs, self.initializers, self.names = {}, {}, {}, []
        self.case, self.wrong = None, None
        self.data_kind = rng.choice(["bits", "bits", "edges", "numbers", "ties", "least", "nans", "zeros"])
        allowed = TYPES[self.op][self.version]
        self.dtype = rng.choice(allowed)
        if rng.random() < 0.03 and len(allowed) < len(NUMBERS):
            self.dtype = rng.choice([t for t in NUMBERS if t not in allowed])
            self.wrong = "type"
        getattr(self, self.op.lower())()

    def wrongly(self, what):
        self.wrong = self.wrong or what

    def answer(self, function, *arguments):
        if not self.wrong:
            self.case = function(*arguments)

    def shape(self):
        rng = self.rng
        if rng.random() < 0.06:
            return [rng.choice([257, 1000, 4097])]
        sizes = [1, 2, 3, 4, 5, 7, 8, 9, 17, 33] + ([0] if rng.random() < 0.3 else [])
        shape = [rng.choice(sizes) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]))]
        while np.prod(shape, dtype=np.int64) > 1500:
            shape[shape.index(max(shape))] = 2
        return shape

    def data(self, shape):
        """Elements of the node's type and kind."""
        rng, dtype = np.random.default_rng(self.rng.getrandbits(64)), self.dtype
        len_, width = int(np.prod(shape, dtype=np.int64)), np.dtype(law.TYPES[dtype]).itemsize
        top = 1 << (width * 8 - 1)
        if dtype == "bool":
            pool = [0] if self.data_kind == "least" else [0, 1]
        elif dtype in law.FLOATS:
            infinity = law.LEAST[dtype] - top
            quiet = law.NANS[dtype]
            nans = [quiet, top | quiet, infinity + 1, top | (infinity + 1), 2 * top - 1]
            numbers = [infinity, top | infinity, infinity - 1, top | (infinity - 1), 0, top, 1, top | 1]
            pool = {"edges": nans + numbers, "numbers": numbers, "least": [top | infinity], "nans": nans,
                    "zeros": [0, top]}.get(self.data_kind)
        else:
            least = top if dtype[0] == "i" else 0
            pool = {"edges": [0, 1, top - 1, top, top + 1, 2 * top - 1], "least": [least]}.get(self.data_kind)
        if pool is None and self.data_kind in ("ties", "nans", "zeros", "numbers"):
            return rng.integers(0, 3, len_).astype(law.TYPES[dtype]).reshape(shape)
        if pool is None:
            return np.frombuffer(rng.bytes(len_ * width), law.TYPES[dtype]).reshape(shape)
        return law.from_bits([pool[i] for i in rng.integers(0, len(pool), len_)], dtype, shape)

    def add(self, name, array):
        self.names.append(name)
        self.inputs[name] = array

    def flag(self, name):
        """A boolean attribute, sometimes left to its default: its value, or None."""
        value = self.rng.choice([None, 0, 1])
        if value is not None:
            self.attributes[name] = value
        return value

    def axis(self, shape, default, version_with_negatives=11):
        """An axis attribute, sometimes left out, sometimes out of range: the dimension."""
        rank, axis = len(shape), default
        if self.rng.random() < 0.85:
            axis = self.rng.randrange(-rank, rank) if rank else self.rng.choice([0, -1])
            if self.rng.random() < 0.04:
                axis = self.rng.choice([rank, rank + 1, -rank - 1, 2**62])
            elif self.version < version_with_negatives and axis < 0 and self.rng.random() < 0.8:
                axis += rank
            self.attributes["axis"] = axis
        if rank == 0:
            self.wrongly("rank 0")
        elif axis < 0 and self.version < version_with_negatives:
            self.wrongly("negative axis")
        elif not -rank <= axis < rank:
            self.wrongly("axis out of range")
        return axis % rank if rank else 0

    def argmax(self):
        array = self.data(self.shape())
        self.add("x", array)
        keep, axis = self.flag("keepdims"), self.axis(array.shape, 0)
        last = None
        if self.version >= 12 or self.rng.random() < 0.03:
            last = self.flag("select_last_index")
            if last is not None and self.version < 12:
                self.wrongly("attribute")
        kept = [s for d, s in enumerate(array.shape) if d != axis]
        if array.size == 0 and 0 not in kept:
            self.wrongly("nothing to search")
        self.answer(law.arg_max, array, axis, keep != 0, last == 1)

    def hardmax(self):
        array = self.data(self.shape())
        self.add("x", array)
        rank = array.ndim
        axis = self.axis(array.shape, 1 if self.version < 13 else -1)
        if self.version == 1 and rank and self.attributes.get("axis", 1) == rank:
            if self.wrong == "axis out of range":
                self.wrong, axis = None, rank  # every element is a row
        slices = [axis] if self.version >= 13 else list(range(axis, rank))
        self.answer(law.hardmax, array, slices)

    def max(self):
        shape = self.shape()
        count = self.rng.choice([1, 2, 2, 3, 3, 4, 5, 9])
        if self.version < 8:
            shapes = [list(shape) for _ in range(count)]
        else:
            shapes = [[1 if self.rng.random() < 0.25 else s for s in shape] for _ in range(count)]
            shapes = [s[self.rng.randint(0, len(s)) if self.rng.random() < 0.3 else 0:] for s in shapes]
        if count > 1 and shape and self.rng.random() < 0.04:
            shapes[1] = [s + 2 for s in shape]
        for n, own in enumerate(shapes):
            self.add(f"x{n}", self.data(own))
        arrays = list(self.inputs.values())
        if self.version == 1 and self.rng.random() < 0.3:
            self.attributes["consumed_inputs"] = [0] * count
        if self.version < 8 and any(s != shapes[0] for s in shapes):
            self.wrongly("shapes")
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            self.wrongly("shapes")
        self.answer(law.max_of, arrays)

    def reducemax(self):
        rng, array = self.rng, self.data(self.shape())
        self.add("x", array)
        rank = array.ndim
        keep = self.flag("keepdims")
        noop = None
        if self.version >= 18 or rng.random() < 0.02:
            noop = self.flag("noop_with_empty_axes")
            if noop is not None and self.version < 18:
                self.wrongly("attribute")
        form = rng.choice(["absent", "empty", "list", "list", "list"])
        axes = None if form == "absent" else []
        if form == "list":
            axes = rng.sample(range(rank), rng.randint(0, rank))
            axes = [a - rank if rng.random() < 0.4 and (self.version >= 11 or rng.random() < 0.05) else a for a in axes]
            if rng.random() < 0.04:
                axes.append(rng.choice([rank, -rank - 1, 2**62]))
            elif axes and rng.random() < 0.04:
                axes.append(axes[0])
        self.place_axes(axes)
        reduced = self.check_axes(axes or [], rank)
        if not axes:
            reduced = [] if noop == 1 and self.version >= 18 else list(range(rank))
        self.answer(law.reduce_max, array, reduced, keep != 0)

    def place_axes(self, axes):
        """Attribute until 13, input or initializer from 18; sometimes the other way."""
        if axes is None:
            return
        as_attribute = self.version < 18
        if self.rng.random() < 0.02:
            as_attribute = not as_attribute
            self.wrongly("axes form")
        if as_attribute:
            self.attributes["axes"] = axes
        elif self.rng.random() < 0.5:
            self.names.append("axes")
            self.initializers["axes"] = np.array(axes, np.int64)
        else:
            self.add("axes", np.array(axes, np.int64))

    def check_axes(self, axes, rank):
        if any(a < 0 for a in axes) and self.version < 11:
            self.wrongly("negative axis")
        if any(not -rank <= a < rank for a in axes):
            self.wrongly("axis out of range" if rank else "rank 0")
            return []
        reduced = [a % rank for a in axes]
        if len(set(reduced)) < len(reduced):
            self.wrongly("repeated axis")
        return reduced

    def has_empty_data(self):
        return any(array.size == 0 for name, array in self.inputs.items() if name != "axes")

    def axes_given(self):
        axes = self.inputs.get("axes", self.initializers.get("axes"))
        given = self.attributes.get("axes", []) if axes is None else axes.tolist()
        return given + [self.attributes.get("axis", 0)]

    def differs_from_hardmax_13(self):
        """Whether the axis of a Hardmax of version 1 or 11 is the old default, or not the only one of its rows."""
        shape = self.inputs["x"].shape
        axis = self.attributes.get("axis", 1)
        axis += len(shape) if axis < 0 else 0
        return "axis" not in self.attributes or axis == len(shape) or any(size != 1 for size in shape[axis + 1:])

    def model(self):
        attributes = []
        for name, value in self.attributes.items():
            kind = "INTS" if isinstance(value, list) else "INT"
            attributes.append(helper.make_attribute(name, value, attr_type=getattr(helper.AttributeProto, kind)))
        node = helper.make_node(self.op, self.names, ["y"])
        node.attribute.extend(attributes)
        info = lambda name, array: helper.make_tensor_value_info(name, NUMBERS[law.name_of(array)], array.shape)
        output = "i64" if self.op == "ArgMax" else self.dtype
        graph = helper.make_graph(
            [node], "g", [info(*item) for item in self.inputs.items()],
            [helper.make_tensor_value_info("y", NUMBERS[output], None)],
            [tensor(array, self.rng, name) for name, array in self.initializers.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def describe(self):
        shapes = {name: list(array.shape) for name, array in self.inputs.items()}
        return f"{self.op}-{self.version} (opset {self.opset}) {self.dtype} {self.data_kind} {shapes} " \
               f"{self.attributes} {({n: a.tolist() for n, a in self.initializers.items()} or '')}"


def tensor(array, rng, name=""):
    """A TensorProto with its elements in the raw field or in the typed one."""
    dtype = law.name_of(array)
    proto = TensorProto(dims=array.shape, data_type=NUMBERS[dtype], name=name)
    if rng.random() < 0.6:
        proto.raw_data = array.tobytes()
    elif dtype in ("f16", "bf16"):
        proto.int32_data.extend(law.bits(array).ravel().tolist())
    else:
        field = {"f32": "float_data", "f64": "double_data", "i64": "int64_data", "u64": "uint64_data",
                 "u32": "uint64_data"}.get(dtype, "int32_data")
        getattr(proto, field).extend((array.view(np.uint8) if dtype == "bool" else array).ravel().tolist())
    return proto


def nodes(count, seed):
    return [Node(random.Random(f"{seed}/{n}")) for n in range(count)]
