//! What is counted of a GPU's memory, against what can be counted by hand.

use wgmax::plan::Override;
use wgmax::{AdapterKind, ArgMax, DType, Limits, Max, Operation, ReduceMax, Tuning, View};

use crate::paper::traffic::Traffic;
use crate::paper::{Groups, Paper};

fn counted(op: &dyn Operation, limits: &Limits) -> Vec<Traffic> {
    let plan = op.plan(limits).unwrap();
    let mut paper = Paper::new(&plan, Groups::Sample);
    paper.run(&plan, limits);
    assert_eq!(paper.traffic.len(), plan.dispatches.len());
    paper.traffic
}

/// GPUs as they were first thought of: what follows is counted for these numbers.
fn gpu() -> Limits {
    let tuning =
        Tuning { group: 256, max_team: 256, loads_per_member: 4, max_share: 1, ..Tuning::of(AdapterKind::Hardware) };
    Limits { tuning: Some(tuning), ..Limits::default() }
}

#[test]
fn a_maximum_of_two_moves_each_byte_once() {
    let bytes = f64::from(4 << 20);
    let own = &counted(&Max::new(DType::F32, vec![View::new([1 << 20]).unwrap(); 2]), &gpu())[0];
    // Four packs an invocation.
    assert_eq!((own.groups, own.group, own.waits, own.barriers), (256, 256, 256.0, 0.0));
    assert_eq!((own.loads.bytes, own.stores.bytes), (2.0 * bytes, bytes));
    assert_eq!((own.loads.efficiency(), own.stores.efficiency()), (1.0, 1.0));
    assert_eq!((own.fetched_bytes, own.in_flight()), (2.0 * bytes, 2.0 * bytes));
}

#[test]
fn rows_that_fill_their_teams_move_each_byte_once() {
    // Four loads for each of 32 invocations: a row is a subgroup's.
    let own = &counted(&ReduceMax::new(DType::F32, View::new([4096, 512]).unwrap()).axes([1]), &gpu())[0];
    assert_eq!((own.groups, own.waits), (512, 512.0));
    assert_eq!((own.loads.bytes, own.loads.efficiency()), (f64::from(4096 * 512 * 4), 1.0));
    assert_eq!(own.in_flight(), own.loads.bytes);
    assert_eq!((own.stores.bytes, own.storage_barriers), (4096.0 * 4.0, 0.0));
}

#[test]
fn elements_that_lie_apart_waste_their_sectors() {
    // Every 16th element of rows of 16: two sectors a row, of which one word is wanted.
    let view = View::strided([64, 64, 256], [64 * 16 * 256, 16, 16 * 64], 0).unwrap();
    let own = &counted(&ReduceMax::new(DType::F32, view).axes([1]), &gpu())[0];
    assert!((own.loads.efficiency() - 1.0 / 8.0).abs() < 0.02, "{own:?}");
}

#[test]
fn what_runs_in_turns_waits_in_turns() {
    // 64 columns of packs, all in one workgroup, four rows at a time.
    let one = Limits { tuning: Some(Tuning { busy_invocations: 1, ..gpu().tuning.unwrap() }), ..gpu() };
    let own = &counted(&ReduceMax::new(DType::F32, View::new([4096, 256]).unwrap()).axes([0]), &one)[0];
    assert_eq!((own.groups, own.waits), (1, 1024.0));
    assert_eq!(own.loads.bytes, f64::from(4096 * 256 * 4));
    assert_eq!(own.in_flight(), 64.0 * 16.0 * 4.0);
}

/// Workgroups that are not run are stood for by others.
#[test]
fn a_sample_is_like_the_whole() {
    let of =
        |rows: u64| counted(&ReduceMax::new(DType::F32, View::new([rows, 100]).unwrap()).axes([1]), &gpu())[0].clone();
    let (few, many) = (of(64), of(64_000)); // the few are all run
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
    assert!(close(1000.0 * few.loads.bytes, many.loads.bytes), "{few:?} {many:?}");
    assert!(close(1000.0 * few.fetched_bytes, many.fetched_bytes), "{few:?} {many:?}");
    assert!(close(1000.0 * few.stores.bytes, many.stores.bytes), "{few:?} {many:?}");
}

/// Of rows of columns that begin anywhere, in few blocks, which are cut into chunks, and in many: each pack is loaded once or, where it is
/// shifted out of words or two packs, twice; some of the last tile's are loaded again.
#[test]
fn no_column_is_loaded_again_and_again() {
    for limits in AdapterKind::ALL.map(|adapter| Limits { adapter, ..Limits::default() }) {
        for shape in [[1, 45_547, 13], [3, 9935, 21], [79, 1234, 7], [300, 79, 47]] {
            for dtype in [DType::U8, DType::F16, DType::F64] {
                let view = || View::new(shape).unwrap();
                let ops: [&dyn Operation; 2] =
                    [&ReduceMax::new(dtype, view()).axes([1]), &ArgMax::new(dtype, view()).axes([1])];
                let bytes = (view().len() * dtype.bytes()) as f64;
                for op in ops {
                    let plan = op.plan(&limits).unwrap();
                    let kernel = &plan.dispatches[0].kernel;
                    let whole = kernel.overrides.contains(&Override::LooseEnds)
                        && !kernel.overrides.contains(&Override::Ragged);
                    let loaded = counted(op, &limits)[0].loads.bytes / bytes;
                    assert!(loaded < if whole { 1.3 } else { 3.2 }, "{loaded:.2} times: {plan}");
                }
            }
        }
    }
}
