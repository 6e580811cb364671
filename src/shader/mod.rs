//! Shaders: which programs there are, the files that each is made of, what they bind, and their parameters.

mod bunches;
mod column_panels;
mod files;
mod kernel;
mod manifest;
mod operands;
mod overrides;
mod params;
mod program;
mod short_rows;
mod text;

pub(crate) use bunches::{Bunches, MOST_BUNCH_PACKS};
pub use files::Role;
pub(crate) use files::{fingerprint, fnv};
pub use kernel::Kernel;
pub use manifest::Declaration;
pub use overrides::Override;
pub use params::{
    BroadcastParams, Dim, FillParams, HardmaxOnesParams, HardmaxWriteParams, MergeParams, OperandParams, Params,
    RecordOrigin, ReductionParams,
};
pub(crate) use params::{MAX_DIMS, WALK_DIMS};
pub use program::{Access, Epilogue, HardmaxWriter, MaxAccess, MaxOperands, Operator, Program, RowBlock, Stores};
pub(crate) use program::{FIRST_OPERAND, LARGEST_BLOCK, LONGEST_SHORT_ROW, LONGEST_WRITTEN_ROW, TILE_PACKS};
