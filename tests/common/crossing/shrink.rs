//! A case made smaller as long as it fails in the same way.

use std::time::{Duration, Instant};

use wgmax::{ArgMaxOutput, Axes, EmptyMax, IndexType, Limits, NanPolicy, Slices, Tuning};

use super::{Asked, Case, Content, Finding, Layout, Outcome};
use crate::common::Data;

/// How long a case may take to be made smaller.
const PATIENCE: Duration = Duration::from_secs(20);

/// The smallest case found, how it fails, and how many were tried.
pub fn shrink(
    mut case: Case,
    mut finding: Finding,
    device: &Limits,
    check: impl Fn(&Case) -> Result<Outcome, Finding>,
) -> (Case, Finding, u64) {
    let begin = Instant::now();
    let mut tries = 0;
    let mut all = simpler(&case, device);
    // Ways are tried in turns, from where the last one helped, until none of them does.
    let (mut way, mut in_vain) = (0, 0);
    while in_vain < all.len() && begin.elapsed() < PATIENCE {
        way %= all.len();
        tries += 1;
        match check(&all[way]) {
            Err(own) if own.kind == finding.kind => {
                (case, finding, in_vain) = (all.swap_remove(way), own, 0);
                all = simpler(&case, device);
            }
            _ => (way, in_vain) = (way + 1, in_vain + 1),
        }
    }
    (case, finding, tries)
}

/// Cases that are simpler in one way each, the boldest first. Each is smaller by an order that has an end.
fn simpler(case: &Case, device: &Limits) -> Vec<Case> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case) -> bool| {
        let mut own = case.clone();
        if change(&mut own) && own != *case {
            all.push(own);
        }
    };
    for n in 0..case.operands.len() {
        with(&|own| own.remove_operand(n));
        with(&|own| own.join(n));
        for part in 0..case.operands[n].len() {
            with(&|own| own.operands[n].len() > 1 && drop_from(&mut own.operands[n], part));
        }
    }
    let rank = case.operands.iter().map(|parts| parts[0].shape.len()).max().unwrap_or(0);
    for d in 0..rank {
        with(&|own| own.remove_dimension(d));
    }
    for size in sizes(case) {
        for less in [1, 2, size / 4, size / 2, size / 4 * 3, size / 8 * 7, size / 32 * 31, size - size.div_ceil(256)] {
            with(&|own| less > 0 && less < size && own.resize(size, less));
        }
    }
    for n in 0..case.operands.len() {
        for part in 0..case.operands[n].len() {
            with(&|own| {
                let layout = &mut own.operands[n][part];
                *layout = Layout::contiguous(&layout.shape);
                true
            });
            with(&|own| {
                own.operands[n][part].lowest = 0;
                true
            });
            for d in 0..case.operands[n][part].strides.len() {
                with(&|own| {
                    let stride = &mut own.operands[n][part].strides[d];
                    *stride = stride.abs();
                    true
                });
            }
        }
    }
    for plain in plain_questions(&case.asked) {
        with(&|own| {
            own.asked = plain.clone();
            true
        });
    }
    for field in Tuning::FIELDS {
        with(&|own| {
            let usual = field.get(&Tuning::of(own.limits.adapter));
            own.limits.tuning.iter_mut().for_each(|tuning| *(field.get_mut)(tuning) = usual);
            true
        });
    }
    for change in plain_fields() {
        with(&|own| {
            change(own, device);
            true
        });
    }
    all
}

fn drop_from<T>(list: &mut Vec<T>, n: usize) -> bool {
    list.remove(n);
    true
}

/// The sizes of dimensions, the greatest first.
fn sizes(case: &Case) -> Vec<u64> {
    let mut sizes: Vec<u64> = case.layouts().flat_map(|layout| layout.shape.clone()).filter(|&size| size > 1).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    sizes
}

/// Options with one of them as it is to begin with.
fn plain_questions(asked: &Asked) -> Vec<Asked> {
    match asked.clone() {
        Asked::ReduceMax { axes, keep_dims, .. } => vec![
            Asked::ReduceMax { axes: Axes::All, keep_dims, empty: EmptyMax::Least },
            Asked::ReduceMax { axes, keep_dims: false, empty: EmptyMax::Least },
        ],
        Asked::ArgMax { axes, keep_dims, last, index, output } => vec![
            Asked::ArgMax { axes: Axes::All, keep_dims, last, index, output },
            Asked::ArgMax { axes: axes.clone(), keep_dims: false, last, index: IndexType::U32, output },
            Asked::ArgMax { axes: axes.clone(), keep_dims, last: false, index, output },
            Asked::ArgMax { axes, keep_dims, last, index, output: ArgMaxOutput::Indices },
        ],
        Asked::Hardmax(_) => vec![],
        Asked::Max { constant, in_place, view_of } => vec![
            Asked::Max { constant: None, in_place, view_of },
            Asked::Max { constant: constant.clone(), in_place: None, view_of },
            Asked::Max { constant, in_place, view_of: None },
        ],
    }
}

/// Everything else, as simple as it is on the device.
fn plain_fields() -> [fn(&mut Case, &Limits); 14] {
    [
        |own, _| own.places = [0; 3],
        |own, _| own.more = 0,
        |own, _| own.nan = NanPolicy::Propagate,
        |own, _| own.content = Content::All(Data::Random),
        |own, device| own.limits.max_binding_bytes = device.max_binding_bytes,
        |own, device| own.limits.max_storage_bindings = device.max_storage_bindings.min(8),
        |own, device| own.limits.max_group_memory_bytes = device.max_group_memory_bytes.min(16 << 10),
        |own, device| own.limits.max_groups = device.max_groups.min(65_535),
        |own, device| own.limits.max_group_invocations = device.max_group_invocations.min(256),
        |own, device| own.limits.binding_alignment_bytes = device.binding_alignment_bytes.max(32),
        |own, _| own.limits.int64 = false,
        |own, _| own.limits.shared_buffers = false,
        |own, _| own.limits.tuning = None,
        |own, _| own.limits.tuning.iter_mut().for_each(|tuning| tuning.int64 = false),
    ]
}

impl Case {
    fn remove_operand(&mut self, n: usize) -> bool {
        let Asked::Max { in_place, view_of, .. } = &mut self.asked else { return false };
        if self.operands.len() == 1 || *in_place == Some(n) || view_of.is_some_and(|(own, of)| own == n || of == n) {
            return false;
        }
        let place = |own: usize| own - usize::from(own > n);
        *in_place = in_place.map(place);
        *view_of = view_of.map(|(own, of)| (place(own), place(of)));
        drop_from(&mut self.operands, n)
    }

    /// Makes one part of an operand's parts.
    fn join(&mut self, n: usize) -> bool {
        let parts = &mut self.operands[n];
        if parts.len() == 1 {
            return false;
        }
        let mut shape = parts[0].shape.clone();
        shape[0] = parts.iter().map(|part| part.shape[0]).sum();
        *parts = vec![Layout::contiguous(&shape)];
        true
    }

    /// Takes a dimension away: of Max, counted from the last one.
    fn remove_dimension(&mut self, d: usize) -> bool {
        let from_end = matches!(self.asked, Asked::Max { .. });
        let rank = self.operands[0][0].shape.len();
        let place = |rank: usize| if from_end { rank.checked_sub(d + 1) } else { Some(d) };
        for parts in &mut self.operands {
            let Some(at) = place(parts[0].shape.len()) else { continue };
            if at == 0 && parts.len() > 1 {
                return false;
            }
            for layout in parts {
                layout.shape.remove(at);
                layout.strides.remove(at);
            }
        }
        match &mut self.asked {
            Asked::ReduceMax { axes: Axes::List(axes), .. } | Asked::ArgMax { axes: Axes::List(axes), .. } => {
                let resolved = axes.iter().map(|&axis| if axis < 0 { axis + rank as i64 } else { axis });
                let left = resolved.filter(|&axis| axis != d as i64);
                *axes = left.map(|axis| axis - i64::from(axis > d as i64)).collect();
            }
            Asked::Hardmax(Slices::Along(axis) | Slices::From(axis)) => {
                let resolved = if *axis < 0 { *axis + rank as i64 } else { *axis };
                *axis = resolved - i64::from(resolved > d as i64);
            }
            Asked::Max { constant: Some(shape), .. } => {
                if let Some(at) = place(shape.len()) {
                    shape.remove(at);
                }
            }
            _ => {}
        }
        true
    }

    /// Gives every dimension of this size another; layouts that were contiguous stay so.
    fn resize(&mut self, size: u64, less: u64) -> bool {
        let resized = |shape: &mut Vec<u64>| shape.iter_mut().filter(|own| **own == size).for_each(|own| *own = less);
        for layout in self.operands.iter_mut().flatten() {
            let contiguous = Layout { lowest: layout.lowest, ..Layout::contiguous(&layout.shape) } == *layout;
            resized(&mut layout.shape);
            if contiguous {
                *layout = Layout { lowest: layout.lowest, ..Layout::contiguous(&layout.shape) };
            }
        }
        if let Asked::Max { constant: Some(shape), .. } = &mut self.asked {
            resized(shape);
        }
        true
    }
}
