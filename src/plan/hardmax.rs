//! Hardmax: short slices are searched and written by one dispatch; for long ones an ArgMax leaves the winners in scratch,
//! and one more dispatch writes.

use std::ops::Range;

use super::dims::{blocks, word};
use super::fill::{fill, filled_words};
use super::pieces::slabs;
use super::reduction::{Cut, MAX_STEPS, Reduction, Setup, Source, groups, input_bindings, nan_constants, sources};
use super::tuning::tuning;
use super::{
    Access, Binding, Constant, HardmaxWriteParams, Kernel, Operator, Params, Pass, Passes, Plan, Program, Slot, Store,
    binding_elements, binding_step, check_binding, grid, output_bindings, plannable, target_part,
};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::{DType, Error, Hardmax, Limits, Operation};

pub(crate) fn hardmax(op: &Hardmax, limits: &Limits) -> Result<Plan, Error> {
    let limits = &plannable(limits)?;
    let slice = op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs);
    let plan = Plan::new(
        format!("Hardmax {} {} over {}", op.dtype, list(op.input.shape()), list(&slice)),
        op.input.views().len(),
        &targets,
    );
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    let output = Output::new(op.input.shape(), &slice, targets[0]);
    if output.slice_len == 1 {
        let one = with_element_type!(op.dtype, T => filled_words(T::ONE)); // every element is the maximum of its slice
        return plan.complete(fill(op.dtype, one, output.target, limits)?, limits);
    }
    let sources = sources(&op.input, 0);
    let job = Job { op, slice: &slice, sources, output };
    plan.complete(job.passes(limits)?, limits)
}

/// A Hardmax, or a slab of one.
struct Job<'a> {
    op: &'a Hardmax,
    slice: &'a [usize],
    sources: Vec<Source>,
    output: Output,
}

impl Job<'_> {
    fn passes(&self, limits: &Limits) -> Result<Passes, Error> {
        match self.whole(limits) {
            Err(Error::TooLarge { .. }) => {}
            passes => return passes,
        }
        match self.slabs(limits) {
            Ok(None) | Err(Error::TooLarge { .. }) => {}
            Ok(Some(passes)) => return Ok(passes),
            Err(error) => return Err(error),
        }
        let mut passes = self.search().passes(&self.sources, limits)?;
        passes.append(self.write(limits)?)?;
        Ok(passes)
    }

    /// The passes, if input and output fit a binding each.
    fn whole(&self, limits: &Limits) -> Result<Passes, Error> {
        check_binding("bytes of an output", self.output.target.bytes, limits)?;
        let search = self.search();
        let setup = search.setup(&self.sources, limits)?;
        if let Some(pass) = one_dispatch(&search, &setup, &self.output, limits)? {
            return Ok(Passes(vec![pass]));
        }
        let mut passes = search.whole(&setup, limits)?;
        passes.append(self.write(limits)?)?;
        Ok(passes)
    }

    /// The passes, if slabs along the outermost dimension fit, each a Hardmax of its own.
    fn slabs(&self, limits: &Limits) -> Result<Option<Passes>, Error> {
        let shape = self.op.input.shape();
        let Some(d) = (0..shape.len()).find(|&d| shape[d] > 1 && !self.slice.contains(&d)) else { return Ok(None) };
        if self.slice.iter().any(|&own| own < d && shape[own] > 1) {
            return Ok(None); // a slab's outputs would not follow one another
        }
        let outputs = self.output.len / shape[d];
        let bytes = self.op.dtype.bytes();
        let Some(slabs) = slabs(&self.search(), &self.sources, d, outputs, &[bytes], limits)? else { return Ok(None) };
        let mut passes = Passes::default();
        for slab in slabs {
            let target = target_part(self.output.target, bytes, slab.first * outputs, slab.len * outputs);
            let mut shape = shape.to_vec();
            shape[d] = slab.len;
            let output = Output::new(&shape, self.slice, target);
            passes.append(Job { sources: vec![slab.source], output, ..*self }.whole(limits)?)?;
        }
        Ok(Some(passes))
    }

    /// The reduction that leaves the winners in scratch 1.
    fn search(&self) -> Reduction<'_> {
        let out_len = self.output.len / self.output.slice_len;
        Reduction {
            dtype: self.op.dtype,
            reduced: self.slice,
            operator: Operator::ArgMax,
            store: Store::Index,
            targets: vec![Binding {
                binding: 3,
                slot: Slot::Scratch(1),
                writes: true,
                offset_bytes: 0,
                bytes: out_len.saturating_mul(4),
            }],
            constants: nan_constants(self.op.dtype, self.op.nan),
            index_words: Some(1),
            out_len,
        }
    }

    /// The dispatches that write once the winners are known: one where output and winners fit a binding each.
    fn write(&self, limits: &Limits) -> Result<Passes, Error> {
        let bytes = self.op.dtype.bytes();
        let step = binding_step(&[bytes], limits);
        let write_len = self.output.write_len(self.op.dtype);
        let most = tuning(limits).writable(binding_elements(bytes, limits)?, step, write_len);
        let mut passes = Passes::default();
        let mut first = 0;
        while first < self.output.len {
            let countable = self.output.countable(first) / step * step;
            if countable == 0 {
                let limit = u64::from(u32::MAX) - 2 * step;
                return Err(Error::TooLarge { what: "elements of a slice", given: self.output.slice_len, limit });
            }
            let len = most.min(countable).min(self.output.len - first);
            let windows = self.output.winners(first, len, limits);
            let several = windows.len() > 1;
            for (n, winners) in windows.into_iter().enumerate() {
                let continues = (n > 0).then_some(Constant::Continues);
                let constants = several.then_some(Constant::Guarded).into_iter().chain(continues).collect();
                passes.push(self.write_part(first, len, winners, constants, limits)?)?;
            }
            first += len;
        }
        Ok(passes)
    }

    /// Writes some of the output, as far as these winners are concerned.
    fn write_part(
        &self,
        first: u64,
        len: u64,
        winners: Binding,
        mut constants: Vec<Constant>,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let Output { slice_len, columns, target, .. } = self.output;
        let tuning = tuning(limits);
        let dtype = self.op.dtype;
        let line = first / columns;
        let (block, position) = (line / slice_len, line % slice_len);
        word(len + columns)?; // the shader counts on from the first column
        let packs = self.output.has_packs(dtype);
        let program = if columns == 1 { Program::HardmaxWriteRows { packs } } else { Program::HardmaxWriteColumns };
        let write_len = self.output.write_len(dtype);
        let writes = len.div_ceil(write_len);
        let share = tuning.share(writes);
        constants.insert(0, Constant::Group(tuning.group as u32));
        Ok(Pass {
            kernel: Kernel::new(program, dtype, constants, &tuning),
            params: Params::HardmaxWrite(HardmaxWriteParams {
                len: word(len)?,
                columns: word(columns)?,
                slice_len: word(slice_len)?,
                share: word(share)?,
                column: word(first % columns)?,
                position: word(position)?,
                // Counted from the first block's first winner on, which may lie before the window or after its begin.
                first_winner: (winners.offset_bytes / 4).wrapping_sub(block * columns) as u32,
                winners: word(winners.bytes / 4)?,
            }),
            grid: grid(writes.div_ceil(share).div_ceil(tuning.group), tuning.group * share * write_len, limits)?,
            bindings: vec![winners, target_part(target, dtype.bytes(), first, len)],
        })
    }
}

/// The output as blocks of `slice_len` rows of `columns` elements.
#[derive(Clone, Copy)]
struct Output {
    len: u64,
    slice_len: u64,
    columns: u64,
    target: Binding,
}

impl Output {
    fn new(shape: &[u64], slice: &[usize], target: Binding) -> Output {
        let columns = slice.last().map_or(1, |&last| shape[last + 1..].iter().product());
        let slice_len = slice.iter().map(|&d| shape[d]).product();
        Output { len: shape.iter().product(), slice_len, columns, target }
    }

    /// Whether slices are whole packs.
    fn has_packs(&self, dtype: DType) -> bool {
        self.columns == 1 && self.slice_len.is_multiple_of(dtype.pack_elements())
    }

    /// Elements that are written at once: a pack's, or an output unit's.
    fn write_len(&self, dtype: DType) -> u64 {
        if self.has_packs(dtype) { dtype.pack_elements() } else { dtype.lanes() }
    }

    /// How many elements from one on a dispatch can write: it counts rows from the beginning of that one's slice on, in
    /// 32 bits.
    fn countable(&self, first: u64) -> u64 {
        let position = first / self.columns % self.slice_len;
        (u64::from(u32::MAX) - 1 - position).saturating_mul(self.columns)
    }

    /// The winners that some of the output needs, as windows of scratch 1.
    fn winners(&self, first: u64, len: u64, limits: &Limits) -> Vec<Binding> {
        let last = first + len - 1;
        let winner = |line: u64, column: u64| line / self.slice_len * self.columns + column;
        let (line, last_line) = (first / self.columns, last / self.columns);
        let (begin, end) = match line == last_line {
            true => (winner(line, first % self.columns), winner(line, last % self.columns) + 1),
            false => (winner(line, 0), winner(last_line, self.columns)),
        };
        let step = binding_step(&[4], limits);
        let most = (limits.max_binding_bytes / 4 / step).max(1) * step;
        let begin = begin / step * step;
        let window = |Range { start, end }: Range<u64>| Binding {
            binding: 1,
            slot: Slot::Scratch(1),
            writes: false,
            offset_bytes: start * 4,
            bytes: (end - start) * 4,
        };
        blocks(begin..end, most).map(window).collect()
    }
}

/// Search and write in one, where a slice is not split and an invocation has not too much to find and to write.
fn one_dispatch(reduction: &Reduction, setup: &Setup, output: &Output, limits: &Limits) -> Result<Option<Pass>, Error> {
    let Setup { tuning, problem, window, cut } = setup;
    let dtype = reduction.dtype;
    let packs = output.has_packs(dtype);
    // Winners of long enough slices are scratch that the budget allows, and their search can take whole packs.
    let short = output.slice_len * dtype.bytes() < 256;
    // A slice that is whole packs stands by itself; of others as many belong together as fill output units.
    let (store, slices) = if packs { (Store::Index, 1) } else { (Store::Value, dtype.lanes()) };
    let (program, access, team) = if cut.chunks > 1 || (output.columns > 1 && !short) {
        return Ok(None);
    } else if output.columns > 1 {
        (Program::HardmaxColumns, Access::Strided, 1)
    } else {
        let access = if cut.access == Access::Rows { Access::Rows } else { Access::Strided };
        let team = cut.team.min(reduction.max_team(store, tuning));
        (Program::HardmaxRows { access, team: team > 1, packs }, access, team)
    };
    let cut = Cut { access, team, ..*cut };
    let own_slices = if team == 1 { slices } else { 1 };
    let steps = reduction.steps(problem, &cut, tuning) + output.slice_len / output.write_len(dtype) / team;
    let most = MAX_STEPS / (own_slices * steps);
    // Short slices have few runs of few elements, whatever the estimate, and winners beyond the scratch budget.
    if !short && most == 0 {
        return Ok(None);
    }
    let (share, groups) = match output.columns {
        1 => {
            // A quarter of what a reduction takes, since as much is written.
            let wanted = reduction.wanted_share(problem, &cut, store, tuning) / 4;
            let needed = if team == 1 { tuning.needed_share(reduction.out_len.div_ceil(slices)) } else { 1 };
            let share = wanted.max(needed).min(most).max(1);
            (share, groups(reduction.out_len, team, slices * share, tuning.group))
        }
        columns => (1, (reduction.out_len / columns * columns.div_ceil(slices)).div_ceil(tuning.group)),
    };
    let mut params = reduction.params(problem, &cut, Store::Index)?;
    params.columns = word(output.columns)?;
    params.share = word(share)?;
    word(output.len + (1 << 16))?; // the shaders count output elements, in steps of workgroups at the most
    Ok(Some(Pass {
        kernel: Kernel::new(program, dtype, reduction.scan_constants(problem, &cut, tuning), tuning),
        params: Params::Reduction(params),
        grid: grid(groups, tuning.group * slices * share, limits)?,
        bindings: [&input_bindings(access, *window), &[output.target][..]].concat(),
    }))
}
