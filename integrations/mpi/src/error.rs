/// What ended a step of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank failed: every rank gets this, that one too.
    #[error("rank {rank} failed: {message}")]
    Rank {
        /// The first of those that failed.
        rank: usize,
        /// What it says, cut at 512 bytes.
        message: String,
    },
    /// Ranks came to one step with different things to do, so that nothing was merged.
    #[error("the ranks do not do the same: this one is at {own}")]
    Differ {
        /// What this rank was about to do.
        own: String,
    },
    /// MPI could not do what it was asked for; nothing is known of the other ranks.
    #[error("MPI: {message}")]
    Mpi {
        /// MPI's own words.
        message: String,
    },
}
