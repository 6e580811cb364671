use crate::{AdapterKind, Error, Tuning};

/// What a plan needs to know of a device. Plain numbers, so that plans can be made with no device at hand.
///
/// [`Default`] gives WebGPU's default limits, which every WebGPU device has; a plan made for them runs anywhere.
/// `Limits::from(&device)` reads a wgpu device's. As serde data, what is left out has its default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Limits {
    /// What kind of adapter the device is on: [`AdapterKind::SwiftShader`] for any that runs on a CPU and is not lavapipe.
    pub adapter: AdapterKind,
    /// `max_storage_buffer_binding_size`.
    pub max_binding_bytes: u64,
    /// `min_storage_buffer_offset_alignment`.
    pub binding_alignment_bytes: u64,
    /// `max_storage_buffers_per_shader_stage`.
    pub max_storage_bindings: u32,
    /// `max_compute_invocations_per_workgroup`, and no more than `max_compute_workgroup_size_x`.
    pub max_group_invocations: u32,
    /// `max_compute_workgroup_storage_size`.
    pub max_group_memory_bytes: u32,
    /// `max_compute_workgroups_per_dimension`.
    pub max_groups: u32,
    /// Whether shaders may use 64-bit integers: wgpu's `SHADER_INT64`, which WebGPU does not have. Only lavapipe is
    /// faster with them.
    pub int64: bool,
    /// Whether inputs, outputs and scratch may lie in one buffer: not a limit, but a wish, `false` where it is not said.
    ///
    /// A plan then declares every storage binding `read_write` and binds each input once: WebGPU requires both of a buffer
    /// that a dispatch also writes. Inputs are given in whole packs of 16 bytes. Without it, what is written needs other
    /// buffers than what is read.
    pub shared_buffers: bool,
    /// How work is cut: not a limit, but what was measured on the device, such as a [`Calibration`](crate::Calibration)
    /// gives. `None` is the row of the adapter's kind, [`Tuning::of`]. Answers never depend on it.
    pub tuning: Option<Tuning>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            adapter: AdapterKind::Hardware,
            max_binding_bytes: 128 << 20,
            binding_alignment_bytes: 256,
            max_storage_bindings: 8,
            max_group_invocations: 256,
            max_group_memory_bytes: 16 << 10,
            max_groups: 65_535,
            int64: false,
            shared_buffers: false,
            tuning: None,
        }
    }
}

impl Limits {
    /// Whether there can be such a device: what is counted is there at all, alignments are powers of two, and the tuning
    /// is within its ranges.
    ///
    /// # Errors
    /// [`Error::DeviceTooSmall`] or [`Error::InvalidLimit`] for the first one that is nonsense; those of [`Tuning::check`].
    pub fn check(&self) -> Result<(), Error> {
        for (what, given) in [
            ("max_storage_buffers_per_shader_stage", self.max_storage_bindings),
            ("max_compute_invocations_per_workgroup", self.max_group_invocations),
            ("max_compute_workgroups_per_dimension", self.max_groups),
        ] {
            if given == 0 {
                return Err(Error::DeviceTooSmall { what, given: 0, needed: 1 });
            }
        }
        let given = self.binding_alignment_bytes;
        if !given.is_power_of_two() {
            let what = "min_storage_buffer_offset_alignment";
            return Err(Error::InvalidLimit { what, given, expected: "a power of two" });
        }
        self.tuning.map_or(Ok(()), |tuning| tuning.check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_no_device_are_refused() {
        assert_eq!(Limits::default().check(), Ok(()));
        let error = Limits { binding_alignment_bytes: 48, ..Limits::default() }.check().unwrap_err();
        let message = "the limit min_storage_buffer_offset_alignment is 48, a power of two expected";
        assert_eq!(error.to_string(), message);
        assert!(Limits { binding_alignment_bytes: 0, ..Limits::default() }.check().is_err());
        assert!(Limits { max_group_invocations: 0, ..Limits::default() }.check().is_err());
        assert!(Limits { max_groups: 0, ..Limits::default() }.check().is_err());
        assert!(Limits { max_storage_bindings: 0, ..Limits::default() }.check().is_err());
        assert!(Limits { max_group_memory_bytes: 0, ..Limits::default() }.check().is_ok());
        let tuning = |max_share| Some(Tuning { max_share, ..Tuning::of(AdapterKind::Hardware) });
        assert!(Limits { tuning: tuning(9), ..Limits::default() }.check().is_ok());
        assert!(Limits { tuning: tuning(0), ..Limits::default() }.check().is_err());
    }
}
