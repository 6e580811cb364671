//! What shaders declare: their bindings and their `override` constants, from the kernel alone.
//!
//! One table: plans are checked against it, and bind group layouts are made from it. tests/shaders holds it against
//! naga's reading of the text.

use super::kernel::FIRST_OPERAND;
use super::{Access, Constant, Kernel, Operator, Program, Slot, Store};

/// A storage binding as a shader declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Declaration {
    /// Its number in group 0.
    pub binding: u32,
    /// Whether it is `read_write`, and not `read`.
    pub writes: bool,
    /// Bytes of an element of its array: a binding has no fewer.
    pub element_bytes: u64,
    /// What it is there for.
    pub role: Role,
}

/// What a binding is there for, and so which slots may be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Elements to be read: an input's, or a constant's.
    Operand,
    /// Elements to be written, of an output.
    Result,
    /// Whatever is written: an output, or winners and empty records that later dispatches take from scratch.
    Target,
    /// What dispatches leave for one another in scratch.
    Partials,
}

impl Role {
    /// Whether a binding of this role may lie there.
    pub const fn allows(self, slot: Slot) -> bool {
        match self {
            Role::Operand => matches!(slot, Slot::Input(_) | Slot::Constant(_)),
            Role::Result => matches!(slot, Slot::Output(_)),
            Role::Target => matches!(slot, Slot::Output(_) | Slot::Scratch(_)),
            Role::Partials => matches!(slot, Slot::Scratch(_)),
        }
    }
}

const WORD: u64 = 4;
const PACK: u64 = 16;

const fn reads(binding: u32, element_bytes: u64, role: Role) -> Declaration {
    Declaration { binding, writes: false, element_bytes, role }
}

const fn writes(binding: u32, element_bytes: u64, role: Role) -> Declaration {
    Declaration { binding, writes: true, element_bytes, role }
}

impl Kernel {
    /// The storage bindings of the shader, by their numbers. The parameters are a uniform buffer at binding 0.
    pub fn bindings(&self) -> Vec<Declaration> {
        let unit = self.dtype.bytes().max(WORD);
        let ones = |packs| writes(3, if packs { PACK } else { unit }, Role::Result);
        let winners = reads(1, WORD, Role::Partials);
        match self.program {
            Program::Fill => vec![writes(3, WORD, Role::Target)],
            Program::Reduce { access, store, .. } => [inputs(access), stores(store, unit)].concat(),
            Program::HardmaxRows { access, packs, .. } => [inputs(access), vec![ones(packs)]].concat(),
            Program::HardmaxColumns => [inputs(Access::Strided), vec![ones(false)]].concat(),
            Program::HardmaxWriteColumns => vec![winners, ones(false)],
            Program::HardmaxWriteRows { packs } => vec![winners, ones(packs)],
            Program::MaxPacks { operands, splats } => {
                let element = |n| if splats >> n & 1 == 1 { WORD } else { PACK };
                max_bindings(operands, PACK, element)
            }
            Program::MaxElements { operands } => max_bindings(operands, unit, |_| WORD),
        }
    }

    /// Whether the shader has an `override` declaration of the constant's name.
    pub fn declares(&self, constant: Constant) -> bool {
        let program = self.program;
        let reduces = matches!(program, Program::Reduce { .. } | Program::HardmaxRows { .. } | Program::HardmaxColumns);
        let access = match program {
            Program::Reduce { access, .. } | Program::HardmaxRows { access, .. } => Some(access),
            _ => None,
        };
        match constant {
            Constant::Group(_) => true,
            Constant::Team(_) => match program {
                Program::Reduce { access, team, .. } => team && access != Access::Columns,
                Program::HardmaxRows { team, .. } => team,
                _ => false,
            },
            Constant::NansIgnored => self.dtype.is_float() && program != Program::Fill,
            Constant::Last => reduces && !matches!(program, Program::Reduce { operator: Operator::ReduceMax, .. }),
            Constant::IndexWords(_) => {
                matches!(program, Program::Reduce { store: Store::Index | Store::Both, .. })
            }
            Constant::Continues => matches!(
                program,
                Program::HardmaxWriteColumns
                    | Program::HardmaxWriteRows { .. }
                    | Program::MaxPacks { .. }
                    | Program::MaxElements { .. }
            ),
            Constant::Guarded => matches!(
                program,
                Program::HardmaxWriteColumns | Program::HardmaxWriteRows { .. } | Program::MaxElements { .. }
            ),
            Constant::Keeps => matches!(program, Program::MaxElements { .. }),
            Constant::Split | Constant::Runs => reduces,
            Constant::Ragged => matches!(access, Some(Access::Rows | Access::Columns)),
            Constant::Wide | Constant::Far => access == Some(Access::Columns),
        }
    }

    /// Whether there is such a shader: not everything that can be named was written, or is planned.
    pub(super) fn exists(&self) -> bool {
        match self.program {
            Program::Reduce { operator, access, team, store } => {
                let stored = match operator {
                    Operator::ReduceMax => matches!(store, Store::Partial | Store::Piece | Store::Value),
                    Operator::ArgMax if access == Access::FinishPieces => matches!(store, Store::Index | Store::Both),
                    Operator::ArgMax => store != Store::Value,
                };
                let by_pack = operator == Operator::ReduceMax || self.dtype.bytes() < 8;
                stored && (access != Access::Columns || by_pack && !team)
            }
            Program::HardmaxRows { access, .. } => matches!(access, Access::Rows | Access::Strided),
            Program::MaxPacks { operands, .. } | Program::MaxElements { operands } => operands <= u32::BITS,
            Program::Fill
            | Program::HardmaxColumns
            | Program::HardmaxWriteColumns
            | Program::HardmaxWriteRows { .. } => true,
        }
    }
}

fn inputs(access: Access) -> Vec<Declaration> {
    let words = reads(1, WORD, Role::Operand);
    match access {
        Access::Rows | Access::Columns => vec![words, reads(2, PACK, Role::Operand)],
        Access::Strided => vec![words],
        Access::Finish | Access::FinishPieces => vec![reads(1, WORD, Role::Partials)],
    }
}

fn stores(store: Store, unit: u64) -> Vec<Declaration> {
    match store {
        Store::Partial | Store::Piece => vec![writes(3, WORD, Role::Partials)],
        Store::Value => vec![writes(3, unit, Role::Result)],
        Store::Index => vec![writes(3, WORD, Role::Target)],
        Store::Both => vec![writes(3, unit, Role::Result), writes(4, WORD, Role::Target)],
    }
}

fn max_bindings(operands: u32, unit: u64, element: impl Fn(u32) -> u64) -> Vec<Declaration> {
    let operand = |n| reads(FIRST_OPERAND + n, element(n), Role::Operand);
    [writes(1, unit, Role::Result)].into_iter().chain((0..operands.min(u32::BITS)).map(operand)).collect()
}
