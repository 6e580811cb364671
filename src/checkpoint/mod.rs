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
mod stored;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use reader::TensorReader;
pub use stored::StoredTensor;

use stored::{error, quote};

use crate::tensor::room;
use crate::{Error, Tensor, TensorType};

/// The tensors of one safetensors file, or of the files that an index names.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
    tensors: Vec<StoredTensor>,
    /// Places in `tensors`, in the order of names.
    by_name: Vec<usize>,
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
