//! Numpy's `.npy` files, format 1 to 3: little-endian, in C order. `V2` stands for bf16, as `ml_dtypes` writes it.

use std::fs;
use std::path::Path;

use wgmax::{DType, Tensor};

use crate::Outcome;

const MAGIC: &[u8] = b"\x93NUMPY";

const DESCRIPTIONS: [(&str, DType); 13] = [
    ("f4", DType::F32),
    ("f2", DType::F16),
    ("V2", DType::Bf16),
    ("f8", DType::F64),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("u1", DType::U8),
    ("u2", DType::U16),
    ("u4", DType::U32),
    ("u8", DType::U64),
    ("b1", DType::Bool),
];

/// Reads an array.
pub fn read(path: &Path) -> Outcome<Tensor> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn parse(bytes: &[u8]) -> Outcome<Tensor> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("no npy file")?;
    let (len, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (u16::from_le_bytes([a, b]).into(), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]) as usize, rest),
        _ => return Err("an npy format that is not 1, 2 or 3".into()),
    };
    let (header, data) = rest.split_at_checked(len).ok_or("the header is torn")?;
    let header = std::str::from_utf8(header)?;
    if field(header, "fortran_order")?.starts_with("True") {
        return Err("Fortran order is not supported".into());
    }
    let description = field(header, "descr")?.trim_start_matches('\'').split('\'').next().unwrap_or_default();
    let known = |(name, _): &&(&str, DType)| description.trim_start_matches(['<', '|']) == *name;
    let &(_, dtype) = DESCRIPTIONS.iter().find(known).ok_or(format!("type {description:?} is not supported"))?;
    let shape = field(header, "shape")?.trim_start_matches('(').split(')').next().unwrap_or_default();
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape = sizes.map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    Ok(Tensor::from_bytes(dtype, shape, data.to_vec())?)
}

/// What stands after a key of the header's dictionary.
fn field<'a>(header: &'a str, key: &str) -> Outcome<&'a str> {
    let (_, after) = header.split_once(&format!("'{key}':")).ok_or(format!("the header has no {key}"))?;
    Ok(after.trim_start())
}

/// Writes an array.
pub fn write(path: &Path, tensor: &Tensor) -> Outcome<()> {
    let name = DESCRIPTIONS.iter().find(|(_, dtype)| *dtype == tensor.dtype()).map_or("", |(name, _)| name);
    let order = if tensor.dtype().bytes() == 1 { '|' } else { '<' };
    let sizes: String = tensor.shape().iter().map(|size| format!("{size},")).collect();
    let mut header = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let before = MAGIC.len() + 4; // the version and the header's length
    header
        .extend(std::iter::repeat_n(' ', (before + header.len() + 1).next_multiple_of(64) - before - header.len() - 1));
    header.push('\n'); // data starts at a multiple of 64
    let mut bytes = MAGIC.to_vec();
    let len = u16::try_from(header.len()).map_err(|_| "a shape of so many dimensions has no npy form")?;
    bytes.extend([1, 0]);
    bytes.extend(len.to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(tensor.bytes());
    Ok(fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?)
}
