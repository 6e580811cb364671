//! Calibration: a [`Tuning`] found by measuring on a device.
//!
//! `Kernels::calibrate` does it on wgpu. What is timed next is decided with no device, by a [`Search`], so that a host of its
//! own can do the same: it times what the search asks for, and tells it the times.

mod contest;
mod probes;
mod search;

pub use search::{Search, Trial};

use crate::{Error, Tuning};

/// A [`Tuning`] that was found by measuring, and where: data to be kept, and given to [`Limits::tuning`](crate::Limits::tuning)
/// as long as it is of the device at hand.
///
/// With the feature `serde` it is JSON for whoever likes; `docs/plan.md` describes it.
///
/// ```
/// # use wgmax::calibration::Platform;
/// # use wgmax::{AdapterKind, Calibration, Tuning};
/// # let platform = Platform { adapter: "One GPU".into(), backend: "vulkan".into(), driver: "1.2".into() };
/// # let kept = Calibration::new(platform.clone(), Tuning::of(AdapterKind::Hardware));
/// let tuning = kept.tuning_on(&platform)?;
/// let updated = Platform { driver: "1.3".into(), ..platform };
/// let refused = kept.tuning_on(&updated).unwrap_err();
/// assert_eq!(refused.to_string(), "the calibration is of the driver \"1.2\", and this is \"1.3\": calibrate again");
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Calibration {
    /// The version of the form, [`Calibration::VERSION`].
    pub version: u32,
    /// Where it was measured.
    pub platform: Platform,
    /// The kernels and the planner that were measured, [`Calibration::kernels`].
    pub kernels: String,
    /// What was found.
    pub tuning: Tuning,
    /// Whether nothing was left to try before the time was over.
    pub complete: bool,
    /// What was gained on each probe.
    pub gains: Vec<Gain>,
}

/// What a calibration is only good for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Platform {
    /// The adapter's name.
    pub adapter: String,
    /// The backend's.
    pub backend: String,
    /// The driver's, with its version.
    pub driver: String,
}

/// What was gained on a probe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gain {
    /// Its name.
    pub probe: String,
    /// Its speed, in percent of what it was to begin with.
    pub speed_percent: u64,
}

impl Calibration {
    /// The version of the form that this crate writes.
    pub const VERSION: u32 = 1;

    /// A tuning as if it had been measured there by this version of the crate.
    pub fn new(platform: Platform, tuning: Tuning) -> Calibration {
        let kernels = Calibration::kernels();
        Calibration { version: Calibration::VERSION, platform, kernels, tuning, complete: false, gains: vec![] }
    }

    /// A name for the kernels and the planner of this version of the crate: it changes with any text of a shader.
    pub fn kernels() -> String {
        crate::shader::fingerprint()
    }

    /// The tuning, if it was measured here: on this platform, with the kernels of this version of the crate.
    ///
    /// # Errors
    /// [`Error::StaleCalibration`] with the first thing that differs; [`Error::InvalidTuning`] for numbers out of their
    /// ranges.
    pub fn tuning_on(&self, platform: &Platform) -> Result<Tuning, Error> {
        let same = |what, own: &str, here: &str| match own == here {
            true => Ok(()),
            false => Err(Error::StaleCalibration { what, given: own.into(), expected: here.into() }),
        };
        same("version", &self.version.to_string(), &Calibration::VERSION.to_string())?;
        same("adapter", &self.platform.adapter, &platform.adapter)?;
        same("backend", &self.platform.backend, &platform.backend)?;
        same("driver", &self.platform.driver, &platform.driver)?;
        same("kernels", &self.kernels, &Calibration::kernels())?;
        self.tuning.check()?;
        Ok(self.tuning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AdapterKind;

    #[test]
    fn a_calibration_from_elsewhere_is_refused() {
        let platform = Platform { adapter: "A".into(), backend: "vulkan".into(), driver: "1".into() };
        let own = Calibration::new(platform.clone(), Tuning::of(AdapterKind::Hardware));
        assert_eq!(own.tuning_on(&platform), Ok(own.tuning));
        let what = |own: Calibration| match own.tuning_on(&platform).unwrap_err() {
            Error::StaleCalibration { what, .. } => what,
            error => panic!("{error}"),
        };
        let elsewhere = |platform: Platform| what(Calibration { platform, ..own.clone() });
        assert_eq!(elsewhere(Platform { adapter: "B".into(), ..platform.clone() }), "adapter");
        assert_eq!(elsewhere(Platform { backend: "metal".into(), ..platform.clone() }), "backend");
        assert_eq!(elsewhere(Platform { driver: "2".into(), ..platform.clone() }), "driver");
        assert_eq!(what(Calibration { kernels: "0".into(), ..own.clone() }), "kernels");
        assert_eq!(what(Calibration { version: 2, ..own.clone() }), "version");
        let tuning = Tuning { group: 3, ..own.tuning };
        assert!(matches!(Calibration { tuning, ..own }.tuning_on(&platform), Err(Error::InvalidTuning { .. })));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_calibration_is_json() {
        let platform = Platform { adapter: "A".into(), backend: "vulkan".into(), driver: "1".into() };
        let mut own = Calibration::new(platform, Tuning::of(AdapterKind::Lavapipe));
        own.gains.push(Gain { probe: "whole".into(), speed_percent: 125 });
        let text = serde_json::to_string(&own).unwrap();
        assert!(text.starts_with(r#"{"version":1,"platform":{"adapter":"A","#), "{text}");
        assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), own);
        let wrong = text.replace("\"group\"", "\"groups\"");
        assert!(serde_json::from_str::<Calibration>(&wrong).unwrap_err().to_string().contains("groups"));
    }
}
