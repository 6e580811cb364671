//! Every shader variant, held against naga: it validates, the native back ends accept it, and its parameters lie where
//! the host puts them. No GPU needed.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use wgmax::DType;
use wgmax::plan::{Access, Constant, Kernel, Operator, Program, Store};

fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for dtype in DType::ALL {
        let mut push = |program, constants: &[Constant]| {
            kernels.push(Kernel { program, dtype, constants: constants.to_vec() });
        };
        push(Program::Fill, &[Constant::Group(64)]);
        push(Program::HardmaxWrite, &[Constant::Group(64)]);
        push(Program::HardmaxWrite, &[Constant::Group(64), Constant::Guarded, Constant::Continues]);
        let nans: &[Constant] = if dtype.is_float() { &[Constant::NansIgnored] } else { &[] };
        push(Program::HardmaxColumns, &[&[Constant::Group(64)], nans].concat());
        for access in [Access::Rows, Access::Strided] {
            push(Program::HardmaxRows { access, team: false }, &[&[Constant::Group(64)], nans].concat());
            let team = [Constant::Group(64), Constant::Team(16)];
            push(Program::HardmaxRows { access, team: true }, &[&team, nans].concat());
        }
        for operands in [0, 1, 2, 7, 32] {
            let constants = [&[Constant::Group(64), Constant::Continues], nans].concat();
            push(Program::MaxElements { operands }, &constants);
            push(Program::MaxElements { operands }, &[&constants[..], &[Constant::Keeps]].concat());
            for splats in [0, 0b10, u32::MAX] {
                push(Program::MaxPacks { operands, splats }, &constants);
            }
        }
        for operator in [Operator::ReduceMax, Operator::ArgMax] {
            for access in [Access::Rows, Access::Columns, Access::Strided, Access::Finish, Access::FinishPieces] {
                if access == Access::Columns && operator == Operator::ArgMax && dtype.bytes() == 8 {
                    continue; // never planned
                }
                let stores: &[Store] = match operator {
                    Operator::ReduceMax => &[Store::Partial, Store::Piece, Store::Value],
                    Operator::ArgMax if access == Access::FinishPieces => &[Store::Index, Store::Both],
                    Operator::ArgMax => &[Store::Partial, Store::Piece, Store::Index, Store::Both],
                };
                for &store in stores {
                    for team in [false, true] {
                        let mut constants = vec![Constant::Group(64)];
                        if team && access != Access::Columns {
                            constants.push(Constant::Team(16));
                        }
                        if access == Access::Rows {
                            constants.push(Constant::Ragged);
                        }
                        if access == Access::Columns {
                            constants.push(Constant::Wide);
                        }
                        if !matches!(access, Access::Finish | Access::FinishPieces) {
                            constants.extend([Constant::Split, Constant::Runs]);
                        }
                        if dtype.is_float() {
                            constants.push(Constant::NansIgnored);
                        }
                        if operator == Operator::ArgMax {
                            constants.push(Constant::Last);
                            if matches!(store, Store::Index | Store::Both) {
                                constants.push(Constant::IndexWords(1));
                            }
                        }
                        push(Program::Reduce { operator, access, team, store }, &constants);
                    }
                }
            }
        }
    }
    kernels
}

fn parse(kernel: &Kernel) -> naga::Module {
    let wgsl = kernel.wgsl();
    naga::front::wgsl::parse_str(&wgsl).unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&wgsl)))
}

/// WebGPU without any optional feature.
fn validate(kernel: &Kernel, module: &naga::Module) -> naga::valid::ModuleInfo {
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(module)
        .unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&kernel.wgsl())))
}

#[test]
fn every_variant_validates_and_reaches_every_back_end() {
    for kernel in kernels() {
        let module = parse(&kernel);
        let info = validate(&kernel, &module);
        let constants = kernel.constants.iter().map(|c| (c.name().to_string(), f64::from(c.value()))).collect();
        for constant in &kernel.constants {
            let declared = module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some(constant.name()));
            assert!(declared, "{kernel}: {constant:?} is not declared");
        }
        let (module, info) = naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
            .unwrap_or_else(|error| panic!("{kernel}: {error}"));
        naga::back::spv::write_vec(&module, &info, &naga::back::spv::Options::default(), None)
            .unwrap_or_else(|error| panic!("{kernel}: SPIR-V: {error}"));
        let msl = naga::back::msl::Options { fake_missing_bindings: true, ..Default::default() };
        naga::back::msl::write_string(&module, &info, &msl, &naga::back::msl::PipelineOptions::default())
            .unwrap_or_else(|error| panic!("{kernel}: MSL: {error}"));
        let hlsl = naga::back::hlsl::Options { fake_missing_bindings: true, ..Default::default() };
        let mut text = String::new();
        naga::back::hlsl::Writer::new(&mut text, &hlsl, &naga::back::hlsl::PipelineOptions::default())
            .write(&module, &info, None)
            .unwrap_or_else(|error| panic!("{kernel}: HLSL: {error}"));
    }
}
