//! A device made of paper: it runs a plan's shaders as naga reads them.

mod machine;
mod origin;
mod program;
pub mod traffic;
mod value;

pub use machine::{Groups, Paper, slot_number};
pub use origin::{Origin, Word};
