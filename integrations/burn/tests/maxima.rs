//! Every operator on burn's tensors, bit for bit as wgmax's reference on the CPU has it.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::thread;

use burn::tensor::kind::Basic;
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{DType, Device, Float, Int, IntDType, Tensor, TensorData, bf16, f16};
use wgmax::{ArgMax, ArgMaxOutput, Hardmax, IndexType, Operation, ReduceMax, Slices, View};
use wgmax_burn::Maxima;

/// One of burn's devices, opened as a user opens it.
static OPENED: LazyLock<(Device, WgpuSetup)> = LazyLock::new(|| {
    let (device, setup) = Device::wgpu_options().init_with_setup().expect("the tests need a Vulkan adapter");
    println!("adapter: {}", setup.adapter.get_info().name);
    wgmax_burn::attach(&device, setup.clone());
    (device, setup)
});

fn device() -> Device {
    OPENED.0.clone()
}

/// A device of burn's on the same adapter, with settings and memory of its own.
fn own_device(int: IntDType) -> Device {
    let mut device = Device::wgpu_options().setup(OPENED.1.clone()).init().unwrap();
    device.configure(int).unwrap();
    wgmax_burn::attach(&device, OPENED.1.clone());
    device
}

/// Without Flex32, of which burn has no tensors: cast to it, one says that it is of F32.
const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];
const INTS: [DType; 8] = [DType::I64, DType::I32, DType::I16, DType::I8, DType::U64, DType::U32, DType::U16, DType::U8];

/// Those that burn has on this device.
fn supported(all: &[DType]) -> Vec<DType> {
    let has: Vec<DType> = all.iter().copied().filter(|&dtype| device().supports_dtype(dtype)).collect();
    println!("types: {has:?}");
    has
}

/// Numbers from a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
}

/// Few different values, so that there are ties, and all that is special among them.
fn elements(dtype: DType, count: usize, random: &mut Random) -> Vec<u8> {
    let float = |random: &mut Random| match random.below(20) {
        0 => [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY][random.below(4)],
        1 => [0.0, -0.0, f64::from(f32::MAX), f64::from(f32::MIN)][random.below(4)],
        _ => random.below(9) as f64 / 4.0 - 1.0,
    };
    let int = |random: &mut Random| match random.below(20) {
        0 => [i64::MIN, i64::MAX, -1, 0][random.below(4)],
        _ => random.below(9) as i64 - 4,
    };
    let mut bytes = Vec::with_capacity(count * dtype.size());
    for _ in 0..count {
        match dtype {
            DType::F64 => bytes.extend(float(random).to_le_bytes()),
            DType::F32 => bytes.extend((float(random) as f32).to_le_bytes()),
            DType::F16 => bytes.extend(f16::from_f64(float(random)).to_le_bytes()),
            DType::BF16 => bytes.extend(bf16::from_f64(float(random)).to_le_bytes()),
            _ => bytes.extend(&int(random).to_le_bytes()[..dtype.size()]),
        }
    }
    bytes
}

fn wgmax_type(dtype: DType) -> wgmax::DType {
    match dtype {
        DType::F64 => wgmax::DType::F64,
        DType::F32 => wgmax::DType::F32,
        DType::F16 => wgmax::DType::F16,
        DType::BF16 => wgmax::DType::Bf16,
        DType::I64 => wgmax::DType::I64,
        DType::I32 => wgmax::DType::I32,
        DType::I16 => wgmax::DType::I16,
        DType::I8 => wgmax::DType::I8,
        DType::U64 => wgmax::DType::U64,
        DType::U32 => wgmax::DType::U32,
        DType::U16 => wgmax::DType::U16,
        DType::U8 => wgmax::DType::U8,
        _ => panic!("no test has {dtype:?}"),
    }
}

/// One tensor, in burn and for the reference, with the view that both read it by.
struct Both<const D: usize, K: Basic> {
    burn: Tensor<D, K>,
    host: wgmax::Tensor,
    view: View,
}

impl<const D: usize, K: Basic> Both<D, K> {
    fn new(dtype: DType, shape: [usize; D], random: &mut Random) -> Both<D, K> {
        Both::on(&device(), dtype, shape, random)
    }

    fn on(device: &Device, dtype: DType, shape: [usize; D], random: &mut Random) -> Both<D, K> {
        let bytes = elements(dtype, shape.iter().product(), random);
        let sizes = shape.map(|size| size as u64);
        let host = wgmax::Tensor::from_bytes(wgmax_type(dtype), sizes, bytes.clone()).unwrap();
        let data = TensorData::from_bytes_vec(bytes, shape, dtype);
        Both { burn: Tensor::from_data(data, (device, dtype)), host, view: View::new(sizes).unwrap() }
    }

    fn permuted(self, order: [usize; D]) -> Both<D, K> {
        Both { burn: self.burn.permute(order), view: self.view.permute(&order).unwrap(), ..self }
    }

    fn narrowed(self, dim: usize, begin: usize, len: usize) -> Both<D, K> {
        let view = self.view.slice(dim, begin as u64, len as u64, 1).unwrap();
        Both { burn: self.burn.narrow(dim, begin, len), view, ..self }
    }

    fn expanded(self, shape: [usize; D]) -> Both<D, K> {
        let view = self.view.broadcast(&shape.map(|size| size as u64)).unwrap();
        Both { burn: self.burn.expand(shape), view, ..self }
    }

    fn expect(&self, operation: &impl Operation) -> Vec<wgmax::Tensor> {
        operation.reference(&[&self.host]).unwrap()
    }
}

/// That burn's tensor has the reference's shape and bytes.
#[track_caller]
fn same<const D: usize, K: Basic>(what: impl Debug, given: Tensor<D, K>, expected: &wgmax::Tensor) {
    let sizes: Vec<u64> = given.dims().iter().map(|&size| size as u64).collect();
    assert_eq!(sizes, expected.shape(), "{what:?}");
    let (given, expected) = (given.into_data(), expected.bytes());
    let differs = given.as_bytes().iter().zip(expected).position(|(a, b)| a != b);
    assert!(given.as_bytes() == expected, "{what:?}: {} bytes, the first other one {differs:?}", expected.len());
}

impl<const D: usize, K: Basic> Both<D, K>
where
    Tensor<D, K>: Maxima<Indices = Tensor<D, Int>>,
{
    /// Every operator over every dimension, and maxima over every set of dimensions.
    #[track_caller]
    fn check(&self) {
        (0..D).for_each(|dim| self.check_along(dim));
        (0..1 << D).for_each(|set: usize| self.check_max((0..D as i64).filter(|dim| set >> dim & 1 == 1).collect()));
    }

    #[track_caller]
    fn check_along(&self, dim: usize) {
        let (dtype, view, axis) = (self.host.dtype(), &self.view, dim as i64);
        let what = (dtype, view, dim);
        let op = ArgMax::new(dtype, view.clone()).axes([axis]).keep_dims(true).index(IndexType::I32);
        let op = op.output(ArgMaxOutput::ValuesAndIndices);
        // There is no position among no elements.
        if op.outputs().is_ok() {
            let expected = self.expect(&op);
            same(("argmax", what), self.burn.clone().wgmax_argmax(dim), &expected[1]);
            let (values, indices) = self.burn.clone().wgmax_max_with_indices(axis - D as i64);
            same(("values", what), values, &expected[0]);
            same(("indices", what), indices, &expected[1]);
        }
        let op = Hardmax::new(dtype, view.clone(), Slices::Along(axis));
        same(("hardmax", what), self.burn.clone().wgmax_hardmax(dim), &self.expect(&op)[0]);
    }

    #[track_caller]
    fn check_max(&self, dims: Vec<i64>) {
        let (dtype, view) = (self.host.dtype(), &self.view);
        let op = ReduceMax::new(dtype, view.clone()).axes(dims.clone()).keep_dims(true);
        same(("max", dtype, view, &dims), self.burn.clone().wgmax_max(&dims), &self.expect(&op)[0]);
    }
}

/// Shapes with short rows, long ones, one element, and sizes that are no multiple of a pack.
fn all_shapes<K: Basic>(dtype: DType)
where
    Tensor<1, K>: Maxima<Indices = Tensor<1, Int>>,
    Tensor<2, K>: Maxima<Indices = Tensor<2, Int>>,
    Tensor<3, K>: Maxima<Indices = Tensor<3, Int>>,
    Tensor<4, K>: Maxima<Indices = Tensor<4, Int>>,
{
    let random = &mut Random(0x9E37_79B9_7F4A_7C15);
    for shape in [[1], [7], [9001]] {
        Both::<1, K>::new(dtype, shape, random).check();
    }
    for shape in [[3, 5], [5, 1000], [300, 33], [1, 129]] {
        Both::<2, K>::new(dtype, shape, random).check();
    }
    for shape in [[4, 1, 9], [2, 150, 70]] {
        Both::<3, K>::new(dtype, shape, random).check();
    }
    Both::<4, K>::new(dtype, [2, 3, 17, 5], random).check();
}

#[test]
fn floats() {
    supported(&FLOATS).into_iter().for_each(all_shapes::<Float>);
}

#[test]
fn integers() {
    supported(&INTS).into_iter().for_each(all_shapes::<Int>);
}

#[test]
fn permuted_sliced_and_expanded() {
    let random = &mut Random(0xD1B5_4A32_D192_ED03);
    for dtype in supported(&[DType::F32, DType::F16]) {
        let new = |random: &mut Random| Both::<3, Float>::new(dtype, [6, 130, 256], random);
        for order in [[0, 2, 1], [2, 1, 0], [1, 2, 0]] {
            new(random).permuted(order).check();
        }
        new(random).narrowed(0, 2, 3).check(); // rows: where they lie
        new(random).narrowed(2, 128, 128).check(); // columns: where they lie, with gaps between
        new(random).narrowed(2, 3, 77).check(); // burn copies what begins off its alignment
        new(random).narrowed(0, 1, 4).permuted([2, 0, 1]).narrowed(1, 1, 2).check();
    }
    for dtype in supported(&[DType::I32, DType::U32]) {
        Both::<2, Int>::new(dtype, [1, 40], random).expanded([9, 40]).check();
        Both::<2, Int>::new(dtype, [30, 1], random).permuted([1, 0]).expanded([5, 30]).permuted([1, 0]).check();
    }
}

/// Windows that overlap, as for pooling: what burn's `unfold` gives without copying.
#[test]
fn unfolded() {
    let both = Both::<2, Float>::new(DType::F32, [5, 64], &mut Random(77));
    let (size, step, windows) = (7, 3, 20);
    let pooled = both.burn.clone().unfold::<3, _>(1, size, step).wgmax_max(&[2]);
    let view = View::strided([5, windows, size as u64], [64, step as i64, 1], 0).unwrap();
    let op = ReduceMax::new(wgmax::DType::F32, view).axes([2]).keep_dims(true);
    same("windows", pooled, &both.expect(&op)[0]);
}

#[test]
fn empty() {
    let random = &mut Random(3);
    for shape in [[0, 4], [4, 0], [0, 0]] {
        Both::<2, Float>::new(DType::F32, shape, random).check();
        Both::<2, Int>::new(DType::I32, shape, random).check();
    }
}

#[test]
fn large_vocabulary() {
    let both = Both::<2, Float>::new(DType::F32, [64, 128_256], &mut Random(11));
    both.check_along(1);
    both.check_max(vec![1]);
    both.check_max(vec![0, 1]);
}

#[test]
fn ties_and_nan() {
    let rows = [[1.0, 3.0, 3.0, 0.0], [2.0, f32::NAN, 5.0, f32::NAN], [-0.0, 0.0, -1.0, 0.0], [f32::NEG_INFINITY; 4]];
    let tensor = Tensor::<2>::from_data(rows, &device());
    let tokens = tensor.clone().wgmax_argmax(1).into_data().try_to_vec::<i32>().unwrap();
    assert_eq!(tokens, [1, 1, 0, 0]);
    let one_hot = tensor.wgmax_hardmax(1).into_data().try_to_vec::<f32>().unwrap();
    let expected = tokens.iter().flat_map(|&token| (0..4).map(move |n| if n == token { 1.0 } else { 0.0 }));
    assert_eq!(one_hot, expected.collect::<Vec<f32>>());
}

/// burn's kernels before and after, on the same memory, with nothing waited for but the last answer.
#[test]
fn ordered_with_burn() {
    let (rows, columns) = (8, 1003);
    let base: Vec<f32> = (0..rows * columns).map(|n| (n * 7919 % 10_007) as f32).collect();
    let mut tensor = Tensor::<2>::from_data(TensorData::new(base.clone(), [rows, columns]), &device());
    let mut sum = Tensor::<2, Int>::zeros([rows, 1], &device());
    let (mut host, mut expected) = (base, vec![0_i32; rows]);
    for step in 0..300_usize {
        // A peak that wanders, made by burn in place; found by wgmax; and used by burn for the next step.
        let place = step * 37 % columns;
        tensor = tensor.slice_fill([0..rows, place..place + 1], 20_000.0 + step as f32);
        let found = tensor.clone().wgmax_argmax(1);
        let top = tensor.clone().wgmax_max(&[1]);
        let one_hot = tensor.clone().wgmax_hardmax(1);
        sum = sum + found;
        tensor = tensor - one_hot * (top - 5.0); // the peak is 5 again
        for row in 0..rows {
            expected[row] += place as i32;
            host[row * columns + place] = 5.0;
        }
    }
    assert_eq!(sum.into_data().try_to_vec::<i32>().unwrap(), expected);
    assert_eq!(tensor.into_data().try_to_vec::<f32>().unwrap(), host);
}

/// burn gives each thread a stream of its own.
#[test]
fn from_many_threads() {
    let work = |seed: u64| {
        let random = &mut Random(seed);
        for _ in 0..20 {
            let both = Both::<2, Float>::new(DType::F32, [1 + random.below(20), 1 + random.below(500)], random);
            both.check();
        }
    };
    let shared = Tensor::<2>::from_data(TensorData::new((0..5000).collect::<Vec<i32>>(), [5, 1000]), &device()) * 2.0;
    thread::scope(|scope| {
        for seed in 1..5 {
            let shared = shared.clone();
            scope.spawn(move || work(seed));
            scope.spawn(move || {
                let tokens = (shared + 1.0).wgmax_argmax(1);
                assert_eq!(tokens.into_data().try_to_vec::<i32>().unwrap(), [999; 5]);
            });
        }
    });
}

/// More shapes than plans are kept, twice over; and one shape so often that whatever is not given back would show.
#[test]
fn many_calls() {
    let random = &mut Random(5);
    for _ in 0..2 {
        for columns in 1..130 {
            let both = Both::<2, Float>::new(DType::F32, [3, columns], random);
            same(columns, both.burn.clone().wgmax_max(&[1]), &both.expect(&maximum_of_rows(&both.view))[0]);
        }
    }
    let device = own_device(IntDType::I32);
    let both = Both::<2, Float>::on(&device, DType::F32, [16, 50_000], random);
    let mut before = 0;
    for call in 0..400 {
        let _ = both.burn.clone().wgmax_argmax(1);
        let _ = both.burn.clone().wgmax_hardmax(1);
        if call % 100 == 99 {
            let now = reserved(&device);
            assert!(before == 0 || now <= before, "{now} bytes after {call} calls, {before} before");
            before = now;
        }
    }
    same("after many", both.burn.clone().wgmax_max(&[1]), &both.expect(&maximum_of_rows(&both.view))[0]);
}

/// Not even of a permuted tensor is there a copy.
#[test]
fn nothing_is_copied() {
    let device = own_device(IntDType::I32);
    let both = Both::<2, Float>::on(&device, DType::F32, [2048, 2048], &mut Random(9)).permuted([1, 0]);
    let (before, bytes) = (reserved(&device), 2048 * 2048 * 4);
    let most = both.burn.clone().wgmax_max(&[1]);
    let tokens = both.burn.clone().wgmax_argmax(0);
    let more = reserved(&device) - before;
    assert!(more < bytes, "{more} bytes more"); // burn takes memory in pages, of 8 MiB for what is small
    let _rows = both.burn.clone().into_data(); // which burn copies into rows
    assert!(reserved(&device) - before >= bytes, "a copy would have shown");
    same("most", most, &both.expect(&maximum_of_rows(&both.view))[0]);
    let op = ArgMax::new(wgmax::DType::F32, both.view.clone()).axes([0]).keep_dims(true).index(IndexType::I32);
    same("tokens", tokens, &both.expect(&op)[0]);
}

/// Bytes that burn has of the device.
fn reserved(device: &Device) -> u64 {
    device.sync().unwrap();
    device.memory_pool_usage().expect("burn knows its memory").bytes_reserved
}

fn maximum_of_rows(view: &View) -> ReduceMax {
    ReduceMax::new(wgmax::DType::F32, view.clone()).axes([1]).keep_dims(true)
}

/// Positions have the type that the device's integers have.
#[test]
fn index_types() {
    for int in [IntDType::I64, IntDType::U64, IntDType::U32, IntDType::I32] {
        if !device().supports_dtype(int) {
            println!("burn has no {int:?} here");
            continue;
        }
        let device = own_device(int);
        let tensor = Tensor::<2>::from_data([[1.0, 9.0, 3.0], [4.0, 2.0, 4.0]], &device);
        let data = tensor.clone().wgmax_argmax(1).into_data();
        assert_eq!(data.dtype(), DType::from(int));
        assert_eq!(data.convert::<i64>().try_to_vec::<i64>().unwrap(), [1, 0]);
        let (values, indices) = tensor.wgmax_max_with_indices(0);
        assert_eq!(values.into_data().try_to_vec::<f32>().unwrap(), [4.0, 9.0, 4.0]);
        assert_eq!(indices.into_data().convert::<i64>().try_to_vec::<i64>().unwrap(), [1, 0, 1]);
    }
}

/// Like burn's own operations these panic, and say what was given and what was expected.
#[test]
fn refused() {
    let says = |work: fn(), expected: &str| {
        let panic = thread::spawn(work).join().expect_err(expected);
        let message = panic.downcast::<String>().expect("a message");
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    says(|| drop(Tensor::<2>::zeros([2, 3], &device()).wgmax_argmax(2)), "wgmax: ArgMax { dim: 2");
    says(|| drop(Tensor::<2>::zeros([2, 3], &device()).wgmax_hardmax(-3)), "-3");
    says(|| drop(Tensor::<2>::zeros([2, 3], &device()).wgmax_max(&[1, -1])), "twice");
    says(|| drop(Tensor::<2>::zeros([2, 0], &device()).wgmax_argmax(1)), "no elements");
    says(
        || {
            let stranger = Device::wgpu_options().setup(OPENED.1.clone()).init().unwrap();
            drop(Tensor::<2>::zeros([2, 3], &stranger).wgmax_argmax(1));
        },
        "wgmax_burn::open",
    );
    std::panic::set_hook(hook);
    let fine = Tensor::<2>::ones([2, 3], &device()).wgmax_max(&[0, 1]);
    assert_eq!(fine.into_data().try_to_vec::<f32>().unwrap(), [1.0]);
}
