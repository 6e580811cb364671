//! The distribution `sweep-1`.
//!
//! Three problems of ten are of a family of everyday shapes, drawn in turn; see [`FAMILIES`]. The others:
//!
//! - an operator, each as likely: ReduceMax (over all axes once in five times, else over any of them), ArgMax and Hardmax
//!   (over one axis), Max of two or three operands, of which all but the first are broadcast along some dimensions
//! - any of the 13 storage types
//! - rank 1 to 5; 2 to 32 MiB of elements, evenly on a logarithmic scale. All sizes but one are tiny (1 to 4), odd, prime,
//!   powers of two or any number, up to 1024; that one, anywhere, is what is left
//! - half of the views are contiguous; the others are permuted, padded (gaps between the innermost rows), sliced (every
//!   second or third index of a dimension, not from the first on), reversed, broadcast or overlapping (sliding windows)

use std::fmt;

use wgmax::{AnyOperation, ArgMax, DType, Error, Hardmax, Max, ReduceMax, Slices, View};

/// The name of what is drawn here: it changes with it.
pub const DISTRIBUTION: &str = "sweep-1";

/// Shapes of everyday models that are easily slow.
const FAMILIES: [&str; 8] = [
    "innermost axis of 2 to 4",
    "innermost axis of 5 to 32",
    "windows of pixels",
    "one-hot along an outer axis",
    "Max, repeated within a row",
    "Max of odd rows",
    "odd columns",
    "middle axes, channels last",
];

pub struct Problem {
    pub number: u64,
    pub operator: Operator,
    pub dtype: DType,
    pub inputs: Vec<View>,
    pub axes: Vec<i64>,
    /// "any", or one of the families.
    pub family: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    ReduceMax,
    ArgMax,
    Hardmax,
    Max,
}

impl Operator {
    pub fn name(self) -> &'static str {
        match self {
            Operator::ReduceMax => "ReduceMax",
            Operator::ArgMax => "ArgMax",
            Operator::Hardmax => "Hardmax",
            Operator::Max => "Max",
        }
    }
}

/// How the first input's elements lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Contiguous,
    Permuted,
    Padded,
    Sliced,
    Reversed,
    Broadcast,
    Overlapping,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Contiguous => "contiguous",
            Kind::Permuted => "permuted",
            Kind::Padded => "padded",
            Kind::Sliced => "sliced",
            Kind::Reversed => "reversed",
            Kind::Broadcast => "broadcast",
            Kind::Overlapping => "overlapping",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operator.name(), self.dtype)?;
        for view in &self.inputs {
            write!(f, " {:?}", view.shape())?;
            if view.strides() != contiguous(view.shape()) {
                write!(f, " by {:?}", view.strides())?;
            }
        }
        if self.operator == Operator::Max { Ok(()) } else { write!(f, " over {:?}", self.axes) }
    }
}

impl Problem {
    /// Problem number n of a seed.
    pub fn draw(seed: u64, number: u64) -> Result<Problem, Error> {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        match number % 10 {
            2 | 5 | 8 => family(number, (number / 10 * 3 + number % 10 / 3) as usize % FAMILIES.len(), &mut random),
            _ => any(number, &mut random),
        }
    }

    pub fn operation(&self) -> Result<AnyOperation, Error> {
        let first = || self.inputs[0].clone();
        Ok(match self.operator {
            Operator::ReduceMax => ReduceMax::new(self.dtype, first()).axes(self.axes.clone()).into(),
            Operator::ArgMax => ArgMax::new(self.dtype, first()).axes(self.axes.clone()).into(),
            Operator::Hardmax => Hardmax::new(self.dtype, first(), Slices::Along(self.axes[0])).into(),
            Operator::Max => Max::new(self.dtype, self.inputs.clone()).into(),
        })
    }
}

fn any(number: u64, random: &mut Random) -> Result<Problem, Error> {
    let operator = random.pick(&[Operator::ReduceMax, Operator::ArgMax, Operator::Hardmax, Operator::Max]);
    let dtype = random.pick(&DType::ALL);
    let volume = random.volume(dtype);
    let shape = random.shape(volume);
    let kind = match random.below(2) {
        0 => Kind::Contiguous,
        _ => random.pick(&[
            Kind::Permuted,
            Kind::Padded,
            Kind::Sliced,
            Kind::Reversed,
            Kind::Broadcast,
            Kind::Overlapping,
        ]),
    };
    let view = random.view(&shape, kind)?;
    let rank = view.rank() as u64;
    let mut axes: Vec<i64> = vec![random.below(rank) as i64];
    if operator == Operator::ReduceMax {
        let all = random.below(5) == 0;
        axes.extend((0..rank as i64).filter(|_| all || random.below(3) == 0));
        axes.sort_unstable();
        axes.dedup();
    }
    let mut inputs = vec![view];
    if operator == Operator::Max {
        for _ in 0..1 + random.below(2) {
            let left_out = random.below(rank) as usize;
            let broadcast = inputs[0].shape()[left_out..].iter();
            let own: Vec<u64> = broadcast.map(|&size| if random.below(3) == 0 { 1 } else { size }).collect();
            inputs.push(View::new(own)?);
        }
    }
    Ok(Problem { number, operator, dtype, inputs, axes, family: "any", kind })
}

fn family(number: u64, which: usize, random: &mut Random) -> Result<Problem, Error> {
    use Operator::{ArgMax, Hardmax, Max, ReduceMax};
    let dtype = random.pick(&[DType::F32, DType::F32, DType::F16, DType::Bf16, DType::U8, DType::I64]);
    let volume = random.volume(dtype);
    let reducing = random.pick(&[ReduceMax, ArgMax, Hardmax]);
    let (operator, shapes, axes) = match which {
        0 | 1 => {
            let len = if which == 0 { 2 + random.below(3) } else { 5 + random.below(28) };
            (reducing, vec![vec![(volume / len).max(1), len]], vec![1])
        }
        2 => {
            let (high, wide, columns) = (2 + random.below(2), 2 + random.below(2), 7 * (1 + random.below(16)));
            let images = (volume / (columns * columns * high * wide)).max(1);
            (random.pick(&[ReduceMax, ReduceMax, ArgMax]), vec![vec![images, columns, high, columns, wide]], vec![2, 4])
        }
        3 => {
            let (classes, pixels) = (2 + random.below(150), 32 * (1 + random.below(512)));
            (Hardmax, vec![vec![(volume / classes / pixels).max(1), classes, pixels]], vec![1])
        }
        4 => {
            let len = 2 + random.below(7);
            let rows = (volume / len).max(1);
            (Max, vec![vec![rows, len], random.pick(&[[rows, 1], [1, len]]).to_vec()], vec![])
        }
        5 => {
            let len = 2 * random.below(4096) + 33;
            (Max, vec![vec![(volume / len).max(1), len], vec![len]], vec![])
        }
        6 => {
            let (columns, rows) = (2 * random.below(200) + 5, 2 + random.below(1024));
            (random.pick(&[ReduceMax, ArgMax]), vec![vec![(volume / columns / rows).max(1), rows, columns]], vec![1])
        }
        _ => {
            let (side, channels) = (7 * (1 + random.below(8)), 64 << random.below(5));
            let batch = (volume / (side * side * channels)).max(1);
            (random.pick(&[ReduceMax, ArgMax]), vec![vec![batch, side, side, channels]], vec![1, 2])
        }
    };
    let inputs = shapes.into_iter().map(View::new).collect::<Result<_, _>>()?;
    Ok(Problem { number, operator, dtype, inputs, axes, family: FAMILIES[which], kind: Kind::Contiguous })
}

fn contiguous(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d].max(1) as i64;
    }
    strides
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Elements of 2 to 32 MiB.
    fn volume(&mut self, dtype: DType) -> u64 {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        (2_f64.powf(21.0 + 4.0 * share)) as u64 / dtype.bytes()
    }

    fn size(&mut self) -> u64 {
        const PRIMES: [u64; 16] = [5, 7, 11, 13, 17, 19, 23, 31, 53, 97, 101, 197, 211, 499, 503, 997];
        match self.below(5) {
            0 => 1 + self.below(4),
            1 => 2 * self.below(512) + 1,
            2 => self.pick(&PRIMES),
            3 => 1 << self.below(11),
            _ => 1 + self.below(1024),
        }
    }

    /// All sizes but one as they come, while there is room for them.
    fn shape(&mut self, volume: u64) -> Vec<u64> {
        let rank = 1 + self.below(5) as usize;
        let left = self.below(rank as u64) as usize;
        let mut shape = vec![1; rank];
        let mut product = 1;
        for d in (0..rank).filter(|&d| d != left) {
            shape[d] = self.size().min((volume / product).max(1));
            product *= shape[d];
        }
        shape[left] = (volume / product).max(1);
        shape
    }

    fn view(&mut self, shape: &[u64], kind: Kind) -> Result<View, Error> {
        let rank = shape.len();
        let d = self.below(rank as u64) as usize;
        match kind {
            Kind::Contiguous => View::new(shape),
            Kind::Permuted => {
                let mut order: Vec<usize> = (0..rank).collect();
                (1..rank).rev().for_each(|n| order.swap(n, self.below(n as u64 + 1) as usize));
                View::new(shape)?.permute(&order)
            }
            Kind::Padded => {
                let mut whole = shape.to_vec();
                whole[rank - 1] += 1 + self.below(17);
                View::strided(shape, contiguous(&whole), 0)
            }
            Kind::Sliced => {
                let step = 2 + self.below(2);
                let mut own = shape.to_vec();
                own[d] = (own[d] / step).max(1);
                let mut strides = contiguous(shape);
                let offset = self.below(step.min(shape[d])) * strides[d] as u64;
                if own[d] > 1 {
                    strides[d] *= step as i64;
                }
                View::strided(own, strides, if shape[d] < step { 0 } else { offset })
            }
            Kind::Reversed => {
                let mut strides = contiguous(shape);
                let offset = (shape[d] - 1) * strides[d] as u64;
                strides[d] = -strides[d];
                View::strided(shape, strides, offset)
            }
            Kind::Broadcast => {
                let mut own = shape.to_vec();
                own[d] = 1;
                let mut strides = contiguous(&own);
                strides[d] = 0;
                View::strided(shape, strides, 0)
            }
            Kind::Overlapping => {
                let window = 2 + self.below(4);
                let mut own = shape.to_vec();
                let mut strides = contiguous(shape);
                own[rank - 1] = (own[rank - 1].max(window) - window + 1).max(1);
                own.push(if shape[rank - 1] < window { 1 } else { window });
                strides.push(1);
                View::strided(own, strides, 0)
            }
        }
    }
}
