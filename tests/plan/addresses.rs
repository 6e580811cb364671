//! What a Max's dispatches read for an element of the output: of each operand the element that its view names, and no other.
//! Addresses are counted modulo 2^32, so this holds only where a dispatch's elements lie close enough together.

use std::collections::BTreeSet;

use wgmax::plan::{BroadcastParams, Dispatch, MaxAccess, MaxOperands, OperandParams, Override, Params, Program, Slot};
use wgmax::{AdapterKind, DType, Error, Limits, Max, Operation, View};

use super::common::Random;
use super::common::laws::lawful_plan;

/// The elements of each input that the plan's dispatches read for one of the output.
fn reads(dispatches: &[Dispatch], inputs: usize, element: u64) -> Vec<BTreeSet<u64>> {
    let mut reads = vec![BTreeSet::new(); inputs];
    for dispatch in dispatches {
        let Params::Broadcast(params) = &dispatch.params else { panic!("{}", dispatch.kernel) };
        let size = dispatch.kernel.dtype.bytes();
        let Some(local) = place_in_box(dispatch, params, element) else { continue };
        for (n, operand) in params.operands.iter().enumerate() {
            let binding = dispatch.bindings[1 + n];
            let Slot::Input(input) = binding.slot else { panic!("{:?}", binding.slot) };
            let address = address(dispatch.kernel.program, params, operand, n, local);
            let checked = dispatch.kernel.overrides.contains(&Override::BoundsChecked);
            if !checked || u64::from(address) < binding.bytes / size {
                reads[input].insert(binding.offset_bytes / size + u64::from(address));
            }
        }
    }
    reads
}

/// Which of the elements that a dispatch writes it is.
fn place_in_box(dispatch: &Dispatch, params: &BroadcastParams, element: u64) -> Option<u64> {
    let dtype = dispatch.kernel.dtype;
    let (pack, lanes) = (16 / dtype.bytes(), 4_u64.div_ceil(dtype.bytes()));
    let (first, begin, len) = (u64::from(params.first), u64::from(params.begin), u64::from(params.len));
    let bound = element.checked_sub(dispatch.bindings[0].offset_bytes / dtype.bytes())?;
    let local = bound.checked_sub(begin).filter(|&local| local < len)?;
    let writes = |write_len: u64| local / write_len < len / write_len;
    let is_written = match dispatch.kernel.program {
        Program::Max { access: MaxAccess::Packs { .. }, .. } => writes(pack),
        Program::Max { access: MaxAccess::ShortRows { len }, .. } => writes(pack * u64::from(len)),
        Program::Max { access: MaxAccess::Columns, .. } => {
            writes(if dispatch.kernel.overrides.contains(&Override::Spread) { pack } else { 4 * pack })
        }
        _ => bound / lanes >= first,
    };
    is_written.then_some(local)
}

fn address(program: Program, params: &BroadcastParams, operand: &OperandParams, n: usize, local: u64) -> u32 {
    let row_len = match program {
        Program::Max { access: MaxAccess::Columns, .. } => 1, // all dimensions are around it
        _ => params.row_len.into(),
    };
    let is_one_of = |mask: u32| mask >> n & 1 == 1;
    let along_row = match program {
        Program::Max { operands: MaxOperands { of_rows, .. }, .. } if is_one_of(of_rows) => 0,
        _ => local % row_len,
    };
    let mut address = operand.start.wrapping_add(along_row as u32);
    let mut rest = local / row_len;
    for (&size, &stride) in params.sizes.iter().zip(&operand.strides) {
        address = address.wrapping_add((stride as u32).wrapping_mul((rest % u64::from(size)) as u32));
        rest /= u64::from(size);
    }
    address
}

/// The element of its buffer that a view has in a place.
fn named(view: &View, mut place: u64) -> u64 {
    let mut element = view.offset();
    for (&size, &stride) in view.shape().iter().zip(view.strides()).rev() {
        element = element.wrapping_add_signed(stride * (place % size) as i64);
        place /= size;
    }
    element
}

/// Whether there is a plan. Of the output's elements the first and the last ones are looked at, and some between.
fn check(dtype: DType, views: &[View], limits: &Limits) -> bool {
    let op = Max::new(dtype, views.to_vec());
    let Some(plan) = lawful_plan(&op, limits) else {
        assert!(matches!(op.plan(limits), Err(Error::TooLarge { .. })), "{:?}", op.plan(limits));
        return false;
    };
    let len = views[0].len();
    let mut random = Random::new(len);
    let some = (0..300).map(|_| random.below(len));
    for element in [0, len / 3, len / 2, len - 1].into_iter().chain(some) {
        for (view, read) in views.iter().zip(reads(&plan.dispatches, views.len(), element)) {
            assert_eq!(read, BTreeSet::from([named(view, element)]), "element {element} of {view:?}\n{plan}");
        }
    }
    true
}

fn strided(shape: &[u64], strides: &[i64], offset: u64) -> View {
    View::strided(shape, strides, offset).unwrap()
}

#[test]
fn elements_2_to_the_32_apart_are_not_taken_for_one_another() {
    let (far, square) = (1 << 31, 70_000);
    for adapter in AdapterKind::ALL {
        let limits = Limits { adapter, ..Limits::default() };
        for dtype in [DType::U8, DType::F32] {
            assert!(check(dtype, &[strided(&[2, 4], &[1, far], 0)], &limits));
            // They are bound from up to 255 elements before the first on.
            for near in (1..20).map(|n| (1 << 32) - 20 * n) {
                assert!(check(dtype, &[strided(&[2, 2], &[1, near], 200)], &limits));
            }
            assert!(check(dtype, &[strided(&[2, 4], &[1, -far], 3 * far as u64)], &limits));
            assert!(check(dtype, &[strided(&[3, 5, 2], &[7, far / 2, 3 << 27], 11)], &limits));
            let whole = View::new([square, square]).unwrap();
            check(dtype, &[whole.permute(&[1, 0]).unwrap(), whole], &limits);
        }
    }
}

/// Operands in any layout, some of them far larger than a binding.
#[test]
fn each_element_is_read_from_its_place() {
    let mut planned = 0;
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let mut pick = |from: &[u64]| from[random.below(from.len() as u64) as usize];
        let shape: Vec<u64> = (0..=seed % 4).map(|_| pick(&[1, 2, 3, 4, 7, 8, 33, 64, 1000, 2049])).collect();
        let mut view = || {
            let strides: Vec<i64> = match pick(&[0, 1, 2]) {
                0 => View::new(shape.clone()).unwrap().strides().to_vec(),
                _ => shape
                    .iter()
                    .map(|_| {
                        pick(&[0, 1, 5, 64, 1000, 1 << 20, 1 << 27, 3 << 30, (1 << 32) - 40, (1 << 32) - 300]) as i64
                            * [1, -1][pick(&[0, 1]) as usize]
                    })
                    .collect(),
            };
            let below = |(&size, &stride): (&u64, &i64)| (size - 1) * stride.min(0).unsigned_abs();
            let offset = pick(&[0, 1, 7, 200]) + shape.iter().zip(&strides).map(below).sum::<u64>();
            strided(&shape, &strides, offset)
        };
        let mut views: Vec<View> = (0..1 + seed % 3).map(|_| view()).collect();
        views.dedup(); // an operand again is not read again
        let adapter = AdapterKind::ALL[seed as usize % 3];
        let max_binding_bytes = [64 << 10, 1 << 20, 128 << 20, 4 << 30][seed as usize / 3 % 4];
        let dtype = DType::ALL[seed as usize % 13];
        planned += u64::from(check(dtype, &views, &Limits { adapter, max_binding_bytes, ..Limits::default() }));
    }
    assert!(planned > 600, "{planned} of 2000 are planned");
}
