//! Tensors in `.safetensors` files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use wgmax::half::{bf16, f16};
use wgmax::{DType, Tensor};
use wgmax_mpi::Failure;

/// The format's own limit.
const MAX_HEADER: u64 = 100_000_000;

/// Where a tensor is.
#[derive(Clone, Debug)]
pub struct Stored {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<u64>,
    file: PathBuf,
    /// Its first byte in the file.
    begin: u64,
}

impl Stored {
    pub fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    pub fn bytes(&self) -> u64 {
        self.len() * self.dtype.bytes()
    }

    /// Some of its elements, flat.
    pub fn read(&self, first: u64, len: u64) -> Result<Tensor, Failure> {
        let size = self.dtype.bytes();
        let mut bytes = vec![0; (len * size) as usize];
        let read = File::open(&self.file).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.begin + first * size))?;
            file.read_exact(&mut bytes)
        });
        read.map_err(|error| format!("{}, tensor {}: {error}", self.file.display(), self.name))?;
        Ok(Tensor::from_bytes(self.dtype, [len], bytes)?)
    }
}

/// All tensors of a folder, by their names.
pub fn list(folder: &Path) -> Result<Vec<Stored>, Failure> {
    let index = folder.join("model.safetensors.index.json");
    let (names, files) = if index.exists() { indexed(&index)? } else { (BTreeSet::new(), unindexed(folder)?) };
    let mut tensors = BTreeMap::new();
    for file in files {
        for stored in in_file(&folder.join(file))? {
            tensors.insert(stored.name.clone(), stored);
        }
    }
    match names.iter().find(|&name| !tensors.contains_key(name)) {
        Some(name) => Err(format!("{}: no file has the tensor {name}", index.display()).into()),
        None => Ok(tensors.into_values().collect()),
    }
}

/// The tensors and the files that an index names.
fn indexed(index: &Path) -> Result<(BTreeSet<String>, BTreeSet<PathBuf>), Failure> {
    let text = named(index, fs::read(index))?;
    let value: serde_json::Value = named(index, serde_json::from_slice(&text))?;
    let map = value["weight_map"].as_object().ok_or_else(|| format!("{}: no weight_map", index.display()))?;
    let files = map.values().filter_map(|file| file.as_str().map(PathBuf::from));
    Ok((map.keys().cloned().collect(), files.collect()))
}

fn unindexed(folder: &Path) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut files = BTreeSet::new();
    for entry in named(folder, fs::read_dir(folder))? {
        let path = named(folder, entry)?.path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            files.insert(path.file_name().map(PathBuf::from).unwrap_or_default());
        }
    }
    match files.is_empty() {
        true => Err(format!("{}: no .safetensors file", folder.display()).into()),
        false => Ok(files),
    }
}

fn in_file(path: &Path) -> Result<Vec<Stored>, Failure> {
    let (data, header) = named(path, header(path))?;
    let metadata: Metadata = named(path, serde_json::from_slice(&header))?;
    let size = named(path, fs::metadata(path))?.len();
    let tensor = |(name, info): (String, &TensorInfo)| {
        let wrong = |what: String| format!("{}, tensor {name}: {what}", path.display());
        let dtype = dtype(info.dtype).ok_or_else(|| wrong(format!("{:?} is not a type here", info.dtype)))?;
        let shape: Vec<u64> = info.shape.iter().map(|&size| size as u64).collect();
        let bytes = shape.iter().try_fold(dtype.bytes(), |bytes, &size| bytes.checked_mul(size));
        let (first, end) = (info.data_offsets.0 as u64, info.data_offsets.1 as u64);
        if bytes != end.checked_sub(first) || data.checked_add(end).is_none_or(|end| end > size) {
            return Err(wrong(format!("{dtype} {shape:?} at {first} to {end} of a file of {size} bytes")).into());
        }
        Ok(Stored { name, dtype, shape, file: path.into(), begin: data + first })
    };
    metadata.tensors().into_iter().map(tensor).collect()
}

/// The header, and where the data behind it begins.
fn header(path: &Path) -> std::io::Result<(u64, Vec<u8>)> {
    let mut file = File::open(path)?;
    let mut len = [0; 8];
    file.read_exact(&mut len)?;
    let len = u64::from_le_bytes(len);
    let mut header = Vec::new();
    file.take(len.min(MAX_HEADER)).read_to_end(&mut header)?;
    Ok((8_u64.saturating_add(len), header))
}

fn dtype(of: Dtype) -> Option<DType> {
    Some(match of {
        Dtype::BOOL => DType::Bool,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::Bf16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::U8 => DType::U8,
        Dtype::U16 => DType::U16,
        Dtype::U32 => DType::U32,
        Dtype::U64 => DType::U64,
        _ => return None,
    })
}

/// A number for people; types that are not shown so are shown by their bytes.
pub fn text(value: &Tensor) -> String {
    let number = match value.dtype() {
        DType::F32 => value.to_vec::<f32>().map(|value| value[0].to_string()),
        DType::F64 => value.to_vec::<f64>().map(|value| value[0].to_string()),
        DType::F16 => value.to_vec::<f16>().map(|value| value[0].to_string()),
        DType::Bf16 => value.to_vec::<bf16>().map(|value| value[0].to_string()),
        DType::I64 => value.to_vec::<i64>().map(|value| value[0].to_string()),
        DType::I32 => value.to_vec::<i32>().map(|value| value[0].to_string()),
        _ => Ok(format!("{:?}", value.bytes())),
    };
    number.unwrap_or_else(|error| error.to_string())
}

fn named<T, E: std::fmt::Display>(path: &Path, outcome: Result<T, E>) -> Result<T, Failure> {
    outcome.map_err(|error| format!("{}: {error}", path.display()).into())
}
