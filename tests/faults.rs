//! What a user sees when the device fails: an error value each time, no hang, no panic; a new `Gpu` goes on. See
//! docs/faults.md.
//!
//! Faults that take a process with them, or its environment, are provoked in a process of their own: the tests marked
//! `ignore` are those processes, and mean nothing by themselves.

mod common;

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use common::{USAGES, encoder, filled_buffer, gpus, submit, within_a_minute};
use wgmax::plan::{MaxAccess, MaxOperands, Override, Program};
use wgmax::{
    ArgMax, DType, Error, Gpu, GpuOptions, Hardmax, Kernels, Limits, Operation, ReduceMax, Slices, Slots, Stream,
    Tensor, View, wgpu,
};

fn view(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}

fn small() -> (ReduceMax, Tensor) {
    (
        ReduceMax::new(DType::F32, view(&[2, 3])).axes([1]),
        Tensor::new([2, 3], &[1.0_f32, 2.0, 3.0, 6.0, 5.0, 4.0]).unwrap(),
    )
}

fn new_gpu() -> Gpu {
    Gpu::new_blocking(&GpuOptions::default()).unwrap()
}

/// The device that was lost said so; one made afterwards answers.
fn lost_and_rebuilt(errors: &[Error]) {
    for error in errors {
        assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
        assert!(error.to_string().starts_with("the GPU device was lost: "), "{error}");
    }
    let (op, input) = small();
    assert_eq!(new_gpu().run_blocking(&op, &[&input]).unwrap()[0].to_vec::<f32>().unwrap(), [3.0, 6.0]);
}

// A device that is lost.

#[test]
fn lost_before_anything_is_prepared() {
    let errors = within_a_minute(|| {
        let gpu = new_gpu();
        gpu.device().destroy();
        let (op, input) = small();
        [(); 2].map(|()| gpu.run_blocking(&op, &[&input]).unwrap_err())
    });
    lost_and_rebuilt(&errors);
}

#[test]
fn lost_between_two_runs() {
    let errors = within_a_minute(|| {
        let gpu = new_gpu();
        let (op, input) = small();
        gpu.run_blocking(&op, &[&input]).unwrap();
        gpu.device().destroy();
        [(); 2].map(|()| gpu.run_blocking(&op, &[&input]).unwrap_err())
    });
    lost_and_rebuilt(&errors);
}

/// Lost by another thread while this one uploads, submits or waits: whenever it happens to come.
#[test]
fn lost_in_mid_work() {
    for after_ms in [0, 1, 2, 5, 10, 20, 50] {
        let (error, runs) = within_a_minute(move || {
            let gpu = new_gpu();
            let len = 4 << 20;
            let op = ArgMax::new(DType::F32, view(&[len]));
            let input = Tensor::new([len], &vec![1.0_f32; len as usize]).unwrap();
            let device = gpu.device().clone();
            let other = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(after_ms));
                device.destroy();
            });
            let mut runs = 0;
            let error = loop {
                match gpu.run_blocking(&op, &[&input]) {
                    Ok(answer) => assert_eq!(answer[0].to_vec::<i64>().unwrap(), [0]),
                    Err(error) => break error,
                }
                runs += 1;
            };
            other.join().unwrap();
            (error, runs)
        });
        println!("lost after {after_ms} ms, in run {runs}: {error}");
        lost_and_rebuilt(&[error]);
    }
}

/// Lost at each tenth of a run whose answer takes a good part of it to copy out, so also while a buffer is mapped: the
/// answer is whole, or there is none.
#[test]
fn lost_while_an_answer_is_copied_out() {
    let len = 8 << 20;
    let op = ReduceMax::new(DType::F32, view(&[0, len])).axes([0]);
    let run = move |gpu: &Gpu| gpu.run_blocking(&op, &[&Tensor::new::<f32>([0], &[]).unwrap()]);
    let begin = Instant::now();
    let gpu = new_gpu();
    let answer = run(&gpu).unwrap();
    let warm = begin.elapsed();
    let begin = Instant::now();
    assert_eq!(run(&gpu), Ok(answer.clone()));
    let one_run = begin.elapsed();
    println!("{warm:?} the first run, {one_run:?} the second");
    for part in 0..10 {
        let (run, answer) = (run.clone(), answer.clone());
        let (outcome, then) = within_a_minute(move || {
            let gpu = new_gpu();
            run(&gpu).unwrap();
            let device = gpu.device().clone();
            let (go, started) = std::sync::mpsc::channel();
            let other = std::thread::spawn(move || {
                started.recv().unwrap();
                std::thread::sleep(one_run * part / 10);
                device.destroy();
            });
            go.send(()).unwrap();
            let outcome = run(&gpu);
            other.join().unwrap();
            if let Ok(outcome) = &outcome {
                assert_eq!(outcome, &answer);
            }
            (outcome.map(|_| ()), run(&gpu).unwrap_err())
        });
        println!(
            "lost after {part} tenths: {}",
            outcome.as_ref().map_or_else(ToString::to_string, |()| "an answer".into())
        );
        lost_and_rebuilt(&outcome.err().into_iter().chain([then]).collect::<Vec<_>>());
    }
}

/// An engine's own device: preparing gives an error; binding, recording and submitting give none and do nothing, also where
/// the engine has no error scope.
#[test]
fn lost_between_record_and_submit() {
    within_a_minute(|| {
        let gpu = new_gpu();
        let (op, _) = small();
        let plan = op.plan(gpu.kernels().limits()).unwrap();
        let prepared = gpu.kernels().prepare_blocking(&plan).unwrap();
        let (input, output) = (filled_buffer(&gpu, &[0; 24], USAGES), filled_buffer(&gpu, &[0; 8], USAGES));
        let slots = Slots { inputs: &[input.slice(..)], outputs: &[output.slice(..)], scratch: &[] };
        let mut recorded = encoder(&gpu);
        prepared.record(&mut recorded, &slots).unwrap();
        gpu.device().destroy();
        // wgpu is silent about all of it: there is no error scope here, and what comes to none panics.
        submit(&gpu, recorded);
        let mut again = encoder(&gpu);
        assert!(prepared.bind(&slots).is_ok(), "binding tells of no lost device");
        assert_eq!(prepared.record(&mut again, &slots), Ok(()));
        submit(&gpu, again);
        let error = Kernels::new(gpu.device()).prepare_blocking(&plan).unwrap_err();
        assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
    });
    lost_and_rebuilt(&[]);
}

/// An engine's own device, whose lost callback is the engine's: preparing says that it is lost, whether or not the
/// kernels were compiled before, and the callback stays.
#[test]
fn preparing_says_that_the_device_is_lost() {
    let errors = within_a_minute(|| {
        let gpu = new_gpu();
        let (told, tells) = std::sync::mpsc::channel();
        gpu.device().set_device_lost_callback(move |reason, _| told.send(reason).unwrap());
        let kernels = Kernels::new(gpu.device());
        let (op, _) = small();
        let warm = op.plan(kernels.limits()).unwrap();
        let cold = ArgMax::new(DType::F32, view(&[2, 3])).plan(kernels.limits()).unwrap();
        kernels.prepare_blocking(&warm).unwrap();
        gpu.device().destroy();
        let errors = [&warm, &cold, &warm].map(|plan| kernels.prepare_blocking(plan).unwrap_err());
        let _ = gpu.device().poll(wgpu::PollType::wait_indefinitely());
        assert_eq!(tells.recv().unwrap(), wgpu::DeviceLostReason::Destroyed);
        errors
    });
    lost_and_rebuilt(&errors);
}

/// What was prepared and bound for a lost device can be dropped, and the device's buffers too.
#[test]
fn nothing_of_a_lost_device_is_kept() {
    within_a_minute(|| {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let devices = || instance.generate_report().map(|report| report.hub_report().devices.num_allocated);
        let before = devices();
        for _ in 0..20 {
            let (device, queue) = pollster::block_on(adapters[0].request_device(&Default::default())).unwrap();
            let gpu = Gpu::from_device(&device, &queue);
            let (op, input) = small();
            gpu.run_blocking(&op, &[&input]).unwrap();
            device.destroy();
            gpu.run_blocking(&op, &[&input]).unwrap_err();
        }
        assert_eq!(devices(), before);
    });
}

// No adapter.

/// Runs one of the tests marked `ignore` below in a process of its own.
fn in_own_process(name: &str, change: impl FnOnce(&mut Command)) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    change(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{text}", output.status);
    assert!(text.contains("1 passed"), "{name} was not run:\n{text}");
    output
}

#[cfg(target_os = "linux")]
#[test]
fn no_adapter_at_all() {
    in_own_process("where_there_is_no_adapter", |command| {
        command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json");
    });
}

#[test]
#[ignore = "a process of its own, for no_adapter_at_all"]
fn where_there_is_no_adapter() {
    let error = Gpu::new_blocking(&GpuOptions::default()).unwrap_err();
    assert_eq!(error, Error::NoAdapter { wanted: "at all".into(), found: "none".into() });
    assert_eq!(error.to_string(), "no GPU adapter at all; found: none");
    let (op, input) = small();
    assert!(op.reference(&[&input]).is_ok(), "the reference needs none");
}

// Out of memory.

/// A device that may not use any of its memory, where the driver says how much it has.
#[test]
fn out_of_memory_by_budget() {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.memory_budget_thresholds.for_resource_creation = Some(0);
    let instance = wgpu::Instance::new(descriptor);
    let name = &gpus()[0].info().name;
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let adapter = adapters.into_iter().find(|adapter| &adapter.get_info().name == name).unwrap();
    let Ok((device, _queue)) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())) else {
        return; // it needs memory for itself
    };
    let (op, _) = small();
    let kernels = Kernels::new(&device);
    match kernels.prepare_blocking(&op.plan(kernels.limits()).unwrap()) {
        Err(error @ Error::OutOfMemory { .. }) => {
            assert!(error.to_string().starts_with("the GPU is out of memory: "), "{error}");
        }
        Ok(_) => eprintln!("{name} does not say how much memory it has: nothing to run out of"),
        Err(error) => panic!("{error:?}"),
    }
}

/// A process that may take little more memory than it has: software adapters' buffers are host memory.
#[cfg(target_os = "linux")]
#[test]
fn out_of_memory_for_real() {
    let output = in_own_process("where_memory_is_short", |_| {});
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a process of its own, for out_of_memory_for_real"]
fn where_memory_is_short() {
    let gpu = new_gpu();
    if gpu.info().device_type != wgpu::DeviceType::Cpu {
        return; // its memory is not the process's
    }
    let (op, input) = small();
    gpu.run_blocking(&op, &[&input]).unwrap();
    // Nothing is read: a fill of 64 MiB, its copy for reading, and the answer. Each in turn is what does not fit.
    let bytes: u64 = 64 << 20;
    let large = ReduceMax::new(DType::F32, view(&[0, bytes / 4])).axes([0]);
    gpu.run_blocking(&large, &[&Tensor::new::<f32>([0], &[]).unwrap()]).unwrap();
    let run = || gpu.run_blocking(&large, &[&Tensor::new::<f32>([0], &[]).unwrap()]);
    // A stream has three sets of buffers for chunks of 192 MiB: the first of them, and what is made of it, is what does not fit.
    let chunk = 3 * bytes;
    let streamed = ReduceMax::new(DType::U8, view(&[2 * chunk, 2])).axes([1]);
    let stream = || {
        let mut stream = Stream::new_blocking(&gpu, streamed.clone(), chunk)?;
        for _ in 0..4 {
            stream.push_blocking(&vec![0; chunk as usize])?;
        }
        stream.finish_blocking()
    };
    let ways: [&dyn Fn() -> Result<Vec<Tensor>, Error>; 2] = [&run, &stream];
    for (way, len) in ways.iter().zip([bytes, 2 * chunk]) {
        let mut seen = Vec::new();
        for room_mib in [8, 40, 72, 104, 136, 168, 200, 232, 264] {
            limit_memory(Some(room_mib << 20));
            let outcome = way();
            limit_memory(None);
            println!(
                "{room_mib} MiB left: {}",
                outcome.as_ref().map_or_else(ToString::to_string, |_| "an answer".into())
            );
            match outcome {
                Ok(answer) => assert_eq!(answer[0].bytes().len() as u64, len),
                Err(error @ (Error::OutOfMemory { .. } | Error::TooLarge { .. } | Error::Gpu { .. })) => {
                    let message = error.to_string();
                    assert!(!message.contains("staging: "), "what was not made is to blame: {message}");
                    seen.push(error);
                }
                Err(error) => panic!("{error:?}"),
            }
            // The device is as good as before.
            assert_eq!(gpu.run_blocking(&op, &[&input]).unwrap()[0].to_vec::<f32>().unwrap(), [3.0, 6.0]);
        }
        assert!(seen.iter().any(|error| matches!(error, Error::OutOfMemory { .. })), "{seen:?}");
    }
}

/// Lets this process take so many bytes more than it has, or any number again.
#[cfg(target_os = "linux")]
fn limit_memory(room: Option<u64>) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let has = pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let limit = room.map_or("unlimited".into(), |room| (has + room).to_string());
    let pid = std::process::id().to_string();
    let status = Command::new("prlimit").args(["--pid", &pid, &format!("--as={limit}:unlimited")]).status().unwrap();
    assert!(status.success(), "prlimit (of util-linux) does not work here");
}

/// Host memory for an answer that nobody could hold: an error before anything is allocated.
#[test]
fn an_answer_larger_than_memory() {
    let len = 1 << 45;
    let nothing = Tensor::new::<f32>([0], &[]).unwrap();
    let one = Tensor::new([1], &[1.0_f32]).unwrap();
    let repeated = View::strided([len, 1], [0, 1], 0).unwrap();
    let ops: [(Box<dyn Operation>, &Tensor); 4] = [
        (Box::new(ReduceMax::new(DType::F32, view(&[0, len])).axes([0])), &nothing),
        (Box::new(ArgMax::new(DType::F32, repeated.clone()).axes([1])), &one),
        (Box::new(Hardmax::new(DType::F32, repeated.clone(), Slices::Along(1))), &one),
        (Box::new(wgmax::Max::new(DType::F32, [repeated])), &one),
    ];
    for (op, input) in ops {
        let error = op.reference(&[input]).unwrap_err();
        let Error::TooLarge { what: "bytes of an answer in host memory", given, limit } = error else {
            panic!("{}: {error:?}", op.name())
        };
        assert!(given >= len && limit < given, "{}: {error}", op.name());
    }
}

// A shader that there is not.

/// A plan that was changed by hand: its kernel never comes to the device; the next plan is prepared as if nothing had
/// been.
#[test]
fn a_kernel_that_there_is_not() {
    let gpu = &gpus()[1];
    let kernels = Kernels::new(gpu.device());
    let limits = kernels.limits().clone();
    let (op, _) = small();
    let good = op.plan(&limits).unwrap();
    type Spoil = fn(&mut wgmax::plan::Dispatch);
    let spoil: [(&str, Spoil); 3] = [
        ("a constant that the shader has not", |pass| pass.kernel.overrides.push(Override::ColumnPacks(4))),
        ("a binding too few", |pass| pass.bindings.truncate(1)),
        ("a program that was never written", |pass| {
            pass.kernel.program = Program::Max { operands: MaxOperands::new(33), access: MaxAccess::Elements };
        }),
    ];
    for (what, spoil) in spoil {
        let mut plan = good.clone();
        spoil(&mut plan.dispatches[0]);
        let error = kernels.prepare_blocking(&plan).expect_err(what);
        assert!(matches!(error, Error::InvalidPlan { .. }), "{what}: {error:?}");
        println!("{what}: {error}");
        assert_eq!(kernels.pipeline_count(), 0, "{what}");
    }
    kernels.prepare_blocking(&good).unwrap();
    assert_eq!(kernels.pipeline_count(), 1);
}

// Messages.

/// However long the lists are that a caller gave, a message can be read.
#[test]
fn long_lists_are_shortened() {
    let axes = vec![1_i64; 1_000_000];
    let error = ReduceMax::new(DType::F32, view(&[2, 3])).axes(axes).plan(&Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "axes [1, 1, 1, 1, 1, 1, 1, 1, and 999992 more] name dimension 1 twice");
    let error = View::strided(vec![3; 100_000], vec![i64::MAX; 100_000], 0).unwrap_err();
    assert!(error.to_string().len() < 500, "{error}");
    let error = view(&[1; 64]).permute(&[0; 1_000_000]).unwrap_err();
    assert!(error.to_string().len() < 500, "{error}");
    let parts = [view(&[1; 64]), view(&[1; 63])];
    let error = wgmax::Parts::new(parts).unwrap_err();
    assert!(error.to_string().len() < 500, "{error}");
}

/// Labels, too: they go to the driver with every object.
#[test]
fn long_shapes_are_shortened_in_labels() {
    let long = || view(&[1; 64]);
    let ops: [Box<dyn Operation>; 4] = [
        Box::new(ReduceMax::new(DType::F32, long())),
        Box::new(ArgMax::new(DType::F32, long())),
        Box::new(Hardmax::new(DType::F32, long(), Slices::From(0))),
        Box::new(wgmax::Max::new(DType::F32, [long(), long()])),
    ];
    for op in ops {
        let label = op.plan(&Limits::default()).unwrap().label;
        assert!(label.len() < 200 && label.contains("[1, 1, 1, 1, 1, 1, 1, 1, and 56 more]"), "{label}");
    }
}
