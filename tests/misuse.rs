//! Wrong input: an error value that says what was given and what was expected; nothing recorded, no buffer touched, no
//! panic.

mod common;

use common::{USAGES, check_against, encoder, filled_buffer, gpus, read_buffer, submit};
use wgmax::plan::{Override, Slot};
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Error, Gpu, GpuOptions, Hardmax, IndexType, Kernels,
    Limits, Max, Operation, Parts, Prepared, ReduceMax, Slices, Slots, Tensor, View, wgpu,
};

fn view(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}

/// The error of an operation: the same whether its outputs are asked for, a plan or an answer.
fn error_of(op: &impl Operation, inputs: &[&Tensor]) -> Error {
    let error = op.outputs().unwrap_err();
    assert_eq!(op.plan(&Limits::default()).unwrap_err(), error);
    assert_eq!(op.plan(&Limits { adapter: AdapterKind::SwiftShader, ..Limits::default() }).unwrap_err(), error);
    assert_eq!(op.reference(inputs).unwrap_err(), error);
    error
}

fn zeros(len: u64) -> Tensor {
    Tensor::new([len], &vec![0.0_f32; len as usize]).unwrap()
}

// Operations.

#[test]
fn axis_out_of_range() {
    let input = zeros(24);
    for (axis, message) in [
        (3, "axis 3 is out of range for rank 3: expected -3 to 2"),
        (-4, "axis -4 is out of range for rank 3: expected -3 to 2"),
        (i64::MAX, "axis 9223372036854775807 is out of range for rank 3: expected -3 to 2"),
        (i64::MIN, "axis -9223372036854775808 is out of range for rank 3: expected -3 to 2"),
    ] {
        for error in [
            error_of(&ReduceMax::new(DType::F32, view(&[2, 3, 4])).axes([0, axis]), &[&input]),
            error_of(&ArgMax::new(DType::F32, view(&[2, 3, 4])).axes([axis]), &[&input]),
        ] {
            assert_eq!(error, Error::AxisOutOfRange { axis, rank: 3, expected: -3..=2 });
            assert_eq!(error.to_string(), message);
        }
    }
}

#[test]
fn repeated_axis() {
    let input = zeros(24);
    for (axes, dimension, message) in [
        (vec![1, 1], 1, "axes [1, 1] name dimension 1 twice"),
        (vec![2, 0, -3], 0, "axes [2, 0, -3] name dimension 0 twice"),
    ] {
        for error in [
            error_of(&ReduceMax::new(DType::F32, view(&[2, 3, 4])).axes(axes.clone()), &[&input]),
            error_of(&ArgMax::new(DType::F32, view(&[2, 3, 4])).axes(axes.clone()), &[&input]),
        ] {
            assert_eq!(error, Error::RepeatedAxis { axes: axes.clone(), dimension });
            assert_eq!(error.to_string(), message);
        }
    }
}

#[test]
fn rank_0() {
    let input = zeros(1);
    for axes in [Axes::All, Axes::List(vec![]), Axes::List(vec![0])] {
        let error = error_of(&ArgMax::new(DType::F32, view(&[])).axes(axes), &[&input]);
        assert_eq!(error, Error::NoAxis { operator: "ArgMax" });
        assert_eq!(error.to_string(), "ArgMax goes along an axis, and a tensor of rank 0 has none");
    }
    let scalar = ReduceMax::new(DType::F32, view(&[]));
    assert_eq!(error_of(&scalar.clone().axes([0]), &[&input]), Error::NoAxis { operator: "ReduceMax" });
    let answer = scalar.reference(&[&Tensor::new([], &[5.0_f32]).unwrap()]).unwrap();
    assert_eq!(answer, [Tensor::new([], &[5.0_f32]).unwrap()]);
}

#[test]
fn hardmax_axes() {
    let input = zeros(6);
    for slices in [Slices::Along(2), Slices::From(-3), Slices::From(3)] {
        let error = error_of(&Hardmax::new(DType::F32, view(&[2, 3]), slices), &[&input]);
        let last = if matches!(slices, Slices::From(_)) { 2 } else { 1 }; // the rank itself, too
        assert!(error.to_string().ends_with(&format!("for rank 2: expected -2 to {last}")), "{slices:?}: {error}");
    }
    for slices in [Slices::Along(0), Slices::From(0)] {
        let error = error_of(&Hardmax::new(DType::F32, view(&[]), slices), &[&input]);
        assert_eq!(error.to_string(), "Hardmax goes along an axis, and a tensor of rank 0 has none");
    }
}

#[test]
fn max_of_shapes_that_do_not_broadcast() {
    let input = zeros(60);
    let op = Max::new(DType::F32, [view(&[5, 1]), view(&[4, 5, 3]), view(&[4, 2, 3])]);
    let error = error_of(&op, &[&input, &input, &input]);
    let (shape, common) = (vec![4, 2, 3], vec![4, 5, 3]);
    assert_eq!(error, Error::ShapesDoNotBroadcast { input: 2, shape, common, dimension: 1 });
    assert_eq!(
        error.to_string(),
        "shape [4, 2, 3] of input 2 does not broadcast with [4, 5, 3] of those before it: dimension 1 of the result"
    );
}

#[test]
fn max_of_nothing_of_mixed_types_and_in_a_wrong_place() {
    let input = zeros(6);
    assert_eq!(
        error_of(&Max::new(DType::F32, [] as [View; 0]), &[]).to_string(),
        "0 inputs given, at least 1 expected"
    );
    let mixed = Max::new(DType::F32, [view(&[6])]).constant(Tensor::new([], &[1_i32]).unwrap());
    let error = error_of(&mixed, &[&input]);
    let tensor = "the constant".into();
    assert_eq!(error, Error::TypeMismatch { tensor, given: DType::I32, expected: DType::F32 });
    assert_eq!(error.to_string(), "the constant has type i32, f32 expected");
    let integers = Tensor::new([6], &[1_i32; 6]).unwrap();
    let op = Max::new(DType::F32, [view(&[6]), view(&[6])]);
    let error = gpus()[0].run_blocking(&op, &[&input, &integers]).unwrap_err();
    assert_eq!(error.to_string(), "input 1 has type i32, f32 expected");
    for (in_place, reason) in [
        (0, "its shape is [3], the output's [2, 3]"),
        (1, "it is not contiguous from element 0: strides [3, -1], offset 2"),
        (2, "the operation has 2 input(s), numbered from 0"),
    ] {
        let reversed = view(&[2, 3]).reverse(1).unwrap();
        let error = error_of(&Max::new(DType::F32, [view(&[3]), reversed]).in_place(in_place), &[&input, &input]);
        assert_eq!(error.to_string(), format!("input {in_place} cannot be written in place: {reason}"));
    }
}

/// What a plan gives has the plan's bytes, also where it was written over a longer input.
#[test]
fn an_output_over_a_longer_input_is_as_long_as_planned() {
    let plan = Max::new(DType::F32, [view(&[2])]).in_place(0).plan(&Limits::default()).unwrap();
    let error = pollster::block_on(gpus()[0].run_plan(&plan, &[&[7; 4]])).unwrap_err();
    assert_eq!(error.to_string(), "input 0 of Max f32 of 1 to [2] has 4 bytes, 8 are needed");
    let outputs = pollster::block_on(gpus()[0].run_plan(&plan, &[&[7; 16]])).unwrap();
    assert_eq!((outputs, plan.output_bytes), (vec![vec![7; 8]], vec![8]));
}

/// The output over an input, without asking for it by name.
#[test]
fn max_over_an_input_without_asking() {
    let gpu = &gpus()[1];
    let buffer = filled_buffer(gpu, &[0x3f; 4096], USAGES);
    let op = Max::new(DType::F32, [view(&[64]), view(&[64])]);
    let prepare = |op: &Max| gpu.kernels().prepare_blocking(&op.plan(gpu.kernels().limits()).unwrap()).unwrap();
    let (first, second) = (buffer.slice(..256), buffer.slice(1024..1280));
    let slots = Slots { inputs: &[first, second], outputs: &[first], scratch: &[] };
    let error = prepare(&op).bind(&slots).unwrap_err();
    assert_eq!(
        error.to_string(),
        "output 0 of Max f32 of 2 to [64] overlaps input 0, bytes 0 to 256 and 0 to 256 of one buffer"
    );
    let slots = Slots { inputs: &[first, second], outputs: &[buffer.slice(2048..)], scratch: &[] };
    let error = prepare(&op).bind(&slots).unwrap_err();
    let message = "output 0 of Max f32 of 2 to [64] is written, and lies in the buffer of input 0: plan with Limits::shared_buffers, or use two";
    assert_eq!(error.to_string(), message);
    // Asked for, it is right; the other input still has to lie elsewhere.
    let other = filled_buffer(gpu, &[0x40; 256], USAGES);
    let op = op.in_place(0);
    let slots = Slots { inputs: &[first, other.slice(..)], outputs: &[first], scratch: &[] };
    let mut encoder = encoder(gpu);
    prepare(&op).record(&mut encoder, &slots).unwrap();
    submit(gpu, encoder);
    assert_eq!(read_buffer(gpu, &buffer)[..260], [vec![0x40; 256], vec![0x3f; 4]].concat());
}

#[test]
fn empty_reduction() {
    let input = zeros(0);
    let error = error_of(&ArgMax::new(DType::F32, view(&[2, 0, 3])).axes([1]), &[&input]);
    let (shape, reduced) = (vec![2, 0, 3], vec![1]);
    assert_eq!(error, Error::EmptyReduction { operator: "ArgMax", shape: shape.clone(), reduced: reduced.clone() });
    assert_eq!(error.to_string(), "ArgMax over no elements is undefined: shape [2, 0, 3], reduced dimensions [1]");
    let reduce = ReduceMax::new(DType::F32, view(&[2, 0, 3])).axes([1]);
    let error = error_of(&reduce.clone().empty(EmptyMax::Error), &[&input]);
    assert_eq!(error, Error::EmptyReduction { operator: "ReduceMax", shape, reduced });
    assert!(reduce.outputs().is_ok());
    // No outputs: nothing is undefined.
    for shape in [[2, 0, 0], [0, 0, 3]] {
        assert!(ArgMax::new(DType::F32, view(&shape)).axes([1]).plan(&Limits::default()).is_ok());
        let reduce = ReduceMax::new(DType::F32, view(&shape)).axes([1]).empty(EmptyMax::Error);
        assert!(reduce.plan(&Limits::default()).is_ok());
    }
}

#[test]
fn index_type_too_small() {
    let input = zeros(1);
    let repeated = |len: u64| View::strided([len], [0], 0).unwrap();
    for (index, limit, what) in [
        (IndexType::I32, u64::from(u32::MAX / 2), "the last position, as an i32 index (i64 holds it)"),
        (IndexType::U32, u32::MAX.into(), "the last position, as a u32 index (i64 holds it)"),
    ] {
        let op = |len| ArgMax::new(DType::F32, repeated(len)).index(index);
        assert_eq!(error_of(&op(limit + 2), &[&input]), Error::TooLarge { what, given: limit + 1, limit });
        assert!(op(limit + 1).outputs().is_ok());
        assert!(ArgMax::new(DType::F32, repeated(limit + 2)).outputs().is_ok());
    }
    let error = ArgMax::new(DType::F32, repeated(1 << 32)).index(IndexType::I32).outputs().unwrap_err();
    let message = "the last position, as an i32 index (i64 holds it): 4294967295 given, at most 2147483647 possible";
    assert_eq!(error.to_string(), message);
}

#[test]
fn tensors_of_another_number_type_or_size() {
    let op = ReduceMax::new(DType::F32, view(&[2, 3]));
    let expect = |inputs: &[&Tensor], expected: Error, message: &str| {
        assert_eq!(op.reference(inputs).unwrap_err(), expected);
        assert_eq!(expected.to_string(), message);
    };
    let (right, short) = (zeros(6), zeros(5));
    let half = Tensor::from_bytes(DType::F16, [12], vec![0; 24]).unwrap();
    expect(&[], Error::WrongCount { what: "inputs", given: 0, expected: 1 }, "0 inputs given, 1 expected");
    expect(
        &[&right, &right],
        Error::WrongCount { what: "inputs", given: 2, expected: 1 },
        "2 inputs given, 1 expected",
    );
    expect(
        &[&half],
        Error::TypeMismatch { tensor: "input 0".into(), given: DType::F16, expected: DType::F32 },
        "input 0 has type f16, f32 expected",
    );
    expect(
        &[&short],
        Error::BindingTooSmall { slot: "input 0".into(), given: 20, needed: 24 },
        "input 0 has 20 bytes, 24 are needed",
    );
    // What whole words would have room for, but the tensor has not.
    let bytes = Tensor::from_bytes(DType::U8, [5], vec![0; 5]).unwrap();
    let error = ReduceMax::new(DType::U8, view(&[6])).reference(&[&bytes]).unwrap_err();
    assert_eq!(error, Error::BindingTooSmall { slot: "input 0".into(), given: 5, needed: 6 });
    for gpu in gpus() {
        for inputs in [&[][..], &[&right, &right], &[&half], &[&short]] {
            assert_eq!(gpu.run_blocking(&op, inputs).unwrap_err(), op.reference(inputs).unwrap_err());
        }
        assert!(gpu.run_blocking(&op, &[&right]).is_ok());
        let plan = op.plan(gpu.kernels().limits()).unwrap();
        let run = |inputs: &[&[u8]]| pollster::block_on(gpu.run_plan(&plan, inputs)).unwrap_err();
        assert_eq!(run(&[]), Error::WrongCount { what: "inputs", given: 0, expected: 1 });
        let slot = "input 0 of ReduceMax f32 [2, 3] over [0, 1]".into();
        assert_eq!(run(&[&[0; 20]]), Error::BindingTooSmall { slot, given: 20, needed: 24 });
    }
}

#[test]
fn tensor_bytes() {
    let error = Tensor::new([2, 2], &[1.0_f32; 3]).unwrap_err();
    assert_eq!(error, Error::TensorBytes { shape: vec![2, 2], dtype: DType::F32, given: 12, expected: 16 });
    assert_eq!(error.to_string(), "a tensor of shape [2, 2] and type f32 has 12 bytes, 16 expected");
    let error = Tensor::from_bytes(DType::F16, [], vec![0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "a tensor of shape [] and type f16 has 3 bytes, 2 expected");
    let error = Tensor::from_bytes(DType::U8, [1 << 40, 1 << 40], vec![]).unwrap_err();
    let shape = vec![1 << 40, 1 << 40];
    assert_eq!(error, Error::TensorBytes { shape, dtype: DType::U8, given: 0, expected: u64::MAX });
    let error = zeros(2).to_vec::<i32>().unwrap_err();
    assert_eq!(error.to_string(), "the tensor has type f32, i32 expected");
}

// Views.

#[test]
fn views_out_of_range() {
    let error = View::strided([2, 3], [1], 0).unwrap_err();
    assert_eq!(error, Error::StrideCount { shape: 2, strides: 1 });
    assert_eq!(error.to_string(), "2 dimensions but 1 strides");
    let error = View::strided([3], [-2], 3).unwrap_err();
    assert_eq!(error, Error::ViewOutOfRange { shape: vec![3], strides: vec![-2], offset: 3 });
    assert_eq!(
        error.to_string(),
        "a view of shape [3], strides [-2] and offset 3 leaves the range of elements 0 to 2^63 - 1, or has more of them"
    );
    assert!(View::strided([3], [-2], 4).is_ok());
    let out_of_range =
        |view: Result<View, Error>| assert!(matches!(view, Err(Error::ViewOutOfRange { .. })), "{view:?}");
    out_of_range(View::new([1 << 32, 1 << 31]));
    out_of_range(View::new([u64::MAX]));
    out_of_range(View::strided([1], [1], u64::MAX));
    out_of_range(View::strided([3], [i64::MAX], 0));
    out_of_range(View::strided([2], [i64::MIN], 0));
    out_of_range(View::strided([1 << 40, 1 << 40], [0, 0], 0));
    let wide = View::strided([1], [1], i64::MAX as u64).unwrap();
    let error = wide.buffer_bytes(DType::F64).unwrap_err();
    let (given, limit) = (1 << 63, (u64::MAX - 3) / 8);
    assert_eq!(error, Error::TooLarge { what: "elements that a view spans", given, limit });
}

#[test]
fn changes_that_do_not_fit_a_view() {
    let own = view(&[2, 6]);
    let expect = |changed: Result<View, Error>, change: &str, message: &str| {
        let error = changed.unwrap_err();
        assert_eq!(error, Error::ViewChange { change: change.into(), shape: vec![2, 6] });
        assert_eq!(error.to_string(), message);
    };
    expect(own.permute(&[0]), "permute by [0]", "cannot permute by [0] a view of shape [2, 6]");
    expect(own.permute(&[0, 0]), "permute by [0, 0]", "cannot permute by [0, 0] a view of shape [2, 6]");
    expect(own.permute(&[1, 2]), "permute by [1, 2]", "cannot permute by [1, 2] a view of shape [2, 6]");
    for (axis, begin, len, step) in
        [(1, 3, 4, 1), (1, 0, 4, 2), (1, 7, 0, 1), (1, 0, 2, 0), (2, 0, 1, 1), (1, u64::MAX, 2, 1), (1, 1, 2, u64::MAX)]
    {
        let change = format!("take {len} elements from {begin} on, {step} apart, along axis {axis} of");
        let message = format!("cannot {change} a view of shape [2, 6]");
        expect(own.slice(axis, begin, len, step), &change, &message);
    }
    expect(own.reverse(2), "reverse axis 2 of", "cannot reverse axis 2 of a view of shape [2, 6]");
    for shape in [&[6][..], &[2, 5], &[2, 6, 1], &[3, 6], &[1 << 60, 2, 6]] {
        let change = format!("broadcast to {shape:?}");
        expect(own.broadcast(shape), &change, &format!("cannot {change} a view of shape [2, 6]"));
    }
    for (axis, sizes) in [(1, &[4, 2][..]), (1, &[]), (2, &[1]), (1, &[1 << 63, 1 << 63])] {
        let change = format!("split axis {axis} into {sizes:?} of");
        expect(own.split(axis, sizes), &change, &format!("cannot {change} a view of shape [2, 6]"));
    }
}

// Devices.

#[test]
fn no_adapter_of_that_name() {
    let there = gpus()[0].info().name.clone();
    let options = GpuOptions { adapter: Some("no such adapter".into()), ..Default::default() };
    let error = Gpu::new_blocking(&options).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("no GPU adapter named like \"no such adapter\"; found: "), "{message}");
    assert!(message.contains(&there), "{message}");
    // Part of the name does, in any case.
    let options = GpuOptions { adapter: Some(there[..there.len() / 2].to_uppercase()), ..Default::default() };
    assert_eq!(Gpu::new_blocking(&options).unwrap().info().name, there);
}

/// What a prepared plan is given, one thing wrong at a time.
struct Bench<'a> {
    gpu: &'a Gpu,
    prepared: Prepared,
    alignment: u64,
}

const GARBAGE: u8 = 0xa5;

impl Bench<'_> {
    /// A split ArgMax: one input, two outputs, one scratch.
    fn new(gpu: &Gpu) -> Bench<'_> {
        let op = ArgMax::new(DType::F32, view(&[2, 40_000])).axes([1]).output(ArgMaxOutput::ValuesAndIndices);
        let limits = gpu.kernels().limits().clone();
        let alignment = limits.binding_alignment_bytes;
        let plan = op.plan(&Limits { adapter: AdapterKind::Hardware, ..limits }).unwrap();
        assert_eq!((plan.dispatches.len(), plan.output_bytes.clone()), (2, vec![8, 16]));
        Bench { gpu, prepared: gpu.kernels().prepare_blocking(&plan).unwrap(), alignment }
    }

    fn buffer(&self, bytes: u64) -> wgpu::Buffer {
        filled_buffer(self.gpu, &vec![GARBAGE; bytes as usize], USAGES)
    }

    /// The error of these slots; the encoder still works, and nothing has been written.
    fn refuse(&self, slots: &Slots<'_>, expected: Error, message: &str) {
        let mut recorded = encoder(self.gpu);
        assert_eq!(self.prepared.record(&mut recorded, slots).unwrap_err(), expected);
        assert_eq!(self.prepared.bind(slots).unwrap_err(), expected);
        assert_eq!(expected.to_string(), message);
        let mark = self.buffer(256);
        recorded.clear_buffer(&mark, 0, None);
        submit(self.gpu, recorded);
        assert_eq!(read_buffer(self.gpu, &mark), [0; 256], "the encoder was spoilt");
        for slice in slots.inputs.iter().chain(slots.outputs).chain(slots.scratch) {
            if slice.buffer().usage().contains(wgpu::BufferUsages::COPY_SRC) {
                assert!(read_buffer(self.gpu, slice.buffer()).iter().all(|&byte| byte == GARBAGE), "{message}");
            }
        }
    }
}

#[test]
fn bindings_that_do_not_fit() {
    for gpu in gpus() {
        let bench = Bench::new(gpu);
        let scratch_bytes = bench.prepared.plan().scratch_bytes[0];
        let (input, output, more) = (bench.buffer(320_000), bench.buffer(4096), bench.buffer(4096));
        let (scratch, large) = (bench.buffer(scratch_bytes), bench.buffer(1 << 20));
        let inputs = [input.slice(..)];
        let outputs = [output.slice(..), more.slice(..)];
        let all = Slots { inputs: &inputs, outputs: &outputs, scratch: &[scratch.slice(..)] };
        let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);

        // Counts.
        let count = |what, given, expected| Error::WrongCount { what, given, expected };
        bench.refuse(&Slots { inputs: &[], ..all }, count("inputs", 0, 1), "0 inputs given, 1 expected");
        let two = [input.slice(..), input.slice(..)];
        bench.refuse(&Slots { inputs: &two, ..all }, count("inputs", 2, 1), "2 inputs given, 1 expected");
        let one = &outputs[..1];
        bench.refuse(&Slots { outputs: one, ..all }, count("outputs", 1, 2), "1 outputs given, 2 expected");
        let message = "0 scratch buffers given, 1 expected";
        bench.refuse(&Slots { scratch: &[], ..all }, count("scratch buffers", 0, 1), message);
        let three = [scratch.slice(..), large.slice(..), large.slice(..)];
        let message = "3 scratch buffers given, 2 expected";
        bench.refuse(&Slots { scratch: &three, ..all }, count("scratch buffers", 3, 2), message);

        // Sizes.
        let of = |slot: &str| format!("{slot} of ArgMax f32 [2, 40000] over [1]");
        let small = |slot: &str, given, needed| Error::BindingTooSmall { slot: of(slot), given, needed };
        let cut = [input.slice(..319_996)];
        let message = "input 0 of ArgMax f32 [2, 40000] over [1] has 319996 bytes, 320000 are needed";
        bench.refuse(&Slots { inputs: &cut, ..all }, small("input 0", 319_996, 320_000), message);
        let cut = [output.slice(..), more.slice(4084..)];
        let message = "output 1 of ArgMax f32 [2, 40000] over [1] has 12 bytes, 16 are needed";
        bench.refuse(&Slots { outputs: &cut, ..all }, small("output 1", 12, 16), message);
        let cut = [scratch.slice(..scratch_bytes - 4)];
        let error = small("scratch 0", scratch_bytes - 4, scratch_bytes);
        let message = format!("{} has {} bytes, {scratch_bytes} are needed", of("scratch 0"), scratch_bytes - 4);
        bench.refuse(&Slots { scratch: &cut, ..all }, error, &message);

        // Alignment.
        let offset = bench.alignment / 2;
        let skewed = [output.slice(..), more.slice(offset..)];
        let error = Error::BindingMisaligned { slot: of("output 1"), offset, alignment: bench.alignment };
        let message = format!(
            "output 1 of ArgMax f32 [2, 40000] over [1] starts at byte {offset} of its buffer, a multiple of {} is needed (a view's offset, in elements, may be anything)",
            bench.alignment
        );
        bench.refuse(&Slots { outputs: &skewed, ..all }, error, &message);

        // Usages.
        let unusable = filled_buffer(gpu, &[GARBAGE; 320_000], USAGES.difference(wgpu::BufferUsages::STORAGE));
        for (slots, slot) in [
            (Slots { inputs: &[unusable.slice(..)], ..all }, "input 0"),
            (Slots { outputs: &[output.slice(..), unusable.slice(..)], ..all }, "output 1"),
            (Slots { scratch: &[unusable.slice(..)], ..all }, "scratch 0"),
        ] {
            let given = "COPY_SRC | COPY_DST".to_string();
            let message = format!("{} is a buffer without the usage STORAGE: it has {given}", of(slot));
            bench.refuse(&slots, Error::BindingUsage { slot: of(slot), given }, &message);
        }

        // Overlap.
        let needed = |slot: &str| match slot {
            "input 0" => 320_000,
            "output 0" => 8,
            "output 1" => 16,
            _ => scratch_bytes,
        };
        let refuse_overlap = |slots: Slots<'_>, written: &str, other: &str| {
            let ranges = [0..needed(written), 0..needed(other)];
            let bytes = ranges.clone().map(|range| format!("{} to {}", range.start, range.end)).join(" and ");
            let message = format!("{} overlaps {other}, bytes {bytes} of one buffer", of(written));
            bench.refuse(&slots, Error::BindingOverlap { written: of(written), other: other.into(), ranges }, &message);
        };
        refuse_overlap(Slots { outputs: &[output.slice(..), output.slice(..)], ..all }, "output 0", "output 1");
        refuse_overlap(Slots { outputs: &[output.slice(..), input.slice(..)], ..all }, "output 1", "input 0");
        refuse_overlap(
            Slots { inputs: &[large.slice(..)], scratch: &[large.slice(..)], ..all },
            "scratch 0",
            "input 0",
        );
        refuse_overlap(
            Slots { outputs: &[large.slice(..), more.slice(..)], scratch: &[large.slice(..)], ..all },
            "output 0",
            "scratch 0",
        );

        // One buffer read and written, though at other places, and whether or not by one dispatch.
        let apart = 512 << 10;
        for (slots, written, read) in [
            (
                Slots { inputs: &[large.slice(..apart)], scratch: &[large.slice(apart..)], ..all },
                "scratch 0",
                "input 0",
            ),
            (
                Slots { outputs: &[output.slice(..), large.slice(..apart)], scratch: &[large.slice(apart..)], ..all },
                "output 1",
                "scratch 0",
            ),
            (
                Slots { inputs: &[large.slice(..apart)], outputs: &[output.slice(..), large.slice(apart..)], ..all },
                "output 1",
                "input 0",
            ),
        ] {
            let error = Error::BindingSharesBuffer { written: of(written), read: read.into() };
            let written = of(written);
            let message = format!(
                "{written} is written, and lies in the buffer of {read}: plan with Limits::shared_buffers, or use two"
            );
            bench.refuse(&slots, error, &message);
        }

        // And what fits is taken: outputs side by side.
        let neighbours = [large.slice(512 << 10..), large.slice((512 << 10) + 256..)];
        bench.prepared.record(&mut encoder(gpu), &Slots { outputs: &neighbours, ..all }).unwrap();
        assert_eq!(pollster::block_on(scope.pop()).map(|error| error.to_string()), None);
    }
}

/// Where one buffer may hold everything, still no byte is bound twice by one dispatch.
#[test]
fn shared_buffers_are_bound_once() {
    for gpu in gpus() {
        let limits = Limits { shared_buffers: true, ..gpu.kernels().limits().clone() };
        let arena = filled_buffer(gpu, &[0; 4096], USAGES);
        let at = |begin: u64| arena.slice(begin..begin + 256);
        let bind = |op: &Max, inputs: &[wgpu::BufferSlice<'_>], output: wgpu::BufferSlice<'_>| {
            let prepared = gpu.kernels().prepare_blocking(&op.plan(&limits).unwrap()).unwrap();
            prepared.bind(&Slots { inputs, outputs: &[output], scratch: &[] }).map(drop)
        };
        let op = Max::new(DType::U8, [view(&[250]), view(&[250])]);
        assert_eq!(bind(&op, &[at(0), at(256)], at(512)), Ok(()));
        let error = bind(&op, &[at(256), at(256)], at(512)).unwrap_err();
        let message = "input 1 of Max u8 of 2 to [250] overlaps input 0, bytes 256 to 512 and 256 to 512 of one buffer, in a plan with Limits::shared_buffers: make it one of its views, by Max::view_of";
        assert_eq!(error.to_string(), message);
        let same = op.clone().view_of(1, 0);
        assert_eq!(bind(&same, &[at(256), at(256)], at(512)), Ok(()));
        let error = bind(&same, &[at(256), at(256)], at(256)).unwrap_err();
        let message =
            "output 0 of Max u8 of 2 to [250] overlaps input 0, bytes 256 to 508 and 256 to 512 of one buffer";
        assert_eq!(error.to_string(), message);
        // Whole packs: 250 bytes are 16 of them.
        let error = bind(&op, &[arena.slice(..252), at(256)], at(512)).unwrap_err();
        assert_eq!(error.to_string(), "input 0 of Max u8 of 2 to [250] has 252 bytes, 256 are needed");
    }
}

/// What may not be a view of another input's buffer.
#[test]
fn views_of_no_buffer() {
    let parts = Parts::new([view(&[1, 4]), view(&[1, 4])]).unwrap();
    let op =
        || Max::new(DType::F32, [view(&[2, 4]).into(), view(&[2, 4]).into(), Parts::from(view(&[4])), parts.clone()]);
    for (op, input, other, reason) in [
        (op().view_of(4, 0), 4, 0, "the operation has 4 input(s), numbered from 0"),
        (op().view_of(0, 9), 0, 9, "the operation has 4 input(s), numbered from 0"),
        (op().view_of(1, 1), 1, 1, "the other has no buffer of its own"),
        (op().view_of(1, 0).view_of(2, 1), 2, 1, "the other has no buffer of its own"),
        (op().view_of(1, 0).view_of(0, 1), 1, 0, "the other has no buffer of its own"),
        (op().view_of(1, 0).view_of(1, 2), 1, 2, "it was said to be one before"),
        (op().in_place(0).view_of(1, 0), 1, 0, "the output is written there"),
        (op().in_place(1).view_of(1, 0), 1, 0, "the output is written there"),
        (op().view_of(3, 0), 3, 0, "it comes in 2 parts, the other in 1"),
    ] {
        let error = Error::NotAViewOf { input, other, reason: reason.into() };
        assert_eq!(error.to_string(), format!("input {input} cannot be a view of input {other}: {reason}"));
        assert_eq!(op.outputs().unwrap_err(), error);
        assert_eq!(op.plan(&Limits::default()).unwrap_err(), error);
    }
}

/// Two devices of one instance: wgpu tells their buffers apart. Those of another instance it takes for its own.
fn two_of_one_instance() -> [Gpu; 2] {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let name = &gpus()[0].info().name;
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let adapter = adapters.into_iter().find(|adapter| &adapter.get_info().name == name).unwrap();
    [(); 2].map(|()| {
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).unwrap();
        Gpu::from_device(&device, &queue)
    })
}

/// Buffers that only wgpu knows to be unfit: an error value that names operation, slot and the caller's label, and not
/// wgpu's handler of what nobody caught, which panics.
#[test]
fn buffers_that_were_destroyed_or_are_another_devices() {
    let [one, two] = two_of_one_instance();
    for (gpu, other) in [(&one, &two), (&two, &one)] {
        let bench = Bench::new(gpu);
        let labelled = |gpu: &Gpu, size: u64| {
            let label = Some("the caller's own");
            gpu.device().create_buffer(&wgpu::BufferDescriptor {
                label,
                size,
                usage: USAGES,
                mapped_at_creation: false,
            })
        };
        let destroyed = |size| {
            let buffer = labelled(gpu, size);
            buffer.destroy();
            buffer
        };
        let scratch_bytes = bench.prepared.plan().scratch_bytes[0];
        let sizes = [320_000, 4096, 4096, scratch_bytes];
        for n in 0..sizes.len() {
            for wrong in [destroyed(sizes[n]), labelled(other, sizes[n])] {
                let mut buffers = sizes.map(|size| bench.buffer(size));
                buffers[n] = wrong;
                let slices = buffers.each_ref().map(|buffer| buffer.slice(..));
                let slots = Slots { inputs: &slices[..1], outputs: &slices[1..3], scratch: &slices[3..] };
                let mut recorded = encoder(gpu);
                let error = bench.prepared.record(&mut recorded, &slots).unwrap_err();
                assert_eq!(bench.prepared.bind(&slots).unwrap_err(), error);
                submit(gpu, recorded);
                let Error::BindingRefused { slot, message } = &error else { panic!("{error:?}") };
                let name = ["input 0", "output 0", "output 1", "scratch 0"][n];
                assert_eq!(slot, &format!("{name} of ArgMax f32 [2, 40000] over [1]"));
                assert!(message.contains("the caller's own"), "{message}");
                println!("{error}");
            }
        }
    }
}

/// A plan for a larger device than this one: refused, and the device and its other pipelines are as good as before.
#[test]
fn a_plan_for_other_limits() {
    let gpu = &gpus()[1];
    let kernels = Kernels::new(gpu.device());
    let limits = kernels.limits().clone();
    let refuse = |op: &ReduceMax, larger: Limits, expected: Error| {
        let plan = op.plan(&larger).unwrap();
        assert_eq!(kernels.prepare_blocking(&plan).unwrap_err(), expected, "{plan}");
        assert_eq!(kernels.pipeline_count(), 0);
    };
    let rows = ReduceMax::new(DType::F32, view(&[70_000, 4096])).axes([1]);
    let limit = limits.max_binding_bytes;
    refuse(
        &rows,
        Limits { max_binding_bytes: 4 << 30, ..limits.clone() },
        Error::TooLarge { what: "bytes of a binding", given: 70_000 * 4096 * 4, limit },
    );
    let repeated = View::strided([70_000, 4096], [0, 1], 0).unwrap();
    let rows = ReduceMax::new(DType::F32, repeated).axes([1]);
    refuse(
        &rows,
        Limits { adapter: AdapterKind::Hardware, max_groups: 1 << 20, ..limits.clone() },
        Error::TooLarge { what: "workgroups in one dimension", given: 70_000, limit: 65_535 },
    );
    let later = ReduceMax::new(DType::F32, View::strided([100], [1], 150).unwrap());
    let misaligned = Error::BindingMisaligned { slot: "input 0".into(), offset: 592, alignment: 256 };
    refuse(&later, Limits { binding_alignment_bytes: 16, ..limits.clone() }, misaligned);
    // A workgroup larger than the device's, which wgpu does not notice.
    let mut plan = later.plan(&limits).unwrap();
    let overrides = &mut plan.dispatches[0].kernel.overrides;
    let group = overrides.iter_mut().find(|c| c.name() == "GROUP").unwrap();
    *group = Override::Group(4096);
    let error = kernels.prepare_blocking(&plan).unwrap_err();
    let given = 4096;
    assert_eq!(error, Error::TooLarge { what: "invocations of a workgroup", given, limit: 256 });
    assert_eq!(kernels.pipeline_count(), 0);
    kernels.prepare_blocking(&later.plan(&limits).unwrap()).unwrap();
}

/// The tests' own comparison fails where it should.
#[test]
#[should_panic(expected = "element 1: got 0x40400000, expected 0x40400001")]
fn a_wrong_answer_is_reported() {
    let input = Tensor::new([2, 2], &[1.0_f32, 2.0, 3.0, 1.0]).unwrap();
    let wrong = Tensor::new([2], &[2.0, f32::from_bits(0x4040_0001)]).unwrap();
    check_against(&ReduceMax::new(DType::F32, view(&[2, 2])).axes([1]), &[&input], &[wrong], "a wrong bit");
}

/// As one that was put together by hand, or read from a torn file.
#[test]
fn a_plan_that_contradicts_itself_is_refused_before_anything_is_made() {
    let gpu = &common::gpus()[0];
    let plan = Max::new(DType::F32, [View::new([8]).unwrap()]).plan(gpu.kernels().limits()).unwrap();
    for slot in [Slot::Input(1), Slot::Output(1), Slot::Scratch(2), Slot::Embedded(0)] {
        let mut torn = plan.clone();
        torn.dispatches[0].bindings[1].slot = slot;
        let problem = format!("dispatch 0: binding 2: the plan has no {slot}");
        assert_eq!(gpu.kernels().prepare_blocking(&torn).unwrap_err(), Error::InvalidPlan { problem });
    }
}
