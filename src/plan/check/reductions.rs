//! Reductions: chunks and runs that end, and columns of which no two invocations write the same unit.

use super::kernel::{Group, store_lanes};
use super::work::{Work, check_neighbours};
use crate::Error;
use crate::error::ensure;
use crate::plan::device::{check_countable, most_ranked};
use crate::plan::{Access, Epilogue, Kernel, Operator, Override, Program, ReductionParams, Stores};
use crate::shader::{Bunches, RowBlock};

impl Work {
    pub fn of_reduction(
        kernel: &Kernel,
        access: Access,
        epilogue: Epilogue,
        stores: Stores,
        params: &ReductionParams,
        group: &Group,
    ) -> Result<Work, Error> {
        let [outputs, chunks, share, columns] =
            [params.outputs, params.chunks, params.share, params.columns].map(u64::from);
        ensure(outputs > 0 && share > 0 && columns > 0, || {
            format!("{outputs} outputs in {columns} columns, {share} in turn: more than 0 expected")
        })?;
        let turns = chunk_turns(kernel, params, access, group)?;
        check_ranked(kernel, params)?;
        if access == Access::Columns {
            check_loose_ends(kernel, epilogue, params)?;
            return Work::of_columns(kernel, stores, params, turns, group);
        }
        if epilogue == Epilogue::Ones {
            check_countable(outputs.saturating_mul(params.reduce_len.into()))?;
        }
        if let Some(bunch @ Bunches { rows, .. }) = kernel.bunches() {
            ensure(share == 1 || !bunch.exchanged, || {
                format!("a share of {share} bunches whose positions are exchanged: 1 expected")
            })?;
            let staged = if bunch.staged { bunch.words() } else { 0 };
            ensure(staged == 0 || share == 1 && follow_one_another(params, &bunch), || {
                format!(
                    "{share} staged bunches of rows in {:?}: 1, of rows that follow one another, expected",
                    params.kept
                )
            })?;
            // Bunches in turn and then, row by row, what does not fill one.
            let parts = bunch.parts();
            let runs = u64::from(params.reduce_len / params.run_len);
            let part_turns = 2 + 2 * params.kept.len() as u64 + runs.saturating_mul(1 + params.outer.len() as u64);
            let bunch_turns = staged + parts.saturating_mul(part_turns);
            let bunches = Work::shared(outputs.div_ceil(rows), share, bunch_turns, group);
            if epilogue == Epilogue::Ones || stores == Stores::Packs {
                ensure(outputs.is_multiple_of(rows), || format!("{outputs} rows: whole bunches of {rows} expected"))?;
                return Ok(bunches);
            }
            return Ok(Work { turns: bunches.turns.saturating_add(rows.saturating_mul(turns)), ..bunches });
        }
        if epilogue == Epilogue::Ones && group.team == 1 {
            let (elements, lanes) = (outputs * u64::from(params.reduce_len), kernel.dtype.lanes());
            return Ok(Work::shared(elements.div_ceil(lanes), share, turns.saturating_mul(lanes), group));
        }
        let tasks = if epilogue.is_record() { outputs.saturating_mul(chunks) } else { outputs };
        let written = if epilogue == Epilogue::Ones { u64::from(params.reduce_len) } else { 0 };
        let turns = turns.saturating_add(written / kernel.dtype.pack_elements() / group.team + 1);
        Ok(Work::reducing(kernel, tasks, share, turns, group))
    }

    fn of_columns(
        kernel: &Kernel,
        stores: Stores,
        params: &ReductionParams,
        turns: u64,
        group: &Group,
    ) -> Result<Work, Error> {
        let [outputs, chunks, columns] = [params.outputs, params.chunks, params.columns].map(u64::from);
        let pack = kernel.dtype.pack_elements();
        let (ragged, wide) = (kernel.has(Override::Ragged), kernel.column_packs());
        let packs_of_rows = !ragged || stores == Stores::Packs && group.team > 1;
        ensure(!packs_of_rows || columns.is_multiple_of(pack), || {
            format!("{columns} columns stored in packs: a multiple of {pack} expected")
        })?;
        if group.team > 1 {
            return Work::of_column_teams(kernel, params, turns, group);
        }
        if stores == Stores::Seams || stores == Stores::Packs && ragged {
            return Work::of_packs_and_seams(kernel, stores, params, turns, group);
        }
        // Panels that reach behind a row are moved back into it.
        ensure(wide == 1 || columns >= wide * pack, || {
            format!("{columns} columns in panels of {wide} packs: {} at least expected", wide * pack)
        })?;
        // Rows that share words of the output are cut into packs as if they were one: a pack has columns of several.
        let as_one = ragged && store_lanes(kernel) > 1;
        let (own, rows) = if as_one { (outputs, (pack - 1).div_ceil(columns) + 1) } else { (columns, 1) };
        ensure(!as_one || kernel.neighbours() == 1, || "neighbours that see all of a row, of rows in one".to_string())?;
        let share = panels_in_turn(kernel, params, group)?;
        let in_row = match share {
            1 => panels_of_row(kernel, own.div_ceil(pack), group)?,
            _ => (own / pack).div_ceil(share) + u64::from(!own.is_multiple_of(pack)),
        };
        let tasks = (outputs / own * in_row).saturating_mul(chunks);
        Ok(Work::shared(tasks, 1, turns.saturating_mul(wide * rows * share), group))
    }

    /// Packs that lie in one row of columns, or those in which rows end.
    fn of_packs_and_seams(
        kernel: &Kernel,
        stores: Stores,
        params: &ReductionParams,
        turns: u64,
        group: &Group,
    ) -> Result<Work, Error> {
        let (pack, wide) = (kernel.dtype.pack_elements(), kernel.column_packs());
        let [outputs, columns] = [params.outputs, params.columns].map(u64::from);
        let has_seams = !columns.is_multiple_of(pack); // a row of five packs may have but four that lie in it
        let fewest = if wide > 1 && has_seams { (wide + 1) * pack } else { wide * pack };
        ensure(columns >= fewest && outputs.is_multiple_of(columns) && params.chunks == 1, || {
            format!(
                "{outputs} outputs in rows of {columns} in {} chunks: whole rows of at least {fewest} in one expected",
                params.chunks
            )
        })?;
        check_countable(outputs + columns + wide * pack)?;
        let rows = outputs / columns;
        let (tasks, turns) = match stores {
            Stores::Seams => (rows, turns.saturating_mul(2)),
            _ => {
                let share = panels_in_turn(kernel, params, group)?;
                let panels = panels_of_row(kernel, columns / pack, group)?.div_ceil(share);
                (rows * panels, turns.saturating_mul(wide * share))
            }
        };
        Ok(Work::shared(tasks, 1, turns.saturating_add(pack), group))
    }

    /// Teams reduce a pack of columns each; no two write to the same unit. Where rows share units, a pack lies in two at most.
    fn of_column_teams(kernel: &Kernel, params: &ReductionParams, turns: u64, group: &Group) -> Result<Work, Error> {
        let [outputs, chunks, columns] = [params.outputs, params.chunks, params.columns].map(u64::from);
        let pack = kernel.dtype.pack_elements();
        ensure(kernel.column_packs() == 1, || "a team with COLUMN_PACKS: one pack each expected".to_string())?;
        let shares_units = kernel.has(Override::Ragged) && store_lanes(kernel) > 1;
        ensure(!shares_units || columns >= pack, || {
            format!("a team of {columns} columns that share units of the output: a pack of {pack} at least expected")
        })?;
        let (row, rows) = if shares_units { (outputs, 2) } else { (columns, 1) };
        let packs = (outputs / row).saturating_mul(row.div_ceil(pack));
        let groups = packs.saturating_mul(chunks).div_ceil(group.invocations / group.team);
        Ok(Work { groups, turns: turns.saturating_mul(rows).saturating_add(pack) })
    }
}

/// Blocks begin and end within rows only where these are one after another in memory, and leave records.
fn check_loose_ends(kernel: &Kernel, epilogue: Epilogue, params: &ReductionParams) -> Result<(), Error> {
    let ReductionParams { columns, run_stride, rest_len, .. } = *params;
    let loose = kernel.has(Override::LooseEnds);
    let expected = if loose { 0..columns } else { 0..1 };
    ensure(expected.contains(&rest_len), || {
        format!("{rest_len} elements left over of rows of {columns}: {expected:?} expected")
    })?;
    let alone = !kernel.has(Override::Runs) && !kernel.has(Override::Accumulate);
    let follow = i64::from(run_stride) == i64::from(columns);
    ensure(!loose || epilogue.is_record() && alone && follow, || {
        format!("loose ends of rows of {columns}, {run_stride} apart: records of rows that follow one another expected")
    })
}

/// Of so many elements positions can be told apart, or else they would be wrong.
fn check_ranked(kernel: &Kernel, params: &ReductionParams) -> Result<(), Error> {
    let ranks = matches!(
        kernel.program,
        Program::Reduce { access: Access::Columns | Access::ShortRows { .. }, epilogue, .. }
            if epilogue.operator() == Operator::ArgMax
    );
    let most = most_ranked(kernel.dtype) - if kernel.has(Override::LooseEnds) { 2 } else { 0 };
    let len = task_len(kernel, params);
    ensure(!ranks || len <= most, || {
        format!("positions among {len} elements of {}: at most {most} expected", kernel.dtype)
    })
}

/// Whether there is one stretch of short rows, or of blocks of them, which begins with a pack.
fn follow_one_another(params: &ReductionParams, bunch: &Bunches) -> bool {
    let is = |stride: i32, expected: u64| i64::from(stride) == expected as i64;
    let RowBlock { len, columns, turn } = bunch.block;
    if !u64::from(params.start).is_multiple_of(bunch.dtype.pack_elements()) {
        return false;
    }
    match params.kept[..] {
        [rows] => columns == 1 && is(rows.stride, len),
        [rows, blocks] => {
            u64::from(rows.size) == columns && is(rows.stride, turn) && is(blocks.stride, bunch.block.elements())
        }
        _ => false,
    }
}

/// The elements that a task reduces: a chunk of them, or all.
fn task_len(kernel: &Kernel, params: &ReductionParams) -> u64 {
    let most = if kernel.has(Override::Split) { params.chunk_len } else { u32::MAX };
    params.reduce_len.min(most).into()
}

/// The turns that one task takes.
fn chunk_turns(kernel: &Kernel, params: &ReductionParams, access: Access, group: &Group) -> Result<u64, Error> {
    let [reduce_len, chunk_len, chunks, run_len] =
        [params.reduce_len, params.chunk_len, params.chunks, params.run_len].map(u64::from);
    let has = |own| kernel.has(own);
    let len = task_len(kernel, params);
    ensure(len > 0 && run_len > 0 && chunks > 0, || {
        format!("{reduce_len} elements in {chunks} chunks of {chunk_len}, in runs of {run_len}: more than 0 expected")
    })?;
    // A chunk that begins behind the last element would never end, and one that is alone has all of them.
    let needed = if has(Override::Split) { reduce_len.div_ceil(chunk_len) } else { 1 };
    ensure(chunks == needed, || format!("{chunks} chunks of {chunk_len} of {reduce_len} elements: {needed} expected"))?;
    if let Access::ShortRows { block, .. } = access {
        let expected = if block.turn > 1 { block.turn } else { block.len }; // what is one dimension
        ensure(chunks == 1 && run_len == expected, || {
            format!("{chunks} chunks of short rows in runs of {run_len}: one, in runs of {expected}, expected")
        })?;
    }
    check_whole_runs(kernel, params)?;
    // What is counted ends within the next chunk, and within the next run.
    let next = |own, len| if has(own) { len } else { 0 };
    check_countable(reduce_len + next(Override::Split, chunk_len).max(next(Override::Runs, run_len)))?;
    let (runs, run_len) = if has(Override::Runs) { (len.div_ceil(run_len) + 1, run_len.min(len)) } else { (1, len) };
    let run_turns = match access {
        Access::Rows if has(Override::FewPacks) => run_len / kernel.dtype.pack_elements() + 3,
        Access::Rows => run_len / (kernel.dtype.pack_elements() * group.line * 4) + 1,
        Access::Columns => run_len / group.team + 4,
        Access::Strided | Access::ShortRows { .. } => run_len / (group.team * 4) + 1, // four at once
    };
    let dims = (params.kept.len() + params.outer.len()) as u64;
    let runs = runs.div_ceil(group.team / group.line);
    Ok(runs.saturating_mul(run_turns + params.outer.len() as u64).saturating_add(dims))
}

/// Packs that begin with words are told apart from what is beside a run by its first word and its last.
fn check_whole_runs(kernel: &Kernel, params: &ReductionParams) -> Result<(), Error> {
    let ReductionParams { reduce_len, chunk_len, chunks, .. } = *params;
    let [split, has_runs] = [Override::Split, Override::Runs].map(|own| kernel.has(own));
    let run_len = if has_runs { params.run_len } else { reduce_len };
    let whole = reduce_len.is_multiple_of(run_len) && (!split || chunk_len.is_multiple_of(run_len));
    let long = u64::from(run_len) > kernel.dtype.pack_elements();
    ensure(!kernel.has(Override::FromWords) || whole && long, || {
        format!(
            "{chunks} chunks of {chunk_len} elements, in packs from words: whole runs of {run_len}, of more than a pack, expected"
        )
    })
}

/// The panels, of a pack each, that an invocation takes one after another.
fn panels_in_turn(kernel: &Kernel, params: &ReductionParams, group: &Group) -> Result<u64, Error> {
    if !kernel.has(Override::InTurn) {
        return Ok(1);
    }
    let (neighbours, packs, share) = (kernel.neighbours(), kernel.column_packs(), u64::from(params.share));
    ensure(neighbours == 1 && packs == 1, || {
        format!("panels of {packs} packs in turn, of {neighbours} neighbours: one pack, of one for itself, expected")
    })?;
    // What is counted, also by surplus invocations, ends within some shares.
    let panel = kernel.dtype.pack_elements();
    check_countable(u64::from(params.outputs) + panel.saturating_mul(share).saturating_mul(group.invocations))?;
    Ok(share)
}

/// The panels that a row of so many packs of columns is cut into: one for each of a row's neighbours, where these see all of it.
fn panels_of_row(kernel: &Kernel, packs: u64, group: &Group) -> Result<u64, Error> {
    check_neighbours(kernel, group)?;
    let (panels, neighbours) = (packs.div_ceil(kernel.column_packs()), kernel.neighbours());
    ensure(neighbours == 1 || panels <= neighbours, || {
        format!("{neighbours} neighbours see {panels} panels of a row: no more expected")
    })?;
    Ok(if neighbours == 1 { panels } else { neighbours })
}
