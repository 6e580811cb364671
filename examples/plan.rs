//! A look into the library: what is planned for an operation, dispatch by dispatch; its complete shaders; or the plan as
//! JSON for other hosts.
//!
//! ```text
//! cargo run --example plan -- argmax f16 64x128256 --axes -1
//! cargo run --example plan -- hardmax f32 16x50257 --wgsl
//! cargo run --example plan -- max u8 100x70:-70,1+6930 100x1 --limits llvmpipe
//! cargo run --features serde --example plan -- reducemax i64 300x1001 --axes 0 --json
//! echo '{"ArgMax": {"dtype": "f16", "input": {"shape": [64, 1000]}}}' | cargo run --features serde --example plan -- -
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write as _};
use std::process::ExitCode;
use std::str::FromStr;

use pico_args::Arguments;
use wgmax::plan::{Dispatch, Params, PortablePlan};
use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, DType, Hardmax, IndexType, Limits, Max, NanPolicy, Operation, Plan, ReduceMax,
    Slices, View,
};

type Failure = Box<dyn Error>;

const USAGE: &str = "\
usage: plan OPERATOR TYPE SHAPE... [OPTION...]
       plan - [OPTION...]    an operation as JSON from standard input (feature serde)

  OPERATOR       reducemax, argmax, hardmax, or max, which takes one shape or several
  TYPE           f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool
  SHAPE          64x128256, contiguous; 100x70:-70,1+6930, with strides and the number of the first element

  --axes -1,0    reducemax, argmax: the axes reduced, all of them without it; hardmax: the axis along which slices lie
  --from 1       hardmax: slices of all dimensions from this one on
  --keepdims     reducemax, argmax: reduced dimensions stay, with size 1
  --select-last  argmax: the last of equal maxima
  --values       argmax: the maxima, too
  --index u32    argmax: the type of positions, i64, i32 or u32
  --in-place 0   max: the input that is written over
  --nan ignore   NaN loses to every number; or propagate, as without it

  --limits NAME  part of the name of an adapter of this machine (feature gpu), or default: WebGPU's default limits
  --wgsl         the complete shaders, each once
  --json         the plan for hosts that are not on this crate's wgpu (feature serde), see docs/plan.md
";

fn main() -> ExitCode {
    let answer = answer(std::env::args_os().skip(1).collect(), io::stdin());
    match answer.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("plan: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whoever reads may have seen enough.
fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// What is printed for these arguments.
pub fn answer(arguments: Vec<OsString>, input: impl Read) -> Result<String, Failure> {
    let mut arguments = Arguments::from_vec(arguments);
    if arguments.contains("--help") {
        return Ok(USAGE.into());
    }
    let limits: Option<String> = arguments.opt_value_from_str("--limits")?;
    let form = [arguments.contains("--wgsl"), arguments.contains("--json")];
    let options = Options::parse(&mut arguments)?;
    let op = match &words(arguments)?[..] {
        [] => return Err(format!("no operation given\n{USAGE}").into()),
        [dash] if dash == "-" => options.check("an operation from standard input", &[]).and_then(|()| read(input))?,
        [operator, dtype, shapes @ ..] if !shapes.is_empty() => operation(operator, dtype, shapes, &options)?,
        words => return Err(format!("{words:?} given, an operator, a type and a shape expected\n{USAGE}").into()),
    };
    let (device, limits) = limits_named(limits.as_deref().unwrap_or("default"))?;
    let plan = op.plan(&limits)?;
    match form {
        [false, false] => Ok(dispatches(&plan, &device)?),
        [true, false] => Ok(shaders(&plan)?),
        [false, true] => json(&plan),
        [true, true] => Err("--wgsl and --json given, one of them expected".into()),
    }
}

/// What is no option.
fn words(arguments: Arguments) -> Result<Vec<String>, Failure> {
    let word = |word: OsString| match word.into_string() {
        Ok(word) if word.len() > 1 && word.starts_with('-') => {
            Err(format!("there is no option {word}, see --help").into())
        }
        Ok(word) => Ok(word),
        Err(word) => Err(format!("cannot make sense of {word:?}").into()),
    };
    arguments.finish().into_iter().map(word).collect()
}

// The operation.

/// What is asked for beside operator, type and shapes.
#[derive(Default)]
struct Options {
    /// The names of those given.
    given: Vec<&'static str>,
    axes: Option<Vec<i64>>,
    from: Option<i64>,
    keep_dims: bool,
    select_last: bool,
    values: bool,
    index: IndexType,
    in_place: Option<usize>,
    nan: NanPolicy,
}

impl Options {
    fn parse(arguments: &mut Arguments) -> Result<Options, Failure> {
        let mut options = Options::default();
        let axes = |name: &str, text: &str| text.split(',').map(|axis| number(name, axis)).collect();
        options.axes = options.value(arguments, "--axes", axes)?;
        options.from = options.value(arguments, "--from", number)?;
        options.in_place = options.value(arguments, "--in-place", number)?;
        let policies = [("propagate", NanPolicy::Propagate), ("ignore", NanPolicy::Ignore)];
        options.nan =
            options.value(arguments, "--nan", |name, text| one_of(name, text, &policies))?.unwrap_or_default();
        let types = [IndexType::I64, IndexType::I32, IndexType::U32].map(|own| (own.dtype().name(), own));
        options.index =
            options.value(arguments, "--index", |name, text| one_of(name, text, &types))?.unwrap_or_default();
        options.keep_dims = options.flag(arguments, "--keepdims");
        options.select_last = options.flag(arguments, "--select-last");
        options.values = options.flag(arguments, "--values");
        Ok(options)
    }

    fn flag(&mut self, arguments: &mut Arguments, name: &'static str) -> bool {
        let given = arguments.contains(name);
        self.given.extend(given.then_some(name));
        given
    }

    fn value<T>(
        &mut self,
        arguments: &mut Arguments,
        name: &'static str,
        read: impl Fn(&str, &str) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let text: Option<String> = arguments.opt_value_from_str(name)?;
        self.given.extend(text.is_some().then_some(name));
        text.map(|text| read(name, &text)).transpose()
    }

    /// Nothing is ignored in silence.
    fn check(&self, operator: &str, known: &[&str]) -> Result<(), Failure> {
        match self.given.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(format!("{operator} has no {name}, see --help").into()),
            None => Ok(()),
        }
    }
}

fn number<T: FromStr>(what: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| format!("{what}: {text:?} given, a whole number expected").into())
}

fn one_of<T: Copy>(what: &str, text: &str, all: &[(&str, T)]) -> Result<T, Failure> {
    let names = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| format!("{what}: {text:?} given, one of {} expected", names()).into())
}

#[derive(Clone, Copy)]
enum Operator {
    ReduceMax,
    ArgMax,
    Hardmax,
    Max,
}

fn operation(operator: &str, dtype: &str, shapes: &[String], options: &Options) -> Result<AnyOperation, Failure> {
    let operators = [
        ("reducemax", (Operator::ReduceMax, &["--nan", "--axes", "--keepdims"][..])),
        ("argmax", (Operator::ArgMax, &["--nan", "--axes", "--keepdims", "--select-last", "--values", "--index"])),
        ("hardmax", (Operator::Hardmax, &["--nan", "--axes", "--from"])),
        ("max", (Operator::Max, &["--nan", "--in-place"])),
    ];
    let (kind, known) = one_of("operator", operator, &operators)?;
    options.check(operator, known)?;
    let dtype = one_of("type", dtype, &DType::ALL.map(|dtype| (dtype.name(), dtype)))?;
    let view = |text: &String| view(text).map_err(|error| format!("shape {text:?}: {error}"));
    let mut views = shapes.iter().map(view).collect::<Result<Vec<_>, _>>()?;
    if views.len() > 1 && !matches!(kind, Operator::Max) {
        return Err(format!("{} shapes given, {operator} takes one", views.len()).into());
    }
    Ok(match kind {
        Operator::ReduceMax => {
            let op = ReduceMax::new(dtype, views.remove(0)).axes(options.axes.clone());
            op.keep_dims(options.keep_dims).nan(options.nan).into()
        }
        Operator::ArgMax => {
            let op = ArgMax::new(dtype, views.remove(0)).axes(options.axes.clone()).select_last(options.select_last);
            let output = if options.values { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
            op.keep_dims(options.keep_dims).nan(options.nan).index(options.index).output(output).into()
        }
        Operator::Hardmax => Hardmax::new(dtype, views.remove(0), slices(options)?).nan(options.nan).into(),
        Operator::Max => {
            let op = Max::new(dtype, views).nan(options.nan);
            options.in_place.map_or(op.clone(), |input| op.in_place(input)).into()
        }
    })
}

fn slices(options: &Options) -> Result<Slices, Failure> {
    match (options.axes.as_deref(), options.from) {
        (None, None) => Ok(Slices::Along(-1)),
        (Some(&[axis]), None) => Ok(Slices::Along(axis)),
        (None, Some(axis)) => Ok(Slices::From(axis)),
        (Some(axes), None) => Err(format!("--axes: {axes:?} given, hardmax takes one").into()),
        (Some(_), Some(_)) => Err("--axes and --from given, one of them expected".into()),
    }
}

/// `64x100`, or with strides `64x100:-200,2`, or with the first element's number behind them `64x100:-200,2+12600`.
fn view(text: &str) -> Result<View, Failure> {
    let (sizes, layout) = text.split_once(':').map_or((text, None), |(sizes, layout)| (sizes, Some(layout)));
    let sizes = sizes.split('x').map(|size| number("sizes", size)).collect::<Result<Vec<u64>, _>>()?;
    let Some(layout) = layout else { return Ok(View::new(sizes)?) };
    let (strides, offset) = layout.split_once('+').unwrap_or((layout, "0"));
    let strides = strides.split(',').map(|stride| number("strides", stride)).collect::<Result<Vec<i64>, _>>()?;
    Ok(View::strided(sizes, strides, number("first element", offset)?)?)
}

#[cfg(feature = "serde")]
fn read(input: impl Read) -> Result<AnyOperation, Failure> {
    serde_json::from_reader(input).map_err(|error| format!("the operation on standard input: {error}").into())
}

#[cfg(not(feature = "serde"))]
fn read(_: impl Read) -> Result<AnyOperation, Failure> {
    Err("an operation as JSON takes the feature serde: cargo run --features serde --example plan -- -".into())
}

// The device.

/// A device by name: what it is, and its limits.
fn limits_named(name: &str) -> Result<(String, Limits), Failure> {
    if name == "default" { Ok(("WebGPU's default limits".into(), Limits::default())) } else { adapter_limits(name) }
}

/// All that the adapter has; where there is none of that name, the error lists those that there are.
#[cfg(feature = "gpu")]
fn adapter_limits(name: &str) -> Result<(String, Limits), Failure> {
    let gpu = wgmax::Gpu::new_blocking(&wgmax::GpuOptions { adapter: Some(name.into()), ..Default::default() })?;
    Ok((gpu.to_string(), gpu.kernels().limits().clone()))
}

#[cfg(not(feature = "gpu"))]
fn adapter_limits(name: &str) -> Result<(String, Limits), Failure> {
    Err(format!("--limits {name}: adapters are looked at with the feature gpu; without it there is default").into())
}

// The plan.

fn dispatches(plan: &Plan, device: &str) -> Result<String, std::fmt::Error> {
    let mut text = format!("{}, planned for {device}\n", plan.label);
    let overrides: Vec<u64> = plan.embedded.iter().map(|bytes| bytes.len() as u64).collect();
    let slots: [(&str, &[u64]); 4] = [
        ("input", &plan.input_bytes),
        ("output", &plan.output_bytes),
        ("scratch", &plan.scratch_bytes),
        ("constant", &overrides),
    ];
    for (slot, all) in slots {
        let used = |(_, bytes): &(usize, &u64)| **bytes > 0 || slot != "scratch";
        for (n, bytes) in all.iter().enumerate().filter(used) {
            writeln!(text, "  {slot} {n}: {bytes} bytes")?;
        }
    }
    if let Some(input) = plan.in_place {
        writeln!(text, "  input {input} is written over: its buffer is output 0")?;
    }
    writeln!(text, "  dispatches: {}, {} bytes read and written in all", plan.dispatches.len(), plan.moved_bytes())?;
    for (n, dispatch) in plan.dispatches.iter().enumerate() {
        write_dispatch(&mut text, n + 1, dispatch)?;
    }
    Ok(text)
}

fn write_dispatch(text: &mut String, n: usize, dispatch: &Dispatch) -> std::fmt::Result {
    let [x, y, z] = dispatch.grid;
    writeln!(text, "\n{n}. {}", dispatch.kernel)?;
    writeln!(text, "   workgroups: {x} x {y} x {z}")?;
    writeln!(text, "   parameters: {}", parameters(&dispatch.params))?;
    for b in &dispatch.bindings {
        let access = if b.writes { "writes" } else { "reads" };
        writeln!(text, "   binding {} {access} {}, bytes {}..{}", b.binding, b.slot, b.offset_bytes, b.end_bytes())?;
    }
    Ok(())
}

/// Those that are not 0 altogether.
fn parameters(params: &Params) -> String {
    let all = format!("{params:?}");
    let fields = all.split_once("{ ").map_or(&all[..], |(_, fields)| fields.trim_end_matches(" })"));
    let says_something = |field: &&str| field.contains(|c: char| ('1'..='9').contains(&c));
    top_level(fields).into_iter().filter(says_something).collect::<Vec<_>>().join(", ")
}

/// What commas separate outside of all brackets.
fn top_level(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let separates = |c: char| {
        depth += i32::from("[{(".contains(c)) - i32::from("]})".contains(c));
        c == ',' && depth == 0
    };
    text.split(separates).map(str::trim).collect()
}

fn shaders(plan: &Plan) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for shader in PortablePlan::from(plan).shaders {
        writeln!(text, "// {}\n// key {}, entry point {}", shader.label, shader.key, shader.entry_point)?;
        for (name, value) in &shader.overrides {
            writeln!(text, "// override {name} = {value}")?;
        }
        writeln!(text, "\n{}", shader.wgsl)?;
    }
    Ok(text)
}

#[cfg(feature = "serde")]
fn json(plan: &Plan) -> Result<String, Failure> {
    Ok(serde_json::to_string(&PortablePlan::from(plan))? + "\n")
}

#[cfg(not(feature = "serde"))]
fn json(_: &Plan) -> Result<String, Failure> {
    Err("--json takes the feature serde: cargo run --features serde --example plan -- …".into())
}
