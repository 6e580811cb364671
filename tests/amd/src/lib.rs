//! What AMD's compiler makes of the shaders that are planned for GPUs, with no AMD hardware: Mesa's RADV has a null device.
//!
//! `cargo run --package wgmax-amd-tests` prints the table, and `tests/table.rs` holds it to laws and to what is on record.

mod assembly;
mod driver;
mod figures;
mod operations;
mod shaders;
mod table;

pub use figures::{Figures, MOST_OF_MAX, print_figures};
pub use shaders::{kind, planned, task};
pub use table::{Compiled, FAMILIES, FIGURES, Family, compile, driver, table};

/// Whatever went wrong, said in words.
pub type Failure = Box<dyn std::error::Error>;
