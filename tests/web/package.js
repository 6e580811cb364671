// What the matrix does not show of the npm package: recording, slots, errors, the engine example, the reference.
import assert from "node:assert/strict";
import { Kernels, argMax, hardmax, limitsOf, max, plan, reduceMax, signature, tensor } from "wgmax";
import { reference } from "wgmax/reference";
import { outcome, refuses } from "./misuse.js";
import { firstDifference } from "./routes.js";
import { nextTokens } from "./node_modules/wgmax/examples/engine.js";

const { STORAGE, COPY_SRC, COPY_DST } = { STORAGE: 0x80, COPY_SRC: 0x4, COPY_DST: 0x8 };

export async function packageTests(device, anotherDevice) {
  const kernels = await Kernels.create(device);
  const buffer = (size, usage = STORAGE | COPY_SRC | COPY_DST) => device.createBuffer({ size, usage });

  const tests = {
    async "the engine example finds the tokens"() {
      const [rows, vocabulary] = [3, 50_000];
      const logits = Float32Array.from({ length: rows * vocabulary }, (_, i) => -((i * 7919) % 104_729) / 1000 - 1);
      [123, 50_000 + 49_999, 100_000].forEach((at, row) => (logits[at] = row));
      const { values, tokens } = await nextTokens(device, logits, rows, vocabulary);
      assert.deepEqual([...values], [0, 1, 2]);
      assert.deepEqual([...tokens], [123, 49_999, 0]);
    },
    async "a calibration is taken where it was made"() {
      let steps = 0;
      const budget = 2000; // milliseconds: a sample or two
      const calibration = await kernels.calibrate({ budget, progress: (step) => (steps += step.budget / budget) });
      assert.deepEqual([calibration.complete, calibration.gains.length, kernels.limits.tuning], [false, 9, undefined]);
      assert.ok(steps >= 1 && steps % 1 === 0, `told ${steps} times`);
      const { platform, tuning } = calibration;
      const own = await Kernels.create(device);
      const wrong = [
        [{ ...calibration, kernels: "another" }, 'tune: calibration.kernels is "another", one of "'],
        [{ ...calibration, platform: { ...platform, adapter: "another" } }, 'tune: calibration.platform.adapter is "another"'],
        [{ ...calibration, version: 2 }, "tune: calibration.version is 2, 1 expected"],
        [{ ...calibration, tuning: { ...tuning, group: 3 } }, "the tuning's group is 3, a power of two up to 1024 expected"],
        [{ ...calibration, tuning: { ...tuning, group: undefined } }, "tune: calibration.tuning.group is undefined"],
        [undefined, "tune: calibration is undefined, a calibration expected"],
      ];
      for (const [given, message] of wrong) await refuses(() => own.tune(given), message);
      assert.equal(own.limits.tuning, undefined);
      const operation = argMax("f32", [3, 70_001], { axes: [1], index: "i32" });
      own.tune(JSON.parse(JSON.stringify({ ...calibration, tuning: { ...tuning, group: 32, max_team: 8 } })));
      assert.notDeepEqual(own.plan(operation).dispatches, kernels.plan(operation).dispatches);
      const data = Float32Array.from({ length: 3 * 70_001 }, (_, i) => (i * 7919) % 104_729);
      assert.deepEqual(reference(operation, [data]), await own.run(operation, [data]));
    },
    async "a calibration that the device refuses is an error, and leaves no buffer"() {
      const lost = (descriptor, made) => (made[0].destroy(), descriptor); // where the inputs lie
      const [input, scratch, output, grown] = [0, 2, 3, 4]; // the buffers, as the calibration makes them
      for (const [at, change] of [[input, tooLarge], [scratch, tooLarge], [output, tooLarge], [grown, tooLarge], [grown, lost]]) {
        const calibrating = () => refuses(() => kernels.calibrate({ budget: 2000 }), "the GPU refused: ");
        const { heard, left } = await spied(device, nth(at, "wgmax calibration", change), calibrating);
        assert.deepEqual([heard, left], [0, 0], `buffer ${at}: errors that others hear, buffers that are left`);
      }
      const { made, left } = await spied(device, (own) => own, () => kernels.calibrate({ budget: 2000 }));
      assert.ok(made > grown && left === 0, `${left} of ${made} buffers are left`);
    },
    async "a calibration on a device that is lost is an error"() {
      const own = await anotherDevice();
      const progress = () => own.destroy();
      await refuses(async () => (await Kernels.create(own)).calibrate({ budget: 60_000, progress }), "the device is lost: ");
    },
    "a tensor without elements takes nothing of its buffer, also of one that was given away"() {
      const away = new ArrayBuffer(8);
      structuredClone(away, { transfer: [away] });
      assert.deepEqual(tensor("f32", [2, 0], away), { dtype: "f32", shape: [2, 0], data: new Float32Array() });
      assert.throws(() => tensor("f32", [2], away), { message: "tensor: buffer has 0 bytes, 8 are needed" });
    },
    async "what cannot be prepared leaves no buffer"() {
      const operation = max("f32", [{ shape: [2 ** 25, 2], strides: [1, 2 ** 25] }], { constant: 1 });
      const { dispatches, label } = kernels.plan(operation);
      assert.ok(dispatches.length > 1);
      const usageOfNothing = (descriptor) => ({ ...descriptor, usage: 0 });
      for (const [at, change] of [[0, tooLarge], [1, tooLarge], [0, usageOfNothing], [1, usageOfNothing]]) {
        const { heard, left } = await spied(device, nth(at, label, change), () => refuses(() => kernels.prepare(operation), "the GPU refused: "));
        assert.deepEqual([heard, left], [0, 0], `buffer ${at}: errors that others hear, buffers that are left`);
      }
      const { made, left } = await spied(device, (own) => own, async () => (await kernels.prepare(operation)).destroy());
      assert.deepEqual([made, left], [2, 0]); // the parameters of all dispatches, and the constant
    },
    async "scratch that the device refuses is not kept for the next"() {
      const input = buffer(4 << 20);
      device.queue.writeBuffer(input, 4444, Float32Array.of(7));
      const output = buffer(256);
      const prepared = await kernels.prepare(reduceMax("f32", [1 << 20]));
      const bound = () => prepared.bind({ inputs: [input], outputs: [output] });
      const { heard, left } = await spied(device, nth(0, "wgmax scratch", tooLarge), async () => {
        bound();
        await device.queue.onSubmittedWorkDone();
        await new Promise((later) => setTimeout(later, 100)); // errors come when they come
      });
      assert.ok(heard > 0 && left === 0, `${heard} errors, ${left} buffers`);
      const after = await spied(device, (own) => own, async () => {
        const encoder = device.createCommandEncoder();
        [bound(), bound()].forEach((own) => own.record(encoder));
        device.queue.submit([encoder.finish()]);
        assert.equal(new Float32Array((await bytes(device, output)).buffer)[0], 7);
        prepared.destroy();
      });
      assert.equal(after.heard, 0);
    },
    async "what WebGPU would say late is said at once"() {
      const prepared = await kernels.prepare(reduceMax("f32", [1 << 20]));
      const [input, output, scratch] = [buffer(4 << 20), buffer(512), buffer(1 << 16)];
      const good = { inputs: [input], outputs: [output], scratch: [scratch] };
      prepared.bind(good);
      prepared.bind({ ...good, scratch: undefined });
      const wrong = [
        [{ ...good, inputs: [] }, "0 inputs given, 1 expected"],
        [{ ...good, outputs: [output, output] }, "2 outputs given, 1 expected"],
        [{ ...good, scratch: [] }, "0 scratch buffers given, 1 expected"],
        [{ ...good, inputs: [buffer(64)] }, `input 0 has 64 bytes, ${4 << 20} are needed`],
        [{ ...good, outputs: [{ buffer: output, offset: 4 }] }, "output 0 starts at byte 4 of its buffer, a multiple of 256 is needed"],
        [{ ...good, outputs: [buffer(256, COPY_SRC)] }, "output 0 is a buffer without the usage STORAGE"],
        [{ ...good, outputs: [input] }, "output 0 overlaps input 0"],
        [{ ...good, scratch: [output] }, "output 0 overlaps scratch 0"],
        [{ ...good, outputs: [{ buffer: scratch, offset: 1 << 15 }], scratch: [scratch] }, "lies in the buffer of"],
      ];
      for (const [slots, message] of wrong) await refuses(() => prepared.bind(slots), message);
    },
    async "bad operations are refused with the library's message"() {
      const wrong = [
        [reduceMax("f32", [2, 3], { axes: [5] }), "axis 5 is out of range for rank 2: expected -2 to 1"],
        [reduceMax("f32", [2, 3], { axes: [0, -2] }), "axes [0, -2] name dimension 0 twice"],
        [argMax("f32", [0, 3], { axes: [0] }), "ArgMax over no elements is undefined"],
        [hardmax("f32", [], { along: 0 }), "Hardmax goes along an axis"],
        [max("u8", [[3], [3]], { inPlace: 2 }), "input 2"],
        [max("f32", [[2, 3], [4]]), "does not broadcast"],
        [reduceMax("f32", { shape: [2], strides: [-1] }), "leaves the range of elements"],
        [reduceMax("f32", [1e13]), "dispatches of a plan"],
      ];
      for (const [operation, message] of wrong) await refuses(() => kernels.plan(operation), message);
    },
    async "a shader that the device refuses is an error, and not kept"() {
      const broken = kernels.plan(reduceMax("f32", [2]));
      broken.shaders[0] = { ...broken.shaders[0], key: "broken", wgsl: "no shader" };
      for (const _ of [1, 2]) await refuses(() => kernels.prepare(broken), "the GPU refused: ");
      assert.ok(!(await uncaptured(device, () => kernels.prepare(broken))));
    },
    async "pipelines are shared, whatever the shapes"() {
      const own = await Kernels.create(device);
      for (const rows of [10, 20, 30]) await own.prepare(reduceMax("u8", [rows, 64], { axes: [1] }));
      assert.equal(own.pipelineCount, 1);
    },
    async "what is recorded twice, in an encoder and in a pass, is the same"() {
      const input = buffer(1024);
      device.queue.writeBuffer(input, 0, Uint32Array.from({ length: 256 }, (_, i) => (i * 97) % 251));
      const outputs = [buffer(256), buffer(256)];
      const prepared = await kernels.prepare(argMax("u32", [4, 64], { axes: [1] }));
      const encoder = device.createCommandEncoder();
      prepared.bind({ inputs: [input], outputs: [outputs[0]] }).record(encoder);
      const pass = encoder.beginComputePass();
      prepared.bind({ inputs: [input], outputs: [outputs[1]] }).record(pass);
      pass.end();
      device.queue.submit([encoder.finish()]);
      const read = async (from) => (await kernels.run(max("u32", [[64]]), [await bytes(device, from)]))[0].data;
      const [first, second] = [await read(outputs[0]), await read(outputs[1])];
      assert.deepEqual(first, second);
      assert.ok(first.some((index) => index > 0));
    },
    async "an empty tensor is answered with nothing dispatched"() {
      const [empty] = await kernels.run(hardmax("f16", [0, 5], { along: 1 }), [new Uint16Array(0)]);
      assert.deepEqual([empty.shape, empty.data.length], [[0, 5], 0]);
    },
    async "an input may be written over"() {
      const inputs = [new Int8Array([1, -2, 3]), new Int8Array([0, 5, -6])];
      const [answer] = await kernels.run(max("i8", [[3], [3]], { inPlace: 0 }), inputs);
      assert.deepEqual(answer.data, new Int8Array([1, 5, 3]));
    },
    async "every type comes in its own array"() {
      const arrays = {
        f32: Float32Array, f16: Uint16Array, bf16: Uint16Array, f64: Float64Array, i8: Int8Array, i16: Int16Array,
        i32: Int32Array, i64: BigInt64Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
        bool: Uint8Array,
      };
      for (const [dtype, array] of Object.entries(arrays)) {
        const [answer] = await kernels.run(reduceMax(dtype, [3]), [new array(3)]);
        assert.ok(answer.data instanceof array && answer.data.length === 1, dtype);
      }
    },
    async "the reference answers as the device does"() {
      const operation = argMax("f32", [2, 3], { axes: [1], output: "values_and_indices" });
      const input = new Float32Array([1, NaN, 3, -0, 0, -1]);
      assert.deepEqual(reference(operation, [input]), await kernels.run(operation, [input]));
      await refuses(() => reference(operation, []), "0 inputs given, 1 expected");
    },
    async "a planted wrong bit is reported"() {
      const right = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
      assert.equal(firstDifference([right], [{ data: new Float64Array(right.buffer) }]), undefined);
      for (let bit = 0; bit < 64; bit++) {
        const wrong = right.slice();
        wrong[bit >> 3] ^= 1 << (bit & 7);
        assert.ok(firstDifference([right, right], [{ data: right }, { data: wrong }]).startsWith(`output 1, byte ${bit >> 3}: got `));
      }
      assert.ok(firstDifference([right], [{ data: right.slice(1) }]).includes("8 expected"));
      assert.ok(firstDifference([right], []).includes("1 expected"));
    },
    async "plans and types need no device"() {
      const operation = reduceMax("bf16", [4, 5], { axes: [0], keepDims: true });
      assert.deepEqual(signature(operation), { inputs: [{ dtype: "bf16", elements: 20, bytes: 40 }], outputs: [{ dtype: "bf16", shape: [1, 5] }] });
      assert.equal(plan(operation, limitsOf(device)).version, 1);
    },
  };
  return outcome(tests);
}

async function bytes(device, from) {
  const readBack = device.createBuffer({ size: from.size, usage: 0x1 | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(from, 0, readBack, 0, from.size);
  device.queue.submit([encoder.finish()]);
  await readBack.mapAsync(0x1);
  return new Uint8Array(readBack.getMappedRange().slice(0));
}

/** Whether something that fails leaves an error for the device's own listeners. */
async function uncaptured(device, run) {
  return (await spied(device, (own) => own, () => run().catch(() => {}))).heard > 0;
}

/**
 * Runs with a device that makes the buffers that `change` says, told what is asked for and what was made before: how many
 * were made, how many are left, and how many errors the device's own listeners heard.
 */
async function spied(device, change, run) {
  const { createBuffer } = device;
  const made = [];
  const left = new Set();
  let heard = 0;
  const listener = () => heard++;
  device.addEventListener("uncapturederror", listener);
  device.createBuffer = (descriptor) => {
    const own = createBuffer.call(device, change(descriptor, made));
    const { destroy } = own;
    own.destroy = () => (left.delete(own), destroy.call(own));
    made.push(own);
    left.add(own);
    return own;
  };
  try {
    await run();
  } finally {
    delete device.createBuffer;
    device.removeEventListener("uncapturederror", listener);
  }
  return { made: made.length, left: left.size, heard };
}

/** Another buffer in place of the one of this label that comes after so many. */
function nth(at, label, change) {
  return (descriptor, made) =>
    descriptor.label === label && made.filter((own) => own.label === label).length === at ? change(descriptor, made) : descriptor;
}

/** More than any device has. */
const tooLarge = (descriptor) => ({ ...descriptor, size: 2 ** 46 });
