//! Every shader variant, held against naga: it validates, the native back ends accept it, and its parameters lie where
//! the host puts them. No GPU needed.

mod common;

use common::kernels::kernels;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use wgmax::plan::Kernel;

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
