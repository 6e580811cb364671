//! Kernels that there are, in workgroups that the device has.

use crate::error::{ensure, within};
use crate::plan::device::{MEMBER_BYTES, column_member_bytes};
use crate::plan::{Access, Kernel, Override, Program, Stores};
use crate::{Error, Limits};

/// A workgroup, in invocations.
pub(super) struct Group {
    pub invocations: u64,
    /// Those that share a task.
    pub team: u64,
    /// Of these, those that share a run.
    pub line: u64,
}

/// A kernel that there is, with its own overrides, each at most once.
pub(super) fn check_kernel(kernel: &Kernel, limits: &Limits) -> Result<Group, Error> {
    ensure(kernel.exists(), || format!("there is no {kernel}"))?;
    if kernel.int64 && !limits.int64 {
        return Err(Error::MissingFeature { feature: "SHADER_INT64" });
    }
    let (mut group, mut team, mut line) = (None, None, None);
    for (n, &own) in kernel.overrides.iter().enumerate() {
        let name = own.name();
        ensure(kernel.declares(own), || format!("{kernel} has no override {name}"))?;
        let before = &kernel.overrides[..n];
        ensure(before.iter().all(|other| other.name() != name), || format!("override {name} is given twice"))?;
        match own {
            Override::Group(invocations) => group = Some(check_invocations("a workgroup", invocations)?),
            Override::Team(invocations) => team = Some(check_invocations("a team", invocations)?),
            Override::RunMembers(invocations) => line = Some(check_invocations("a run", invocations)?),
            Override::IndexWords(words) => {
                ensure(matches!(words, 1 | 2), || format!("an index has {words} words, 1 or 2 expected"))?;
            }
            _ => {}
        }
    }
    ensure(group.is_some(), || "override GROUP is missing".to_string())?; // its default is no device's
    let team = team.unwrap_or(1);
    let group = Group { invocations: group.unwrap_or(1), team, line: line.unwrap_or(team) };
    check_group(kernel, &group, limits).map(|()| group)
}

/// Loops count in steps of these, and of four teams at the most: 0 would never end, and more might leap over the end
/// (`shaders/lib/grid.wgsl`). Of powers of two all teams are whole.
fn check_invocations(what: &str, invocations: u32) -> Result<u64, Error> {
    let problem = || format!("{what} has {invocations} invocations, a power of two expected");
    ensure(invocations.is_power_of_two(), problem)?;
    Ok(invocations.into())
}

fn check_group(kernel: &Kernel, group: &Group, limits: &Limits) -> Result<(), Error> {
    const LARGEST_GROUP: u32 = 0x10000 / 4; // no device has larger ones
    let &Group { invocations, team, line } = group;
    let most = limits.max_group_invocations.min(LARGEST_GROUP).into();
    within("invocations of a workgroup", invocations, most)?;
    within("invocations of a team", team, invocations)?;
    within("invocations of a run", line, team)?;
    if let Some(bunch) = kernel.bunches() {
        let bytes = invocations * bunch.member_bytes();
        ensure(!bunch.staged || invocations >= 4, || {
            format!("bunches are staged by {invocations} invocations: 4 expected at least")
        })?;
        within("bytes of workgroup memory", bytes, limits.max_group_memory_bytes.into())?;
    }
    if team > 1 {
        // What a team of columns writes is units of its own.
        let (member_bytes, results) = match kernel.program {
            Program::Reduce { access: Access::Columns, epilogue, .. } => {
                (column_member_bytes(epilogue.operator(), kernel.dtype), 1)
            }
            _ => (MEMBER_BYTES, store_lanes(kernel)),
        };
        within("bytes of workgroup memory", invocations * member_bytes, limits.max_group_memory_bytes.into())?;
        // One invocation writes the results that share a unit.
        let teams = invocations / team;
        ensure(teams >= results, || {
            format!("a workgroup has {teams} teams, at least {results} expected, whose results fill a unit")
        })?;
    }
    Ok(())
}

/// How many results of a reduction share what is written at once.
pub(super) fn store_lanes(kernel: &Kernel) -> u64 {
    match kernel.program {
        Program::Reduce { stores: Stores::Packs, .. } => 1,
        Program::Reduce { epilogue, .. } | Program::Merge { epilogue, .. } => epilogue.lanes(kernel.dtype),
        _ => 1,
    }
}
