//! Tunings by chance, for the generators of cases and of fuzz input alike.

use wgmax::{AdapterKind, Tuning, TuningField, TuningRange};

/// Numbers of their ranges: the ends, those of the rows, powers of two and their neighbours. `below` gives a number that
/// is less than the one it is given.
pub fn any_tuning(below: &mut dyn FnMut(u64) -> u64) -> Tuning {
    let mut tuning = Tuning::of(AdapterKind::ALL[below(3) as usize]);
    for field @ TuningField { range, get_mut, .. } in Tuning::FIELDS {
        *get_mut(&mut tuning) = match range {
            TuningRange::PowerOfTwo(most) => 1 << below(u64::from(most.ilog2()) + 1),
            TuningRange::Either(one, other) => [one, other][below(2) as usize],
            TuningRange::Between(least, most) => match below(4) {
                0 => field.get(&Tuning::of(AdapterKind::ALL[below(3) as usize])),
                1 => [least, most][below(2) as usize],
                2 => ((1_u64 << below(u64::from(most.ilog2()) + 1)) + below(3)).saturating_sub(1).clamp(least, most),
                _ => below(40).clamp(least, most),
            },
        };
    }
    tuning.int64 = below(2) == 1;
    tuning
}

#[test]
fn any_tuning_is_within_its_ranges() {
    let mut random = super::Random::new(1);
    assert!((0..10_000).all(|_| any_tuning(&mut |n| random.below(n)).check() == Ok(())));
}
