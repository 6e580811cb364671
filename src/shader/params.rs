//! Parameters: the numbers that a shader finds in its uniform buffer, under the names that they have there.

/// Dimensions that the shaders have room for, each side. All of them are at least 2 and together they number the
/// elements of one binding, so that a view without overlap never has more.
pub(crate) const MAX_DIMS: usize = 32;

/// The parameters of a dispatch: the uniform buffer at binding 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Params {
    /// Of a reducing kernel.
    Reduction(ReductionParams),
    /// Of the kernel that puts records together.
    Merge(MergeParams),
    /// Of the filling kernel.
    Fill(FillParams),
    /// Of the kernels that write a Hardmax whose winners are known in packs.
    HardmaxWrite(HardmaxWriteParams),
    /// Of the kernel that writes its ones over zeros.
    HardmaxOnes(HardmaxOnesParams),
    /// Of a Max kernel.
    Broadcast(BroadcastParams),
}

impl Params {
    /// The bytes of the uniform buffer, a multiple of 16: so uniform structs end. It has room for 32 dimensions:
    /// [`Plan::check`](crate::Plan::check) allows no more.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = match self {
            Params::Reduction(params) => bytemuck::cast_slice(&params.words()).to_vec(),
            Params::Merge(params) => bytemuck::bytes_of(params).to_vec(),
            Params::Fill(params) => bytemuck::bytes_of(params).to_vec(),
            Params::HardmaxWrite(params) => bytemuck::bytes_of(params).to_vec(),
            Params::HardmaxOnes(params) => bytemuck::bytes_of(params).to_vec(),
            Params::Broadcast(params) => bytemuck::cast_slice(&params.words()).to_vec(),
        };
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes
    }
}

/// A dimension: its size, and its stride in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dim {
    /// Elements along it.
    pub size: u32,
    /// Elements from one to the next.
    pub stride: i32,
    /// Outputs, or positions, from one to the next in the whole tensor; 0 but for windows that join records.
    pub logical_stride: u64,
}

/// Which elements belong to which output. See `shaders/lib/reduction.wgsl`, which has the same fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReductionParams {
    /// Output elements.
    pub outputs: u32,
    /// Elements reduced to one output.
    pub reduce_len: u32,
    /// Elements of a chunk, the part of them that one task reduces.
    pub chunk_len: u32,
    /// Chunks of one output.
    pub chunks: u32,
    /// Elements of a run, the innermost reduced dimension.
    pub run_len: u32,
    /// Elements from one of a run to the next.
    pub run_stride: i32,
    /// The view's first element, counted from the start of the binding.
    pub start: u32,
    /// Outputs side by side in memory, for kernels of columns; slices side by side, where ones are written element by element.
    pub columns: u32,
    /// Output units, or packs of columns, that an invocation without a team makes, one after another.
    pub share: u32,
    /// Where several rows of columns count as one, the elements of a block that are more than whole rows; else 0.
    pub rest_len: u32,
    /// The kept dimensions, innermost first; for column kernels those around the columns.
    pub kept: Vec<Dim>,
    /// The reduced dimensions around the run, innermost first.
    pub outer: Vec<Dim>,
    /// Where records belong; all 0 but for windows that join records to others'.
    pub record_origin: RecordOrigin,
}

/// Where the records of one window belong among those of all windows of a tensor. See `shaders/lib/store_record.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RecordOrigin {
    /// Records of one output, of all windows together.
    pub records: u32,
    /// The window's first record.
    pub first_record: u32,
    /// The position of its first element.
    pub first_position: u64,
    /// Positions from one element of a run to the next.
    pub run_logical_stride: u64,
    /// Outputs from one column to the next.
    pub column_logical_stride: u32,
}

impl ReductionParams {
    fn words(&self) -> Vec<u32> {
        let RecordOrigin { records, first_record, first_position, run_logical_stride, column_logical_stride } =
            self.record_origin;
        let mut words = vec![
            self.outputs,
            self.reduce_len,
            self.chunk_len,
            self.chunks,
            self.run_len,
            self.run_stride as u32,
            self.start,
            self.columns,
            self.kept.len() as u32,
            self.outer.len() as u32,
            self.share,
            records,
            first_record,
            column_logical_stride,
        ];
        // Arrays begin at 16 bytes.
        words.extend([halves(first_position), halves(run_logical_stride), [self.rest_len, 0]].concat());
        for dims in [&self.kept, &self.outer] {
            let word =
                |dim: &Dim| [dim.size, dim.stride as u32, dim.logical_stride as u32, (dim.logical_stride >> 32) as u32];
            words.extend(padded(dims.iter().flat_map(word), 4 * MAX_DIMS));
        }
        words
    }
}

/// What is put together. See `shaders/merge.wgsl`, which has the same fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::NoUninit)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct MergeParams {
    /// Output elements.
    pub outputs: u32,
    /// Records of one output.
    pub records: u32,
    /// Output units that an invocation without a team makes, one after another.
    pub share: u32,
    /// Where ones and zeros are written, or records come from several columns, the elements of a slice; else 0.
    pub slice_len: u32,
    /// The teams that write a slice, a part each; 0 where none is written.
    pub parts: u32,
    /// Where an output's records come from several columns, the outputs side by side; else 0.
    pub columns: u32,
    /// The columns of each of them; else 0.
    pub folds: u32,
}

/// 64 bits as the shaders take them, the low word first.
fn halves(n: u64) -> [u32; 2] {
    [n as u32, (n >> 32) as u32]
}

/// So many words: those given, and zeros behind them.
fn padded(words: impl Iterator<Item = u32>, len: usize) -> impl Iterator<Item = u32> {
    words.chain(std::iter::repeat(0)).take(len)
}

/// What the filling kernel writes. See `shaders/fill.wgsl`, which has the same fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::NoUninit)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct FillParams {
    /// The first pack or word to write.
    pub first: u32,
    /// How many there are with those before it.
    pub len: u32,
    /// Those that an invocation writes, one after another.
    pub share: u32,
    /// What even words become.
    pub low: u32,
    /// What odd words become.
    pub high: u32,
}

/// How a Hardmax whose winners are known is written in packs. See `shaders/lib/winners.wgsl`, which has the same fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::NoUninit)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct HardmaxWriteParams {
    /// Output elements.
    pub len: u32,
    /// Slices side by side.
    pub columns: u32,
    /// Elements of a slice.
    pub slice_len: u32,
    /// What an invocation writes: packs or, of short rows, bunches; of columns the rows of packs side by side.
    pub share: u32,
    /// The elements that are written at once: a pack, a bunch, or packs side by side.
    pub write_len: u32,
}

/// Which ones a Hardmax has in a part of its output. See `shaders/hardmax_ones.wgsl`, which has the same fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::NoUninit)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct HardmaxOnesParams {
    /// Output elements.
    pub len: u32,
    /// Slices side by side, which are a block.
    pub columns: u32,
    /// Elements of a slice.
    pub slice_len: u32,
    /// Winners that an invocation takes, one after another.
    pub share: u32,
    /// The column of the first element.
    pub column: u32,
    /// The position of the first element in its slice.
    pub position: u32,
    /// The first winner of the window that is taken.
    pub first: u32,
    /// The first behind them that is not.
    pub end: u32,
    /// The column of the first one.
    pub winner_column: u32,
    /// The block of the first one, counted from the first element's.
    pub winner_block: u32,
}

/// Operands that are broadcast together. See `shaders/lib/broadcast.wgsl`, which has the same fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BroadcastParams {
    /// Output elements.
    pub len: u32,
    /// Packs, or output units, that an invocation writes: of packs those of as many rows as have no more, or a part of one row's; of
    /// columns the rows.
    pub share: u32,
    /// Elements of a row, the innermost dimension; 1 where they are written one by one, and of columns as many rows as fill whole tiles or,
    /// where neighbours spread, packs.
    pub row_len: u32,
    /// The first output unit to write.
    pub first: u32,
    /// The first element in the output's binding.
    pub begin: u32,
    /// The element that is the first to be kept as it is, where some are.
    pub end: u32,
    /// The sizes of the dimensions around the row, innermost first; of columns those within it, too.
    pub sizes: Vec<u32>,
    /// What this dispatch reads.
    pub operands: Vec<OperandParams>,
}

/// Where an operand's elements are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OperandParams {
    /// The view's first element, counted from the start of the binding.
    pub start: u32,
    /// The strides of the dimensions that have a size, innermost first.
    pub strides: Vec<i32>,
}

/// The dimensions along which a walk from row to row goes on without dividing. See `Walk` in `shaders/lib/broadcast.wgsl`.
pub(crate) const WALK_DIMS: usize = 3;

impl BroadcastParams {
    fn words(&self) -> Vec<u32> {
        let rank = self.sizes.len() as u32;
        let mut words = vec![self.len, self.share, self.row_len, rank, self.first, self.begin, self.end, 0];
        let not_walked = std::iter::repeat_n(1, WALK_DIMS.saturating_sub(self.sizes.len()));
        words.extend(padded(self.sizes.iter().copied().chain(not_walked), MAX_DIMS));
        let none = [OperandParams::default()]; // the shader's array is never empty
        for operand in if self.operands.is_empty() { &none } else { &self.operands[..] } {
            words.extend(self.steps(operand));
            words.push(operand.start);
            words.extend(padded(operand.strides.iter().map(|&stride| stride as u32), MAX_DIMS));
        }
        words
    }

    /// How far it is from one row to the next in an operand: along the innermost dimension and, for each of the others, from the
    /// end of all within.
    fn steps(&self, operand: &OperandParams) -> [u32; WALK_DIMS] {
        let mut walked = 0u32; // from the first row within to the last
        std::array::from_fn(|d| {
            let stride = operand.strides.get(d).map_or(0, |&stride| stride as u32);
            let step = stride.wrapping_sub(walked);
            let size = self.sizes.get(d).copied().unwrap_or(1);
            walked = walked.wrapping_add(size.wrapping_sub(1).wrapping_mul(stride));
            step
        })
    }

    /// The rows of a walk from end to end.
    pub(crate) fn walk_len(&self) -> u64 {
        self.sizes.iter().take(WALK_DIMS).map(|&size| u64::from(size)).fold(1, u64::saturating_mul)
    }
}
