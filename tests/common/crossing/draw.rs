//! Cases from seeds.

use wgmax::{AdapterKind, ArgMaxOutput, Axes, DType, EmptyMax, IndexType, Limits, NanPolicy, Slices, Tuning};

use super::{Asked, Case, Content, Layout, Scale};
use crate::common::tunings::any_tuning;
use crate::common::{Data, Random};

/// Seeds of one pool. Its cases share some types and kinds of devices: each brings kernels of its own, and compiling
/// those takes longer than running them.
pub const POOL: u64 = 1 << 20;

/// The case of a seed.
pub fn case(seed: u64, scale: &Scale) -> Case {
    let mut pool = Draw(Random::new(seed / POOL));
    let types = pool.types();
    let devices = [(); 2].map(|()| pool.device(scale));
    let mut draw = Draw(Random::new(seed.wrapping_mul(0x9e37_79b9)));
    let device = draw.pick(&devices);
    let limits = draw.limits(device, scale);
    let dtype = draw.pick(&types);
    draw.case(limits, dtype, scale)
}

struct Draw(Random);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n.max(1))
    }

    /// One time in so many.
    fn chance(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    /// A number between two, small ones as often as large ones.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (low.max(1) as f64, high.max(low).max(1) as f64);
        let share = self.below(1 << 20) as f64 / (1 << 20) as f64;
        (low * (high / low).powf(share)) as u64
    }

    /// One of one byte, one of two, and any.
    fn types(&mut self) -> [DType; 3] {
        use DType::{Bf16, Bool, F16, I8, I16, U8, U16};
        [self.pick(&[U8, I8, Bool]), self.pick(&[U16, I16, F16, Bf16]), self.pick(&DType::ALL)]
    }

    /// What decides about kernels: the policy, and the sizes of workgroups.
    fn device(&mut self, scale: &Scale) -> Limits {
        let most = &scale.device;
        let adapter = self.pick(&AdapterKind::ALL);
        let memory = self.pick(&[0, 64, 256, 2048, 16 << 10, 16 << 10, 16 << 10, 32 << 10]);
        Limits {
            adapter,
            max_group_invocations: (1 << self.below(11)).min(most.max_group_invocations),
            max_group_memory_bytes: memory.min(most.max_group_memory_bytes),
            int64: self.chance(2) && most.int64,
            tuning: self.chance(3).then(|| self.tuning()),
            ..most.clone()
        }
    }

    fn tuning(&mut self) -> Tuning {
        any_tuning(&mut |n| self.below(n))
    }

    /// The same with any of the other limits, and tuned otherwise in what is no workgroup's size.
    fn limits(&mut self, device: Limits, scale: &Scale) -> Limits {
        let (least, doubled) = scale.binding_bytes;
        let binding = least << self.below(doubled + 1);
        let odd = if self.chance(2) { self.below(binding / 4) * 4 } else { 0 };
        Limits {
            max_binding_bytes: (binding + odd).min(device.max_binding_bytes),
            binding_alignment_bytes: self.pick(&[0, 32, 64, 256]).max(device.binding_alignment_bytes),
            max_storage_bindings: self.pick(&[2, 3, 4, 4, 5, 6, 8, 8, 8, 8]).min(device.max_storage_bindings),
            shared_buffers: self.chance(4),
            max_groups: self.pick(&[4, 4, 5, 17, 64, 256, 1000, 65_535, 65_535, 65_535]).min(device.max_groups),
            tuning: device.tuning.map(|Tuning { group, max_team, .. }| Tuning { group, max_team, ..self.tuning() }),
            ..device
        }
    }

    fn case(&mut self, limits: Limits, dtype: DType, scale: &Scale) -> Case {
        let volume = self.volume(&limits, dtype, scale);
        let (asked, operands) = match self.below(4) {
            0 => self.max(volume, dtype, scale),
            operator => {
                let windows = self.chance(6);
                let shape = if windows { self.windows(volume) } else { self.shape_of_any_rank(volume, scale) };
                let rank = shape.len();
                let mut asked = match operator {
                    1 => self.reduce_max(rank),
                    2 => self.arg_max(rank),
                    _ => self.hardmax(rank),
                };
                if let Asked::ReduceMax { axes, .. } | Asked::ArgMax { axes, .. } = &mut asked
                    && windows
                {
                    *axes = Axes::List(vec![2, 4]);
                }
                (asked, vec![self.parts(&shape, scale.bytes / dtype.bytes(), scale)])
            }
        };
        let data = self.pick(&Data::ALL);
        let content = match self.below(5) {
            0..=1 => Content::Needles(self.pick(&[Data::Least, Data::Least, Data::Zeros, Data::Ties])),
            2 => Content::All(Data::Random),
            _ => Content::All(data),
        };
        Case {
            asked,
            dtype,
            nan: self.pick(&[NanPolicy::Propagate, NanPolicy::Propagate, NanPolicy::Ignore]),
            operands,
            limits,
            content,
            content_seed: self.below(1000),
            places: [(); 3].map(|()| self.below(3)),
            more: self.below(9),
        }
    }

    /// How many elements: many cases have some bindings' worth of them, a few have hundreds.
    fn volume(&mut self, limits: &Limits, dtype: DType, scale: &Scale) -> u64 {
        let (usual, most) = scale.elements;
        let binding = limits.max_binding_bytes / dtype.bytes();
        let volume = match self.below(20) {
            0..=2 => self.below(64) + 1,
            3..=8 => self.between(64, usual),
            9..=15 => self.between(binding / 2, binding * 12),
            16 => self.between(binding * 12, binding * 400),
            _ => self.between(usual, most),
        };
        volume.min(most).min(scale.bytes / dtype.bytes())
    }

    /// Images of windows of a few pixels, of about so many elements: images, rows, pixels one above the other, columns, pixels
    /// side by side.
    fn windows(&mut self, volume: u64) -> Vec<u64> {
        let [high, wide] = [1 + self.below(4), 2 + self.below(8)];
        let windows = (volume / (high * wide)).max(1);
        let columns = self.between(1, windows.min(200));
        let rows = self.between(1, windows / columns);
        vec![windows / columns / rows, rows, high, columns, wide]
    }

    /// One time in four with few elements in all dimensions but the outermost.
    fn shape_of_any_rank(&mut self, volume: u64, scale: &Scale) -> Vec<u64> {
        let rank = self.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6]);
        if rank < 2 || !self.chance(4) {
            return self.shape(rank, volume, scale);
        }
        let within: Vec<u64> = (1..rank).map(|_| 1 + self.below(8)).collect();
        let blocks = (volume / within.iter().product::<u64>()).max(1);
        [&[blocks], &within[..]].concat()
    }

    /// A shape of about so many elements, some dimensions longer than others, some whole packs.
    fn shape(&mut self, rank: usize, volume: u64, scale: &Scale) -> Vec<u64> {
        let shares: Vec<u64> = (0..rank).map(|_| self.pick(&[0, 1, 1, 2, 6])).collect();
        let all = shares.iter().sum::<u64>().max(1) as f64;
        let mut shape: Vec<u64> = Vec::with_capacity(rank);
        for share in shares {
            let size = (volume as f64).powf(share as f64 / all);
            let size = (size * (0.7 + self.below(64) as f64 / 100.0)).round() as u64;
            let step = self.pick(&[1, 1, 1, 16, 64]);
            shape.push(if size > step { size - size % step } else { size.max(1) });
        }
        while shape.iter().product::<u64>() > scale.elements.1 {
            let longest = shape.iter_mut().max().expect("a product of several");
            *longest = longest.div_ceil(2);
        }
        if rank > 0 && self.chance(50) {
            shape[self.below(rank as u64) as usize] = 0;
        }
        shape
    }

    /// A layout in a buffer of not many more elements than there is room for.
    fn layout(&mut self, shape: &[u64], room: u64) -> Layout {
        let lowest = match self.below(5) {
            0..=1 => 0,
            2 => self.below(40),
            3 => 16 * self.below(40),
            _ => self.below(4096).min(room / 4),
        };
        let contiguous = Layout { lowest, ..Layout::contiguous(shape) };
        let strided = Layout { lowest, strides: self.strides(shape), shape: shape.to_vec() };
        if self.chance(4) || strided.span() > room { contiguous } else { strided }
    }

    /// Dimensions in some order, one around the other; padded, overlapping, repeated and reversed ones among them.
    fn strides(&mut self, shape: &[u64]) -> Vec<i64> {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if self.chance(2) {
            (1..order.len()).for_each(|n| order.swap(n, self.below(n as u64 + 1) as usize));
        }
        let [padded, overlapping, repeated, reversed] = [2, 6, 6, 4].map(|times| self.chance(times));
        let mut strides = vec![0; shape.len()];
        let mut stride = self.pick(&[1_i64, 1, 1, 1, 1, 2, 3, 5]);
        for &d in order.iter().rev() {
            if padded && self.chance(2) {
                stride = match self.below(4) {
                    0 => stride + 1,
                    1 => (stride as u64).next_multiple_of(16) as i64,
                    2 => stride + 16,
                    _ => stride + self.below(40) as i64,
                };
            }
            if overlapping && self.chance(2) {
                stride = 1 + self.below(stride as u64) as i64;
            }
            let zero = repeated && self.chance(3);
            strides[d] = if zero { 0 } else { stride };
            if !zero {
                stride = stride.saturating_mul(shape[d].max(1) as i64);
            }
            if reversed && self.chance(2) {
                strides[d] = -strides[d];
            }
        }
        strides
    }

    /// The outermost dimension cut at any places, now and then; each part in its own layout, or all alike.
    fn parts(&mut self, shape: &[u64], room: u64, scale: &Scale) -> Vec<Layout> {
        if shape.is_empty() || !self.chance(4) {
            return vec![self.layout(shape, room)];
        }
        let few = scale.parts.min(5);
        let count = if self.chance(8) { self.between(few, scale.parts) } else { 2 + self.below(few - 1) };
        let mut ends: Vec<u64> = (1..count).map(|_| self.below(shape[0] + 1)).collect();
        ends.push(shape[0]);
        ends.sort_unstable();
        let seed = self.0.word();
        let alike = self.chance(4);
        let begins = std::iter::once(0).chain(ends.clone());
        let part = |(begin, end): (u64, u64)| {
            let shape = [&[end - begin], &shape[1..]].concat();
            let mut own = if alike { Draw(Random::new(seed)) } else { Draw(Random::new(self.0.word())) };
            own.layout(&shape, room / count)
        };
        begins.zip(ends.clone()).map(part).collect()
    }

    /// Axes of so many dimensions, from the front and from the back; now and then one too many, or one twice.
    fn axes(&mut self, rank: usize) -> Axes {
        let rank = rank as i64;
        match self.below(60) {
            0 => Axes::List(vec![rank]),
            1 => Axes::List(vec![0, -rank]),
            2..=14 => Axes::All,
            _ => {
                let chosen: Vec<i64> = (0..rank).filter(|_| self.chance(2)).collect();
                Axes::List(chosen.into_iter().map(|axis| if self.chance(3) { axis - rank } else { axis }).collect())
            }
        }
    }

    fn reduce_max(&mut self, rank: usize) -> Asked {
        Asked::ReduceMax {
            axes: self.axes(rank),
            keep_dims: self.chance(2),
            empty: self.pick(&[EmptyMax::Least, EmptyMax::LowestFinite, EmptyMax::Error]),
        }
    }

    fn arg_max(&mut self, rank: usize) -> Asked {
        Asked::ArgMax {
            axes: self.axes(rank),
            keep_dims: self.chance(2),
            last: self.chance(2),
            index: self.pick(&[IndexType::I64, IndexType::I32, IndexType::U32]),
            output: self.pick(&[ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices]),
        }
    }

    fn hardmax(&mut self, rank: usize) -> Asked {
        let rank = rank as i64;
        let axis = self.below(2 * rank as u64 + 1) as i64 - rank; // the rank itself is no axis to go along
        Asked::Hardmax(if self.chance(2) { Slices::Along(axis) } else { Slices::From(axis) })
    }

    fn max(&mut self, volume: u64, dtype: DType, scale: &Scale) -> (Asked, Vec<Vec<Layout>>) {
        let count = if self.chance(6) { 1 + self.below(12) } else { 1 + self.below(4) };
        let rank = self.pick(&[0, 1, 1, 2, 2, 3, 3, 4, 5, 6]);
        let shape = self.shape(rank, volume / count, scale);
        let room = scale.bytes / dtype.bytes() / count;
        let mut operands: Vec<Vec<Layout>> = Vec::new();
        let whole = self.below(count) as usize;
        for n in 0..count as usize {
            let own = if n == whole { shape.clone() } else { self.broadcast(&shape) };
            operands.push(self.parts(&own, room, scale));
        }
        let in_place = self.chance(5).then_some(whole);
        if in_place.is_some() && !self.chance(10) {
            operands[whole] = vec![Layout::contiguous(&shape)];
        }
        let constant = self.chance(4).then(|| self.broadcast(&shape));
        let constant = constant.filter(|shape| shape.iter().product::<u64>() <= 4096);
        let view_of = (count > 1 && self.chance(3)).then(|| {
            let input = self.below(count) as usize;
            (input, (input + 1 + self.below(count - 1) as usize) % count as usize)
        });
        if let Some((input, other)) = view_of
            && operands[input].len() != operands[other].len()
            && !self.chance(10)
        {
            operands[input] = operands[other].clone();
        }
        (Asked::Max { constant, in_place, view_of }, operands)
    }

    /// A shape that broadcasts to this one.
    fn broadcast(&mut self, shape: &[u64]) -> Vec<u64> {
        let mut own = shape.to_vec();
        match self.below(5) {
            0 => own.iter_mut().filter(|_| self.chance(2)).for_each(|size| *size = 1),
            1 => drop(own.drain(..self.below(shape.len() as u64 + 1) as usize)),
            2 => own.clear(),
            _ => {}
        }
        own
    }
}
