//! Checkpoints: tensors of safetensors files by name, read piece by piece (feature `safetensors`).
//!
//! ```no_run
//! # use std::io::Read;
//! # use wgmax::checkpoint::Checkpoint;
//! let checkpoint = Checkpoint::open("model")?; // a folder, an index, or a .safetensors file
//! for tensor in checkpoint.tensors() {
//!     println!("{}: {} {:?}", tensor.name(), tensor.type_name(), tensor.shape());
//! }
//! let mut chunk = vec![0; 64 << 20];
//! let mut reader = checkpoint.reader("embed_tokens.weight")?;
//! while reader.read(&mut chunk)? > 0 {} // no more memory than this, however large the tensor is
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file is not trusted. Opening reads headers alone, whose length is held against the file's before anything is allocated,
//! and whatever is torn or contradicts itself gives an [`Error`]: tensors that overlap, leave a gap, leave the file, or have
//! other bytes than their type and shape take, names that come twice, and an index that names files elsewhere than beside it.
//! Memory stays in proportion to the headers' bytes.

mod header;
mod reader;

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use safetensors::Dtype;

pub use reader::TensorReader;

use crate::tensor::room;
use crate::{DType, Error, Tensor, TensorType};

/// The tensors of one safetensors file, or of the files that an index names.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
    tensors: Vec<StoredTensor>,
    /// Places in `tensors`, in the order of names.
    by_name: Vec<usize>,
}

/// Where a tensor lies, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    name: String,
    kind: Dtype,
    shape: Vec<u64>,
    path: Arc<Path>,
    range: Range<u64>,
}

impl Checkpoint {
    /// Opens a `.safetensors` file, an index of several (`.json`), or a folder that has one index, or else one such file.
    /// Only headers are read.
    ///
    /// # Errors
    /// [`Error::File`] for whatever is missing, torn, or contradicts itself; [`Error::TooLarge`] if host memory does not hold
    /// a header.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint, Error> {
        let path = path.as_ref();
        let file = if path.is_dir() { main_file(path)? } else { path.to_owned() };
        let is_index = file.extension().is_some_and(|extension| extension == "json");
        let tensors = if is_index { header::indexed(&file)? } else { header::tensors(&file)? };
        let mut by_name: Vec<usize> = (0..tensors.len()).collect();
        by_name.sort_unstable_by_key(|&n| &tensors[n].name);
        Ok(Checkpoint { path: file, tensors, by_name })
    }

    /// All tensors, in the order in which they lie: file by file, as their names sort, and within each by place.
    pub fn tensors(&self) -> &[StoredTensor] {
        &self.tensors
    }

    /// The tensor of a name.
    ///
    /// # Errors
    /// [`Error::File`] if there is none.
    pub fn tensor(&self, name: &str) -> Result<&StoredTensor, Error> {
        match self.by_name.binary_search_by_key(&name, |&n| &self.tensors[n].name) {
            Ok(place) => Ok(&self.tensors[self.by_name[place]]),
            Err(_) => {
                let some: Vec<String> = self.tensors.iter().take(8).map(|tensor| quote(&tensor.name)).collect();
                let (name, len) = (quote(name), self.tensors.len());
                Err(error(&self.path, format!("no tensor {name} among {len}, the first of them {}", some.join(", "))))
            }
        }
    }

    /// A tensor's bytes, to be read piece by piece: little-endian and row-major, as [`Tensor::bytes`] are.
    ///
    /// # Errors
    /// [`Error::File`] if there is no tensor of the name, it is of a type that this crate has not, or its file cannot be
    /// opened any more.
    pub fn reader(&self, name: &str) -> Result<TensorReader, Error> {
        let tensor = self.tensor(name)?;
        tensor.dtype()?;
        TensorReader::open(&tensor.path, tensor.range.clone()).map_err(|problem| tensor.error(problem))
    }

    /// A whole tensor in memory.
    ///
    /// # Errors
    /// Those of [`Checkpoint::reader`] and of [`Tensor::from_bytes`]; [`Error::TooLarge`] if host memory does not hold it.
    pub fn read(&self, name: &str) -> Result<Tensor, Error> {
        let tensor = self.tensor(name)?;
        let TensorType { dtype, shape } = tensor.tensor_type()?;
        let mut bytes = room("bytes of a stored tensor in host memory", tensor.range.end - tensor.range.start)?;
        self.reader(name)?.read_to_end(&mut bytes).map_err(|problem| tensor.error(problem))?;
        Tensor::from_bytes(dtype, shape, bytes)
    }
}

impl StoredTensor {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type, as the file names it: also one that this crate has not.
    pub fn type_name(&self) -> String {
        self.kind.to_string()
    }

    /// The type.
    ///
    /// # Errors
    /// [`Error::File`] if this crate has not the type.
    pub fn dtype(&self) -> Result<DType, Error> {
        Ok(match self.kind {
            Dtype::F32 => DType::F32,
            Dtype::F16 => DType::F16,
            Dtype::BF16 => DType::Bf16,
            Dtype::F64 => DType::F64,
            Dtype::I8 => DType::I8,
            Dtype::I16 => DType::I16,
            Dtype::I32 => DType::I32,
            Dtype::I64 => DType::I64,
            Dtype::U8 => DType::U8,
            Dtype::U16 => DType::U16,
            Dtype::U32 => DType::U32,
            Dtype::U64 => DType::U64,
            Dtype::BOOL => DType::Bool,
            other => {
                let known = DType::ALL.map(DType::name).join(" ");
                return Err(self.error(format!("type {other} is not supported, only {known}")));
            }
        })
    }

    /// The size of each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Type and shape.
    ///
    /// # Errors
    /// As [`StoredTensor::dtype`].
    pub fn tensor_type(&self) -> Result<TensorType, Error> {
        Ok(TensorType { dtype: self.dtype()?, shape: self.shape.clone() })
    }

    /// The file that it lies in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes within the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn error(&self, problem: impl std::fmt::Display) -> Error {
        error(&self.path, format!("tensor {}: {problem}", quote(&self.name)))
    }
}

/// A folder's index, or else its safetensors file. Of several none is better than another.
fn main_file(folder: &Path) -> Result<PathBuf, Error> {
    let cannot = |problem: std::io::Error| error(folder, problem.to_string());
    let entries = fs::read_dir(folder).map_err(cannot)?;
    let files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>, _>>().map_err(cannot)?;
    for ending in [".safetensors.index.json", ".safetensors"] {
        let ends = |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ending));
        let found: Vec<&PathBuf> = files.iter().filter(ends).collect();
        match found[..] {
            [] => {}
            [file] => return Ok(file.clone()),
            _ => return Err(error(folder, format!("{} files *{ending}, one expected", found.len()))),
        }
    }
    Err(error(folder, "no *.safetensors.index.json and no *.safetensors in it"))
}

/// An error of a file: which one, and what is wrong there.
fn error(path: &Path, problem: impl Into<String>) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.into() }
}

/// A name in quotation marks, a long one cut short: files give what they like.
fn quote(name: &str) -> String {
    format!("{:?}", cut(name))
}

/// The most bytes that a message takes from a file's text.
const SHOWN: usize = 160;

fn cut(text: &str) -> String {
    if text.len() <= SHOWN { text.into() } else { format!("{}…", &text[..text.floor_char_boundary(SHOWN)]) }
}
