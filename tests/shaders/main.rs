//! Every shader variant, held against naga: it validates, the native back ends accept it, and its loops keep to the
//! rules. No GPU needed.

#[path = "../common/mod.rs"]
mod common;
mod imports;
mod inlined;
mod loops;

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::cases::{CLASSES, is_one_of_its_class};
use common::kernels::{OVERRIDES, kernels, programs};
use loops::{loops_of_one_turn, problems};
use naga::back::hlsl::ShaderModel;
use naga::back::pipeline_constants::process_overrides;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use serde_json::Value;
use wgmax::DType;
use wgmax::plan::{
    Access, BroadcastParams, Dim, Epilogue, FillParams, HardmaxOnesParams, HardmaxWriteParams, HardmaxWriter, Kernel,
    MaxAccess, MaxOperands, MergeParams, OperandParams, Operator, Override, Params, Program, RecordOrigin,
    ReductionParams, Stores,
};

fn parse(kernel: &Kernel) -> naga::Module {
    let wgsl = kernel.wgsl();
    naga::front::wgsl::parse_str(&wgsl).unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&wgsl)))
}

/// WebGPU without any optional feature, but for what the kernel says that it takes.
fn validator(kernel: &Kernel) -> Validator {
    let int64 = if kernel.int64 { Capabilities::SHADER_INT64 } else { Capabilities::empty() };
    Validator::new(ValidationFlags::all(), int64)
}

fn validate(kernel: &Kernel, module: &naga::Module) -> naga::valid::ModuleInfo {
    validator(kernel)
        .validate(module)
        .unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&kernel.wgsl())))
}

/// The most expressions of a kernel when all calls are inlined: lavapipe compiles some 150,000 a second. Bunches of short rows
/// are text without loops, as long as is planned.
const MOST_INLINED: usize = 120_000;

/// In threads, as many as there are cores: each takes the next one that nobody has taken.
fn each_of<T: Sync>(all: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let check_next = || all.get(next.fetch_add(1, Ordering::Relaxed)).map(&check);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(|| while check_next().is_some() {}))));
}

/// And it declares what its manifest says, no loop of it takes one turn, and it is not long when all calls are inlined.
#[test]
fn every_variant_validates_and_reaches_every_back_end() {
    let variants: Vec<Kernel> = kernels().into_iter().filter(|own| is_one_of_its_class(own.dtype)).collect();
    each_of(&variants, |kernel| {
        let module = parse(kernel);
        check_manifest(kernel, &module);
        let info = validate(kernel, &module);
        let constants = kernel.constants().map(|(name, value)| (name.to_string(), f64::from(value))).collect();
        let (module, info) =
            process_overrides(&module, &info, None, &constants).unwrap_or_else(|error| panic!("{kernel}: {error}"));
        assert_eq!(loops_of_one_turn(&module), [""; 0], "{kernel}");
        let is_bunch = matches!(kernel.program, Program::Reduce { access: Access::ShortRows { .. }, .. });
        let inlined = inlined::expressions(&module);
        assert!(inlined <= MOST_INLINED || is_bunch, "{kernel}: {inlined} expressions when inlined");
        naga::back::spv::write_vec(&module, &info, &naga::back::spv::Options::default(), None)
            .unwrap_or_else(|error| panic!("{kernel}: SPIR-V: {error}"));
        let lang_version = if kernel.int64 { (2, 3) } else { (1, 0) };
        let msl = naga::back::msl::Options { fake_missing_bindings: true, lang_version, ..Default::default() };
        naga::back::msl::write_string(&module, &info, &msl, &naga::back::msl::PipelineOptions::default())
            .unwrap_or_else(|error| panic!("{kernel}: MSL: {error}"));
        let shader_model = if kernel.int64 { ShaderModel::V6_0 } else { ShaderModel::V5_1 };
        let hlsl = naga::back::hlsl::Options { fake_missing_bindings: true, shader_model, ..Default::default() };
        let mut text = String::new();
        naga::back::hlsl::Writer::new(&mut text, &hlsl, &naga::back::hlsl::PipelineOptions::default())
            .write(&module, &info, None)
            .unwrap_or_else(|error| panic!("{kernel}: HLSL: {error}"));
    });
}

/// So one type of each class does for all that is held against naga: the others' shaders differ in one constant.
#[test]
fn types_of_one_class_share_their_text() {
    let others: Vec<Kernel> = kernels().into_iter().filter(|own| !is_one_of_its_class(own.dtype)).collect();
    each_of(&others, |kernel| {
        let is_alike = |own: &DType| (own.bytes(), own.is_float()) == (kernel.dtype.bytes(), kernel.dtype.is_float());
        let one = Kernel { dtype: CLASSES.into_iter().find(is_alike).unwrap(), ..kernel.clone() };
        let signs = ["const SIGN = 0u;\n", "const SIGN = 0x80000000u;\n"];
        let [own, expected] =
            [kernel, &one].map(|own| signs.iter().fold(own.wgsl(), |text, sign| text.replace(sign, "")));
        assert_eq!(own, expected, "{kernel}");
        assert_eq!(kernel.bindings(), one.bindings(), "{kernel}");
        assert!(kernel.constants().eq(one.constants()), "{kernel}");
    });
}

/// The table that plans are checked against, and layouts made from, is what the text declares.
fn check_manifest(kernel: &Kernel, module: &naga::Module) {
    let mut declared: Vec<(u32, bool, u64)> =
        kernel.bindings().iter().map(|own| (own.binding, own.read_write, own.element_bytes)).collect();
    declared.sort();
    let mut found: Vec<(u32, bool, u64)> = Vec::new();
    for (_, global) in module.global_variables.iter() {
        let Some(binding) = &global.binding else { continue };
        assert_eq!(binding.group, 0, "{kernel}");
        match (global.space, &module.types[global.ty].inner) {
            (naga::AddressSpace::Storage { access }, naga::TypeInner::Array { stride, .. }) => {
                found.push((binding.binding, access.contains(naga::StorageAccess::STORE), (*stride).into()));
            }
            (space, _) => assert_eq!((binding.binding, space), (0, naga::AddressSpace::Uniform), "{kernel}"),
        }
    }
    found.sort();
    assert_eq!(declared, found, "{kernel}");
    let mut overrides: Vec<&str> =
        OVERRIDES.into_iter().filter(|&constant| kernel.declares(constant)).map(Override::name).collect();
    overrides.extend(kernel.constants().map(|(name, _)| name));
    overrides.sort();
    overrides.dedup();
    let mut found: Vec<&str> = module.overrides.iter().filter_map(|(_, own)| own.name.as_deref()).collect();
    found.sort();
    assert_eq!(overrides, found, "{kernel}");
}

/// Whatever numbers a kernel names, which may come from anywhere, its text is bounded, and the table of what it binds.
#[test]
fn texts_are_bounded_whatever_numbers_are_named() {
    let own: Vec<Kernel> = kernels().into_iter().filter(|own| own.dtype == DType::F32).collect();
    each_of(&own, |kernel| {
        let json = serde_json::to_value(kernel).unwrap();
        for (number, most) in numbers(&json).iter().flat_map(|number| [(number, u32::MAX.into()), (number, u64::MAX)]) {
            let mut largest = json.clone();
            *largest.pointer_mut(number).unwrap() = most.into();
            let Ok(changed) = serde_json::from_value::<Kernel>(largest) else { continue };
            let (text, bindings) = (changed.wgsl().len(), changed.bindings().len());
            assert!(text < 1 << 20 && bindings <= 128, "{changed}: {text} bytes, {bindings} bindings");
        }
    });
}

/// Where numbers stand, as JSON pointers.
fn numbers(json: &Value) -> Vec<String> {
    let within = |(name, value): (String, &Value)| {
        numbers(value).into_iter().map(move |below| format!("/{name}{below}")).collect::<Vec<_>>()
    };
    match json {
        Value::Number(_) => vec![String::new()],
        Value::Array(values) => (0..).map(|n: usize| n.to_string()).zip(values).flat_map(within).collect(),
        Value::Object(values) => values.iter().map(|(name, value)| (name.clone(), value)).flat_map(within).collect(),
        _ => vec![],
    }
}

/// Of every kernel that there is, planned or not, each text that it has, with the overrides that loops take steps of at their
/// largest and at their defaults: a plan may come from anywhere, and `Plan::check` refuses all other kernels. Types of one class loop
/// alike, and how buffers are bound changes no loop.
#[test]
fn loops_keep_to_the_rules() {
    let largest = [Override::Group(1 << 14), Override::Team(1 << 14), Override::RunMembers(1)];
    let compiled = Mutex::new(HashSet::new());
    let of_program = |&program: &Program| {
        let types = DType::ALL.into_iter().filter(|&dtype| is_one_of_its_class(dtype));
        types.flat_map(move |dtype| {
            every_text(&Kernel { program, dtype, overrides: vec![], int64: false, shared_buffers: false })
        })
    };
    each_of(&programs(), |program| {
        for kernel in of_program(program) {
            let Ok(module) = naga::front::wgsl::parse_str(&kernel.wgsl()) else { continue };
            let Ok(info) = validator(&kernel).validate(&module) else { continue };
            compiled.lock().unwrap().insert(*program);
            for more in [&[][..], &largest] {
                let declared =
                    |c: &&Override| module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some(c.name()));
                let overrides = kernel.overrides.iter().chain(more).filter(declared);
                let overrides = overrides.map(|c| (c.name().to_string(), f64::from(c.value()))).collect();
                let (module, _) = process_overrides(&module, &info, None, &overrides).unwrap();
                assert_eq!(problems(&module), [""; 0], "{kernel} {overrides:?}");
            }
        }
    });
    let compiled = compiled.into_inner().unwrap();
    for kernel in kernels() {
        assert!(compiled.contains(&kernel.program), "{kernel}");
    }
}

/// The kernel with choices of the overrides that decide on its text, in which each of its parts is there.
fn every_text(kernel: &Kernel) -> Vec<Kernel> {
    use Override::{ColumnPacks, FewRuns, Pairs, Ragged, Runs};
    let choices = [
        &[][..],
        &[Ragged],
        &[ColumnPacks(4)],
        &[Ragged, ColumnPacks(4)],
        &[ColumnPacks(8)],
        &[ColumnPacks(16)],
        &[Ragged, ColumnPacks(16)],
        &[Runs],
        &[Runs, FewRuns(1)],
        &[Pairs, Runs, FewRuns(3)],
        &[Ragged, Runs],
        &[Ragged, Pairs, Runs, FewRuns(3)],
    ];
    let teams = [&[][..], &[Override::Team(16)]].into_iter();
    let choices = teams.flat_map(|team| choices.map(|choice| [choice, team].concat()));
    let kernels = choices.map(|overrides| Kernel { overrides, ..kernel.clone() });
    let mut texts = BTreeSet::new();
    kernels.filter(|own| own.exists() && texts.insert(own.wgsl())).collect()
}

#[test]
fn loops_of_one_turn_are_told() {
    let one = [
        "for (var i = n; i < 1u; i++) { x += i; }",
        "var i = 0u; loop { if (i >= n) { break; } continuing { i += 1u; break if !false | (i >= n); } }",
        "for (var i = 0u; i < 1u; i++) { x += i; }",
        "for (var i = 2u; (i < 3u) & (x < n); i++) { x += i; }",
        "var i = n; i = 0u; loop { if (i >= 4u) { break; } continuing { i += 4u; break if i >= 4u; } }",
    ];
    let more = [
        "for (var i = 0u; i < 2u; i++) { x += i; }",
        "for (var i = 0u; i < n; i++) { x += i; }",
        "for (var i = n; i < 2u; i++) { x += i; }",
        "if (1u > 2u) { for (var i = 0u; i < 1u; i++) { x += i; } }",
        "if (2u > 1u) { return x; } for (var i = 0u; i < 1u; i++) { x += i; }",
    ];
    for (text, told) in one.map(|text| (text, true)).into_iter().chain(more.map(|text| (text, false))) {
        let module = naga::front::wgsl::parse_str(&format!("fn f(n: u32) -> u32 {{ var x = n; {text} return x; }}"));
        let found = loops_of_one_turn(&module.unwrap_or_else(|error| panic!("{text}: {error}")));
        assert_eq!(!found.is_empty(), told, "{text}");
    }
}

#[test]
fn loops_that_break_a_rule_are_told() {
    let kept = [
        "for (var i = 0u; i < n; i++) { x += i; }",
        "for (var i = 0u; (i < n) & (x < 9u); i++) { x += i; }",
        "for (var i = 0u; (i < params[1]) & (x != 0u); i++) { x += i; }",
        "for (var i = 0u; i < n + params[1]; i++) { x += i; }",
        "for (var i = n; i > 0u; i /= 2u) { x += i; }",
        "if (first() > twice(n)) { x = 0u; }",
        "for (var i = 0u; i < x; i++) { x += 2u; }",
        "var i = n; loop { if (x > 9u) { break; } x += i; continuing { i += 1u; break if (x > 5u) | (i + 1u >= n); } }",
        "var i = x; loop { if (i >= min(n, 0xfffffffcu)) { break; } if (i == 3u) { continue; } continuing { i += 4u; } }",
    ];
    let may_not_end = [
        "for (var i = 0u; i <= n; i++) { x += i; }", // n may be the greatest number
        "for (var i = 0u; i < n; i += 2u) { x += i; }", // so that n is leapt over
        "for (var i = 0u; i < min(n, 0xffffffffu); i += 2u) { x += i; }",
        "for (var i = 0u; i < n; i += params[2]) { x += i; }", // may be 0
        "for (var i = 0u; i < n; i++) { i = x; }",
        "for (var i = 0u; i < n; i++) { reset(&i); }",
        "for (var i = 0u; i < n; i++) { for (var j = 0u; j < n;) { x += j; } }",
        "var i = 0u; loop { if (i >= n) { break; } if (x > 9u) { i += 1u; } }",
        "var i = 0u; loop { if (i >= n) { break; } continuing { if (x > 9u) { i += 1u; } } }",
        "var i = n; loop { if (i >= n) { break; } x += i; continuing { i -= 1u; } }",
        "var i = 0u; loop { if ((i >= n) & (x > 9u)) { break; } x += i; continuing { i += 1u; } }",
        "for (var i = 0; i < i32(n); i++) { x += n; }",
        "for (var i = n; i > 0u; i /= params[3]) { x += i; }",
        "for (var i = n; i > 0u; i /= 1u) { x += i; }",
    ];
    let left_late = [
        "var i = 0u; loop { x += i; continuing { i += 1u; break if i >= n; } }",
        "var i = 0u; loop { if (i >= n) { x = 0u; break; } continuing { i += 1u; break if i >= n; } }",
    ];
    let by_parameters = [
        "for (var i = 0u; i < params[1]; i++) { x += i; }",
        "var i = params[0]; loop { if (i >= n) { break; } continuing { i += 1u; break if i >= min(params[1], 9u); } }",
        "if (params[0] != 0u) { x = 0u; }",
        "if (first() > twice(params[1])) { x = 0u; }",
    ];
    let expected = [
        (&kept[..], None),
        (&may_not_end, Some("a loop of f may not end")),
        (&left_late, Some("a loop of f is not left at its beginning")),
        (&by_parameters, Some("a loop or a branch of f is decided by parameters alone")),
    ];
    for (texts, problem) in expected {
        for text in texts {
            let module = naga::front::wgsl::parse_str(&format!(
                "@group(0) @binding(0) var<uniform> params: vec4<u32>;
                fn reset(i: ptr<function, u32>) {{ *i = 0u; }}
                fn first() -> u32 {{ return params[0]; }}
                fn twice(n: u32) -> u32 {{ return 2u * n; }}
                fn f(n: u32) -> u32 {{ var x = n; {text} return x; }}"
            ));
            let found = problems(&module.unwrap_or_else(|error| panic!("{text}: {error}")));
            assert_eq!(found, Vec::from_iter(problem), "{text}");
        }
    }
}

/// Parameters whose every number is another one, and a name for each word of theirs: the members of a shader's uniform
/// struct are where the host writes what is called so.
#[test]
fn parameters_lie_where_the_shaders_look() {
    let rank = 32;
    let dims =
        |first: u32| (0..rank).map(|n| Dim { size: first + n, stride: -7, logical_stride: 9 << 32 | 8 }).collect();
    let record_origin = RecordOrigin {
        records: 12,
        first_record: 13,
        first_position: 15 << 32 | 14,
        run_logical_stride: 17 << 32 | 16,
        column_logical_stride: 18,
    };
    let reduction = Params::Reduction(ReductionParams {
        outputs: 1,
        reduce_len: 2,
        chunk_len: 3,
        chunks: 4,
        run_len: 5,
        run_stride: 6,
        start: 7,
        columns: 8,
        share: 9,
        rest_len: 19,
        kept: dims(100),
        outer: dims(200),
        record_origin,
    });
    let named = "outputs 1 reduce_len 2 chunk_len 3 chunks 4 run_len 5 run_stride 6 start 7 columns 8 share 9 kept_rank 32 \
        outer_rank 32 records 12 first_record 13 first_position 14 run_logical_stride 16 column_logical_stride 18 \
        rest_len 19 dims 100";
    for access in [Access::Rows, Access::Columns, Access::Strided] {
        for epilogue in [Epilogue::Value, Epilogue::Record(Operator::ArgMax)] {
            check_params(Program::Reduce { access, epilogue, stores: Stores::Results }, &reduction, named);
        }
    }
    let merge =
        Params::Merge(MergeParams { outputs: 1, records: 2, share: 3, slice_len: 4, parts: 5, columns: 6, folds: 7 });
    let program = Program::Merge { epilogue: Epilogue::Both };
    check_params(program, &merge, "outputs 1 records 2 share 3 slice_len 4 parts 5 columns 6 folds 7");
    let fill = Params::Fill(FillParams { first: 1, len: 2, share: 3, low: 4, high: 5 });
    check_params(Program::Fill { packs: true }, &fill, "first 1 len 2 share 3 low 4 high 5");
    let write = Params::HardmaxWrite(HardmaxWriteParams { len: 1, columns: 2, slice_len: 3, share: 4, write_len: 5 });
    let named = "len 1 columns 2 slice_len 3 share 4 write_len 5";
    check_params(Program::HardmaxWrite(HardmaxWriter::Rows), &write, named);
    let ones = Params::HardmaxOnes(HardmaxOnesParams {
        len: 1,
        columns: 2,
        slice_len: 3,
        share: 4,
        column: 5,
        position: 6,
        first: 7,
        end: 8,
        winner_column: 9,
        winner_block: 10,
    });
    let named = "len 1 columns 2 slice_len 3 share 4 column 5 position 6 first 7 end 8 winner_column 9 winner_block 10";
    check_params(Program::HardmaxOnes { narrow: false }, &ones, named);
    for operands in [1, 7, 32] {
        let operand = OperandParams { start: 50, strides: (60..60 + rank as i32).collect() };
        let broadcast = Params::Broadcast(BroadcastParams {
            len: 1,
            share: 2,
            row_len: 3,
            first: 5,
            begin: 6,
            end: 7,
            sizes: (20..20 + rank).collect(),
            operands: vec![operand; operands as usize],
        });
        let named = "len 1 share 2 row_len 3 rank 32 first 5 begin 6 end 7 sizes 20 operands 60";
        for program in [
            Program::Max {
                operands: MaxOperands { of_rows: 1, shifted: 4, ..MaxOperands::new(operands) },
                access: MaxAccess::Packs { pairs: false },
            },
            Program::Max {
                operands: MaxOperands { of_columns: 2, ..MaxOperands::new(operands) },
                access: MaxAccess::Columns,
            },
            Program::Max { operands: MaxOperands::new(operands), access: MaxAccess::Elements },
        ] {
            check_params(program, &broadcast, named);
        }
    }
}

/// `named` has each member's name, and its first word.
fn check_params(program: Program, params: &Params, named: &str) {
    let kernel = Kernel { program, dtype: DType::F32, overrides: vec![], int64: false, shared_buffers: false };
    let module = parse(&kernel);
    let (_, uniform) = module.types.iter().find(|(_, own)| own.name.as_deref() == Some("Params")).unwrap();
    let naga::TypeInner::Struct { members, span } = &uniform.inner else { panic!("{kernel}") };
    let bytes = params.to_bytes();
    assert_eq!(bytes.len(), span.next_multiple_of(16) as usize, "{kernel}");
    let word = |offset: u32| u32::from_le_bytes(*bytes[offset as usize..].first_chunk().unwrap());
    let mut found: Vec<(&str, u32)> =
        members.iter().map(|own| (own.name.as_deref().unwrap(), word(own.offset))).collect();
    let named: Vec<&str> = named.split_whitespace().collect();
    let mut expected: Vec<(&str, u32)> = named.chunks(2).map(|pair| (pair[0], pair[1].parse().unwrap())).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{kernel}");
}
