//! Hardmax: short slices are searched and written by one dispatch; for long ones an ArgMax leaves the winners in scratch,
//! and one more dispatch writes.

use super::dims::word;
use super::reduction::{Cut, MAX_STEPS, Reduction, Setup, groups, input_bindings, nan_constants};
use super::{
    Access, Binding, Constant, HardmaxWriteParams, Kernel, Operator, Params, Pass, Plan, Program, Slot, Store,
    check_binding, grid, output_bindings,
};
use crate::{Error, Hardmax, Limits, Operation};

pub(crate) fn hardmax(op: &Hardmax, limits: &Limits) -> Result<Plan, Error> {
    let slice = op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs, limits)?;
    let mut plan = Plan::new(format!("Hardmax {} {:?} over {slice:?}", op.dtype, op.input.shape()), 1, &targets);
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    let shape = op.input.shape();
    let slice_len: u64 = slice.iter().map(|&d| shape[d]).product();
    let columns: u64 = slice.last().map_or(1, |&last| shape[last + 1..].iter().product());
    let out_len = outputs[0].len() / slice_len;
    let winners =
        Binding { binding: 3, slot: Slot::Scratch(1), writes: true, offset_bytes: 0, bytes: out_len.saturating_mul(4) };
    let reduction = Reduction {
        dtype: op.dtype,
        view: &op.input,
        reduced: &slice,
        operator: Operator::ArgMax,
        store: Store::Index,
        targets: vec![winners],
        constants: nan_constants(op.dtype, op.nan),
        index_words: Some(1),
        out_len,
    };
    let setup = reduction.setup(limits)?;
    plan.input_bytes[0] = setup.window.end_bytes();
    let output = Output { len: outputs[0].len(), slice_len, columns, target: targets[0] };
    if let Some(pass) = one_dispatch(&reduction, &setup, &output, limits)? {
        plan.passes = vec![pass];
        return plan.checked(limits);
    }
    check_binding("bytes of Hardmax's winners", winners.bytes, limits)?;
    (plan.passes, plan.scratch_bytes[0]) = reduction.passes(&setup, limits)?;
    plan.passes.push(write(&reduction, &setup, &output, winners, limits)?);
    plan.scratch_bytes[1] = winners.bytes;
    plan.checked(limits)
}

/// The output as blocks of `slice_len` rows of `columns` elements.
struct Output {
    len: u64,
    slice_len: u64,
    columns: u64,
    target: Binding,
}

/// Search and write in one, where a slice is not split and an invocation has not too much to write.
fn one_dispatch(reduction: &Reduction, setup: &Setup, output: &Output, limits: &Limits) -> Result<Option<Pass>, Error> {
    let Setup { tuning, problem, window, cut } = setup;
    let lanes = reduction.dtype.lanes();
    // What finding the winners may take is counted in the cut; as much again may go into writing.
    let few_steps = |team: u64| output.slice_len * lanes / team <= MAX_STEPS / 2;
    // Winners of long enough slices are scratch that the budget allows, and their search can take whole packs.
    let short = output.slice_len * reduction.dtype.bytes() < 256;
    let (program, access, team, groups) = if cut.chunks > 1 {
        return Ok(None);
    } else if output.columns > 1 {
        if !short {
            return Ok(None);
        }
        let shares = reduction.out_len / output.columns * output.columns.div_ceil(lanes);
        (Program::HardmaxColumns, Access::Strided, 1, shares.div_ceil(tuning.group))
    } else {
        let access = if cut.access == Access::Rows { Access::Rows } else { Access::Strided };
        // As when values are stored: the slices of a workgroup fill whole units.
        let team = cut.team.min(reduction.max_team(Store::Value, tuning));
        if !few_steps(team) {
            return Ok(None);
        }
        let program = Program::HardmaxRows { access, team: team > 1 };
        (program, access, team, groups(reduction.out_len, team, lanes, tuning.group))
    };
    let cut = Cut { access, team, ..*cut };
    let mut params = reduction.params(problem, &cut)?;
    params.columns = word(output.columns)?;
    word(output.len + 64 * tuning.group)?; // the shaders count output elements
    Ok(Some(Pass {
        kernel: Kernel { program, dtype: reduction.dtype, constants: reduction.scan_constants(problem, &cut, tuning) },
        params: Params::Reduction(params),
        grid: grid(groups, tuning.group * lanes, limits)?,
        bindings: [&input_bindings(access, *window), &[output.target][..]].concat(),
    }))
}

/// The dispatch that writes once the winners are known.
fn write(
    reduction: &Reduction,
    setup: &Setup,
    output: &Output,
    winners: Binding,
    limits: &Limits,
) -> Result<Pass, Error> {
    let tuning = &setup.tuning;
    let units = output.len.div_ceil(reduction.dtype.lanes());
    let share = tuning.share(units);
    let invocations = units.div_ceil(share);
    Ok(Pass {
        kernel: Kernel {
            program: Program::HardmaxWrite,
            dtype: reduction.dtype,
            constants: vec![Constant::Group(tuning.group as u32)],
        },
        params: Params::HardmaxWrite(HardmaxWriteParams {
            len: word(output.len)?,
            columns: word(output.columns)?,
            slice_len: word(output.slice_len)?,
            share: word(share)?,
        }),
        grid: grid(invocations.div_ceil(tuning.group), tuning.group * share * reduction.dtype.lanes(), limits)?,
        bindings: vec![Binding { binding: 1, writes: false, ..winners }, output.target],
    })
}
