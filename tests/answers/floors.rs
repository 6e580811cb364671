//! The operators on the least devices that there are: created with the limits of wgpu's downlevel preset that has compute
//! shaders, and with limits smaller than any device's. A device of WebGPU's default limits is under every operator's own
//! test.

use crate::common::cases::{self, Case};
use crate::common::{self, Data, first_difference, policy_of_each_device, run};
use wgmax::{DType, Gpu, Limits, Operation, wgpu};

/// The devices, with their names.
fn floors() -> Vec<(&'static str, Gpu)> {
    let small = wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 20,
        max_compute_workgroups_per_dimension: 16,
        max_compute_invocations_per_workgroup: 64,
        max_compute_workgroup_size_x: 64,
        max_compute_workgroup_storage_size: 1 << 10,
        max_storage_buffers_per_shader_stage: 4,
        max_uniform_buffer_binding_size: 8 << 10,
        ..wgpu::Limits::downlevel_defaults()
    };
    let all = [("downlevel defaults", wgpu::Limits::downlevel_defaults()), ("small limits", small)];
    all.map(|(name, limits)| (name, device(limits))).into()
}

fn device(required_limits: wgpu::Limits) -> Gpu {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let name = &common::gpus()[0].info().name;
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let adapter = adapters.into_iter().find(|adapter| &adapter.get_info().name == name).unwrap();
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    Gpu::from_device(&device, &queue)
}

/// One type of each width, two of which have the policies the other way round: what limits change is the same for all types.
const TYPES: [DType; 4] = [DType::I8, DType::U16, DType::F32, DType::U64];

/// Each case on each floor, with the policy that this has for the type.
fn check(cases: &[Case]) {
    let floors = floors();
    for case in cases.iter().filter(|case| TYPES.contains(&case.op.inputs().unwrap()[0].dtype)) {
        let inputs = case.inputs();
        let inputs: Vec<_> = inputs.iter().collect();
        let expected = case.op.reference(&inputs).unwrap();
        for ((name, gpu), adapter) in floors.iter().zip(policy_of_each_device(&case.op)) {
            let Some(adapter) = adapter else { continue };
            let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
            let got = run(gpu, &case.op, &limits, &inputs);
            let got = got.unwrap_or_else(|error| panic!("{name}: {}: {error}", case.name));
            assert_eq!(first_difference(&expected, &got), None, "{name}: {} {limits:?}", case.name);
        }
    }
}

#[test]
fn the_limits_are_those_asked_for() {
    let limits: Vec<Limits> = floors().iter().map(|(_, gpu)| gpu.kernels().limits().clone()).collect();
    let defaults = common::gpus()[1].kernels().limits();
    let adapter = defaults.adapter;
    assert_eq!(*defaults, Limits { adapter, ..Default::default() });
    assert_eq!((limits[0].max_storage_bindings, limits[0].max_group_memory_bytes), (4, 16_352));
    let small = &limits[1];
    assert_eq!((small.max_binding_bytes, small.max_storage_bindings), (1 << 20, 4));
    // Whose faster loads would not be tested if they were not asked for.
    let all = &common::gpus()[0];
    assert!(all.kernels().limits().int64 || !all.to_string().contains("llvmpipe"), "{all}");
    assert_eq!((small.max_groups, small.max_group_invocations, small.max_group_memory_bytes), (16, 64, 1 << 10));
}

#[test]
fn reduce_max_on_every_floor() {
    check(&cases::reduce_max(&[Data::Edges]));
}

#[test]
fn arg_max_on_every_floor() {
    check(&cases::arg_max_last_with_values(&[Data::Edges]));
}

#[test]
fn hardmax_on_every_floor() {
    check(&cases::hardmax(&[Data::Edges]));
}

#[test]
fn max_on_every_floor() {
    check(&cases::max_of_pairs(&[Data::Edges]));
}
