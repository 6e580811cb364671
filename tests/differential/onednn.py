"""oneDNN's Graph API, called through its C interface: one ReduceMax, compiled and executed on the CPU."""

import ctypes
import os
import pathlib
import sys
from ctypes import byref, c_int, c_int64, c_size_t, c_uint8, c_void_p

import numpy as np

import law

# The C interface's numbers.
CPU, REDUCE_MAX, AXES, KEEP_DIMS, STRIDED, VARIABLE, DEFAULT = 1, 53, 0x40, 0x61, 2, 1, 1
TYPES = {"f16": 1, "bf16": 2, "f32": 3, "i32": 4, "i8": 5, "u8": 6, "f64": 7, "bool": 8}
STATUS = {2: "invalid arguments", 3: "unimplemented", 7: "invalid graph", 8: "invalid operation", 9: "invalid shape",
          10: "invalid type"}
UNKNOWN_RANK = -1
OUTPUT = 2


class LogicalTensor(ctypes.Structure):
    _fields_ = [("id", c_size_t), ("ndims", c_int), ("dims", c_int64 * 12), ("data_type", c_int),
                ("property", c_int), ("layout_type", c_int), ("strides", c_int64 * 12)]


class Failed(Exception):
    pass


def load():
    """The library of the package onednn-cpu-gomp; OSError without it."""
    os.environ["OMP_NUM_THREADS"] = "1"  # the tensors are small
    return ctypes.CDLL(str(pathlib.Path(sys.prefix) / "lib/libdnnl.so.3"))


class Library:
    def __init__(self):
        self.library = load()
        self.call("dnnl_graph_set_compiled_partition_cache_capacity", 0)
        self.engine = self.made("dnnl_engine_create", CPU, c_size_t(0))
        self.stream = self.made("dnnl_stream_create", self.engine, DEFAULT)

    def call(self, function, *arguments):
        status = getattr(self.library, function)(*arguments)
        if status:
            raise Failed(f"{function}: {STATUS.get(status, status)}")

    def made(self, function, *arguments):
        handle = c_void_p()
        self.call(function, byref(handle), *arguments)
        return handle

    def logical(self, id_, dtype, shape):
        if dtype not in TYPES:
            raise Failed(f"there is no type {dtype}")
        tensor = LogicalTensor()
        self.call("dnnl_graph_logical_tensor_init_with_dims", byref(tensor), c_size_t(id_), TYPES[dtype], len(shape),
                  (c_int64 * 12)(*shape), STRIDED, VARIABLE)
        return tensor

    def reduce_max(self, arrays, axes, keep_dims):
        """The maximum of the first array; axes are its attribute, or None and the second array."""
        inputs = [self.logical(n, law.name_of(array), array.shape) for n, array in enumerate(arrays)]
        output = LogicalTensor()
        self.call("dnnl_graph_logical_tensor_init", byref(output), c_size_t(OUTPUT), inputs[0].data_type, UNKNOWN_RANK,
                  STRIDED, VARIABLE)
        graph = self.graph(self.operation(inputs, output, axes, keep_dims))
        compiled = self.compiled(graph, inputs, output)
        self.call("dnnl_graph_compiled_partition_query_logical_tensor", compiled, c_size_t(OUTPUT), byref(output))
        answer = np.zeros(list(output.dims[:output.ndims]), arrays[0].dtype)
        self.execute(compiled, inputs, arrays, output, answer)
        return answer

    def operation(self, inputs, output, axes, keep_dims):
        operation = self.made("dnnl_graph_op_create", c_size_t(0), REDUCE_MAX, b"reduce_max")
        for tensor in inputs:
            self.call("dnnl_graph_op_add_input", operation, byref(tensor))
        self.call("dnnl_graph_op_add_output", operation, byref(output))
        if axes is not None:
            values = (c_int64 * len(axes))(*axes)
            self.call("dnnl_graph_op_set_attr_s64", operation, AXES, values, c_size_t(len(axes)))
        if keep_dims is not None:
            self.call("dnnl_graph_op_set_attr_bool", operation, KEEP_DIMS, byref(c_uint8(keep_dims)), c_size_t(1))
        return operation

    def graph(self, operation):
        graph = self.made("dnnl_graph_graph_create", CPU)
        self.call("dnnl_graph_add_op", graph, operation)
        self.call("dnnl_graph_graph_finalize", graph)
        self.call("dnnl_graph_graph_filter", graph, 1)
        return graph

    def compiled(self, graph, inputs, output):
        partitions, supported = (c_void_p * 1)(), c_uint8()
        self.call("dnnl_graph_graph_get_partitions", graph, c_size_t(1), partitions)
        partition = c_void_p(partitions[0])
        self.call("dnnl_graph_partition_is_supported", partition, byref(supported))
        if not supported.value:
            raise Failed("no back end supports the partition")
        compiled = self.made("dnnl_graph_compiled_partition_create", partition)
        pointers = (c_void_p * len(inputs))(*map(ctypes.addressof, inputs))
        self.call("dnnl_graph_partition_compile", partition, compiled, c_size_t(len(inputs)), pointers, c_size_t(1),
                  (c_void_p * 1)(ctypes.addressof(output)), self.engine)
        return compiled

    def execute(self, compiled, inputs, arrays, output, answer):
        def tensor(logical, array):
            return self.made("dnnl_graph_tensor_create", byref(logical), self.engine, c_void_p(array.ctypes.data)).value

        given = (c_void_p * len(inputs))(*map(tensor, inputs, arrays))
        self.call("dnnl_graph_compiled_partition_execute", compiled, self.stream, c_size_t(len(inputs)), given,
                  c_size_t(1), (c_void_p * 1)(tensor(output, answer)))
        self.call("dnnl_stream_wait", self.stream)
