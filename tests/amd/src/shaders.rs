//! The shaders that are planned for GPUs, each once, and what Vulkan's drivers are given of them.

use std::collections::HashSet;

use naga::back::pipeline_constants::process_overrides;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use wgmax::plan::{Access, Epilogue, HardmaxWriter, Kernel, MaxAccess, MaxOperands, Program, RowBlock};
use wgmax::{AdapterKind, DType, Limits};

use crate::Failure;
use crate::operations::{Operations, others, sweep, workloads};

/// All that is planned for the workload table and for what the sweep lacks; and of what is planned for the sweep the first
/// shader of each kind, and of each type the first for each task.
pub fn planned() -> Result<Vec<Kernel>, Failure> {
    let mut kernels = Kernels::default();
    kernels.add(&workloads()?, true)?;
    kernels.add(&others()?, true)?;
    kernels.add(&sweep()?, false)?;
    kernels.kernels.sort_by_cached_key(name);
    Ok(kernels.kernels)
}

/// What a kernel is called here. Teams differ in nothing but how often their members meet, and Max's operands in their
/// order: of those the first is compiled.
pub fn name(kernel: &Kernel) -> String {
    let words = kernel.to_string();
    let words = words.split(' ').map(|word| if word.starts_with("TEAM=") { "TEAM" } else { word });
    words.filter(|word| !word.starts_with("GROUP=")).collect::<Vec<_>>().join(" ")
}

/// A program as any other of its kind: with the same number of operands, and short rows of the same length.
pub fn kind(program: Program) -> Program {
    match program {
        Program::Reduce { access: Access::ShortRows { exchanged, .. }, epilogue, stores } => {
            let access = Access::ShortRows {
                block: RowBlock { len: 2, columns: 1, turn: 2 },
                rows: 8,
                exchanged,
                staged: false,
            };
            Program::Reduce { access, epilogue, stores }
        }
        Program::HardmaxWrite(HardmaxWriter::ShortRows { .. }) => {
            Program::HardmaxWrite(HardmaxWriter::ShortRows { len: 2 })
        }
        Program::Max { operands: MaxOperands { of_rows, of_columns, shifted, .. }, access } => {
            let [of_rows, of_columns, shifted] = [of_rows, of_columns, shifted].map(|mask| mask.min(1));
            // Of columns there are always some operands.
            let of_columns = if access == MaxAccess::Columns { 1 } else { of_columns };
            let operands = MaxOperands { count: 2, of_rows, of_columns, shifted };
            let access =
                if let MaxAccess::ShortRows { .. } = access { MaxAccess::ShortRows { len: 2 } } else { access };
            Program::Max { operands, access }
        }
        other => other,
    }
}

#[derive(Default)]
struct Kernels {
    kernels: Vec<Kernel>,
    names: HashSet<String>,
    /// And whether a team shares it.
    kinds: HashSet<(Program, bool)>,
    kinds_of_types: HashSet<(Program, DType)>,
}

impl Kernels {
    /// What is planned for these operations: all of it, or what is the first of its kind.
    fn add(&mut self, operations: &Operations, all: bool) -> Result<(), Failure> {
        for op in operations {
            for limits in devices() {
                for dispatch in op.plan(&limits)?.dispatches {
                    let new = self.is_new(&dispatch.kernel);
                    if (new || all) && self.names.insert(name(&dispatch.kernel)) {
                        self.kernels.push(dispatch.kernel);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether it is the first of its kind, or the first of its type that does the same.
    fn is_new(&mut self, kernel: &Kernel) -> bool {
        let kind = kind(kernel.program);
        let of_type = self.kinds_of_types.insert((task(kind), kernel.dtype));
        self.kinds.insert((kind, kernel.has_team())) || of_type
    }
}

/// What a program does, whatever is written in the end.
pub fn task(mut program: Program) -> Program {
    if let Program::Reduce { epilogue, .. } | Program::Merge { epilogue, .. } = &mut program {
        *epilogue = Epilogue::Record(epilogue.operator());
    }
    program
}

/// WebGPU's default limits, and those of an AMD GPU without and with 64-bit integers.
fn devices() -> [Limits; 3] {
    let default = Limits { adapter: AdapterKind::Hardware, ..Limits::default() };
    let amd = Limits {
        max_binding_bytes: (4 << 30) - 4,
        binding_alignment_bytes: 16,
        max_storage_bindings: 64,
        max_group_invocations: 1024,
        max_group_memory_bytes: 64 << 10,
        ..default.clone()
    };
    [default, amd.clone(), Limits { int64: true, ..amd }]
}

/// A shader as wgpu gives it to a Vulkan driver that has robustBufferAccess2.
pub fn spirv(kernel: &Kernel) -> Result<Vec<u32>, Failure> {
    let wgsl = kernel.wgsl();
    let module = naga::front::wgsl::parse_str(&wgsl).map_err(|error| error.emit_to_string(&wgsl))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::SHADER_INT64).validate(&module)?;
    let overrides = kernel.constants().map(|(name, value)| (name.to_string(), f64::from(value))).collect();
    let entry_point = Kernel::ENTRY_POINT.to_string();
    let shader_stage = naga::ShaderStage::Compute;
    let (module, info) = process_overrides(&module, &info, Some((shader_stage, &entry_point)), &overrides)?;
    let options = spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::empty(),
        force_loop_bounding: false,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        ..Default::default()
    };
    Ok(spv::write_vec(&module, &info, &options, Some(&spv::PipelineOptions { shader_stage, entry_point }))?)
}
