//! Generated text: the declarations of a Max kernel's operands, and how they are folded, one line each, since WGSL has no
//! arrays of bindings.

mod elements;
mod packs;
mod shared;
mod short_rows;

pub(super) use elements::{column_operands, element_operands};
pub(super) use packs::pack_operands;
pub(super) use short_rows::ShortRows;
