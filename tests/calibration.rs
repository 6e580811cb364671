//! Calibration on a device: it keeps its budget, says how far it is, and what it finds is taken where it was found.

mod common;

use std::time::Duration;

use common::{Data, check_on, gpus, tensor};
use wgmax::calibration::Platform;
use wgmax::{
    AdapterKind, ArgMax, Calibration, CalibrationOptions, CalibrationProgress, DType, Error, Gpu, GpuOptions,
    Operation, Tuning, View, wgpu,
};

const BUDGET: Duration = Duration::from_millis(1500);

fn calibrated(options: &CalibrationOptions) -> (Calibration, Vec<CalibrationProgress>) {
    let gpu = &gpus()[0];
    let mut steps = Vec::new();
    let progress = |step: &CalibrationProgress| steps.push(step.clone());
    let calibration = gpu.kernels().calibrate_blocking(gpu.queue(), options, progress).unwrap();
    (calibration, steps)
}

#[test]
fn a_calibration_keeps_its_budget_and_says_how_far_it_is() {
    let pipelines = gpus()[0].kernels().pipeline_count();
    let (calibration, steps) = calibrated(&CalibrationOptions { budget: BUDGET, ..Default::default() });
    let (last, before) = steps.split_last().expect("as much as one sample");
    assert!(before.iter().all(|step| step.elapsed < BUDGET), "a sample was begun after the end: {before:?}");
    assert!(steps.is_sorted_by_key(|step| step.elapsed) && steps.is_sorted_by_key(|step| step.tried));
    assert!(last.budget == BUDGET && last.tried >= 1 && last.kept <= last.tried, "{last:?}");
    assert_eq!((calibration.tuning, calibration.gains.len()), (last.tuning, 9));
    assert_eq!(gpus()[0].kernels().pipeline_count(), pipelines, "what was compiled is dropped");
}

#[test]
fn a_calibration_of_no_time_is_its_start() {
    let start = Tuning { max_share: 7, ..Tuning::of(AdapterKind::Lavapipe) };
    let (calibration, steps) = calibrated(&CalibrationOptions { budget: Duration::ZERO, start });
    assert_eq!((calibration.tuning, calibration.complete, steps.len()), (start, false, 0));
    let gpu = &gpus()[0];
    let options = CalibrationOptions { start: Tuning { group: 3, ..start }, ..Default::default() };
    let error = gpu.kernels().calibrate_blocking(gpu.queue(), &options, |_| ()).unwrap_err();
    assert!(matches!(error, Error::InvalidTuning { field: "group", given: 3, .. }), "{error}");
}

/// Probes' inputs lie as far apart as the device wants bindings to.
#[test]
fn a_device_whose_bindings_begin_too_far_apart_is_told_so() {
    for alignment in [1 << 28, 1 << 31] {
        let limits = wgpu::Limits { min_storage_buffer_offset_alignment: alignment, ..Default::default() };
        let gpu = Gpu::new_blocking(&GpuOptions { limits: Some(limits), ..Default::default() }).unwrap();
        let options = CalibrationOptions { budget: BUDGET, ..Default::default() };
        let error = gpu.kernels().calibrate_blocking(gpu.queue(), &options, |_| ()).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. } | Error::DeviceTooSmall { .. }), "{alignment}: {error}");
    }
}

#[test]
fn a_calibration_is_taken_where_it_was_made() {
    let gpu = &gpus()[0];
    let own = Tuning { group: 32, max_team: 8, max_share: 5, ..Tuning::of(AdapterKind::Hardware) };
    let calibration = Calibration::new(Platform::of(gpu.device()), own);
    let mut tuned = wgmax::Gpu::from_device(gpu.device(), gpu.queue());
    let platform = Platform { driver: "another".into(), ..calibration.platform.clone() };
    let error = tuned.tune(&Calibration { platform, ..calibration.clone() }).unwrap_err();
    assert!(matches!(error, Error::StaleCalibration { what: "driver", .. }), "{error}");
    let kernels = "of another version".into();
    let error = tuned.tune(&Calibration { kernels, ..calibration.clone() }).unwrap_err();
    assert!(matches!(error, Error::StaleCalibration { what: "kernels", .. }), "{error}");
    assert_eq!(tuned.kernels().limits().tuning, None, "what was refused changes nothing");

    tuned.tune(&calibration).unwrap();
    assert_eq!(tuned.kernels().limits().tuning, Some(own));
    let op = ArgMax::new(DType::F16, View::new([5, 30_011]).unwrap()).axes([1]);
    let input = tensor(DType::F16, 5 * 30_011, Data::Edges, 3);
    assert_ne!(op.plan(tuned.kernels().limits()), op.plan(gpu.kernels().limits()), "plans follow it");
    check_on(&tuned, &op, &[&input], &op.reference(&[&input]).unwrap(), "tuned");
}
