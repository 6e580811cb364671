//! What is noted of a shader.

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use wgmax::plan::{Access, Kernel, Program};

use crate::Failure;
use crate::assembly::Code;
use crate::driver::Compiler;
use crate::shaders::{name, planned, spirv};

/// Of one shader, compiled for one family.
pub struct Figures {
    /// Vector registers.
    pub vgprs: u64,
    /// The subgroups for which a SIMD has room.
    pub subgroups: u64,
    /// Bytes of scratch memory.
    pub scratch_bytes: u64,
    /// Registers spilled, vector and scalar ones.
    pub spilled: u64,
    /// Instructions in all.
    pub instructions: u64,
    /// Instructions for each pack of 16 bytes: see [`of_pack`].
    pub of_pack: Option<u64>,
    /// What the shader is called.
    pub name: String,
}

/// Prints the driver's version and the number of shaders, and the figures of each, compiled for the family in
/// `RADV_FORCE_FAMILY`.
pub fn print_figures(to: &mut dyn Write) -> Result<(), Failure> {
    let compiler = Compiler::new()?;
    let kernels = planned()?;
    writeln!(to, "{}\n{}", compiler.driver, kernels.len())?;
    for kernel in &kernels {
        let figures = Figures::new(&compiler, kernel).map_err(|error| format!("{kernel}: {error}"))?;
        writeln!(to, "{figures}")?;
    }
    Ok(())
}

impl Figures {
    fn new(compiler: &Compiler, kernel: &Kernel) -> Result<Figures, Failure> {
        let bindings: Vec<u32> = kernel.bindings().iter().map(|own| own.binding).collect();
        let compiled = compiler.compile(&spirv(kernel)?, &bindings)?;
        Ok(Figures {
            vgprs: compiled.statistic("VGPRs")?,
            subgroups: compiled.statistic("Subgroups per SIMD")?,
            scratch_bytes: compiled.statistic("Scratch size")?,
            spilled: compiled.statistic("Spilled VGPRs")? + compiled.statistic("Spilled SGPRs")?,
            instructions: compiled.statistic("Instructions")?,
            of_pack: of_pack(kernel.program, &Code::new(&compiled.assembly)),
            name: name(kernel),
        })
    }
}

/// Instructions for each pack, rounded. Reductions of rows and columns spend their time in a loop, so it is that loop's
/// for each pack that it loads. Of all others an invocation takes one pack, or one bunch, on GPUs: so it is the whole
/// shader's for each pack that it stores, or a reduction of short rows loads.
///
/// Both sides of branches are counted. There is no figure where elements are taken one by one.
fn of_pack(program: Program, code: &Code) -> Option<u64> {
    match program {
        Program::Reduce { access: Access::Rows | Access::Columns, .. } => code.main_loop_for_each_load(),
        Program::Reduce { access: Access::ShortRows { .. }, .. } => code.whole_for_each_load(),
        program if program.takes_packs() => code.whole_for_each_store(),
        _ => None,
    }
}

/// What a Max may take of [`Figures::of_pack`].
pub const MOST_OF_MAX: u64 = 120;

/// The laws.
impl Figures {
    /// Whether there are registers that do not fit.
    pub fn spills(&self) -> bool {
        self.scratch_bytes > 0 || self.spilled > 0
    }

    /// Whether a SIMD has room for fewer than half of the subgroups that it keeps.
    pub fn leaves_few_subgroups(&self, most: u64) -> bool {
        self.subgroups * 2 < most
    }

    /// Whether it is a Max that takes too many instructions for a pack.
    pub fn is_costly_max(&self) -> bool {
        self.name.starts_with("max_") && self.of_pack.is_some_and(|own| own > MOST_OF_MAX)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { vgprs, subgroups, scratch_bytes, spilled, instructions, of_pack, name } = self;
        let of_pack = of_pack.unwrap_or(0);
        write!(f, "{vgprs}\t{subgroups}\t{scratch_bytes}\t{spilled}\t{instructions}\t{of_pack}\t{name}")
    }
}

impl FromStr for Figures {
    type Err = Failure;

    fn from_str(line: &str) -> Result<Figures, Failure> {
        let columns: Vec<&str> = line.split('\t').collect();
        let [vgprs, subgroups, scratch_bytes, spilled, instructions, of_pack, name] = columns[..] else {
            return Err(format!("a line of {} columns, and not of 7: {line:?}", columns.len()).into());
        };
        Ok(Figures {
            vgprs: vgprs.parse()?,
            subgroups: subgroups.parse()?,
            scratch_bytes: scratch_bytes.parse()?,
            spilled: spilled.parse()?,
            instructions: instructions.parse()?,
            of_pack: Some(of_pack.parse()?).filter(|&own| own > 0),
            name: name.into(),
        })
    }
}
