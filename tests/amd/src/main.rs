//! Prints what AMD's compiler makes of the shaders that are planned for GPUs, and on the error stream how far it is.
//!
//! ```text
//! cargo run --package wgmax-amd-tests
//! ```

use std::env;
use std::io::{self, IsTerminal, Write as _};
use std::process::ExitCode;

use wgmax_amd_tests::{FAMILIES, FIGURES, Failure, compile, print_figures, table};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    match env::args().nth(1) {
        None => print!("{}", table(&compile(&env::current_exe()?, &show)?)),
        Some(own) if own == FIGURES => print_figures(&mut io::stdout().lock())?,
        Some(other) => return Err(format!("{other:?} is no argument: there are none").into()),
    }
    Ok(())
}

/// Of each family how many shaders are compiled, in one line that is written again and again; but where nobody looks, only
/// the end.
fn show(done: &[usize; FAMILIES.len()], all: usize) {
    let complete = done.iter().all(|&done| done == all);
    let mut stream = io::stderr().lock();
    if !complete && (!stream.is_terminal() || !done.iter().sum::<usize>().is_multiple_of(8)) {
        return;
    }
    let line: Vec<String> = FAMILIES.iter().zip(done).map(|(own, done)| format!("{} {done}", own.name())).collect();
    let end = if complete { "\n" } else { "" };
    write!(stream, "\rcompiled of {all} shaders: {}{end}", line.join(", ")).ok(); // nobody needs to know
}
