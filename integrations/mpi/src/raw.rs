//! MPI's return codes, which rsmpi throws away: the only calls past its safe interface.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};

use mpi::collective::Operation;
use mpi::ffi;
use mpi::traits::{AsDatatype, AsRaw, Collection, Communicator, Equivalence, Pointer, PointerMut};

use crate::Error;

/// Lets what goes wrong on this communicator be told by a code. Without this MPI ends the job.
pub fn return_errors(comm: &impl Communicator) -> Result<(), Error> {
    // SAFETY: the communicator lives, and the handler is MPI's own.
    check(unsafe { ffi::MPI_Comm_set_errhandler(comm.as_raw(), ffi::RSMPI_ERRORS_RETURN) })
}

/// All ranks' elements, merged one by one by an operation that takes this type.
pub fn all_reduce<T: Equivalence>(
    comm: &impl Communicator,
    own: &[T],
    all: &mut [T],
    op: impl Operation,
) -> Result<(), Error> {
    let all = &mut all[..own.len()];
    let (datatype, count) = (own.as_datatype(), own.count());
    // SAFETY: both slices hold `count` elements of the datatype, and MPI is done with them when it returns.
    check(unsafe {
        let (from, to) = (own.pointer(), all.pointer_mut());
        ffi::MPI_Allreduce(from, to, count, datatype.as_raw(), op.as_raw(), comm.as_raw())
    })
}

/// One rank's elements, for all.
pub fn broadcast<T: Equivalence>(comm: &impl Communicator, rank: usize, elements: &mut [T]) -> Result<(), Error> {
    let (datatype, count) = (elements.as_datatype(), elements.count());
    // SAFETY: the slice holds `count` elements of the datatype, and MPI is done with it when it returns.
    check(unsafe { ffi::MPI_Bcast(elements.pointer_mut(), count, datatype.as_raw(), rank as c_int, comm.as_raw()) })
}

fn check(code: c_int) -> Result<(), Error> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let (mut text, mut len) = ([0; ffi::MPI_MAX_ERROR_STRING as usize], 0);
    // SAFETY: there is room for the longest text that MPI has.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut len) };
    let message = String::from_utf8_lossy(&text[..len as usize]).into_owned();
    Err(Error::Mpi { message })
}
