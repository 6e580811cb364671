//! Every shader compiled for every family, as a table.

use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::{iter, thread};

use crate::{Failure, Figures};

/// A family of AMD's GPUs.
pub struct Family {
    /// What Mesa calls it: once, and from Mesa 23 on.
    names: &'static [&'static str],
    /// The subgroups that one of its SIMDs keeps. RADV says twice as many of RDNA where a subgroup has 32 invocations; but
    /// there are as many places whatever its size, and so LLVM counts them.
    pub most_subgroups: u64,
}

impl Family {
    /// What the table calls it.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }
}

/// The last of GCN, RDNA2 and RDNA3.
pub static FAMILIES: [Family; 3] = [
    Family { names: &["vega20"], most_subgroups: 10 },
    Family { names: &["navi21"], most_subgroups: 16 },
    Family { names: &["gfx1100", "navi31"], most_subgroups: 16 },
];

/// The argument with which the program is asked for the figures of one family, that of its environment.
pub const FIGURES: &str = "--figures";

/// What a family's compiler answered.
pub struct Compiled {
    /// For which it compiled.
    pub family: &'static Family,
    /// The driver and its version.
    pub driver: String,
    /// In the order of names.
    pub shaders: Vec<Figures>,
}

/// All families, side by side, by this program: a process of RADV's has one family.
///
/// After each shader `progress` is told how many are compiled, of each family, and how many there are.
pub fn compile(
    program: &Path,
    progress: &(dyn Fn(&[usize; FAMILIES.len()], usize) + Sync),
) -> Result<Vec<Compiled>, Failure> {
    let done = Mutex::new([0; FAMILIES.len()]);
    thread::scope(|scope| {
        let compiling = FAMILIES.iter().enumerate().map(|(n, family)| {
            let done = &done;
            let one_more = move |all| {
                let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                done[n] += 1;
                progress(&done, all);
            };
            scope.spawn(move || compile_for(family, program, &one_more))
        });
        let compiling: Vec<_> = compiling.collect();
        let joined = compiling.into_iter().map(|own| own.join().unwrap_or_else(|_| Err("a thread panicked".into())));
        joined.map(|compiled| compiled.map_err(Failure::from)).collect()
    })
}

/// By the first of its names that the driver knows.
fn compile_for(family: &'static Family, program: &Path, one_more: &dyn Fn(usize)) -> Result<Compiled, String> {
    let mut failures = Vec::new();
    for name in family.names {
        match compile_named(family, name, program, one_more) {
            Err(failure) => failures.push(format!("{name}: {failure}")),
            Ok(compiled) => return Ok(compiled),
        }
    }
    Err(failures.join("\n"))
}

fn compile_named(
    family: &'static Family,
    name: &str,
    program: &Path,
    one_more: &dyn Fn(usize),
) -> Result<Compiled, Failure> {
    let mut command = Command::new(program);
    command.arg(FIGURES).env("RADV_FORCE_FAMILY", name).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let read = output.map(|output| read(family, BufReader::new(output), one_more));
    let mut said = Vec::new();
    errors.map(|mut errors| errors.read_to_end(&mut said)).transpose()?;
    match (child.wait()?.success(), read) {
        (true, Some(compiled)) => compiled,
        _ => Err(String::from_utf8_lossy(&said).trim().into()),
    }
}

fn read(family: &'static Family, from: impl BufRead, one_more: &dyn Fn(usize)) -> Result<Compiled, Failure> {
    let mut lines = from.lines();
    let mut next = || lines.next().unwrap_or_else(|| Ok(String::new()));
    let (driver, count) = (next()?, next()?.parse()?);
    let mut shaders = Vec::new();
    for line in lines {
        let figures: Figures = line?.parse()?;
        shaders.push(Figures { subgroups: figures.subgroups.min(family.most_subgroups), ..figures });
        one_more(count);
    }
    Ok(Compiled { family, driver, shaders })
}

const HEAD: &str = "\
# What AMD's compiler makes of the shaders planned for GPUs. To write this file anew:
# UPDATE_EXPECT=1 cargo test --package wgmax-amd-tests
#
# For each family: vector registers; subgroups on a SIMD; bytes of scratch memory; instructions; instructions for each
# pack of 16 bytes. Of reductions of rows and columns these are their main loop's, for each pack that it loads; of all others the
# whole shader's, for each pack that it stores, or a reduction of short rows loads. Both sides of branches are counted.
# What breaks a law has a `!`: fewer than half of the subgroups, scratch memory, a Max of over 120 instructions for each pack.
";

const DRIVER: &str = "# Compiled by RADV of ";

/// The driver whose table it is.
pub fn driver(table: &str) -> Option<&str> {
    table.lines().find_map(|line| line.strip_prefix(DRIVER))
}

/// A line for each shader, with its figures for each family.
pub fn table(compiled: &[Compiled]) -> String {
    let drivers = compiled.first().map(|of| of.driver.as_str()).unwrap_or_default();
    let mut text = format!("{HEAD}{DRIVER}{drivers}\n\n");
    for Compiled { family, .. } in compiled {
        text += &format!("{:<28}", format!("{} of {}", family.name(), family.most_subgroups));
    }
    text.push('\n');
    let mut columns: Vec<_> = compiled.iter().map(|of| of.shaders.iter()).collect();
    let lines = iter::from_fn(|| columns.iter_mut().map(Iterator::next).collect::<Option<Vec<&Figures>>>());
    for line in lines.take_while(|line| !line.is_empty()) {
        for (figures, of) in line.iter().zip(compiled) {
            text += &columns_of(figures, of.family);
        }
        text += &format!("{}\n", line[0].name);
    }
    text
}

fn columns_of(figures: &Figures, family: &Family) -> String {
    let mark = |broken| if broken { '!' } else { ' ' };
    let few = mark(figures.leaves_few_subgroups(family.most_subgroups));
    let (spills, costly) = (mark(figures.spills()), mark(figures.is_costly_max()));
    let of_pack = figures.of_pack.map_or("-".into(), |own| own.to_string());
    let Figures { vgprs, subgroups, scratch_bytes, instructions, .. } = figures;
    format!("{vgprs:>3} {subgroups:>2}{few}{scratch_bytes:>6}{spills}{instructions:>5} {of_pack:>3}{costly}    ")
}
