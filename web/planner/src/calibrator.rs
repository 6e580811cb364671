//! The search for a tuning, for whoever has the device and a clock.

use serde::Serialize;
use wasm_bindgen::prelude::*;
use wgmax::calibration::{Platform, Search, Trial};
use wgmax::plan::PortablePlan;
use wgmax::{AdapterKind, Calibration, Tuning};

use super::{json, read_limits};

/// A search under way, from the row of GPUs on.
#[wasm_bindgen]
pub struct Calibrator(Search);

/// What is to be timed next.
#[derive(Serialize)]
struct Timed {
    trial: Trial,
    plan: PortablePlan,
}

#[wasm_bindgen]
impl Calibrator {
    /// On a device with these limits.
    #[wasm_bindgen(constructor)]
    pub fn new(limits: &[i64]) -> Result<Calibrator, JsError> {
        Ok(Calibrator(Search::new(Tuning::of(AdapterKind::Hardware), &read_limits(limits)?)?))
    }

    /// What to time next, as JSON, if anything is left to be tried.
    pub fn next(&mut self) -> Result<Option<String>, JsError> {
        let Some(trial) = self.0.trial() else { return Ok(None) };
        let plan = PortablePlan::from(&self.0.plan(&trial)?);
        Ok(Some(json(&Timed { trial, plan })))
    }

    /// The time that it took.
    pub fn timed(&mut self, time: f64) {
        self.0.timed(time);
    }

    /// How many candidates were timed.
    pub fn tried(&self) -> usize {
        self.0.tried()
    }

    /// How many of them were kept.
    pub fn kept(&self) -> usize {
        self.0.kept()
    }

    /// What was found until now, as JSON.
    pub fn calibration(&self, adapter: String, backend: String, driver: String) -> String {
        json(&self.0.calibration(Platform { adapter, backend, driver }))
    }
}

/// The name of the kernels that plans are made of, if there are plans for these limits.
#[wasm_bindgen]
pub fn kernels(limits: &[i64]) -> Result<String, JsError> {
    read_limits(limits)?.check()?;
    Ok(Calibration::kernels())
}
