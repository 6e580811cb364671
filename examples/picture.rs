//! Five maxima of a photograph, each written as a PNG and held against the CPU reference bit for bit.
//!
//! ```text
//! cargo run --release --example picture [-- IMAGE] [--out DIR] [--adapter NAME]
//! ```
//!
//! | file | operation |
//! |---|---|
//! | `largest.png` | ReduceMax over the channels: the largest channel of each pixel |
//! | `dominant.png` | ArgMax over the channels, with its value: each pixel in the colour of its dominant channel |
//! | `thumbnail.png` | ReduceMax over 8 × 8 blocks of pixels, a view of the picture as it lies in memory |
//! | `mask.png` | Hardmax over the channels: the one-hot mask of the dominant channel |
//! | `merged.png` | Max of the picture, its mirror image (a reversed view) and a floor for each channel |

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{Failure, Resident, gigabytes_per_second, least_bytes};
use image::{ColorType, RgbImage};
use wgmax::{
    ArgMax, ArgMaxOutput, DType, Error, Gpu, Hardmax, IndexType, Max, Operation, ReduceMax, Slices, Tensor, View,
};

const USAGE: &str = "usage: picture [IMAGE] [--out DIR] [--adapter NAME]";
const SHIPPED: &[u8] = include_bytes!("data/galaxies.jpg");
const ON_DEVICE: &str = "a second run on tensors that lie on the device: record, submit, wait";
const ON_REFERENCE: &str = "the reference, which is written to be right and not to be fast";
const BLOCK: u64 = 8;
const FLOOR: [u8; 3] = [40, 0, 80]; // the night sky turns violet

fn main() -> ExitCode {
    if common::wants_help() {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let studio = match Studio::from_args() {
        Ok(studio) => studio,
        Err(error) => return common::fail("picture", 2, &error),
    };
    match studio.draw() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => common::fail("picture", 1, &error),
    }
}

struct Studio {
    /// Shape `[height, width, 3]`.
    picture: Tensor,
    out: PathBuf,
    gpu: Option<Gpu>,
}

impl Studio {
    fn from_args() -> Result<Studio, Failure> {
        let mut args = pico_args::Arguments::from_env();
        let path = |text: &std::ffi::OsStr| Ok::<_, String>(PathBuf::from(text));
        let adapter: Option<String> = args.opt_value_from_str("--adapter")?;
        let out = args.opt_value_from_os_str("--out", path)?.unwrap_or_else(|| "target/picture".into());
        let rest = args.finish();
        let image = match rest.as_slice() {
            [] => None,
            [image] if !image.to_string_lossy().starts_with('-') => Some(Path::new(image)),
            _ => return Err(format!("cannot make sense of {rest:?}; {USAGE}").into()),
        };
        Ok(Studio { picture: read_picture(image)?, out, gpu: common::open(adapter)? })
    }

    fn draw(&self) -> Result<(), Failure> {
        fs::create_dir_all(&self.out).map_err(|error| format!("cannot make {}: {error}", self.out.display()))?;
        let [height, width] = [0, 1].map(|d| self.picture.shape()[d]);
        println!("A picture of {width} × {height} pixels; the PNGs go to {}.", self.out.display());
        println!("Times are those of {}.", if self.gpu.is_some() { ON_DEVICE } else { ON_REFERENCE });
        println!("GB/s count each input read once and each output written once.\n");
        let pixels = View::new(self.picture.shape())?;
        self.largest_channel(&pixels)?;
        self.dominant_channel(&pixels)?;
        self.thumbnail(&pixels)?;
        self.mask(&pixels)?;
        self.merged(&pixels)
    }

    fn largest_channel(&self, pixels: &View) -> Result<(), Failure> {
        let op = ReduceMax::new(DType::U8, pixels.clone()).axes([-1]);
        let largest = self.run(&op, &[&self.picture])?.remove(0);
        self.save("largest.png", &largest, largest.bytes())
    }

    fn dominant_channel(&self, pixels: &View) -> Result<(), Failure> {
        let op = ArgMax::new(DType::U8, pixels.clone())
            .axes([-1])
            .index(IndexType::U32)
            .output(ArgMaxOutput::ValuesAndIndices);
        let answer = self.run(&op, &[&self.picture])?;
        let mut coloured = vec![0; self.picture.bytes().len()];
        let pixels = coloured.chunks_exact_mut(3).zip(answer[0].bytes()).zip(answer[1].to_vec::<u32>()?);
        pixels.for_each(|((pixel, &value), channel)| pixel[channel as usize] = value);
        self.save("dominant.png", &self.picture, &coloured)
    }

    /// Splitting rows and columns makes the position within a block an axis of its own: pooling is then a reduction,
    /// and the pixels stay where they are.
    fn thumbnail(&self, pixels: &View) -> Result<(), Failure> {
        let [height, width] = [0, 1].map(|d| pixels.shape()[d]);
        let [block_height, block_width] = [height, width].map(|size| size.min(BLOCK));
        let [rows, columns] = [height / block_height, width / block_width];
        let blocks = pixels
            .slice(0, 0, rows * block_height, 1)? // crops what fills no block
            .slice(1, 0, columns * block_width, 1)?
            .split(1, [columns, block_width])?
            .split(0, [rows, block_height])?;
        let op = ReduceMax::new(DType::U8, blocks).axes([1, 3]);
        let thumbnail = self.run(&op, &[&self.picture])?.remove(0);
        self.save("thumbnail.png", &thumbnail, thumbnail.bytes())
    }

    fn mask(&self, pixels: &View) -> Result<(), Failure> {
        let op = Hardmax::new(DType::U8, pixels.clone(), Slices::Along(-1));
        let one_hot = self.run(&op, &[&self.picture])?.remove(0);
        let visible: Vec<u8> = one_hot.bytes().iter().map(|one| one * 255).collect();
        self.save("mask.png", &one_hot, &visible)
    }

    fn merged(&self, pixels: &View) -> Result<(), Failure> {
        let op = Max::new(DType::U8, [pixels.clone(), pixels.reverse(1)?]).constant(Tensor::new([3], &FLOOR)?);
        let merged = self.run(&op, &[&self.picture, &self.picture])?.remove(0);
        self.save("merged.png", &merged, merged.bytes())
    }

    /// Runs an operation, where there is a device there, and holds it against the reference.
    fn run(&self, op: &impl Operation, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Failure> {
        let begin = Instant::now();
        let reference = op.reference(inputs)?;
        let Some(gpu) = &self.gpu else {
            report(op, begin.elapsed(), "by the reference")?;
            return Ok(reference);
        };
        let resident = Resident::new(gpu, op, inputs)?;
        resident.step()?;
        let time = resident.step()?;
        let answer = resident.read()?;
        if answer != reference {
            return Err(format!("{}: the answer differs from the reference's", op.name()).into());
        }
        report(op, time, "bit-equal to the reference")?;
        Ok(answer)
    }

    /// Writes bytes as a picture of the tensor's shape: `[height, width]` is grey, `[height, width, 3]` coloured.
    fn save(&self, file: &str, shaped: &Tensor, bytes: &[u8]) -> Result<(), Failure> {
        let colour = if shaped.shape().len() == 3 { ColorType::Rgb8 } else { ColorType::L8 };
        let [height, width] = [0, 1].map(|d| shaped.shape()[d] as u32);
        let path = self.out.join(file);
        image::save_buffer(&path, bytes, width, height, colour)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("  {file}");
        Ok(())
    }
}

fn report(op: &impl Operation, time: Duration, verdict: &str) -> Result<(), Error> {
    let ms = time.as_secs_f64() * 1e3;
    let rate = gigabytes_per_second(least_bytes(op)?, time);
    print!("{:9} {ms:9.3} ms {rate:7.2} GB/s  {verdict}", op.name());
    Ok(())
}

/// The shipped picture, or another one.
fn read_picture(path: Option<&Path>) -> Result<Tensor, Failure> {
    let name = path.map_or("the shipped picture".into(), |path| path.display().to_string());
    let cannot = |error: &dyn std::fmt::Display| format!("cannot read {name}: {error}");
    let bytes = path.map_or_else(|| Ok(SHIPPED.to_vec()), fs::read).map_err(|error| cannot(&error))?;
    let picture: RgbImage = image::load_from_memory(&bytes).map_err(|error| cannot(&error))?.into_rgb8();
    let (width, height) = picture.dimensions();
    Ok(Tensor::new([height.into(), width.into(), 3], picture.as_raw())?)
}
