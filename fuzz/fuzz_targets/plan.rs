//! Any operation over any view, planned for any limits: no panic, and what every plan keeps to.
#![no_main]

#[path = "../common/input.rs"]
mod input;
#[path = "../../tests/common/laws.rs"]
mod laws;

use input::Input;
use laws::lawful_plan;
use libfuzzer_sys::fuzz_target;
use wgmax::{ArgMax, ArgMaxOutput, EmptyMax, Error, Hardmax, IndexType, Max, Operation, ReduceMax, Slices, Tensor};

fn operation(input: &mut Input<'_>) -> Result<Box<dyn Operation>, Error> {
    let (dtype, nan) = (input.dtype(), input.nan());
    Ok(match input.below(4) {
        0 => {
            let empty = input.pick(&[EmptyMax::Least, EmptyMax::LowestFinite, EmptyMax::Error]);
            let keep_dims = input.flag();
            let op = ReduceMax::new(dtype, input.view()?).nan(nan).empty(empty).keep_dims(keep_dims);
            Box::new(op.axes(input.axes()))
        }
        1 => {
            let index = input.pick(&[IndexType::I64, IndexType::I32, IndexType::U32]);
            let output = input.pick(&[ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices]);
            let (last, keep_dims) = (input.flag(), input.flag());
            let op = ArgMax::new(dtype, input.view()?).nan(nan).index(index).output(output);
            Box::new(op.select_last(last).keep_dims(keep_dims).axes(input.axes()))
        }
        2 => {
            let axis = i64::from(input.below(20)) - 10;
            let slices = if input.flag() { Slices::Along(axis) } else { Slices::From(axis) };
            Box::new(Hardmax::new(dtype, input.view()?, slices).nan(nan))
        }
        _ => {
            let mut views = vec![input.view()?];
            let most = if input.flag() { 40 } else { 4 };
            for _ in 0..input.below(most) {
                let again = views[usize::from(input.byte()) % views.len()].clone();
                views.push(if input.flag() { again } else { input.view()? });
            }
            let count = views.len();
            let mut op = Max::new(dtype, views).nan(nan);
            if input.flag() {
                let shape: Vec<u64> = (0..input.below(4)).map(|_| u64::from(input.below(6))).collect();
                let bytes = shape.iter().product::<u64>() * dtype.bytes();
                op = op.constant(Tensor::from_bytes(dtype, shape, vec![1; bytes as usize])?);
            }
            if input.flag() {
                op = op.in_place(usize::from(input.byte()) % (count + 1));
            }
            Box::new(op)
        }
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let limits = input.limits();
    let Ok(op) = operation(&mut input) else {
        return;
    };
    if let Some(plan) = lawful_plan(&*op, &limits) {
        assert_eq!(op.plan(&limits).as_ref(), Ok(&plan), "another plan the second time");
    }
});
