use bytemuck::{Pod, Zeroable};

/// Dimensions that the shaders have room for, each side. All of them are at least 2 and together they number the
/// elements of one binding, so that a view without overlap never has more.
pub(crate) const MAX_DIMS: usize = 32;

/// The parameters of a pass: the uniform buffer at binding 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Params {
    /// Of a reducing kernel.
    Reduction(ReductionParams),
    /// Of the filling kernel.
    Fill(FillParams),
    /// Of the kernel that writes a Hardmax whose winners are known.
    HardmaxWrite(HardmaxWriteParams),
    /// Of a Max kernel.
    Broadcast(BroadcastParams),
}

impl Params {
    /// The bytes of the uniform buffer. It has room for 32 dimensions: [`Plan::check`](crate::Plan::check) allows no more.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Params::Reduction(params) => bytemuck::bytes_of(&params.raw()).to_vec(),
            Params::Fill(params) => bytemuck::bytes_of(params).to_vec(),
            Params::HardmaxWrite(params) => bytemuck::bytes_of(params).to_vec(),
            Params::Broadcast(params) => params.to_bytes(),
        }
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
    /// In a piece of a larger reduction: outputs, or positions, from one to the next. 0 elsewhere.
    pub place: u64,
}

/// Which elements belong to which output. See `shaders/shared/reduction.wgsl`, which has the same fields.
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
    /// Outputs side by side in memory, for column kernels.
    pub columns: u32,
    /// Output units that an invocation without a team makes, one after another; for Hardmax groups of slices that fill
    /// whole units.
    pub share: u32,
    /// The kept dimensions, innermost first; for column kernels those around the columns.
    pub kept: Vec<Dim>,
    /// The reduced dimensions around the run, innermost first.
    pub outer: Vec<Dim>,
    /// Where the results of a piece of a larger reduction belong; all 0 elsewhere.
    pub placement: Placement,
}

/// Where the results of one piece belong among those of all pieces of a reduction. See `shaders/shared/place.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Placement {
    /// Records of one output, of all pieces together.
    pub records: u32,
    /// The piece's first record.
    pub first_record: u32,
    /// The position of its first element.
    pub first_position: u64,
    /// Positions from one element of a run to the next.
    pub run_place: u64,
    /// Outputs from one column to the next.
    pub column_place: u32,
}

/// `Params` of `shaders/shared/reduction.wgsl`, as it lies in the uniform buffer.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct RawReduction {
    pub outputs: u32,
    pub reduce_len: u32,
    pub chunk_len: u32,
    pub chunks: u32,
    pub run_len: u32,
    pub run_stride: i32,
    pub start: u32,
    pub columns: u32,
    pub kept_rank: u32,
    pub outer_rank: u32,
    pub share: u32,
    pub records: u32,
    pub first_record: u32,
    pub column_place: u32,
    pub first_position: [u32; 2],
    pub run_place: [u32; 2],
    pub padding: [u32; 2],
    pub kept: [[u32; 4]; MAX_DIMS],
    pub outer: [[u32; 4]; MAX_DIMS],
}

impl ReductionParams {
    fn raw(&self) -> RawReduction {
        RawReduction {
            outputs: self.outputs,
            reduce_len: self.reduce_len,
            chunk_len: self.chunk_len,
            chunks: self.chunks,
            run_len: self.run_len,
            run_stride: self.run_stride,
            start: self.start,
            columns: self.columns,
            kept_rank: self.kept.len() as u32,
            outer_rank: self.outer.len() as u32,
            share: self.share,
            records: self.placement.records,
            first_record: self.placement.first_record,
            first_position: words(self.placement.first_position),
            run_place: words(self.placement.run_place),
            column_place: self.placement.column_place,
            padding: [0; 2],
            kept: raw_dims(&self.kept),
            outer: raw_dims(&self.outer),
        }
    }
}

fn raw_dims(dims: &[Dim]) -> [[u32; 4]; MAX_DIMS] {
    let mut raw = [[0; 4]; MAX_DIMS];
    for (raw, dim) in raw.iter_mut().zip(dims) {
        let [low, high] = words(dim.place);
        *raw = [dim.size, dim.stride as u32, low, high];
    }
    raw
}

/// 64 bits as the shaders take them, the low word first.
fn words(n: u64) -> [u32; 2] {
    [n as u32, (n >> 32) as u32]
}

/// What the filling kernel writes. See `shaders/fill.wgsl`, which has the same fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FillParams {
    /// Words to write.
    pub words: u32,
    /// Words that an invocation writes, one after another.
    pub share: u32,
    /// What even words become.
    pub low: u32,
    /// What odd words become.
    pub high: u32,
}

/// How the winners of a Hardmax are written. See `shaders/shared/winners.wgsl`, which has the same fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HardmaxWriteParams {
    /// Output elements.
    pub len: u32,
    /// Slices side by side.
    pub columns: u32,
    /// Elements of a slice.
    pub slice_len: u32,
    /// Packs, or output units, that an invocation writes.
    pub share: u32,
    /// The column of the first element.
    pub column: u32,
    /// The position in its slice of the first element.
    pub position: u32,
    /// The window's first winner, counted from the first element's block on; it wraps where it lies before.
    pub first_winner: u32,
    /// Winners in the window.
    pub winners: u32,
}

/// Operands that are broadcast together. See `shaders/shared/broadcast.wgsl`, which has the same fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BroadcastParams {
    /// Output elements.
    pub len: u32,
    /// Packs, or output units, that an invocation writes.
    pub share: u32,
    /// Elements of a row, the innermost dimension.
    pub row_len: u32,
    /// The first output unit to write.
    pub first: u32,
    /// The first element in the output's binding.
    pub begin: u32,
    /// The element that is the first to be kept as it is, where some are.
    pub end: u32,
    /// The sizes of the dimensions around the row, innermost first.
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
    /// Elements from one of a row to the next.
    pub row_stride: i32,
    /// The strides of the dimensions around the row, innermost first.
    pub strides: Vec<i32>,
}

/// `Params` of `shaders/shared/broadcast.wgsl` up to its operands, as it lies in the uniform buffer.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct RawBroadcast {
    pub len: u32,
    pub share: u32,
    pub row_len: u32,
    pub rank: u32,
    pub first: u32,
    pub begin: u32,
    pub end: u32,
    pub padding: u32,
    pub sizes: [u32; MAX_DIMS],
}

/// `Operand` of `shaders/shared/broadcast.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct RawOperand {
    pub start: u32,
    pub row_stride: i32,
    pub padding: [u32; 2],
    pub strides: [i32; MAX_DIMS],
}

impl BroadcastParams {
    fn to_bytes(&self) -> Vec<u8> {
        let raw = RawBroadcast {
            len: self.len,
            share: self.share,
            row_len: self.row_len,
            rank: self.sizes.len() as u32,
            first: self.first,
            begin: self.begin,
            end: self.end,
            padding: 0,
            sizes: padded(&self.sizes),
        };
        let mut bytes = bytemuck::bytes_of(&raw).to_vec();
        let none = [OperandParams::default()]; // the shader's array is never empty
        for operand in if self.operands.is_empty() { &none } else { &self.operands[..] } {
            let strides = padded(&operand.strides);
            let (start, row_stride) = (operand.start, operand.row_stride);
            bytes.extend(bytemuck::bytes_of(&RawOperand { start, row_stride, padding: [0; 2], strides }));
        }
        bytes
    }
}

fn padded<T: Copy + Default>(values: &[T]) -> [T; MAX_DIMS] {
    let mut padded = [T::default(); MAX_DIMS];
    padded.iter_mut().zip(values).for_each(|(padded, value)| *padded = *value);
    padded
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;
    use crate::DType;
    use crate::plan::{Access, Kernel, Operator, Program, Store};

    /// The members of a kernel's `struct Params` with their offsets, and its size, as naga lays it out.
    fn wgsl_layout(program: Program) -> (Vec<(String, usize)>, usize) {
        wgsl_struct_layout(program, "Params")
    }

    fn wgsl_struct_layout(program: Program, name: &str) -> (Vec<(String, usize)>, usize) {
        let wgsl = Kernel { program, dtype: DType::F32, constants: vec![], int64: false }.wgsl();
        let module = naga::front::wgsl::parse_str(&wgsl).unwrap();
        let (_, params) = module.types.iter().find(|(_, own)| own.name.as_deref() == Some(name)).unwrap();
        let naga::TypeInner::Struct { members, span } = &params.inner else { panic!("{name} is no struct") };
        let members = members.iter().map(|member| (member.name.clone().unwrap(), member.offset as usize));
        (members.collect(), *span as usize)
    }

    macro_rules! host_layout {
        ($type:ty: $($field:ident)*) => {
            (vec![$((stringify!($field).to_string(), offset_of!($type, $field))),*], size_of::<$type>())
        };
    }

    #[test]
    fn reduction_params_lie_where_the_shaders_look() {
        let host = host_layout!(RawReduction:
            outputs reduce_len chunk_len chunks run_len run_stride start columns kept_rank outer_rank
            share records first_record column_place first_position run_place kept outer);
        for (operator, store) in [(Operator::ReduceMax, Store::Value), (Operator::ArgMax, Store::Index)] {
            for access in [Access::Rows, Access::Columns, Access::Strided, Access::Finish, Access::FinishPieces] {
                let program = Program::Reduce { operator, access, team: false, store };
                assert_eq!(wgsl_layout(program), host, "{program:?}");
            }
        }
    }

    #[test]
    fn fill_params_lie_where_the_shader_looks() {
        assert_eq!(wgsl_layout(Program::Fill), host_layout!(FillParams: words share low high));
    }

    #[test]
    fn hardmax_write_params_lie_where_the_shader_looks() {
        assert_eq!(
            wgsl_layout(Program::HardmaxWriteColumns),
            host_layout!(HardmaxWriteParams: len columns slice_len share column position first_winner winners)
        );
    }

    #[test]
    fn broadcast_params_lie_where_the_shaders_look() {
        for operands in [1_u32, 7, 32] {
            let (mut head, _) = host_layout!(RawBroadcast: len share row_len rank first begin end sizes);
            head.push(("operands".into(), size_of::<RawBroadcast>()));
            let size = size_of::<RawBroadcast>() + operands as usize * size_of::<RawOperand>();
            for program in [Program::MaxPacks { operands, splats: 1 }, Program::MaxElements { operands }] {
                assert_eq!(wgsl_layout(program), (head.clone(), size), "{program:?}");
                let operand = wgsl_struct_layout(program, "Operand");
                assert_eq!(operand, host_layout!(RawOperand: start row_stride strides), "{program:?}");
            }
        }
    }

    #[test]
    fn dimensions_are_a_size_and_a_stride() {
        let dims = vec![Dim { size: 3, stride: -1, place: 0 }, Dim { size: 5, stride: 7, place: 2 + (9 << 32) }];
        let params = ReductionParams { outputs: 9, kept: dims[..1].to_vec(), outer: dims, ..Default::default() };
        let bytes = Params::Reduction(params).to_bytes();
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        let outer = offset_of!(RawReduction, outer) / 4;
        let kept = offset_of!(RawReduction, kept) / 4;
        assert_eq!((words[0], words[8], words[9]), (9, 1, 2));
        assert_eq!(words[kept..kept + 8], [3, u32::MAX, 0, 0, 0, 0, 0, 0]);
        assert_eq!(words[outer..outer + 8], [3, u32::MAX, 0, 0, 5, 7, 2, 9]);
    }
}
