//! Any operation over any views and parts, planned for any limits: no panic, what every plan keeps to, and no more work
//! than operation and plan are worth.
#![no_main]

#[path = "../../tests/common/budget.rs"]
mod budget;
#[path = "../common/input.rs"]
mod input;
#[path = "../../tests/common/laws.rs"]
#[allow(dead_code)] // what plans by itself
mod laws;

use budget::thrifty_plan;
use input::{Input, MOST_OPERANDS};
use laws::check_planned;
use libfuzzer_sys::fuzz_target;
use wgmax::{AnyOperation, ArgMax, ArgMaxOutput, EmptyMax, Error, Hardmax, IndexType, Max, ReduceMax, Slices, Tensor};

fn operation(input: &mut Input<'_>) -> Result<AnyOperation, Error> {
    let (dtype, nan) = (input.dtype(), input.nan());
    Ok(match input.below(4) {
        0 => {
            let empty = input.pick(&[EmptyMax::Least, EmptyMax::LowestFinite, EmptyMax::Error]);
            let keep_dims = input.flag();
            let op = ReduceMax::new(dtype, input.parts()?).nan(nan).empty(empty).keep_dims(keep_dims);
            op.axes(input.axes()).into()
        }
        1 => {
            let index = input.pick(&[IndexType::I64, IndexType::I32, IndexType::U32]);
            let output = input.pick(&[ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices]);
            let (last, keep_dims) = (input.flag(), input.flag());
            let op = ArgMax::new(dtype, input.parts()?).nan(nan).index(index).output(output);
            op.select_last(last).keep_dims(keep_dims).axes(input.axes()).into()
        }
        2 => {
            let axis = i64::from(input.below(20)) - 10;
            let slices = if input.flag() { Slices::Along(axis) } else { Slices::From(axis) };
            Hardmax::new(dtype, input.parts()?, slices).nan(nan).into()
        }
        _ => {
            let mut inputs = vec![input.parts()?];
            for _ in 0..input.count(MOST_OPERANDS) {
                let again = inputs[usize::from(input.byte()) % inputs.len()].clone();
                inputs.push(if input.below(8) == 1 { input.parts()? } else { again });
            }
            let count = inputs.len();
            let mut op = Max::new(dtype, inputs).nan(nan);
            if input.flag() {
                let shape: Vec<u64> = (0..input.below(4)).map(|_| u64::from(input.below(6))).collect();
                let bytes = shape.iter().product::<u64>() * dtype.bytes();
                op = op.constant(Tensor::from_bytes(dtype, shape, vec![1; bytes as usize])?);
            }
            if input.flag() {
                op = op.in_place(usize::from(input.byte()) % (count + 1));
            }
            if input.flag() {
                op = op.view_of(usize::from(input.byte()) % (count + 1), usize::from(input.byte()) % (count + 1));
            }
            op.into()
        }
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let limits = input.limits();
    let Ok(op) = operation(&mut input) else {
        return;
    };
    check_planned(&op, &thrifty_plan(&op, &limits), &limits);
});
