"""Random ONNX nodes: every operator, version, type, shape, axes form and edge value; some of them wrong on purpose."""

import numpy as np

import law
from node import Node

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


class OnnxNode(Node):
    def choose(self):
        rng = self.rng
        self.op = rng.choice(list(TYPES))
        versions = sorted(TYPES[self.op])
        n = rng.randrange(len(versions))
        self.version = versions[n]
        newest = versions[n + 1] - 1 if n + 1 < len(versions) else NEWEST_OPSET
        self.opset = rng.choice([self.version, newest, rng.randint(self.version, newest)])
        self.choose_type(TYPES[self.op][self.version])
        getattr(self, self.op.lower())()

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
        return super().check_axes(axes, rank)

    def differs_from_hardmax_13(self):
        """Whether the axis of a Hardmax of version 1 or 11 is the old default, or not the only one of its rows."""
        shape = self.inputs["x"].shape
        axis = self.attributes.get("axis", 1)
        axis += len(shape) if axis < 0 else 0
        return "axis" not in self.attributes or axis == len(shape) or any(size != 1 for size in shape[axis + 1:])
