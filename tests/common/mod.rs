//! What the operator tests share: the devices under test, data full of edges, and the one comparison.
#![allow(dead_code)] // each test file uses its own part

pub mod cases;
#[cfg(feature = "gpu")]
mod gpu;
pub mod kernels;
pub mod laws;
pub mod reductions;
pub mod tunings;

#[cfg(feature = "gpu")]
#[allow(unused_imports)]
pub use gpu::*;
use wgmax::half::{bf16, f16};
use wgmax::{DType, Operation, Tensor, View};

/// Where two answers differ first, if they do.
pub fn first_difference(expected: &[Tensor], got: &[Tensor]) -> Option<String> {
    if expected.len() != got.len() {
        return Some(format!("{} outputs, expected {}", got.len(), expected.len()));
    }
    for (n, (expected, got)) in expected.iter().zip(got).enumerate() {
        if expected.tensor_type() != got.tensor_type() {
            return Some(format!("output {n} is {:?}, expected {:?}", got.tensor_type(), expected.tensor_type()));
        }
        let size = expected.dtype().bytes() as usize;
        let mut pairs = expected.bytes().chunks(size).zip(got.bytes().chunks(size)).enumerate();
        if let Some((i, (expected, got))) = pairs.find(|(_, (expected, got))| expected != got) {
            let hex = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
            return Some(format!("output {n}, element {i}: got 0x{}, expected 0x{}", hex(got), hex(expected)));
        }
    }
    None
}

/// A small generator of random words (Steele, Lea and Flood's SplitMix64), so that every run sees the same data.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.word() % n
    }
}

/// How the elements of a test tensor are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Any bits.
    Random,
    /// Only the type's edge values.
    Edges,
    /// Edge values other than NaN.
    EdgesWithoutNan,
    /// A few small numbers: ties everywhere.
    Ties,
    /// The least of the type everywhere: -inf, the minimum.
    Least,
    /// NaN of both signs everywhere, the type's minimum where there is no NaN.
    Nans,
    /// Zeros of both signs.
    Zeros,
    /// The same, and NaN of both signs among them.
    ZerosAndNans,
}

impl Data {
    pub const ALL: [Data; 8] = [
        Data::Random,
        Data::Edges,
        Data::EdgesWithoutNan,
        Data::Ties,
        Data::Least,
        Data::Nans,
        Data::Zeros,
        Data::ZerosAndNans,
    ];
}

/// The bits of a floating-point type's infinity, and of its sign.
fn infinity_and_sign(dtype: DType) -> Option<(u64, u64)> {
    let infinity = match dtype {
        DType::F32 => 0x7f80_0000,
        DType::F16 => 0x7c00,
        DType::Bf16 => 0x7f80,
        DType::F64 => 0x7ff0_0000_0000_0000,
        _ => return None,
    };
    Some((infinity, top_bit(dtype)))
}

fn top_bit(dtype: DType) -> u64 {
    1 << (dtype.bytes() * 8 - 1)
}

/// The bits of a type's edge values; NaNs first, `nan_count` of them.
pub fn edges(dtype: DType) -> (Vec<u64>, usize) {
    let Some((infinity, sign)) = infinity_and_sign(dtype) else {
        let top = top_bit(dtype);
        return (if dtype == DType::Bool { vec![0, 1] } else { vec![0, 1, top - 1, top, top + 1, u64::MAX] }, 0);
    };
    let nans = [
        infinity + 1,
        sign | (infinity + 1),
        infinity | (infinity >> 1),
        sign | infinity | (infinity >> 1),
        sign | (sign - 1),
    ];
    let numbers = [infinity, sign | infinity, infinity - 1, sign | (infinity - 1), 0, sign, 1, sign | 1];
    ([nans.as_slice(), numbers.as_slice()].concat(), nans.len())
}

fn small(dtype: DType, n: u64) -> u64 {
    match dtype {
        DType::F32 => (n as f32).to_bits().into(),
        DType::F16 => f16::from_f32(n as f32).to_bits().into(),
        DType::Bf16 => bf16::from_f32(n as f32).to_bits().into(),
        DType::F64 => (n as f64).to_bits(),
        DType::Bool => n % 2,
        _ => n,
    }
}

fn least(dtype: DType) -> u64 {
    match (infinity_and_sign(dtype), dtype) {
        (Some((infinity, sign)), _) => sign | infinity,
        (None, DType::I8 | DType::I16 | DType::I32 | DType::I64) => top_bit(dtype),
        _ => 0,
    }
}

pub fn element_bits(dtype: DType, data: Data, random: &mut Random) -> u64 {
    let (edges, nan_count) = edges(dtype);
    let mut pick = |from: &[u64]| from[random.below(from.len() as u64) as usize];
    match data {
        Data::Random if dtype == DType::Bool => pick(&[0, 1]),
        Data::Random => random.word(),
        Data::Edges => pick(&edges),
        Data::EdgesWithoutNan => pick(&edges[nan_count..]),
        Data::Ties => small(dtype, random.below(3)),
        Data::Least => least(dtype),
        Data::Nans if nan_count > 0 => pick(&edges[..nan_count]),
        Data::Nans => least(dtype),
        Data::Zeros if nan_count > 0 => pick(&edges[nan_count + 4..nan_count + 6]),
        Data::ZerosAndNans if nan_count > 0 => {
            let all = [&edges[..nan_count], &edges[nan_count + 4..nan_count + 6]].concat();
            pick(&all)
        }
        Data::Zeros | Data::ZerosAndNans => 0,
    }
}

/// A flat tensor of `len` elements.
pub fn tensor(dtype: DType, len: u64, data: Data, seed: u64) -> Tensor {
    let mut random = Random::new(seed);
    let size = dtype.bytes() as usize;
    let mut bytes = vec![0; len as usize * size];
    for element in bytes.chunks_exact_mut(size) {
        element.copy_from_slice(&element_bits(dtype, data, &mut random).to_le_bytes()[..size]);
    }
    Tensor::from_bytes(dtype, [len], bytes).unwrap()
}

/// The tensor with one element replaced.
pub fn with_bits(tensor: &Tensor, at: u64, bits: u64) -> Tensor {
    let size = tensor.dtype().bytes() as usize;
    let mut bytes = tensor.bytes().to_vec();
    bytes[at as usize * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes).unwrap()
}

/// The bits of the type's greatest number: they win against everything but NaN.
pub fn greatest(dtype: DType) -> u64 {
    match (infinity_and_sign(dtype), dtype) {
        (Some((infinity, _)), _) => infinity,
        (None, DType::Bool) => 1,
        (None, DType::I8 | DType::I16 | DType::I32 | DType::I64) => top_bit(dtype) - 1,
        _ => u64::MAX,
    }
}

/// Boxes that make up this one, some of them without elements: where each begins, and its shape.
pub fn cut(begin: &[u64], shape: &[u64], pieces: u64, random: &mut Random) -> Vec<(Vec<u64>, Vec<u64>)> {
    if pieces < 2 {
        return vec![(begin.to_vec(), shape.to_vec())];
    }
    let d = random.below(shape.len() as u64) as usize;
    let at = random.below(shape[d] + 1);
    let (mut first, mut second, mut middle) = (shape.to_vec(), shape.to_vec(), begin.to_vec());
    (first[d], second[d]) = (at, shape[d] - at);
    middle[d] += at;
    let mut boxes = cut(begin, &first, pieces / 2, random);
    boxes.extend(cut(&middle, &second, pieces - pieces / 2, random));
    boxes
}

/// Three-dimensional views over one flat buffer of [`VIEW_LEN`] elements, with their names.
pub fn views() -> Vec<(&'static str, View)> {
    let view = |shape: [u64; 3]| View::new(shape).unwrap();
    let rows = view([3, 5, 70]);
    let columns = view([3, 6, 64]);
    vec![
        ("contiguous rows", rows.clone()),
        ("contiguous columns", columns.clone()),
        ("permuted 021", rows.permute(&[0, 2, 1]).unwrap()),
        ("permuted 210", rows.permute(&[2, 1, 0]).unwrap()),
        ("permuted 102", columns.permute(&[1, 0, 2]).unwrap()),
        ("sliced", rows.slice(2, 3, 51, 1).unwrap().slice(0, 1, 2, 1).unwrap()),
        ("every other", rows.slice(2, 1, 34, 2).unwrap()),
        ("reversed inner", rows.reverse(2).unwrap()),
        ("reversed outer", columns.reverse(0).unwrap().reverse(1).unwrap()),
        ("broadcast outer", View::strided([4, 5, 70], [0, 70, 1], 7).unwrap()),
        ("broadcast inner", View::strided([3, 64, 5], [64, 1, 0], 3).unwrap()),
        ("odd offset", View::strided([3, 5, 70], [350, 70, 1], 13).unwrap()),
        ("overlapping", View::strided([9, 8, 33], [16, 3, 1], 5).unwrap()),
    ]
}

/// The elements that every one of [`views`] lies in.
pub const VIEW_LEN: u64 = 3 * 6 * 70;

/// Every subset of three axes.
pub fn axes_sets() -> Vec<Vec<i64>> {
    (0..8).map(|set| (0..3).filter(|axis| set >> axis & 1 == 1).collect()).collect()
}

/// The tensors that the bytes of output buffers are.
pub fn tensors(op: &(impl Operation + ?Sized), bytes: Vec<Vec<u8>>) -> Vec<Tensor> {
    let outputs = op.outputs().unwrap().into_iter().zip(bytes);
    let tensor = |(output, mut bytes): (wgmax::TensorType, Vec<u8>)| {
        bytes.truncate(output.bytes().unwrap() as usize);
        Tensor::from_bytes(output.dtype, output.shape, bytes).unwrap()
    };
    outputs.map(tensor).collect()
}

#[test]
fn a_planted_wrong_bit_is_reported() {
    for dtype in DType::ALL {
        let right = tensor(dtype, 9, Data::Ties, 1);
        let one = std::slice::from_ref(&right);
        assert_eq!(first_difference(one, one), None);
        let may_flip = |bit: &usize| dtype != DType::Bool || bit.is_multiple_of(8); // no byte but 0 and 1 is a bool
        for bit in (0..right.bytes().len() * 8).filter(may_flip) {
            let mut bytes = right.bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let wrong = Tensor::from_bytes(dtype, [9], bytes).unwrap();
            let difference = first_difference(&[right.clone(), right.clone()], &[right.clone(), wrong]).unwrap();
            let element = bit / 8 / dtype.bytes() as usize;
            assert!(difference.starts_with(&format!("output 1, element {element}: got 0x")), "{difference}");
        }
        let shorter = tensor(dtype, 8, Data::Ties, 1);
        assert!(first_difference(one, &[shorter]).unwrap().contains("expected"));
        assert_eq!(first_difference(one, &[]).unwrap(), "0 outputs, expected 1");
    }
}
