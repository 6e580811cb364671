//! Operations out of a fuzzer's bytes: small numbers, powers of two and their neighbours, and any number, so that what
//! is near a boundary comes often.
#![allow(dead_code)] // each target uses its own part

#[path = "../../tests/common/tunings.rs"]
mod tunings;

use tunings::any_tuning;
use wgmax::{AdapterKind, Axes, DType, Error, Limits, NanPolicy, Parts, Tensor, View};

/// The most operands of a Max: runs with so many are slow ones.
pub const MOST_OPERANDS: usize = 1000;

/// The most parts of an input: planning is quadratic in them, and leaves its budget where they are many.
const MOST_PARTS: usize = 4000;

/// The fuzzer's bytes, read from the front; zeros once they are used up.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, n: u8) -> u8 {
        self.byte() % n
    }

    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    pub fn any(&mut self) -> u64 {
        (0..8).fold(0, |n, _| n << 8 | u64::from(self.byte()))
    }

    pub fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => self.any(),
            1 => (1_u64 << self.below(64)).wrapping_add(u64::from(self.below(3))).wrapping_sub(1),
            2 => 1 << self.below(24),
            3 => u64::from(self.byte()) << 8 | u64::from(self.byte()),
            4 => u64::from(self.byte()),
            _ => u64::from(self.below(20)),
        }
    }

    pub fn signed(&mut self) -> i64 {
        let magnitude = self.number() as i64;
        if self.flag() { magnitude.wrapping_neg() } else { magnitude }
    }

    pub fn dtype(&mut self) -> DType {
        self.pick(&DType::ALL)
    }

    pub fn nan(&mut self) -> NanPolicy {
        self.pick(&[NanPolicy::Propagate, NanPolicy::Ignore])
    }

    /// Mostly few, seldom as many as this.
    pub fn count(&mut self, most: usize) -> usize {
        match self.byte() {
            255 => most.min(usize::from(self.byte()) << 8 | usize::from(self.byte())),
            250..255 => most.min(self.below(40).into()),
            few => most.min(usize::from(few) % 6),
        }
    }

    pub fn shape(&mut self) -> Vec<u64> {
        let rank = self.count(300);
        // Many dimensions have elements that can be counted where most of their sizes are 1.
        (0..rank).map(|_| if rank < 20 { self.number() } else { 1 + u64::from(self.below(16) / 13) }).collect()
    }

    pub fn view(&mut self) -> Result<View, Error> {
        let shape = self.shape();
        let rank = shape.len();
        let view = match self.below(3) {
            0 => {
                let strides: Vec<i64> = (0..rank).map(|_| self.signed()).collect();
                View::strided(shape, strides, self.number())?
            }
            _ => View::new(shape)?,
        };
        (0..self.below(4)).try_fold(view, |view, _| self.changed(view))
    }

    /// A view, or several that follow one another: the same, of another length, or of another layout.
    pub fn parts(&mut self) -> Result<Parts, Error> {
        let first = self.view()?;
        let mut views = vec![first.clone()];
        if self.below(4) == 0 {
            let layouts = [first.clone(), self.changed(first.clone())?, first.reverse(0).unwrap_or(first)];
            (1..self.count(MOST_PARTS))
                .for_each(|_| views.push(self.pick(&[&layouts[0], &layouts[1], &layouts[2]]).clone()));
        }
        Parts::new(views)
    }

    /// One of a view's changes. Views lie within the bytes that the view before them needs.
    fn changed(&mut self, view: View) -> Result<View, Error> {
        let axis = usize::from(self.below(7));
        let needed = view.buffer_bytes(DType::U8);
        let change = self.below(5);
        let changed = match change {
            0 => view.reverse(axis),
            1 => view.slice(axis, self.number(), self.number(), self.number()),
            2 => view.split(axis, [self.number(), self.number()]),
            3 => view.broadcast(&self.shape()),
            _ => view.permute(&(0..view.rank()).rev().collect::<Vec<_>>()),
        }?;
        let now = changed.buffer_bytes(DType::U8);
        let stays = changed.is_empty() || view.is_empty() || now.is_ok_and(|now| needed.is_ok_and(|most| now <= most));
        assert!(stays, "{view:?} became {changed:?}");
        Ok(changed)
    }

    pub fn axes(&mut self) -> Axes {
        match self.below(4) {
            0 => Axes::All,
            1 => Axes::List((0..self.below(5)).map(|_| self.signed()).collect()),
            _ => {
                let set = self.byte();
                Axes::List((0..8).filter(|axis| set >> axis & 1 == 1).collect())
            }
        }
    }

    /// A tensor of axes, in whatever form.
    pub fn axes_tensor(&mut self) -> Tensor {
        let axes: Vec<i64> = (0..self.below(5)).map(|_| self.signed()).collect();
        let tensor = match self.below(6) {
            0 => Tensor::new([], &[axes.first().copied().unwrap_or(0)]),
            1 => Tensor::new([], &[axes.first().copied().unwrap_or(0) as i32]),
            2 => Tensor::new([axes.len() as u64], &axes.iter().map(|&axis| axis as i32).collect::<Vec<_>>()),
            3 => Tensor::new([axes.len() as u64, 1], &axes),
            4 => Tensor::new([axes.len() as u64], &axes.iter().map(|&axis| axis as f32).collect::<Vec<_>>()),
            _ => Tensor::new([axes.len() as u64], &axes),
        };
        tensor.expect("as many elements as the shape has")
    }

    /// WebGPU's defaults with some limits changed, tuned in any way now and then. Alignments are powers of two, as the specification has them.
    pub fn limits(&mut self) -> Limits {
        let policy = self.byte();
        let adapter = AdapterKind::ALL[usize::from(policy) % 3];
        let changed = self.byte();
        let (int64, shared_buffers) = (changed & 64 != 0, changed & 128 != 0);
        let mut limits = Limits { adapter, int64, shared_buffers, ..Limits::default() };
        let word = |input: &mut Self| input.number().min(u32::MAX.into()) as u32;
        if changed & 1 != 0 {
            limits.max_binding_bytes = self.number();
        }
        if changed & 2 != 0 {
            limits.binding_alignment_bytes = 1 << self.below(13);
        }
        if changed & 4 != 0 {
            limits.max_storage_bindings = word(self);
        }
        if changed & 8 != 0 {
            limits.max_group_invocations = word(self);
        }
        if changed & 16 != 0 {
            limits.max_group_memory_bytes = word(self);
        }
        if changed & 32 != 0 {
            limits.max_groups = word(self);
        }
        if policy >= 192 {
            limits.tuning = Some(any_tuning(&mut |n| self.any() % n));
        }
        limits
    }
}
