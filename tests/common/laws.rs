//! What every plan keeps to, whatever it is of and for whatever device. The fuzz targets hold plans to it too.

use wgmax::plan::{Constant, Pass, Slot};
use wgmax::{Limits, Operation, Plan};

/// The plan of an operation, if there is one; panics where it breaks a law.
pub fn lawful_plan(op: &(impl Operation + ?Sized), limits: &Limits) -> Option<Plan> {
    let plan = match op.plan(limits) {
        Ok(plan) => plan,
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4000, "{} bytes of error: {message}", message.len());
            return None;
        }
    };
    let case = || format!("{plan}\n{limits:?}");
    let outputs = op.outputs().unwrap();
    let Ok(inputs) = op.inputs() else {
        let read = |pass: &Pass| pass.bindings.iter().any(|b| matches!(b.slot, Slot::Input(_)));
        assert!(!plan.passes.iter().any(read), "inputs that no buffer holds are read: {}", case());
        return Some(plan);
    };
    assert_eq!((plan.input_bytes.len(), plan.output_bytes.len()), (inputs.len(), outputs.len()), "{}", case());
    assert!(plan.input_bytes.iter().zip(&inputs).all(|(&bytes, need)| bytes <= need.bytes), "{}", case());
    // Partial results, and Hardmax's winners: a word for each slice, which has at least two elements.
    let sum = |bytes: &[u64]| bytes.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let [partials, winners] = plan.scratch_bytes;
    assert!(partials <= sum(&plan.input_bytes) / 64 + (64 << 10), "{}", case());
    assert!(winners <= 2 * sum(&plan.output_bytes) + 4, "{}", case());
    plan.passes.iter().for_each(|pass| check_pass(pass, &plan, limits, &case));
    Some(plan)
}

fn check_pass(pass: &Pass, plan: &Plan, limits: &Limits, case: &impl Fn() -> String) {
    let [x, y, z] = pass.grid;
    assert!(x >= 1 && y >= 1 && z == 1 && x <= limits.max_groups && y <= limits.max_groups, "{}", case());
    let group = pass.kernel.constants.iter().find_map(|c| if let Constant::Group(n) = c { Some(*n) } else { None });
    let team = pass.kernel.constants.iter().find_map(|c| if let Constant::Team(n) = c { Some(*n) } else { None });
    let (group, team) = (group.expect("every kernel has a workgroup"), team.unwrap_or(1));
    assert!(group >= 1 && group <= limits.max_group_invocations.max(1), "{}", case());
    assert!(team.is_power_of_two() && team <= group, "{}", case());
    // A team's members leave a key of 64 bits and a position each, which WGSL pads to 16 bytes.
    assert!(team == 1 || group * 16 <= limits.max_group_memory_bytes, "{}", case());
    assert!(pass.params.to_bytes().len() <= 16 << 10, "parameters beyond every device's uniform binding: {}", case());
    assert!(pass.bindings.len() as u64 <= limits.max_storage_bindings.into(), "{}", case());
    for (n, b) in pass.bindings.iter().enumerate() {
        assert!(b.bytes > 0 && b.bytes <= limits.max_binding_bytes && b.bytes.is_multiple_of(4), "{}", case());
        assert!(b.offset_bytes.is_multiple_of(limits.binding_alignment_bytes.max(1)), "{}", case());
        let slot_bytes = match b.slot {
            Slot::Input(n) => plan.input_bytes[n],
            Slot::Output(n) => plan.output_bytes[n],
            Slot::Scratch(n) => plan.scratch_bytes[n],
            Slot::Constant(n) => plan.constants[n].len() as u64,
        };
        assert!(b.end_bytes() <= slot_bytes, "{}", case());
        assert!(!(b.writes && matches!(b.slot, Slot::Input(_) | Slot::Constant(_))), "{}", case());
        for other in &pass.bindings[..n] {
            assert!(other.binding != b.binding && b.binding != 0, "{}", case());
            assert!(other.slot != b.slot || !other.writes && !b.writes, "one dispatch reads and writes: {}", case());
        }
    }
}
