//! How work is cut for a device, as numbers: the policy. Answers never depend on it, plans and their speed do.

use std::fmt;

use crate::{AdapterKind, Error};

/// How work is cut for a device.
///
/// Each [`AdapterKind`] has a row of these numbers, [`Tuning::of`], and plans follow it unless
/// [`Limits::tuning`](crate::Limits::tuning) has another. Whatever the numbers are, within the ranges that
/// [`Tuning::FIELDS`] lists, answers are the same, bit for bit: the tests draw them at random.
///
/// ```
/// # use wgmax::{AdapterKind, DType, Limits, Operation, ReduceMax, Tuning, View};
/// let op = ReduceMax::new(DType::F32, View::new([1 << 24])?);
/// let whole = Tuning { busy_invocations: 1, ..Tuning::of(AdapterKind::Hardware) };
/// let plan = op.plan(&Limits { tuning: Some(whole), ..Limits::default() })?;
/// assert_eq!(plan.dispatches.len(), 1); // one workgroup is busy enough: nothing is split
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Tuning {
    /// Invocations of a workgroup, or as many as the device has.
    pub group: u64,
    /// The most invocations that share a task. More than 1 says that neighbours read what lies side by side, as on GPUs. With 1,
    /// each goes through memory by itself, as on a CPU: like lavapipe's if `column_packs` is 4, else like SwiftShader's.
    pub max_team: u64,
    /// The fewest 16-byte loads, or single elements where they are strided, that are worth another team member.
    pub loads_per_member: u64,
    /// Invocations that keep the device busy: below, long reductions are split.
    pub busy_invocations: u64,
    /// The fewest 16-byte loads, or single elements where they are strided, that an invocation of a split reduction is
    /// worth.
    pub loads_per_split: u64,
    /// The short runs, far apart, that a task of a large reduction takes: more are split.
    pub runs_per_split: u64,
    /// The 16-byte loads up to which an invocation takes one row after another, so that what it reads is one stream.
    pub loads_per_turn: u64,
    /// Packs side by side that an invocation of a column kernel reduces: 1 or 4. If it is 4, and `max_team` 1, it takes 8 or 16 of rows of
    /// 33 to 128 packs that follow one another, so that eight invocations see all of a row: no more than 64 elements, where `group` is
    /// 8 or more.
    pub column_packs: u64,
    /// The packs of a row up to which they are taken one by one where rows begin anywhere: whole ones under masks or, on a device
    /// that pays for each word, those that begin with words. On GPUs ReduceMax does so for rows of less than two packs,
    /// if this is not 0. Only for teams of one.
    pub few_packs: u64,
    /// The most packs, or output units, that an invocation of an element-wise kernel writes. On GPUs a Max that is written element by
    /// element has four units an invocation even if this is less, and one in columns four to sixteen packs.
    pub max_share: u64,
    /// Whether packs are bound as pairs of 64-bit integers, where the device has them. Such a device is taken to load a pack as fast
    /// as a word.
    pub int64: bool,
}

/// More of it than any plan has: a threshold that nothing reaches.
const NEVER: u64 = 1 << 32;

/// lavapipe: LLVM. An invocation walks its own contiguous part, with no barrier. A load of 64 bits is as fast as one of 32.
const LAVAPIPE: Tuning = Tuning {
    group: 16,
    max_team: 1,
    loads_per_member: 1,
    busy_invocations: 128,
    loads_per_split: 256,
    runs_per_split: 4,
    loads_per_turn: 1024,
    column_packs: 4,
    few_packs: 24,
    max_share: 256,
    int64: true,
};

/// SwiftShader, which loads each element by itself and keeps few values in registers.
const SWIFTSHADER: Tuning = Tuning { runs_per_split: NEVER, column_packs: 1, few_packs: 12, int64: false, ..LAVAPIPE };

/// GPUs: neighbours read neighbouring packs, thousands of them at once.
const HARDWARE: Tuning = Tuning {
    group: 256,
    max_team: 1024,
    loads_per_member: 4,
    busy_invocations: 1 << 16,
    loads_per_split: 4,
    runs_per_split: NEVER,
    loads_per_turn: 1,
    column_packs: 1,
    few_packs: 24,
    max_share: 1,
    int64: false,
};

/// A number of a [`Tuning`]: its name, where it is, and what it may be.
#[derive(Clone, Copy, Debug)]
pub struct TuningField {
    /// Its name in [`Tuning`].
    pub name: &'static str,
    /// What it may be.
    pub range: TuningRange,
    /// Where it is.
    pub get_mut: fn(&mut Tuning) -> &mut u64,
}

impl TuningField {
    /// What it is.
    pub fn get(&self, tuning: &Tuning) -> u64 {
        *(self.get_mut)(&mut tuning.clone())
    }
}

/// What a number of a [`Tuning`] may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuningRange {
    /// Anything from one number to another, both included.
    Between(u64, u64),
    /// A power of two from 1 to this one.
    PowerOfTwo(u64),
    /// One of these two.
    Either(u64, u64),
}

impl TuningRange {
    /// Whether the number is one of them.
    pub fn contains(self, n: u64) -> bool {
        match self {
            TuningRange::Between(least, most) => (least..=most).contains(&n),
            TuningRange::PowerOfTwo(most) => n.is_power_of_two() && n <= most,
            TuningRange::Either(one, other) => n == one || n == other,
        }
    }
}

impl fmt::Display for TuningRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TuningRange::Between(least, most) => write!(f, "{least} to {most}"),
            TuningRange::PowerOfTwo(most) => write!(f, "a power of two up to {most}"),
            TuningRange::Either(one, other) => write!(f, "{one} or {other}"),
        }
    }
}

macro_rules! fields {
    ($($name:ident: $range:expr,)*) => {
        [$(TuningField { name: stringify!($name), range: $range, get_mut: |own| &mut own.$name }),*]
    };
}

use TuningRange::{Between, Either, PowerOfTwo};

impl Tuning {
    /// The numbers, and what each may be. (`int64` is none of them: it is true or false.)
    pub const FIELDS: [TuningField; 10] = fields! {
        group: PowerOfTwo(1024),
        max_team: PowerOfTwo(1024),
        loads_per_member: Between(1, NEVER),
        busy_invocations: Between(1, NEVER),
        loads_per_split: Between(1, NEVER),
        runs_per_split: Between(1, NEVER),
        loads_per_turn: Between(0, NEVER),
        column_packs: Either(1, 4),
        few_packs: Between(0, NEVER),
        max_share: Between(1, 1024),
    };

    /// The row of a kind of adapter. Those of software were found by measuring. That of GPUs was reasoned, but for `few_packs`,
    /// which an H200 measured; an H100 and an H200 found no other number better. Other makers' GPUs were not asked.
    pub const fn of(adapter: AdapterKind) -> Tuning {
        match adapter {
            AdapterKind::Hardware => HARDWARE,
            AdapterKind::Lavapipe => LAVAPIPE,
            AdapterKind::SwiftShader => SWIFTSHADER,
        }
    }

    /// Whether each number is within its range.
    ///
    /// # Errors
    /// [`Error::InvalidTuning`] for the first that is not.
    pub fn check(&self) -> Result<(), Error> {
        for field @ TuningField { name, range, .. } in Tuning::FIELDS {
            let given = field.get(self);
            if !range.contains(given) {
                return Err(Error::InvalidTuning { field: name, given, expected: range.to_string() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert!(AdapterKind::ALL.iter().all(|&kind| Tuning::of(kind).check() == Ok(())));
        let error = Tuning { group: 48, ..HARDWARE }.check().unwrap_err();
        assert_eq!(error.to_string(), "the tuning's group is 48, a power of two up to 1024 expected");
        let error = Tuning { column_packs: 2, ..HARDWARE }.check().unwrap_err();
        assert_eq!(error.to_string(), "the tuning's column_packs is 2, 1 or 4 expected");
        let error = Tuning { max_share: 0, ..HARDWARE }.check().unwrap_err();
        assert_eq!(error.to_string(), "the tuning's max_share is 0, 1 to 1024 expected");
    }
}
