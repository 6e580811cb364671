//! A tensor of a file: where it lies, and what it is.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use safetensors::Dtype;

use crate::{DType, Error, TensorType};

/// Where a tensor lies, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    pub(super) name: String,
    pub(super) kind: Dtype,
    pub(super) shape: Vec<u64>,
    pub(super) path: Arc<Path>,
    pub(super) range: Range<u64>,
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

    pub(super) fn error(&self, problem: impl std::fmt::Display) -> Error {
        error(&self.path, format!("tensor {}: {problem}", quote(&self.name)))
    }
}

/// An error of a file: which one, and what is wrong there.
pub(super) fn error(path: &Path, problem: impl Into<String>) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.into() }
}

/// A name in quotation marks, a long one cut short: files give what they like.
pub(super) fn quote(name: &str) -> String {
    format!("{:?}", cut(name))
}

/// The most bytes that a message takes from a file's text.
const SHOWN: usize = 160;

pub(super) fn cut(text: &str) -> String {
    if text.len() <= SHOWN { text.into() } else { format!("{}…", &text[..text.floor_char_boundary(SHOWN)]) }
}
