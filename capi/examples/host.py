"""A host of wgmax in Python: plans from the C library, executed with wgpu-py, numpy arrays in and out.

    cargo build --release -p wgmax-capi
    pip install numpy wgpu
    python capi/examples/host.py target/release/libwgmax_capi.so
"""

import ctypes
import json
import sys

import numpy as np
import wgpu

DTYPES = {
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # numpy has no bf16: it comes as bits


class Planner:
    """The C library: dictionaries in, dictionaries out, ValueError for what it refuses."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for function in (self.library.wgmax_plan, self.library.wgmax_signature):
            function.restype = ctypes.c_void_p  # c_char_p would lose the pointer that is to be freed
        self.library.wgmax_free.argtypes = [ctypes.c_void_p]
        self.library.wgmax_free.restype = None

    def plan(self, operation, limits=None):
        return self._call(self.library.wgmax_plan, operation, limits)

    def signature(self, operation):
        return self._call(self.library.wgmax_signature, operation)

    def _call(self, function, *given):
        texts = [None if own is None else json.dumps(own).encode() for own in given]
        error = ctypes.c_void_p()
        answer = self._taken(function(*texts, ctypes.byref(error)))
        if answer is None:
            raise ValueError(self._taken(error.value))
        return json.loads(answer)

    def _taken(self, pointer):
        if not pointer:
            return None
        text = ctypes.string_at(pointer).decode()
        self.library.wgmax_free(pointer)
        return text


def limits_of(device):
    """A device's limits, as the planner takes them."""
    limits, info = device.limits, device.adapter.info
    on_cpu = "lavapipe" if "llvmpipe" in info["device"] else "swiftshader"
    return {
        "adapter": on_cpu if info["adapter_type"] == "CPU" else "hardware",
        "max_binding_bytes": limits["max-storage-buffer-binding-size"],
        "binding_alignment_bytes": limits["min-storage-buffer-offset-alignment"],
        "max_storage_bindings": limits["max-storage-buffers-per-shader-stage"],
        "max_group_invocations": min(
            limits["max-compute-invocations-per-workgroup"], limits["max-compute-workgroup-size-x"]
        ),
        "max_group_memory_bytes": limits["max-compute-workgroup-storage-size"],
        "max_groups": limits["max-compute-workgroups-per-dimension"],
    }


class Host:
    """Executes plans on a device. A pipeline is made once for each shader key.

    An engine would keep more: the plan, its parameters and embedded words, and a bind group for each set of buffers.
    """

    def __init__(self, planner, device):
        self.planner, self.device = planner, device
        self.limits = limits_of(device)
        self.pipelines = {}

    def run(self, operation, *arrays, limits=None):
        """The operation's outputs. Each input is the buffer that its view lies in."""
        plan = self.planner.plan(operation, limits or self.limits)
        if plan["version"] != 1:
            raise ValueError(f"a plan of version {plan['version']}, 1 expected")
        slots = self.slots(plan, arrays)
        self.submit(plan, slots)
        outputs = self.planner.signature(operation)["outputs"]
        return [self.read(buffer, **output) for buffer, output in zip(slots["output"], outputs)]

    def slots(self, plan, arrays):
        """The buffers that bindings name, by kind and index."""
        if len(arrays) != len(plan["input_bytes"]):
            raise ValueError(f"{len(arrays)} inputs, {len(plan['input_bytes'])} expected")
        inputs = [np.ascontiguousarray(array).tobytes() for array in arrays]
        for n, (data, least) in enumerate(zip(inputs, self.needed(plan))):
            if len(data) + 3 < least:  # the last word may be half filled
                raise ValueError(f"input {n} has {len(data)} bytes, {least} expected")
        written = [inputs[plan["in_place"]] if plan["in_place"] is not None else b""]
        written += [b""] * len(plan["output_bytes"][1:])
        words = [np.array(own, "<u4").tobytes() for own in plan["embedded"]]
        return {
            "input": [self.buffer(data) for data in inputs],
            "output": [self.buffer(data, size) for data, size in zip(written, plan["output_bytes"])],
            "scratch": [self.buffer(b"", size) for size in plan["scratch_bytes"]],
            "embedded": [self.buffer(data) for data in words],
        }

    def needed(self, plan):
        """The bytes that each input must have.

        That of output 0, in place, is not bound, so the plan asks for none of its bytes: but it is all that the output
        holds to begin with.
        """
        needed = list(plan["input_bytes"])
        if plan["in_place"] is not None:
            needed[plan["in_place"]] = plan["output_bytes"][0]
        return needed

    def buffer(self, data, size=0, usage=wgpu.BufferUsage.STORAGE):
        """A buffer of so many bytes that begins with these; None where nothing is bound."""
        size = max(size, (len(data) + 3) // 4 * 4)
        usage |= wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        return self.device.create_buffer_with_data(data=data.ljust(size, b"\0"), usage=usage) if size else None

    def submit(self, plan, slots):
        encoder = self.device.create_command_encoder(label=plan["label"])
        compute = encoder.begin_compute_pass()
        for dispatch in plan["dispatches"]:
            layout, pipeline = self.pipeline(plan["shaders"][dispatch["shader"]], dispatch["bindings"])
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, self.bind_group(layout, dispatch, slots))
            compute.dispatch_workgroups(*dispatch["grid"])
        compute.end()
        self.device.queue.submit([encoder.finish()])

    def pipeline(self, shader, bindings):
        if shader["key"] not in self.pipelines:
            types = {"read": "read-only-storage", "read_write": "storage"}
            kinds = {0: "uniform"} | {own["binding"]: types[own["access"]] for own in bindings}
            entries = [
                {"binding": binding, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
                for binding, kind in kinds.items()
            ]
            layout = self.device.create_bind_group_layout(entries=entries)
            module = self.device.create_shader_module(label=shader["label"], code=shader["wgsl"])
            pipeline = self.device.create_compute_pipeline(
                label=shader["label"],
                layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={"module": module, "entry_point": shader["entry_point"], "constants": shader["overrides"]},
            )
            self.pipelines[shader["key"]] = layout, pipeline
        return self.pipelines[shader["key"]]

    def bind_group(self, layout, dispatch, slots):
        params = self.buffer(np.array(dispatch["params"], "<u4").tobytes(), usage=wgpu.BufferUsage.UNIFORM)
        entries = [{"binding": 0, "resource": {"buffer": params}}]
        for own in dispatch["bindings"]:
            buffer = slots[own["slot"]][own["index"]]
            resource = {"buffer": buffer, "offset": own["offset_bytes"], "size": own["bytes"]}
            entries.append({"binding": own["binding"], "resource": resource})
        return self.device.create_bind_group(layout=layout, entries=entries)

    def read(self, buffer, dtype, shape):
        """An output as an array. Reading waits for what was submitted before."""
        dtype = np.dtype(DTYPES[dtype])
        data = self.device.queue.read_buffer(buffer) if buffer else b""
        return np.frombuffer(data, dtype, count=int(np.prod(shape, dtype=np.int64))).reshape(shape)


def main():
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    host = Host(Planner(sys.argv[1]), adapter.request_device_sync())
    scores = np.array([[1, 7, 7], [np.nan, 5, 6]], np.float16)
    operation = {"ArgMax": {"dtype": "f16", "input": {"shape": scores.shape}, "axes": [-1]}}
    print(adapter.info["device"], json.dumps(host.limits))
    print(scores, "has its maxima at", *host.run(operation, scores))


if __name__ == "__main__":
    main()
