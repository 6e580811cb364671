"""Random ReduceMax nodes as OpenVINO and oneDNN Graph have them; some of them wrong on purpose."""

import numpy as np

import law
from cases import FLOATS, INTEGERS
from node import Node


class ReduceMax(Node):
    """What both have in common: axes are not optional, no axes reduce nothing, and `keep_dims` is false by default."""

    def choose(self):
        self.choose_type(self.types)
        shape = self.shape()
        if shape and self.rng.random() < 0.08:
            shape[self.rng.randrange(len(shape))] = 0
        array = self.data(shape)
        self.add("x", array)
        keep = self.flag("keep_dims")
        self.reduced = self.check_axes(self.place_axes(array.ndim), array.ndim)
        if array.size == 0 and 0 not in [size for d, size in enumerate(array.shape) if d not in self.reduced]:
            self.nothing_to_reduce()
        self.answer(law.reduce_max, array, self.reduced, keep == 1, law.least_finite)

    def random_axes(self, rank, wide):
        """Different axes, each from either end; sometimes one that is not there, or the same one again. `wide` axes
        have 64 bits, of which the low 32 may name an axis that is there."""
        rng = self.rng
        axes = [a - rank if rng.random() < 0.4 else a for a in rng.sample(range(rank), rng.randint(min(rank, 1), rank))]
        if rng.random() < 0.1:
            axes = []
        if rng.random() < 0.04:
            axes.append(rng.choice([rank, -rank - 1, 2**32 if wide else 2**31 - 1]))
        elif axes and rng.random() < 0.04:
            axes.append(rng.choice([axes[0], (axes[0] + rank) % rank]))
        return axes

    def add_axes(self, axes, dtype, shape):
        self.add("axes", np.array(axes).astype(law.TYPES[dtype]).reshape(shape))

    def nothing_to_reduce(self):
        pass


class OpenVino(ReduceMax):
    domain = "openvino"
    types = FLOATS + INTEGERS + ["bf16"]

    def place_axes(self, rank):
        """A second input: a scalar or one dimension, of i32 or i64."""
        rng = self.rng
        dtype = rng.choice(["i32", "i64"])
        axes = self.random_axes(rank, dtype == "i64")
        shape = [len(axes)]
        if axes and rng.random() < 0.3:
            axes, shape = axes[-1:], []
        mistake = rng.random()
        if mistake < 0.02:
            self.wrongly("no axes")
            return axes
        if mistake < 0.04:
            self.wrongly("axes type")
            dtype = rng.choice(["i8", "i16", "u8", "u16", "u32", "u64", "f32", "f16"])
        elif mistake < 0.06:
            self.wrongly("axes form")
            shape = [1, len(axes)]
        self.add_axes(axes, dtype, shape)
        return axes


class OneDnn(ReduceMax):
    domain = "onednn"
    types = ["f32", "f16", "bf16"]

    def place_axes(self, rank):
        """Either an attribute or a second input, one dimension of i32."""
        rng = self.rng
        attribute, both, neither = (True, False), (True, True), (False, False)
        form = rng.choices([attribute, (False, True), both, neither], [70, 25, 2, 2])[0]
        axes = self.random_axes(rank, form == attribute)
        if form == both or form == neither:
            self.wrongly("axes twice" if form == both else "no axes")
        as_attribute, as_input = form
        if as_attribute:
            self.attributes["axes"] = axes
        if as_input:
            self.add_axes(axes, *self.input_form(len(axes)))
        return axes

    def input_form(self, len_):
        """The type and shape of axes that are an input, sometimes wrong."""
        mistake = self.rng.random()
        if mistake < 0.03:
            self.wrongly("axes type")
            return "i64", [len_]
        if mistake < 0.06:
            self.wrongly("axes form")
            return "i32", [1, len_]
        return "i32", [len_]

    def nothing_to_reduce(self):
        self.wrongly("nothing to reduce")
