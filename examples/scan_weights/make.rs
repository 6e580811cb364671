//! Checkpoints made up: three files and an index, of any size, the same at every run, with maxima whose places are known.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde_json::json;

use crate::common::Failure;

const FILES: u64 = 3;

/// What the tensors of each file are.
struct Recipe {
    name: &'static str,
    kind: Dtype,
    /// Its part of a file's bytes, in thousandths.
    share: u64,
    /// The shape of what has one index of the first dimension.
    channel: &'static [u64],
    /// Which random bits an element keeps, and which ones it has at any rate.
    kept: u64,
    set: u64,
    /// The bits of one element, which are the maximum.
    planted: u64,
}

/// Numbers of which floats lie between -2 and 2, so that those planted stand out as an outlier's channel does: a larger one,
/// a NaN of negative sign, a -0 among negative numbers, the type's greatest integer, one true.
#[rustfmt::skip]
const RECIPES: [Recipe; 8] = [
    Recipe { name: "router.weight", kind: Dtype::F64, share: 40, channel: &[1024], kept: !(1 << 62), set: 0, planted: 0x4030 << 48 },
    Recipe { name: "mlp.weight", kind: Dtype::F32, share: 250, channel: &[4096], kept: 0xbfff_ffff, set: 0, planted: 0xffc0_0001 },
    Recipe { name: "steps", kind: Dtype::U32, share: 10, channel: &[], kept: 0x7fff_ffff, set: 0, planted: 0xffff_ffff },
    Recipe { name: "attention.weight", kind: Dtype::BF16, share: 400, channel: &[4096], kept: 0xbfff, set: 0, planted: 0x42f7 },
    Recipe { name: "negative.weight", kind: Dtype::F16, share: 190, channel: &[2048], kept: 0xbfff, set: 0x8001, planted: 0x8000 },
    Recipe { name: "convolution.weight", kind: Dtype::I8, share: 100, channel: &[64, 3, 3], kept: 0xfe, set: 0, planted: 0x7f },
    Recipe { name: "mask", kind: Dtype::BOOL, share: 10, channel: &[512], kept: 0, set: 0, planted: 1 },
    Recipe { name: "scale", kind: Dtype::F8_E4M3, share: 0, channel: &[], kept: 0x3f, set: 0, planted: 0x40 },
];

/// Where a maximum was planted.
pub struct Planted {
    pub name: String,
    pub position: u64,
}

/// Makes a checkpoint of about so many bytes in a folder.
pub fn make(folder: &Path, bytes: u64) -> Result<Vec<Planted>, Failure> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let (mut weight_map, mut planted) = (serde_json::Map::new(), Vec::new());
    for n in 0..FILES {
        let file = format!("model-{:05}-of-{FILES:05}.safetensors", n + 1);
        let tensors = RECIPES.map(|recipe| Made::new(recipe, n, bytes / FILES));
        let path = folder.join(&file);
        write(&path, &tensors).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        for tensor in tensors {
            weight_map.insert(tensor.name.clone(), file.clone().into());
            planted.push(Planted { name: tensor.name, position: tensor.position });
        }
    }
    let index = json!({ "metadata": {}, "weight_map": weight_map });
    fs::write(folder.join("model.safetensors.index.json"), serde_json::to_string_pretty(&index)?)?;
    Ok(planted)
}

struct Made {
    recipe: Recipe,
    name: String,
    shape: Vec<u64>,
    seed: u64,
    position: u64,
}

impl Made {
    fn new(recipe: Recipe, file: u64, file_bytes: u64) -> Made {
        let channel: u64 = recipe.channel.iter().product();
        let size = recipe.kind.bitsize() as u64 / 8;
        let channels = (file_bytes * recipe.share / 1000 / (channel * size)).max(3);
        let seed =
            file << 32 | u64::from(recipe.name.bytes().fold(0_u32, |all, byte| all.rotate_left(5) ^ u32::from(byte)));
        Made {
            name: format!("layers.{file}.{}", recipe.name),
            shape: [&[channels], recipe.channel].concat(),
            seed,
            position: Words(seed).next() % (channels * channel),
            recipe,
        }
    }

    fn size(&self) -> usize {
        self.recipe.kind.bitsize() / 8
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<u64>() as usize * self.size()
    }

    fn write(&self, file: &mut impl Write) -> Result<(), Failure> {
        let Recipe { kept, set, planted, .. } = self.recipe;
        let [kept, set] = [kept, set].map(|bits| spread(bits, self.size()));
        let (mut words, mut left) = (Words(self.seed), self.bytes());
        let place = self.position as usize * self.size();
        let mut chunk = vec![0; 1 << 20];
        while left > 0 {
            for bytes in chunk.chunks_exact_mut(8) {
                bytes.copy_from_slice(&(words.next() & kept | set).to_le_bytes());
            }
            let (begin, len) = (self.bytes() - left, left.min(chunk.len()));
            if (begin..begin + len).contains(&place) {
                chunk[place - begin..][..self.size()].copy_from_slice(&planted.to_le_bytes()[..self.size()]);
            }
            file.write_all(&chunk[..len])?;
            left -= len;
        }
        Ok(())
    }
}

fn write(path: &Path, tensors: &[Made]) -> Result<(), Failure> {
    let mut end = 0;
    let infos = tensors.iter().map(|tensor| {
        let begin = end;
        end += tensor.bytes();
        let shape = tensor.shape.iter().map(|&size| size as usize).collect();
        (tensor.name.clone(), TensorInfo { dtype: tensor.recipe.kind, shape, data_offsets: (begin, end) })
    });
    let infos = infos.collect();
    let mut header = serde_json::to_vec(&Metadata::new(None, infos)?)?;
    header.resize(header.len().next_multiple_of(8), b' '); // the elements begin where they are aligned
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(&header)?;
    tensors.iter().try_for_each(|tensor| tensor.write(&mut file))?;
    Ok(file.flush()?)
}

/// An element's bits in each place of a word.
fn spread(bits: u64, size: usize) -> u64 {
    (0..8 / size).fold(0, |word, n| word | bits << (8 * size * n % 64))
}

/// Random words (SplitMix64).
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
