//! The ranks of a job, and what they do together.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use mpi::Threading;
use mpi::collective::UserOperation;
use mpi::datatype::{DynBuffer, DynBufferMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Equivalence};
use wgmax::shard::{Partial, Partials, Sharded};

use crate::{Error, raw};

/// Whatever went wrong on one rank.
pub type Failure = Box<dyn std::error::Error>;

/// Ranks that reduce together: all those of a communicator. What one of these methods does, every rank has to do, in the
/// same order.
pub struct Ranks {
    operation: UserOperation<'static>,
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

/// The first message of every step has so many pairs, whatever the step is, so that ranks at different steps can meet. It
/// begins with the agreement; a step of few partials needs no other message.
const FIRST: usize = 128;
const AGREEMENT: usize = 4;
/// At most so many go in each of the others: MPI counts with 31 bits, and makes buffers as large as a message.
const MOST: usize = 1 << 20;
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
            operation: UserOperation::commutative(merge),
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
    /// does the same with whatever may fail on one rank only.
    ///
    /// # Errors
    /// [`Error::Rank`] if a rank brought an error; [`Error::Differ`] if not all of them are at the same step, by its name;
    /// [`Error::Mpi`]. Once a rank has come to its end, or MPI has failed, that error is all there is.
    pub fn agree<T>(&self, step: &str, own: Result<T, impl Display>) -> Result<T, Error> {
        self.meet(step, own.as_ref().err().map(|error| error as &dyn Display), &mut [])?;
        own.map_err(|error| Error::Rank { rank: self.rank(), message: error.to_string() })
    }

    /// All ranks' agreement on a step, and the merging of the first of its pairs, in one message.
    fn meet(&self, step: &str, error: Option<&dyn Display>, pairs: &mut [Pair]) -> Result<(), Error> {
        if let Some(error) = &*self.ended.borrow() {
            return Err(error.clone());
        }
        let (is_end, told) = self.send_first(step, error, pairs);
        if is_end { self.ending(told) } else { told }
    }

    /// What comes of something after which nothing can be done together if it failed.
    fn ending(&self, outcome: Result<(), Error>) -> Result<(), Error> {
        outcome.inspect_err(|error| *self.ended.borrow_mut() = Some(error.clone()))
    }

    /// Whether a rank has come to its end, and what all of them are told.
    fn send_first(&self, step: &str, error: Option<&dyn Display>, pairs: &mut [Pair]) -> (bool, Result<(), Error>) {
        let mut hasher = DefaultHasher::new();
        step.hash(&mut hasher);
        let hash = hasher.finish();
        // The greatest wins: the number of the first failed rank; and hashes are equal if their complements are, too.
        let failed = error.map_or(0, |_| self.size() - self.rank());
        let keys: [u64; AGREEMENT] = [failed as u64, u64::from(step == END), hash, !hash];
        let mut message = [Pair::default(); FIRST];
        message[..AGREEMENT].copy_from_slice(&keys.map(|key| Pair { key, place: 0 }));
        message[AGREEMENT..][..pairs.len()].copy_from_slice(pairs);
        let merged = self.merge(&mut message);
        let [failed, end, one, other] = [0, 1, 2, 3].map(|n| message[n].key);
        pairs.copy_from_slice(&message[AGREEMENT..][..pairs.len()]);
        let told = merged.and_then(|()| match failed {
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
        let records = known.iter().flatten().flat_map(Partials::records);
        let mut pairs: Vec<Pair> = records.map(|&partial| partial.into()).collect();
        let at = pairs.len().min(FIRST - AGREEMENT);
        let (first, others) = pairs.split_at_mut(at);
        self.meet(&format!("{operations:?}"), known.as_ref().err().map(|error| error as &dyn Display), first)?;
        others.chunks_mut(MOST).try_for_each(|message| self.merge(message))?;
        let mut known = known.map_err(|message| Error::Rank { rank: self.rank(), message })?;
        let records = known.iter_mut().flat_map(Partials::records_mut);
        records.zip(pairs).for_each(|(record, pair)| *record = pair.into());
        Ok(known)
    }

    /// Each pair becomes all ranks'. Where MPI fails at this, ranks may be at different messages from then on.
    fn merge(&self, pairs: &mut [Pair]) -> Result<(), Error> {
        self.bytes.set(self.bytes.get() + size_of_val(pairs) as u64);
        let own = pairs.to_vec();
        self.ending(raw::all_reduce(&self.comm, &own, pairs, &self.operation))
    }

    /// A failed rank's error, from that rank to all.
    fn failure(&self, rank: usize, own: Option<&dyn Display>) -> Error {
        let mut words = [0; WORDS];
        if let Some(own) = own.filter(|_| rank == self.rank()) {
            let own = own.to_string();
            let len = own.len().min(WORDS);
            words[..len].copy_from_slice(&own.as_bytes()[..len]);
        }
        if let Err(error) = self.ending(raw::broadcast(&self.comm, rank, &mut words)) {
            return error;
        }
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
