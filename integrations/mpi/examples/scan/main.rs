//! The greatest element of every tensor of a checkpoint, and where it is; a NaN wins, so that it is found. The bytes of all
//! tensors are cut into one run for each rank, wherever a tensor ends, and one reduction merges what the ranks find.
//!
//! ```text
//! mpirun -n 4 scan FOLDER
//! ```
//!
//! FOLDER has one `.safetensors` file, or an index of several; it may also be such a file.

mod checkpoint;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use wgmax_mpi::{Device, Failure, Ranks};

fn main() -> ExitCode {
    wgmax_mpi::run(scan)
}

fn scan(ranks: &Ranks) -> Result<(), Failure> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("usage: scan FOLDER")?.into();
    let device = ranks.agree("opening devices", Device::open(ranks))?;
    let begin = Instant::now();
    let found = checkpoint::scan(ranks, &device, &folder)?;
    let seconds = begin.elapsed().as_secs_f64();
    println!("rank {}: on {device}", ranks.rank());
    ranks.agree("told", Ok::<_, Failure>(()))?;
    if ranks.rank() == 0 {
        found.iter().for_each(|tensor| println!("{tensor}"));
        let bytes: u64 = found.iter().map(|found| checkpoint::bytes(&found.stored)).sum();
        let size = ranks.size();
        println!("{} tensors, {bytes} bytes in {:.1} ms on {size} ranks", found.len(), seconds * 1e3);
    }
    Ok(())
}
