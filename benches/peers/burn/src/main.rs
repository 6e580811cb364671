//! Times burn's wgpu backend (WGSL, autotune and fusion on) on the workloads of workloads.json.
//!
//! `benches/peers/compare.py` builds it (about half an hour on two cores) and runs it:
//!
//!     burn_timer [--workloads PATH] [--only NAME ...] [--seconds S] > burn.jsonl
//!
//! Without a GPU the Vulkan loader picks lavapipe; for SwiftShader set VK_DRIVER_FILES and VK_ICD_FILENAMES to its
//! vk_swiftshader_icd.json. Each workload runs in a process of its own: burn panics where it lacks a type, and a
//! panicked device stays unusable.
//!
//! The inputs are on the device before timing; a timed run is the operator and a device sync, and the output stays on
//! the device. Every output is then compared with plain Rust. Where burn has more than one natural spelling of an
//! operator, each is timed and the fastest right one is printed: "how" names it, "others" holds the medians of the rest
//! (a "by hand" one, which splits an axis into two reductions, is never the one printed).
//! One JSON object a line: name, peer, median_ms, min_ms, runs, first_ms (compiling and tuning), how; or name, peer,
//! error. A spelling whose output is wrong counts as an error; the time it took is in "wrong_median_ms".

use burn::tensor::{
    DType, Device, DeviceKind, IndexingUpdateOp, Int, Shape, Tensor, TensorData, bf16, f16,
};
use serde_json::{Value, json};
use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const VERSION: &str = "0.22.1";
const WARM_UPS: usize = 5;
const MAX_RUNS: usize = 200;
const MIN_RUNS: usize = 5;
const GIVE_UP: f64 = 20.0;

struct Output(Box<dyn FnOnce() -> TensorData>);
struct Variant {
    /// Never the one printed when it starts with "by hand".
    how: &'static str,
    run: Box<dyn Fn() -> Output>,
}

fn float<const D: usize>(
    how: &'static str,
    run: impl Fn() -> Tensor<D> + 'static,
) -> Variant {
    let run = Box::new(move || {
        let y = run();
        Output(Box::new(move || y.into_data()))
    });
    Variant { how, run }
}

fn int<const D: usize>(
    how: &'static str,
    run: impl Fn() -> Tensor<D, Int> + 'static,
) -> Variant {
    let run = Box::new(move || {
        let y = run();
        Output(Box::new(move || y.into_data()))
    });
    Variant { how, run }
}

/// One job: its ways of being run, and what plain Rust says the output holds.
struct Job {
    variants: Vec<Variant>,
    expected: Vec<f64>,
}

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Roughly normal: the sum of four uniform numbers.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: f32 = (0..4).map(|i| ((bits >> (16 * i)) & 0xffff) as f32).sum();
        (sum / 65536.0 - 2.0) * 1.7
    }
}

fn host_floats(random: &mut Random, count: usize, dtype: DType) -> Vec<f32> {
    (0..count)
        .map(|_| match dtype {
            DType::F16 => f16::from_f32(random.normal()).to_f32(),
            DType::BF16 => bf16::from_f32(random.normal()).to_f32(),
            _ => random.normal(),
        })
        .collect()
}

fn upload<const D: usize>(host: &[f32], shape: &[usize], dtype: DType, device: &Device) -> Tensor<D> {
    let data = TensorData::new(host.to_vec(), Shape::from(shape.to_vec()));
    Tensor::from_data(data, (device, dtype))
}

fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (0..shape.len().saturating_sub(1)).rev() {
        strides[i] = strides[i + 1] * shape[i + 1];
    }
    strides
}

/// For each element of the output (`axes` reduced): its maximum and the first place of it along the last axis of `axes`.
fn reduce<T: PartialOrd + Copy>(host: &[T], shape: &[usize], axes: &[usize]) -> Vec<(T, usize)> {
    let input = strides(shape);
    let kept: Vec<usize> = (0..shape.len()).filter(|i| !axes.contains(i)).collect();
    let kept_shape: Vec<usize> = kept.iter().map(|&i| shape[i]).collect();
    let output = strides(&kept_shape);
    let mut best: Vec<Option<(T, usize)>> = vec![None; kept_shape.iter().product()];
    for (place, &value) in host.iter().enumerate() {
        let at = |i: usize| place / input[i] % shape[i];
        let slot: usize = kept.iter().zip(&output).map(|(&i, s)| at(i) * s).sum();
        if best[slot].is_none_or(|(old, _)| value > old) {
            best[slot] = Some((value, at(axes[axes.len() - 1])));
        }
    }
    best.into_iter().map(Option::unwrap).collect()
}

/// Puts the maximum of every other output at the very end of what it reduces: a kernel that stops early is caught.
fn plant<T: Copy>(host: &mut [T], shape: &[usize], axes: &[usize], top: T) {
    let input = strides(shape);
    let mut count = 0;
    for place in 0..host.len() {
        if axes.iter().all(|&i| place / input[i] % shape[i] == shape[i] - 1) {
            if count % 2 == 0 {
                host[place] = top;
            }
            count += 1;
        }
    }
}

fn reduce_max<const D: usize>(x: Tensor<D>, shape: &[usize], axes: &[usize]) -> Vec<Variant> {
    let mut variants = Vec::new();
    {
        let (x, axes) = (x.clone(), axes.to_vec());
        variants.push(float("max_dim per axis", move || x.clone().max_dims(&axes)));
    }
    if axes.len() == shape.len() {
        let x = x.clone();
        variants.push(float("max", move || x.clone().max()));
    }
    // Adjacent trailing axes as one: a free reshape, then one reduction.
    if axes == [2, 3] && shape.len() == 4 {
        let (x, [a, b, c]) = (x.clone(), [shape[0], shape[1], shape[2] * shape[3]]);
        variants.push(float("reshape + max_dim", move || {
            x.clone().reshape([a, b, c]).max_dim(2)
        }));
    }
    if axes == [0, 2, 3] && shape.len() == 4 {
        let (x, [a, b, c]) = (x.clone(), [shape[0], shape[1], shape[2] * shape[3]]);
        variants.push(float("reshape + max_dim twice", move || {
            x.clone().reshape([a, b, c]).max_dim(2).max_dim(0)
        }));
    }
    if axes == [0] && shape[0] % 4096 == 0 {
        let rest: usize = shape[1..].iter().product();
        let (outer, inner) = if rest == 1 { (shape[0] / 4096, 4096) } else { (256, shape[0] / 256) };
        variants.push(float("by hand: in two steps", move || {
            x.clone().reshape([outer, inner, rest]).max_dim(1).max_dim(0)
        }));
    }
    variants
}

fn float_job<const D: usize>(work: &Value, shapes: &[Vec<usize>], dtype: DType, device: &Device) -> Job {
    let random = &mut Random(0x9E37_79B9_7F4A_7C15);
    let axes = axes(work, D);
    let mut hosts: Vec<Vec<f32>> = shapes
        .iter()
        .map(|shape| host_floats(random, shape.iter().product(), dtype))
        .collect();
    if !axes.is_empty() {
        plant(&mut hosts[0], &shapes[0], &axes, 9.0);
    }
    // burn broadcasts between tensors of one rank.
    let padded: Vec<Vec<usize>> = shapes
        .iter()
        .map(|shape| [vec![1; D - shape.len()], shape.clone()].concat())
        .collect();
    let tensors: Vec<Tensor<D>> = hosts
        .iter()
        .zip(&padded)
        .map(|(host, shape)| upload(host, shape, dtype, device))
        .collect();
    let x = tensors[0].clone();
    let shape = &padded[0];
    match work["op"].as_str().unwrap() {
        "ReduceMax" => Job {
            variants: reduce_max(x, shape, &axes),
            expected: reduce(&hosts[0], shape, &axes).iter().map(|r| r.0 as f64).collect(),
        },
        "ArgMax" => Job {
            variants: vec![int("argmax", move || x.clone().argmax(axes[0]))],
            expected: reduce(&hosts[0], shape, &[self::axes(work, D)[0]])
                .iter()
                .map(|r| r.1 as f64)
                .collect(),
        },
        "Hardmax" => {
            let (axis, size) = (axes[0], shape[axes[0]]);
            assert_eq!((D, axis), (2, 1));
            let mut expected = vec![0.0; hosts[0].len()];
            for (row, (_, place)) in reduce(&hosts[0], shape, &axes).iter().enumerate() {
                expected[row * size + place] = 1.0;
            }
            let (full, column) = ([shape[0], shape[1]], [shape[0], 1]);
            let x: Tensor<2> = x.reshape(full);
            let (y, z, dev, dev2) = (x.clone(), x, device.clone(), device.clone());
            let scatter = float("argmax + scatter into zeros", move || {
                let index = y.clone().argmax(axis);
                let ones = Tensor::<2>::ones(column, (&dev, dtype));
                let zeros = Tensor::<2>::zeros(full, (&dev, dtype));
                zeros.scatter(axis, index, ones, IndexingUpdateOp::Assign)
            });
            let equal = float("argmax + equal(arange)", move || {
                let index = z.clone().argmax(axis);
                let places = Tensor::<1, Int>::arange(0..size as i64, &dev2).reshape([1, size]);
                places.equal(index).float()
            });
            Job { variants: vec![scatter, equal], expected }
        }
        "Max" => {
            let mut full = vec![1; D];
            for shape in &padded {
                full.iter_mut().zip(shape).for_each(|(f, &s)| *f = (*f).max(s));
            }
            let (out, count) = (strides(&full), full.iter().product());
            let mut expected = vec![f64::NEG_INFINITY; count];
            for (host, shape) in hosts.iter().zip(&padded) {
                let inner = strides(shape);
                for (place, slot) in expected.iter_mut().enumerate() {
                    let from: usize = (0..D)
                        .map(|i| if shape[i] == 1 { 0 } else { place / out[i] % full[i] * inner[i] })
                        .sum();
                    *slot = slot.max(host[from] as f64);
                }
            }
            let mut variants = Vec::new();
            if tensors.len() == 2 && hosts[1].len() == 1 {
                let (x, floor) = (tensors[0].clone(), hosts[1][0]);
                variants.push(float("clamp_min", move || x.clone().clamp_min(floor)));
            }
            variants.push(float("max_pair chain", move || {
                let mut rest = tensors.iter().cloned();
                let first = rest.next().unwrap();
                rest.fold(first, |a, b| a.max_pair(b))
            }));
            Job { variants, expected }
        }
        op => panic!("unknown op {op}"),
    }
}

fn int_job(work: &Value, shapes: &[Vec<usize>], dtype: DType, device: &Device) -> Job {
    assert_eq!((work["op"].as_str(), shapes[0].len()), (Some("ReduceMax"), 1));
    let random = &mut Random(0x9E37_79B9_7F4A_7C15);
    let count = shapes[0][0];
    let (data, expected) = if dtype == DType::U8 {
        let mut host: Vec<u8> = (0..count).map(|_| (random.next() >> 32) as u8 % 251).collect();
        plant(&mut host, &[count], &[0], 253);
        let best = *host.iter().max().unwrap() as f64;
        (TensorData::new(host, [count]), best)
    } else {
        let mut host: Vec<i64> = (0..count).map(|_| random.next() as i64).collect();
        plant(&mut host, &[count], &[0], i64::MAX - 12345);
        let best = *host.iter().max().unwrap() as f64;
        (TensorData::new(host, [count]), best)
    };
    let x = Tensor::<1, Int>::from_data(data, (device, dtype));
    let y = x.clone();
    let variants = vec![
        int("max_dim per axis", move || x.clone().max_dim(0)),
        int("max", move || y.clone().max()),
    ];
    Job { variants, expected: vec![expected] }
}

fn axes(work: &Value, rank: usize) -> Vec<usize> {
    let wrap = |v: &Value| v.as_i64().unwrap().rem_euclid(rank as i64) as usize;
    match (work.get("axes"), work.get("axis")) {
        (Some(list), _) => list.as_array().unwrap().iter().map(wrap).collect(),
        (_, Some(axis)) => vec![wrap(axis)],
        _ => vec![],
    }
}

/// Seconds of each run after the warm-up, and of the very first run (which compiles and tunes).
fn time(variant: &Variant, device: &Device, seconds: f64) -> Result<(Vec<f64>, f64), String> {
    let once = || {
        let start = Instant::now();
        let output = (variant.run)();
        device.sync().map_err(|e| format!("{e:?}"))?;
        let spent = start.elapsed().as_secs_f64();
        drop(output);
        Ok::<f64, String>(spent)
    };
    let begin = Instant::now();
    let first = once()?;
    for done in 2..=WARM_UPS {
        once()?;
        if begin.elapsed().as_secs_f64() > GIVE_UP {
            return Err(format!("gave up: {done} warm-up runs take over {GIVE_UP} s"));
        }
    }
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < MAX_RUNS
        && (times.len() < MIN_RUNS || begin.elapsed().as_secs_f64() < seconds)
        && (times.is_empty() || begin.elapsed().as_secs_f64() < GIVE_UP)
    {
        times.push(once()?);
    }
    Ok((times, first))
}

fn child(work: &Value, seconds: f64) {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let adapter = device.identity().map_or("?".into(), |identity| identity.name);
    let peer = format!("burn {VERSION} wgpu {adapter}");
    // For the parent, should burn panic below.
    eprintln!("PEER {peer}");
    let shapes: Vec<Vec<usize>> = serde_json::from_value(work["shapes"].clone()).unwrap();
    let dtype = match work["dtype"].as_str().unwrap() {
        "float64" => DType::F64,
        "float32" => DType::F32,
        "float16" => DType::F16,
        "bfloat16" => DType::BF16,
        "int64" => DType::I64,
        "int32" => DType::I32,
        "uint8" => DType::U8,
        other => panic!("no dtype {other} here"),
    };
let supported = device.supports_dtype(dtype);
    eprintln!("SUPPORTED {supported}");
    let job = match (dtype, shapes.iter().map(Vec::len).max().unwrap()) {
        (DType::I64 | DType::I32 | DType::U8, _) => int_job(work, &shapes, dtype, &device),
        (_, 1) => float_job::<1>(work, &shapes, dtype, &device),
        (_, 2) => float_job::<2>(work, &shapes, dtype, &device),
        (_, 3) => float_job::<3>(work, &shapes, dtype, &device),
        (_, 4) => float_job::<4>(work, &shapes, dtype, &device),
        (_, rank) => panic!("no rank {rank} here"),
    };
    device.sync().unwrap();
    let mut rows: Vec<Value> = Vec::new();
    for variant in &job.variants {
        let mut row = json!({"name": work["name"], "peer": peer, "how": variant.how});
        match time(variant, &device, seconds) {
            Ok((mut times, first)) => {
                times.sort_by(f64::total_cmp);
                let (n, ms) = (times.len(), |s: f64| (s * 1e7).round() / 1e4);
                let median = ms((times[(n - 1) / 2] + times[n / 2]) / 2.0);
                row["median_ms"] = json!(median);
                row["min_ms"] = json!(ms(times[0]));
                row["runs"] = json!(n);
                row["first_ms"] = json!(ms(first));
                let got: Vec<f64> = (variant.run)().0().convert::<f64>().try_to_vec().unwrap();
                let same = |(a, b): (&f64, &f64)| a == b;
                let right = got.iter().zip(&job.expected).map(same).filter(|&same| same).count();
                if right != job.expected.len() || got.len() != right {
                    let place = got.iter().zip(&job.expected).map(same).position(|same| !same).unwrap_or(0);
                    row = json!({"name": work["name"], "peer": peer, "how": variant.how, "wrong_median_ms": median,
                        "error": format!(
                            "wrong output: {right} of {} right; at {place} {:?}, not {:?}{}",
                            job.expected.len(), got.get(place), job.expected.get(place),
                            if supported { "" } else { " (and supports_dtype is false)" }
                        )});
                }
            }
            Err(error) => row["error"] = json!(error),
        }
        rows.push(row);
    }
    rows.sort_by(|a, b| {
        let key = |row: &Value| {
            let by_hand = row["how"].as_str().unwrap().starts_with("by hand");
            (by_hand, row["median_ms"].as_f64().unwrap_or(f64::INFINITY))
        };
        key(a).partial_cmp(&key(b)).unwrap()
    });
    let mut row = rows.remove(0);
    if !rows.is_empty() {
        let others = rows.iter().map(|row| {
            let shown = row.get("median_ms").unwrap_or(&row["error"]);
            (row["how"].as_str().unwrap().to_string(), shown.clone())
        });
        row["others"] = Value::Object(others.collect());
    }
    println!("{row}");
}

/// Runs one workload in a process of its own and returns the line to print.
fn in_process(work: &Value, seconds: f64) -> String {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--child", &work.to_string(), "--seconds", &seconds.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            from.read_to_end(&mut text).ok();
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(Box::new(process.stdout.take().unwrap()));
    let err = read(Box::new(process.stderr.take().unwrap()));
    let begin = Instant::now();
    let mut killed = false;
    while process.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(180) {
            process.kill().ok();
            killed = true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    if let Some(line) = out.lines().find(|line| line.starts_with('{')) {
        return line.into();
    }
    if std::env::var_os("BURN_BENCH_STDERR").is_some() {
        eprintln!("{err}");
    }
    let tagged = |tag: &str| err.lines().find_map(|line| line.strip_prefix(tag)).unwrap_or("?").to_string();
    let lines: Vec<&str> = err.lines().collect();
    let panic = lines.iter().position(|line| line.contains("panicked at"));
    let mut message = match panic {
        _ if killed => "gave up after 180 s".to_string(),
        Some(place) => {
            let text = lines[place + 1..].iter().take_while(|line| !line.contains("stack backtrace"));
            text.map(|line| line.trim()).collect::<Vec<_>>().join(" ").chars().take(200).collect()
        }
        None => lines.last().copied().unwrap_or("no output").to_string(),
    };
    if tagged("SUPPORTED ") == "false" {
        message += " (and supports_dtype is false)";
    }
    json!({"name": work["name"], "peer": tagged("PEER "), "error": message})
    .to_string()
}

fn main() {
    let mut path = format!("{}/../../workloads.json", env!("CARGO_MANIFEST_DIR"));
    let (mut only, mut seconds, mut one) = (Vec::new(), 1.0, None);
    let mut args = std::env::args().skip(1).peekable();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--workloads" => path = args.next().unwrap(),
            "--seconds" => seconds = args.next().unwrap().parse().unwrap(),
            "--child" => one = args.next(),
            "--only" => {
                while let Some(name) = args.next_if(|name| !name.starts_with("--")) {
                    only.push(name);
                }
            }
            other => panic!("unknown argument {other}"),
        }
    }
    if let Some(work) = one {
        return child(&serde_json::from_str(&work).unwrap(), seconds);
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let works: Vec<Value> = serde_json::from_str(&text).unwrap();
    for work in works {
        if only.is_empty() || only.iter().any(|name| work["name"] == json!(name)) {
            println!("{}", in_process(&work, seconds));
        }
    }
}
