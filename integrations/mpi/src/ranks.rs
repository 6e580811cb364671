//! The ranks of a job, and what they do together.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use mpi::Threading;
use mpi::collective::{SystemOperation, UserOperation};
use mpi::datatype::{DynBuffer, DynBufferMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Equivalence, Root};
use wgmax::shard::{Partial, Partials, Sharded};

use crate::{Error, raw};

/// Whatever went wrong on one rank.
pub type Failure = Box<dyn std::error::Error>;

/// Ranks that reduce together: all those of a communicator. What one of these methods does, every rank has to do, in the
/// same order.
pub struct Ranks {
    merge: UserOperation<'static>,
    comm: SimpleCommunicator,
    local: usize,
    bytes: Cell<u64>,
    /// Why nothing can be done together any more: a rank has come to its end, or MPI failed.
    ended: RefCell<Option<Error>>,
}

/// A partial as MPI sees it: a type of its own, so that no message is divided within a pair, and of two numbers of 64 bits,
/// so that machines of different byte orders understand each other.
#[derive(Clone, Copy, Default, Equivalence)]
struct Pair {
    key: u64,
    place: u64,
}

impl From<Partial> for Pair {
    fn from(Partial { key, place }: Partial) -> Pair {
        Pair { key, place }
    }
}

impl From<Pair> for Partial {
    fn from(Pair { key, place }: Pair) -> Partial {
        Partial { key, place }
    }
}

/// At most so many partials go in one message: MPI counts with 31 bits, and its buffers are as large as a message.
const MESSAGE: usize = 1 << 20;
/// The last step of a program.
const END: &str = "the end";
/// A failed rank's words are sent in so many bytes.
const WORDS: usize = 512;

/// Starts MPI, does something on every rank, and stops MPI. A rank on which it fails, or panics, meets the others in
/// their next step: they fail with an error that names it. The error is printed.
pub fn run(body: impl FnOnce(&Ranks) -> Result<(), Failure>) -> ExitCode {
    let Some((_universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("MPI was started before, and may be started only once");
        return ExitCode::FAILURE;
    };
    let world = SimpleCommunicator::world();
    let outcome = Ranks::new(&world).map_err(Failure::from).and_then(|ranks| {
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&ranks))).unwrap_or_else(|_| Err("it panicked".into()));
        let told = ranks.agree(END, outcome.as_ref()).map(|&()| ());
        if let Err(error @ Error::Mpi { .. }) = told {
            tell(ranks.rank(), &error);
            world.abort(1); // stopping MPI would wait for ranks of which nothing is known
        }
        outcome.and(told.map_err(Failure::from))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(world.rank() as usize, error.as_ref());
            ExitCode::FAILURE
        }
    }
}

/// A whole line at once: other ranks print, too.
fn tell(rank: usize, error: &dyn std::error::Error) {
    let line = format!("rank {rank}: {error}\n");
    eprint!("{line}");
}

impl Ranks {
    /// The ranks of a communicator: all of them have to call this. The communicator itself stays as it is.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn new(comm: &impl Communicator) -> Result<Ranks, Error> {
        let comm = comm.duplicate();
        let local = comm.split_shared(comm.rank()).rank() as usize;
        raw::return_errors(&comm)?;
        Ok(Ranks {
            merge: UserOperation::commutative(merge),
            comm,
            local,
            bytes: Cell::new(0),
            ended: RefCell::new(None),
        })
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    /// Which of the ranks on this host it is: for sharing what a host has.
    pub fn local_rank(&self) -> usize {
        self.local
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.comm.size() as usize
    }

    /// What they talk through. It tells what goes wrong by codes, which rsmpi's own methods throw away.
    pub fn communicator(&self) -> &SimpleCommunicator {
        &self.comm
    }

    /// The bytes that this rank has brought to reductions until now. What goes over wires is this times what MPI's algorithm
    /// makes of it, such as the logarithm of the number of ranks.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Every rank's success, or the first failed rank's error on all of them. Each reduction begins with this; a program
    /// does the same with whatever may fail on one rank only. 32 bytes are reduced.
    ///
    /// # Errors
    /// [`Error::Rank`] if a rank brought an error; [`Error::Differ`] if not all of them are at the same step, by its name;
    /// [`Error::Mpi`]. Once a rank has come to its end, or MPI has failed, that error is all there is.
    pub fn agree<T>(&self, step: &str, own: Result<T, impl Display>) -> Result<T, Error> {
        if let Some(error) = &*self.ended.borrow() {
            return Err(error.clone());
        }
        let met = self.meet(step, own.as_ref().err());
        if let (true, Err(error)) | (_, Err(error @ Error::Mpi { .. })) = &met {
            *self.ended.borrow_mut() = Some(error.clone());
        }
        let failed = |error: &dyn Display| Error::Rank { rank: self.rank(), message: error.to_string() };
        met.1.and_then(|()| own.map_err(|error| failed(&error)))
    }

    /// Whether a rank is at its end, and what all of them are told.
    fn meet(&self, step: &str, error: Option<&impl Display>) -> (bool, Result<(), Error>) {
        let mut hasher = DefaultHasher::new();
        step.hash(&mut hasher);
        let hash = hasher.finish();
        // By a maximum the first failed rank's number counts most, and two hashes are equal if their complements are, too.
        let failed = error.map_or(0, |_| self.size() - self.rank());
        let own = [failed as u64, u64::from(step == END), hash, !hash];
        let mut all = [0; 4];
        let reduced = self.reduce(&own, &mut all, SystemOperation::max());
        let [failed, end, one, other] = all;
        let told = reduced.and_then(|()| match failed {
            0 if one == !other => Ok(()),
            0 => Err(Error::Differ { own: step.into() }),
            _ => Err(self.failure(self.size() - failed as usize, error)),
        });
        (end > 0, told)
    }

    /// Merges what the ranks found: of each any part of the outputs, or an error. Every rank gets all of it.
    ///
    /// # Errors
    /// Those of [`Ranks::agree`]; the partials of another reduction are the failure of the rank that brought them.
    pub fn all_reduce(&self, whole: &Sharded, found: Result<Partials, impl Display>) -> Result<Partials, Error> {
        let mut known = self.all_reduce_each(std::slice::from_ref(whole), found.map(|found| vec![found]))?;
        Ok(known.swap_remove(0))
    }

    /// The same of several reductions at once, for the price of one: partials say all about themselves, so those of
    /// different types and operators go in one message.
    ///
    /// # Errors
    /// As there.
    pub fn all_reduce_each(
        &self,
        wholes: &[Sharded],
        found: Result<Vec<Partials>, impl Display>,
    ) -> Result<Vec<Partials>, Error> {
        let found = found.map_err(|error| error.to_string());
        let known = found.and_then(|found| of_wholes(wholes, &found).map_err(|error| error.to_string()));
        let operations: Vec<_> = wholes.iter().map(Sharded::operation).collect();
        let mut known = self.agree(&format!("{operations:?}"), known)?;
        let own: Vec<Pair> = known.iter().flat_map(Partials::records).map(|&partial| partial.into()).collect();
        let mut all = vec![Pair::default(); own.len()];
        for (own, all) in own.chunks(MESSAGE).zip(all.chunks_mut(MESSAGE)) {
            self.reduce(own, all, &self.merge)?;
        }
        let records = known.iter_mut().flat_map(Partials::records_mut);
        records.zip(all).for_each(|(record, pair)| *record = pair.into());
        Ok(known)
    }

    fn reduce<T: Equivalence>(
        &self,
        own: &[T],
        all: &mut [T],
        op: impl mpi::collective::Operation,
    ) -> Result<(), Error> {
        self.bytes.set(self.bytes.get() + size_of_val(own) as u64);
        raw::all_reduce(&self.comm, own, all, op)
    }

    /// A failed rank's error, from that rank to all.
    fn failure(&self, rank: usize, own: Option<&impl Display>) -> Error {
        let mut words = [0; WORDS];
        if let Some(own) = own.filter(|_| rank == self.rank()) {
            let own = own.to_string();
            let len = own.len().min(WORDS);
            words[..len].copy_from_slice(&own.as_bytes()[..len]);
        }
        self.comm.process_at_rank(rank as mpi::Rank).broadcast_into(&mut words);
        let message = String::from_utf8_lossy(&words).trim_end_matches('\0').to_string();
        Error::Rank { rank, message }
    }
}

/// What was found, as part of what there is to find.
fn of_wholes(wholes: &[Sharded], found: &[Partials]) -> Result<Vec<Partials>, wgmax::Error> {
    if wholes.len() != found.len() {
        let (given, expected) = (found.len(), wholes.len());
        return Err(wgmax::Error::WrongCount { what: "partials", given, expected });
    }
    let known = wholes.iter().zip(found).map(|(whole, found)| {
        let mut known = whole.nothing()?;
        known.merge(found)?;
        Ok(known)
    });
    known.collect()
}

/// MPI's operation: `known` becomes what both know.
fn merge(others: DynBuffer<'_>, known: DynBufferMut<'_>) {
    let (Some(others), Some(known)) = (others.downcast::<Pair>(), known.downcast::<Pair>()) else {
        unreachable!("MPI passes on the type that it was given");
    };
    for (own, &other) in known.iter_mut().zip(others) {
        *own = Partial::from(*own).merge(other.into()).into();
    }
}
