//! The search: coordinate descent from a tuning, one number after another, until a whole round changes nothing.
//!
//! A candidate that changes no probe's plan is not timed at all, and of the others only those probes whose plans it
//! changes. It meets the incumbent in pairs of times, in turns, and has to be more than 3 % faster in nine of ten of them, or
//! far more in the first four; so what noise there is does not decide. On none of the probes may it be slower, but for the first
//! number, which moves all of them to another kind of device at once. Then both meet on shapes that were not searched with.

use super::contest::Contest;
use super::probes::{NAMES, SHAPES, probes};
use super::{Gain, Platform};
use crate::plan::Plan;
use crate::{AnyOperation, Calibration, Error, Limits, Operation, Tuning};

/// A number, or several that go together, and the values that are tried.
struct Knob {
    values: &'static [u64],
    set: fn(&mut Tuning, u64),
}

/// In the order in which they are searched: what decides about most comes first, what takes most pipelines last. The values
/// of each ascend or descend.
const KNOBS: [Knob; 12] = [
    Knob { values: &[256, 16, 1], set: set_grain },
    Knob { values: &[1, 4, 32, 128, 256, 1024], set: set_team },
    Knob { values: &[256, 64, 16, 4, 2, 1], set: |own, n| own.max_share = n },
    Knob {
        values: &[128, 1 << 11, 1 << 13, 1 << 15, 1 << 16, 1 << 17, 1 << 19],
        set: |own, n| own.busy_invocations = n,
    },
    Knob { values: &[1, 4, 16, 64, 256, 1024], set: |own, n| own.loads_per_split = n },
    Knob { values: &[1024, 64, 1], set: |own, n| own.loads_per_turn = n },
    Knob { values: &[16, 64, 256], set: set_wide_columns },
    Knob { values: &[1, 4], set: |own, n| own.column_packs = n },
    Knob { values: &[0, 1], set: |own, n| own.int64 = n == 1 },
    Knob { values: &[1, 4, 16, 1 << 32], set: |own, n| own.runs_per_split = n },
    Knob { values: &[1, 2, 4, 8, 16], set: |own, n| own.loads_per_member = n },
    Knob { values: &[16, 64, 128, 256, 512, 1024], set: |own, n| own.group = n },
];

/// What the first knob may lose on a probe, as a logarithm.
const GRAIN_LOSS: f64 = 0.5;

/// How much one invocation does by itself, from what is worth a GPU's lane to what is worth a core's: numbers that only help
/// together. A core has several to choose from. The more each does, the fewer make a workgroup, so that groups are enough.
fn set_grain(own: &mut Tuning, grain: u64) {
    own.busy_invocations = (1 << 19) / grain.max(8);
    own.group = 256 / grain.min(16);
    own.max_team = (256 / grain).max(1);
    own.loads_per_split = 4 * grain;
    own.max_share = grain;
    own.column_packs = 1;
    if grain > 1 {
        own.few_packs = 1;
    }
}

/// As many teams as there were keep the device busy.
fn set_team(own: &mut Tuning, max_team: u64) {
    own.busy_invocations = (own.busy_invocations / own.max_team * max_team).clamp(1, 1 << 24);
    own.max_team = max_team;
}

/// Packs side by side, in small workgroups, since large ones would be too few.
fn set_wide_columns(own: &mut Tuning, group: u64) {
    own.column_packs = 4;
    own.group = group;
}

/// All values of all knobs.
fn round() -> usize {
    KNOBS.iter().map(|knob| knob.values.len()).sum()
}

/// What is to be timed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trial {
    /// The place of the operation among those that the search times.
    pub shape: usize,
    /// The tuning to plan it with: [`Search::plan`].
    pub tuning: Tuning,
}

/// A search under way. [`Search::trial`] says what to time, [`Search::timed`] takes the time, until nothing is left to try or
/// whoever has the device has had enough: [`Search::best`] is always there.
///
/// A time is that of one run of the plan, on inputs that no cache holds; of several the least.
///
/// ```
/// # use wgmax::calibration::{Search, Trial};
/// # use wgmax::{AdapterKind, Limits, Tuning};
/// # let time = |trial: &Trial| if trial.tuning.group == 128 { 1.0 } else { 1.5 };
/// let mut search = Search::new(Tuning::of(AdapterKind::Hardware), &Limits::default())?;
/// while let Some(trial) = search.trial() {
///     search.timed(time(&trial)); // of search.plan(&trial)
/// }
/// assert_eq!(search.best().group, 128);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Debug)]
pub struct Search {
    limits: Limits,
    operations: Vec<AnyOperation>,
    best: Tuning,
    /// How many times as fast each probe is as it was to begin with, as logarithms.
    gains: [f64; NAMES.len()],
    /// The next knob, and which of its values.
    place: (usize, usize),
    /// Whether a value of this knob was kept: the first one after it that is not is the last one tried.
    climbs: bool,
    /// The values that were gone through since one was kept.
    in_vain: usize,
    contest: Option<Contest>,
    tried: usize,
    kept: usize,
}

impl Search {
    /// A search from a tuning on, on a device with these limits.
    ///
    /// # Errors
    /// [`Error::InvalidTuning`] for a tuning out of its ranges; those of [`Limits::check`] and of [`Operation::plan`].
    pub fn new(start: Tuning, limits: &Limits) -> Result<Search, Error> {
        start.check()?;
        limits.check()?;
        let limits = Limits { shared_buffers: false, ..limits.clone() };
        let operations = probes()?;
        for op in &operations {
            op.plan(&Limits { tuning: Some(start), ..limits.clone() })?;
        }
        Ok(Search {
            limits,
            operations,
            best: start,
            gains: [0.0; NAMES.len()],
            place: (0, 0),
            climbs: false,
            in_vain: 0,
            contest: None,
            tried: 0,
            kept: 0,
        })
    }

    /// The plan of a trial.
    ///
    /// # Errors
    /// None for a trial that this search asked for. [`Error::TooLarge`] for a shape that there is not,
    /// [`Error::InvalidTuning`] for a tuning out of its ranges.
    pub fn plan(&self, trial: &Trial) -> Result<Plan, Error> {
        let (given, limit) = (trial.shape as u64, self.operations.len() as u64 - 1);
        let op =
            self.operations.get(trial.shape).ok_or(Error::TooLarge { what: "the shape of a trial", given, limit })?;
        op.plan(&Limits { tuning: Some(trial.tuning), ..self.limits.clone() })
    }

    /// What to time next, if anything is left to be tried.
    pub fn trial(&mut self) -> Option<Trial> {
        while self.contest.is_none() {
            let candidate = self.candidate()?;
            let shapes = self.shapes(&candidate, 0..1);
            if !shapes.is_empty() {
                self.tried += 1;
                self.contest = Some(Contest::search(candidate, shapes));
            }
        }
        let (shape, of_candidate) = self.contest.as_ref()?.next();
        let tuning = if of_candidate { self.contest.as_ref()?.candidate } else { self.best };
        Some(Trial { shape, tuning })
    }

    /// The time of what was to be timed, in any unit.
    pub fn timed(&mut self, time: f64) {
        let Some(mut contest) = self.contest.take() else { return };
        contest.timed(time);
        match contest.verdict() {
            None => self.contest = Some(contest),
            Some(true) if contest.confirms() || !contest.is_slower_somewhere(self.forgiven()) => self.won(contest),
            Some(_) if self.climbs => self.next_knob(),
            Some(_) => {}
        }
    }

    /// How many candidates were timed.
    pub fn tried(&self) -> usize {
        self.tried
    }

    /// How many of them were kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// The best so far.
    pub fn best(&self) -> Tuning {
        self.best
    }

    /// What it gains on each probe.
    pub fn gains(&self) -> Vec<Gain> {
        let percent = |gain: &f64| (gain.exp() * 100.0).round() as u64;
        let gain = |(name, gain): (&&str, &f64)| Gain { probe: name.to_string(), speed_percent: percent(gain) };
        NAMES.iter().zip(&self.gains).map(gain).collect()
    }

    /// What was found until now, as a calibration of this platform.
    pub fn calibration(&self, platform: Platform) -> Calibration {
        Calibration { complete: self.is_complete(), gains: self.gains(), ..Calibration::new(platform, self.best) }
    }

    /// Whether nothing is left to try.
    fn is_complete(&self) -> bool {
        self.contest.is_none() && self.in_vain > round()
    }

    /// The next value of a knob that is another than there is, round after round until one round was in vain.
    fn candidate(&mut self) -> Option<Tuning> {
        while self.in_vain <= round() {
            let (knob, place) = self.place;
            let Some(&value) = KNOBS[knob].values.get(place) else {
                self.next_knob();
                continue;
            };
            self.place.1 += 1;
            self.in_vain += 1;
            let mut candidate = self.best;
            (KNOBS[knob].set)(&mut candidate, value);
            if candidate != self.best {
                return Some(candidate);
            }
        }
        None
    }

    /// What a candidate may lose on a probe. No probe pays for another, but the first knob moves to another kind of device:
    /// what it loses there, others mend.
    fn forgiven(&self) -> f64 {
        let (knob, _) = self.place;
        if knob == 0 { GRAIN_LOSS } else { 0.0 }
    }

    fn next_knob(&mut self) {
        let (knob, place) = self.place;
        self.in_vain += KNOBS[knob].values.len() - place;
        (self.place, self.climbs) = (((knob + 1) % KNOBS.len(), 0), false);
    }

    /// The operations, of these shapes of each probe, whose plan the candidate changes.
    fn shapes(&self, candidate: &Tuning, of_each: std::ops::Range<usize>) -> Vec<usize> {
        let differs = |&shape: &usize| {
            let plan = |tuning| self.plan(&Trial { shape, tuning });
            matches!((plan(*candidate), plan(self.best)), (Ok(new), Ok(old)) if new != old)
        };
        let shapes = (0..NAMES.len()).flat_map(|probe| of_each.clone().map(move |n| probe * SHAPES + n));
        shapes.filter(differs).collect()
    }

    /// A candidate that won is held against other shapes, and then takes the incumbent's place.
    fn won(&mut self, contest: Contest) {
        let others = self.shapes(&contest.candidate, 1..SHAPES);
        if !contest.confirms() && !others.is_empty() {
            self.contest = Some(contest.confirmation(others));
            return;
        }
        contest.found().into_iter().for_each(|(shape, gain)| self.gains[shape / SHAPES] += gain);
        self.best = contest.candidate;
        (self.in_vain, self.climbs) = (0, true);
        self.kept += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AdapterKind;

    /// Noise from a seed, about as much on either side: a factor of up to e to the power of so much.
    struct Noise(u64);

    impl Noise {
        fn factor(&mut self, most: f64) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) as f64 / (1_u64 << 31) as f64 * 2.0 - 1.0) * most
        }
    }

    fn limits() -> Limits {
        Limits { max_group_invocations: 1024, max_group_memory_bytes: 32 << 10, ..Limits::default() }
    }

    /// The times of a made-up device that likes one tuning best: each number costs by its distance from there.
    fn cost(trial: &Trial, best: &Tuning) -> f64 {
        let distance = |a: u64, b: u64| ((a + 1) as f64 / (b + 1) as f64).ln().abs().min(4.0);
        let Trial { shape, tuning } = trial;
        let group = distance(tuning.group, best.group);
        let team = distance(tuning.max_team, best.max_team);
        let busy = distance(tuning.busy_invocations, best.busy_invocations);
        (0.1 * group + 0.2 * team + 0.1 * busy).exp() * (1 + shape) as f64
    }

    /// Searches to the end. What is timed is at most so many trials.
    fn searched(start: Tuning, most: usize, mut time: impl FnMut(&Trial) -> f64) -> Search {
        let mut search = Search::new(start, &limits()).unwrap();
        for _ in 0..most {
            let Some(trial) = search.trial() else { return search };
            let time = time(&trial);
            search.timed(time);
        }
        panic!("no end after {most} trials");
    }

    #[test]
    fn the_best_is_found_from_anywhere() {
        for (start, best) in
            [(AdapterKind::Hardware, AdapterKind::Lavapipe), (AdapterKind::Lavapipe, AdapterKind::Hardware)]
        {
            let best = Tuning { busy_invocations: 1 << 13, ..Tuning::of(best) };
            for noise in [0.0, 0.05, 0.1] {
                let mut random = Noise(1);
                let search =
                    searched(Tuning::of(start), 20_000, |trial| cost(trial, &best) * random.factor(noise).exp());
                let (tuning, gains) = (search.best(), search.gains());
                // On one shape or another nothing is left to gain that noise does not hide.
                let of = |tuning| cost(&Trial { shape: 0, tuning }, &best);
                let slower = of(tuning) / of(best);
                assert!(slower < 1.06 + noise, "{slower} times the time of the best: {tuning:?}");
                assert!(gains.iter().all(|gain| gain.speed_percent > 90), "{gains:?}");
            }
        }
    }

    /// Where nothing helps, nothing is changed, whatever the noise.
    #[test]
    fn noise_alone_decides_nothing() {
        let start = Tuning::of(AdapterKind::Hardware);
        for seed in 0..40 {
            let mut random = Noise(seed);
            let noise = 0.05 * (1 + seed % 6) as f64;
            let search = searched(start, 20_000, |_| random.factor(noise).exp());
            assert_eq!(search.best(), start, "seed {seed}");
        }
    }

    /// A number that is faster on one probe and slower on another is not kept.
    #[test]
    fn no_probe_pays_for_another() {
        let start = Tuning::of(AdapterKind::Hardware);
        let max_slower = |Trial { shape, tuning }: &Trial| match (
            tuning.group < 256 && tuning.max_team == start.max_team,
            shape / SHAPES,
        ) {
            (true, 5) => 1.1, // `max_two`, whose plan every group changes
            (true, _) => 0.5,
            (false, _) => 1.0,
        };
        assert_eq!(searched(start, 20_000, max_slower).best().group, 256);
    }

    /// Unless it is the grain, and the loss is one that other numbers may mend.
    #[test]
    fn a_grain_may_lose_a_little() {
        let start = Tuning::of(AdapterKind::Hardware);
        for (loss, max_team) in [(1.5, 1), (1.8, start.max_team)] {
            let cores = |Trial { shape, tuning }: &Trial| match (tuning.max_share == 256, shape / SHAPES) {
                (true, 5) => loss,
                (true, _) => 0.5,
                (false, _) => 1.0,
            };
            assert_eq!(searched(start, 20_000, cores).best().max_team, max_team);
        }
    }

    /// What is better on the shapes that are searched with alone is not kept.
    #[test]
    fn other_shapes_confirm() {
        let start = Tuning::of(AdapterKind::Hardware);
        let flattering = |trial: &Trial| match (trial.tuning.group == 256, trial.shape % SHAPES) {
            (true, _) => 1.0,
            (false, 0) => 0.5,
            (false, _) => 1.2,
        };
        assert_eq!(searched(start, 20_000, flattering).best().group, 256);
    }

    /// A candidate is timed only where it changes plans: a number that no probe depends on costs nothing.
    #[test]
    fn only_what_differs_is_timed() {
        let mut search = Search::new(Tuning::of(AdapterKind::Hardware), &limits()).unwrap();
        let mut trials = 0;
        while let Some(trial) = search.trial() {
            let start = Trial { tuning: Tuning::of(AdapterKind::Hardware), ..trial };
            if trial.tuning != start.tuning {
                assert_ne!(search.plan(&trial), search.plan(&start), "{trial:?}");
            }
            search.timed(1.0);
            trials += 1;
        }
        assert!((100..2000).contains(&trials), "{trials} trials");
        assert_eq!(search.kept(), 0);
    }

    /// Times are a host's: none of them leads anywhere but to an end.
    #[test]
    fn any_number_may_be_a_time() {
        let start = Tuning::of(AdapterKind::Hardware);
        for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, f64::MAX] {
            assert_eq!(searched(start, 20_000, |_| time).best(), start, "{time}");
        }
        let mut times = [f64::NAN, 1.0, 0.0, f64::INFINITY, -1.0].into_iter().cycle();
        searched(start, 100_000, |_| times.next().unwrap());
    }

    #[test]
    fn a_start_out_of_range_is_refused() {
        let start = Tuning { group: 3, ..Tuning::of(AdapterKind::Hardware) };
        assert!(matches!(Search::new(start, &limits()), Err(Error::InvalidTuning { .. })));
        let search = Search::new(Tuning::of(AdapterKind::Hardware), &limits()).unwrap();
        let trial = Trial { shape: search.operations.len(), tuning: search.best() };
        assert!(matches!(search.plan(&trial), Err(Error::TooLarge { given: 27, limit: 26, .. })));
    }
}
