//! An MPI that fails when it is told to. MPI lets a program stand before each of its functions, and has them all by a second
//! name, which begins with P.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use wgmax_mpi::mpi::ffi;

/// How many messages of this rank go well from now on.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Messages fail on this rank, once so many have gone well.
pub fn after(messages: i64) {
    LEFT.store(messages, Relaxed);
}

/// No message fails any more.
pub fn never() {
    after(i64::MAX);
}

fn fails() -> bool {
    LEFT.fetch_sub(1, Relaxed) <= 0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Allreduce(
    own: *const c_void,
    all: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
) -> c_int {
    if fails() {
        return ffi::MPI_ERR_OTHER as c_int;
    }
    // SAFETY: what the caller has to see to, it has for this function, too.
    unsafe { ffi::PMPI_Allreduce(own, all, count, datatype, op, comm) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Bcast(
    elements: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
) -> c_int {
    if fails() {
        return ffi::MPI_ERR_OTHER as c_int;
    }
    // SAFETY: as above.
    unsafe { ffi::PMPI_Bcast(elements, count, datatype, root, comm) }
}
