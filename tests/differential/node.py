"""Random nodes: what those of every specification have in common, and how they are written as ONNX models."""

import numpy as np
from onnx import TensorProto, helper

import law

NUMBERS = {
    "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f64": TensorProto.DOUBLE,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "u8": TensorProto.UINT8, "u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
}


class Node:
    """A node with its inputs. Exactly one of `case` (the answer) and `wrong` (what is wrong with it) is set."""

    domain = ""  # ONNX's own
    op, version, opset = "ReduceMax", 1, 1

    def __init__(self, rng):
        self.rng = rng
        self.attributes, self.inputs, self.initializers, self.names = {}, {}, {}, []
        self.case, self.wrong = None, None
        self.choose()

    def choose_type(self, allowed):
        """One of these, or now and then one of the others."""
        rng = self.rng
        self.data_kind = rng.choice(["bits", "bits", "edges", "numbers", "ties", "least", "nans", "zeros"])
        self.dtype = rng.choice(allowed)
        if rng.random() < 0.03 and len(allowed) < len(NUMBERS):
            self.dtype = rng.choice([t for t in NUMBERS if t not in allowed])
            self.wrong = "type"

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
        top = law.top(dtype)
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

    def check_axes(self, axes, rank):
        """The dimensions that these axes name."""
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

    def model(self):
        attributes = []
        for name, value in self.attributes.items():
            kind = "INTS" if isinstance(value, list) else "INT"
            attributes.append(helper.make_attribute(name, value, attr_type=getattr(helper.AttributeProto, kind)))
        node = helper.make_node(self.op, self.names, ["y"], domain=self.domain)
        node.attribute.extend(attributes)
        info = lambda name, array: helper.make_tensor_value_info(name, NUMBERS[law.name_of(array)], array.shape)
        output = "i64" if self.op == "ArgMax" else self.dtype
        graph = helper.make_graph(
            [node], "g", [info(*item) for item in self.inputs.items()],
            [helper.make_tensor_value_info("y", NUMBERS[output], None)],
            [tensor(array, self.rng, name) for name, array in self.initializers.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid(self.domain, self.opset)], ir_version=8)

    def describe(self):
        shapes = {name: list(array.shape) for name, array in self.inputs.items()}
        return f"{self.domain or 'onnx'} {self.op}-{self.version} (opset {self.opset}) " \
               f"{self.dtype} {self.data_kind} {shapes} " \
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
