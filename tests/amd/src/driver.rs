//! RADV, Mesa's compiler for AMD GPUs, by way of Vulkan. On its null device pipelines are made, and nothing can be
//! dispatched.
//!
//! Each call here is `unsafe` because Vulkan does not check what it is given. What all of them rest on: a `Compiler` keeps
//! the loader, the instance and the device alive until it is dropped, and every pointer in a structure is into a value that
//! lives until the call returns.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};

use ash::{Device, Entry, Instance, khr, vk};

use crate::Failure;

/// The device that is compiled for.
pub struct Compiler {
    device: Device,
    executables: khr::pipeline_executable_properties::Device,
    instance: Instance,
    _entry: Entry, // the loader, unloaded last
    /// The driver and its version.
    pub driver: String,
}

/// What the driver says of a pipeline.
pub struct Compiled {
    statistics: Vec<(String, u64)>,
    /// The text of the machine code.
    pub assembly: String,
}

impl Compiled {
    /// The number that the driver gives by this name.
    pub fn statistic(&self, name: &str) -> Result<u64, Failure> {
        let found = self.statistics.iter().find(|(own, _)| own == name);
        let known = || self.statistics.iter().map(|(own, _)| own.as_str()).collect::<Vec<_>>().join(", ");
        found.map(|&(_, value)| value).ok_or_else(|| format!("no statistic {name:?}, there are {}", known()).into())
    }
}

impl Compiler {
    /// On RADV's null device, which there is where `RADV_FORCE_FAMILY` names a family.
    pub fn new() -> Result<Compiler, Failure> {
        // SAFETY: it runs the initialisers of the system's Vulkan loader, as every Vulkan program does.
        let entry = unsafe { Entry::load() }?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: see above.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        let (physical, driver) = radv(&instance)?;
        let device = open(&instance, physical)?;
        let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
        Ok(Compiler { device, executables, instance, _entry: entry, driver })
    }

    /// Compiles a shader with a uniform buffer at binding 0 and storage buffers at these.
    ///
    /// `code` is valid SPIR-V with the entry point `main`, which uses these bindings and no optional feature but 64-bit
    /// integers.
    pub fn compile(&self, code: &[u32], storage_bindings: &[u32]) -> Result<Compiled, Failure> {
        let device = &self.device;
        let module = vk::ShaderModuleCreateInfo::default().code(code);
        // SAFETY: the code is valid, and the features that it uses are enabled.
        let module = unsafe { device.create_shader_module(&module, None) }?;
        let slot = |(binding, kind)| {
            let slot = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(kind);
            slot.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let storage = storage_bindings.iter().map(|&binding| (binding, vk::DescriptorType::STORAGE_BUFFER));
        let slots: Vec<_> = [(0, vk::DescriptorType::UNIFORM_BUFFER)].into_iter().chain(storage).map(slot).collect();
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&slots);
        // SAFETY: see above.
        let sets = [unsafe { device.create_descriptor_set_layout(&set, None) }?];
        let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        // SAFETY: the set's layout is this device's.
        let layout = unsafe { device.create_pipeline_layout(&layout, None) }?;
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
        let flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
            | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        let info = vk::ComputePipelineCreateInfo::default().flags(flags).layout(layout);
        let infos = [info.stage(stage.module(module).name(c"main"))];
        // SAFETY: the module has that entry point, and the layout has a slot for each of its bindings.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None) };
        let pipeline = made.map_err(|(_, error)| error)?[0];
        let compiled = self.describe(pipeline);
        // SAFETY: nothing was submitted, and none of these is used again.
        unsafe {
            device.destroy_pipeline(pipeline, None);
            device.destroy_pipeline_layout(layout, None);
            device.destroy_descriptor_set_layout(sets[0], None);
            device.destroy_shader_module(module, None);
        }
        compiled
    }

    fn describe(&self, pipeline: vk::Pipeline) -> Result<Compiled, Failure> {
        let executable = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
        // SAFETY: the pipeline is there, captures statistics, and has one executable, as it has one stage.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&executable) }?;
        let mut statistics = Vec::new();
        for own in found.iter().filter(|own| own.format == vk::PipelineExecutableStatisticFormatKHR::UINT64) {
            // SAFETY: the format says which member of the union was written.
            statistics.push((text(&own.name)?, unsafe { own.value.u64 }));
        }
        Ok(Compiled { statistics, assembly: self.assembly(&executable)? })
    }

    fn assembly(&self, executable: &vk::PipelineExecutableInfoKHR<'_>) -> Result<String, Failure> {
        let representations = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        let mut count = 0;
        // SAFETY: with no place to write to, only the count is written.
        unsafe { representations(self.device.handle(), executable, &mut count, std::ptr::null_mut()) }.result()?;
        let mut found = vec![vk::PipelineExecutableInternalRepresentationKHR::default(); count as usize];
        // SAFETY: there is room for as many as are counted, and with no data only the texts' sizes are written.
        unsafe { representations(self.device.handle(), executable, &mut count, found.as_mut_ptr()) }.result()?;
        let mut texts: Vec<Vec<u8>> = found.iter().map(|own| vec![0; own.data_size]).collect();
        for (own, text) in found.iter_mut().zip(&mut texts) {
            own.p_data = text.as_mut_ptr().cast();
        }
        // SAFETY: each text has the size that was asked for, and outlives the call.
        unsafe { representations(self.device.handle(), executable, &mut count, found.as_mut_ptr()) }.result()?;
        for (own, bytes) in found.iter().zip(texts) {
            if text(&own.name)? == "Assembly" {
                return Ok(CStr::from_bytes_until_nul(&bytes)?.to_str()?.into());
            }
        }
        Err("the driver shows no assembly".into())
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // SAFETY: what was made of the device is destroyed, and neither is used again.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// RADV's device, among those of all drivers, and the driver's name.
fn radv(instance: &Instance) -> Result<(vk::PhysicalDevice, String), Failure> {
    // SAFETY: the instance is there.
    for physical in unsafe { instance.enumerate_physical_devices() }? {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the device is the instance's, which is of Vulkan 1.3.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        if driver.driver_id == vk::DriverId::MESA_RADV {
            return Ok((physical, text(&driver.driver_info)?));
        }
    }
    Err("no device of RADV, Mesa's driver of AMD GPUs (Debian and Ubuntu: mesa-vulkan-drivers)".into())
}

/// The device with what wgpu enables where it can, since that decides how buffers are read.
fn open(instance: &Instance, physical: vk::PhysicalDevice) -> Result<Device, Failure> {
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let extensions = [c"VK_EXT_robustness2".as_ptr(), c"VK_KHR_pipeline_executable_properties".as_ptr()];
    let mut robustness2 = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
    let mut executables =
        vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default().vulkan_memory_model(true);
    let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default().maintenance4(true);
    let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true).shader_int64(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .enabled_features(&features)
        .push_next(&mut robustness2)
        .push_next(&mut executables)
        .push_next(&mut vulkan12)
        .push_next(&mut vulkan13);
    // SAFETY: RADV has a queue family 0, these extensions and features; what it lacks it answers with an error.
    Ok(unsafe { instance.create_device(physical, &info, None) }?)
}

/// The text of an array that ends in zeros.
fn text(name: &[c_char]) -> Result<String, Failure> {
    let bytes: Vec<u8> = name.iter().map(|&own| own as u8).collect();
    Ok(CStr::from_bytes_until_nul(&bytes)?.to_str()?.into())
}
