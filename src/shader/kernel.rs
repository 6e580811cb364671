//! Kernels: programs over storage types, and which of them there are.

use std::fmt;

use super::program::narrow_winners;
use super::{
    Access, Bunches, Epilogue, HardmaxWriter, LONGEST_WRITTEN_ROW, MaxAccess, MaxOperands, Override, Program, Stores,
};
use crate::DType;

/// A shader: which program, over which storage type, with which overrides.
///
/// Two dispatches with equal kernels share a pipeline, whatever their shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// The storage type.
    pub dtype: DType,
    /// The values of its `override` declarations, but for those that follow from others: [`constants`](Self::constants) has all.
    pub overrides: Vec<Override>,
    /// Whether 16-byte packs are bound as pairs of 64-bit integers, for devices with [`Limits::int64`](crate::Limits).
    pub int64: bool,
    /// Whether every storage binding is declared `read_write`, and each slot bound once, so that one buffer may hold them
    /// all: for plans with [`Limits::shared_buffers`](crate::Limits).
    pub shared_buffers: bool,
}

impl Kernel {
    /// The entry point of every shader.
    pub const ENTRY_POINT: &'static str = "main";

    /// Whether columns can be stored in packs: values, and positions but for those of 64-bit types, two of which may be half a pack,
    /// and for those of 32-bit types from several packs side by side: lavapipe is faster word by word.
    pub(crate) fn stores_packs(dtype: DType, epilogue: Epilogue, wide: bool) -> bool {
        match epilogue {
            Epilogue::Value => true,
            Epilogue::Index if dtype.bytes() == 4 => !wide,
            Epilogue::Index | Epilogue::Winner => dtype.bytes() < 4,
            _ => false,
        }
    }

    /// Whether it has that override.
    pub(crate) fn has(&self, own: Override) -> bool {
        self.overrides.contains(&own)
    }

    /// The neighbours that take turns along rows of a Max, or see all of a row of columns; one for itself.
    pub(crate) fn neighbours(&self) -> u64 {
        self.number(Override::Neighbours(1))
    }

    /// The packs of columns that an invocation takes side by side.
    pub(crate) fn column_packs(&self) -> u64 {
        self.number(Override::ColumnPacks(1))
    }

    /// The constants to make its pipeline with, by their names: its overrides and, where bunches are staged, the words of a workgroup's.
    pub fn constants(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        let staged = self.bunches().filter(|own| own.staged);
        let words = staged.map(|own| ("STAGED", (self.number(Override::Group(1)) * own.words_apart()) as u32));
        self.overrides.iter().map(|own| (own.name(), own.value())).chain(words)
    }

    /// The value of an override of that name, or this one's.
    fn number(&self, default: Override) -> u64 {
        let given = self.overrides.iter().find(|own| own.name() == default.name());
        given.unwrap_or(&default).value().into()
    }

    /// Whether several invocations share a task.
    pub fn has_team(&self) -> bool {
        self.overrides.iter().any(|own| matches!(own, Override::Team(_)))
    }

    /// The bunches of short rows that it reduces, if there is such a text.
    pub(crate) fn bunches(&self) -> Option<Bunches> {
        let Program::Reduce { access, epilogue, .. } = self.program else { return None };
        Bunches::of_access(access, self.dtype, epilogue).filter(|own| own.are_valid(self.has(Override::Ragged)))
    }

    fn can_store(&self, access: Access, epilogue: Epilogue, stores: Stores) -> bool {
        let wide = self.column_packs() > 1;
        let columns = access == Access::Columns && Kernel::stores_packs(self.dtype, epilogue, wide);
        match stores {
            Stores::Results => true,
            Stores::Packs => columns || self.bunches_fill_packs(),
            Stores::Seams => columns && !self.has_team() && !wide,
        }
    }

    /// Whether the results of bunches of short rows are whole packs.
    fn bunches_fill_packs(&self) -> bool {
        let Some(bunches) = self.bunches().filter(|own| !own.exchanged) else { return false };
        match bunches.epilogue {
            Epilogue::Value => bunches.fill_result_packs(self.dtype.bytes()),
            Epilogue::Index => bunches.fill_result_packs(if self.has(Override::IndexWords(1)) { 4 } else { 8 }),
            _ => false,
        }
    }

    /// Whether there is such a shader: not everything that can be named was written, or is planned.
    pub fn exists(&self) -> bool {
        let team = self.has_team();
        match self.program {
            Program::Reduce { access, epilogue, stores } => {
                matches!(self.column_packs(), 1 | 4 | 8 | 16)
                    && self.can_store(access, epilogue, stores)
                    && (epilogue != Epilogue::Ones || writes(access, team))
                    && (epilogue != Epilogue::Winner || access == Access::Columns && self.dtype.bytes() < 4)
                    && match access {
                        Access::Rows | Access::Strided | Access::Columns => true,
                        Access::ShortRows { .. } => {
                            !team
                                && !epilogue.is_record()
                                && self.bunches().is_some_and(|own| self.can_take(&own, stores))
                        }
                    }
            }
            Program::Merge { epilogue } => {
                !epilogue.is_record()
                    && (epilogue != Epilogue::Ones || team)
                    && (epilogue != Epilogue::Winner || self.dtype.bytes() < 4)
            }
            Program::Max { operands, access } => self.can_read(operands, access),
            Program::HardmaxWrite(writer) => self.can_write(writer),
            Program::HardmaxOnes { narrow } => !narrow || self.dtype.bytes() < 4,
            Program::Fill { .. } => self.dtype == DType::U32,
        }
    }

    /// Whether bunches can be exchanged and staged as they are to be.
    fn can_take(&self, own: &Bunches, stores: Stores) -> bool {
        let several = own.rows > 1 || own.staged && !self.has(Override::IndexWords(1)); // words to exchange
        (!own.exchanged || own.epilogue == Epilogue::Index && several) && (!own.staged || self.can_stage(own, stores))
    }

    /// Whether bunches can be staged: where they are read from end to end, all runs of a row in one, and an invocation takes one of them.
    fn can_stage(&self, own: &Bunches, stores: Stores) -> bool {
        let few = self.overrides.iter().find(|own| matches!(own, Override::FewRuns(_)));
        let in_pieces = few.map_or(self.has(Override::Runs), |&own| own != Override::FewRuns(1));
        let anywhere = [Override::Ragged, Override::Pairs].into_iter().any(|own| self.has(own));
        stores == Stores::Results && own.epilogue != Epilogue::Ones && !in_pieces && !anywhere && own.can_be_staged()
    }

    fn can_read(&self, operands: MaxOperands, access: MaxAccess) -> bool {
        operands.count <= u32::BITS
            && operands.are_asked_for(access)
            && match access {
                MaxAccess::Packs { pairs } => {
                    let any = self.program.paired_operands().next().is_some();
                    pairs == any && !(pairs && self.shared_buffers)
                }
                MaxAccess::ShortRows { len } => (2..=LONGEST_WRITTEN_ROW).contains(&len.into()),
                MaxAccess::Columns | MaxAccess::Elements => true,
            }
    }

    fn can_write(&self, writer: HardmaxWriter) -> bool {
        match writer {
            HardmaxWriter::PackedColumns { narrow } => !narrow || self.dtype.bytes() < 4,
            HardmaxWriter::InnerPacks | HardmaxWriter::Seams => self.dtype.bytes() < 8, // packs of winners begin anywhere
            HardmaxWriter::RaggedColumns { packed } => !packed || self.dtype.bytes() < 8,
            HardmaxWriter::Rows => true,
            HardmaxWriter::ShortRows { len } => (2..=LONGEST_WRITTEN_ROW).contains(&len.into()),
        }
    }
}

/// Whoever finds a slice's winner writes it: teams or, by themselves, invocations that take bunches or units of some slices.
fn writes(access: Access, team: bool) -> bool {
    match access {
        Access::Rows => team,
        Access::Strided | Access::ShortRows { .. } => !team,
        Access::Columns => false,
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program {
            Program::Fill { packs } => f.write_str(if packs { "fill in packs" } else { "fill" })?,
            Program::Reduce { access, epilogue, stores } => {
                write!(f, "{} {access} {} -> {epilogue}{stores}", epilogue.operator(), self.dtype)?;
            }
            Program::Merge { epilogue } => write!(f, "{} merge {} -> {epilogue}", epilogue.operator(), self.dtype)?,
            Program::HardmaxWrite(writer) => writer.write(self.dtype, f)?,
            Program::HardmaxOnes { narrow } => write!(f, "hardmax_ones{} {}", narrow_winners(narrow), self.dtype)?,
            Program::Max { operands, access } => access.write(operands, self.dtype, f)?,
        }
        for own in &self.overrides {
            write!(f, " {}={}", own.name(), own.value())?;
        }
        let marks = [(self.int64, " int64"), (self.shared_buffers, " shared_buffers")];
        marks.into_iter().filter(|(is_so, _)| *is_so).try_for_each(|(_, mark)| f.write_str(mark))
    }
}
