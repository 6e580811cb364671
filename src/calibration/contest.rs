//! A contest: a candidate and the incumbent timed in pairs, until it is plain which is faster.

use crate::Tuning;

/// The pairs of a contest that is not decided earlier, and how many of them may be lost.
const PAIRS: usize = 10;
const LOST: usize = 1;

/// As many pairs, each won by so much, decide at once: noise does not do that.
const CLEAR_PAIRS: usize = 4;
const CLEAR_GAIN: f64 = 0.35;

/// The loss of one pair that decides.
const CLEAR_LOSS: f64 = 0.2;

/// The pairs of a confirmation.
const CONFIRMING_PAIRS: usize = 4;

/// Times of two tunings on the same shapes. Gains are logarithms of how many times as fast the candidate is.
#[derive(Debug)]
pub(super) struct Contest {
    pub candidate: Tuning,
    shapes: Vec<usize>,
    /// The gain on each shape, of each pair that is complete or under way.
    pairs: Vec<Vec<f64>>,
    /// The first time of the two that are under way.
    first: Option<f64>,
    /// What a search found that this is to confirm.
    found: Option<Vec<(usize, f64)>>,
}

impl Contest {
    /// The gain, 3 %, that counts as one.
    pub const LEAST_GAIN: f64 = 0.03;

    /// Whether the candidate is better on these shapes.
    pub fn search(candidate: Tuning, shapes: Vec<usize>) -> Contest {
        Contest { candidate, shapes, pairs: vec![vec![]], first: None, found: None }
    }

    /// Whether it is better on these, too.
    pub fn confirmation(&self, shapes: Vec<usize>) -> Contest {
        Contest { found: Some(self.gains().collect()), ..Contest::search(self.candidate, shapes) }
    }

    pub fn confirms(&self) -> bool {
        self.found.is_some()
    }

    /// The shape to be timed, and whether it is the candidate's turn: who begins changes from pair to pair.
    pub fn next(&self) -> (usize, bool) {
        let (pair, place) = (self.pairs.len(), self.pairs.last().map_or(0, Vec::len));
        (self.shapes[place], (pair + place).is_multiple_of(2) == self.first.is_none())
    }

    /// Takes the time that was asked for.
    pub fn timed(&mut self, time: f64) {
        let (_, of_candidate) = self.next();
        let Some(first) = self.first.take() else {
            self.first = Some(time);
            return;
        };
        let (new, old) = if of_candidate { (time, first) } else { (first, time) };
        // Whatever a host calls a time: what is none was too long.
        let ln = |time: f64| if time.is_nan() { f64::MAX } else { time.clamp(f64::MIN_POSITIVE, f64::MAX) }.ln();
        let gain = ln(old) - ln(new);
        if let Some(pair) = self.pairs.last_mut() {
            pair.push(gain);
        }
    }

    /// Whether the candidate won, once that is decided. Another pair begins where it is not.
    pub fn verdict(&mut self) -> Option<bool> {
        if self.first.is_some() || self.pairs.last()?.len() < self.shapes.len() {
            return None;
        }
        let decided = if self.confirms() { self.confirmed() } else { self.decided() };
        if decided.is_none() {
            self.pairs.push(vec![]);
        }
        decided
    }

    fn decided(&self) -> Option<bool> {
        let means = || self.pairs.iter().map(|pair| mean(pair));
        let lost = means().filter(|&gain| gain <= Contest::LEAST_GAIN).count();
        let clear = means().filter(|&gain| gain > CLEAR_GAIN).count();
        match self.pairs.len() {
            _ if lost > LOST || means().any(|gain| gain < -CLEAR_LOSS) => Some(false),
            CLEAR_PAIRS if clear == CLEAR_PAIRS => Some(true),
            PAIRS => Some(true),
            _ => None,
        }
    }

    /// Other shapes need not gain as much, but something in every pair.
    fn confirmed(&self) -> Option<bool> {
        let gains = self.pairs.iter().all(|pair| mean(pair) > 0.0);
        (!gains || self.pairs.len() == CONFIRMING_PAIRS).then_some(gains)
    }

    /// The gain on each shape: the median of the pairs.
    pub fn gains(&self) -> impl Iterator<Item = (usize, f64)> {
        let of = |place: usize| self.pairs.iter().filter_map(|pair| pair.get(place).copied()).collect::<Vec<f64>>();
        self.shapes.iter().enumerate().map(move |(place, &shape)| (shape, median(&of(place))))
    }

    /// Whether the candidate is slower on any shape, and by more than what is forgiven. Nine in ten pairs have to say so, and
    /// the louder the fewer they are, since noise says it of any shape now and then.
    pub fn is_slower_somewhere(&self, forgiven: f64) -> bool {
        let pairs = self.pairs.len();
        let loss = forgiven.max(Contest::LEAST_GAIN * PAIRS as f64 / pairs as f64);
        let losses =
            |place: usize| self.pairs.iter().filter(|pair| pair.get(place).is_some_and(|&gain| gain < -loss)).count();
        (0..self.shapes.len()).any(|place| losses(place) * PAIRS >= pairs * (PAIRS - LOST))
    }

    /// What the search gained that this contest was, or confirmed.
    pub fn found(&self) -> Vec<(usize, f64)> {
        self.found.clone().unwrap_or_else(|| self.gains().collect())
    }
}

fn mean(gains: &[f64]) -> f64 {
    gains.iter().sum::<f64>() / gains.len().max(1) as f64
}

/// The one in the middle. There are few: a sort would be a lot of code in a small module.
fn median(gains: &[f64]) -> f64 {
    let below = |gain: f64| gains.iter().filter(|&&other| other < gain).count();
    let up_to = |gain: f64| gains.iter().filter(|&&other| other <= gain).count();
    let middle = gains.len() / 2;
    gains.iter().copied().find(|&gain| (below(gain)..up_to(gain)).contains(&middle)).unwrap_or(0.0)
}
