//! What headers and indices say, held against the files.
//!
//! The crate `safetensors` has the types and reads each tensor's entry. Its reader of whole headers is not taken: it wants
//! the file's bytes in memory, keeps the last of two tensors of one name, and does not say which tensor is wrong.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::TensorInfo;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::stored::{StoredTensor, cut, error, quote};
use crate::Error;
use crate::error::list;
use crate::tensor::room;
use crate::view::checked_len;

/// The most bytes of a header that the format allows; an index is held to them, too.
const MAX_BYTES: u64 = 100_000_000;

/// Bytes before the header: its length.
const LEN_BYTES: u64 = 8;

/// The key of a header that is no tensor.
const METADATA: &str = "__metadata__";

/// The tensors of a file, in the order of their bytes.
pub(super) fn tensors(path: &Path) -> Result<Vec<StoredTensor>, Error> {
    let (mut file, len) = open(path)?;
    let mut bytes = [0; LEN_BYTES as usize];
    file.read_exact(&mut bytes)
        .map_err(|_| error(path, format!("{len} bytes, at least the {LEN_BYTES} of a header's length expected")))?;
    let (header_len, most) = (u64::from_le_bytes(bytes), MAX_BYTES.min(len.saturating_sub(LEN_BYTES)));
    if header_len > most {
        return Err(error(path, format!("a header of {header_len} bytes, at most {most} expected")));
    }
    let header = read(path, &mut file, "bytes of a header in host memory", header_len)?;
    let Pairs(mut infos) = json(path, "header", header)?;
    if let Some(name) = repeated(&infos) {
        return Err(error(path, format!("tensor {} comes twice", quote(name))));
    }
    infos.sort_by_key(|(_, info): &(String, TensorInfo)| info.data_offsets);
    place(path, LEN_BYTES + header_len, len, infos)
}

/// Where the tensors lie in a file of this length. They have to fill it from the header's end, as the format has it.
fn place(path: &Path, data: u64, len: u64, infos: Vec<(String, TensorInfo)>) -> Result<Vec<StoredTensor>, Error> {
    let (shared, mut filled) = (Arc::from(path), data);
    let mut tensors = Vec::with_capacity(infos.len());
    for (name, info) in infos {
        let (begin, end) = (info.data_offsets.0 as u64, info.data_offsets.1 as u64);
        let shape = info.shape.into_iter().map(|size| size as u64).collect();
        let wrong = |problem| error(path, format!("tensor {}: {problem}", quote(&name)));
        if begin != filled - data || end < begin || end > len - data {
            let (expected, most) = (filled - data, len - data);
            return Err(wrong(format!("bytes {begin} to {end}, a range from {expected} and up to {most} expected")));
        }
        let tensor =
            StoredTensor { name, kind: info.dtype, shape, path: Arc::clone(&shared), range: filled..data + end };
        check_size(&tensor)?;
        filled = data + end;
        tensors.push(tensor);
    }
    if filled != len {
        return Err(error(path, format!("{len} bytes, {filled} expected of its header and tensors")));
    }
    Ok(tensors)
}

/// The bytes of a tensor are those that its type and shape take.
fn check_size(tensor: &StoredTensor) -> Result<(), Error> {
    let StoredTensor { kind, shape, range, .. } = tensor;
    let given = range.end - range.start;
    let bits = checked_len(shape).map(|len| u128::from(len) * kind.bitsize() as u128); // of some types less than a byte
    let expected = match bits {
        Some(bits) if bits == u128::from(given) * 8 => return Ok(()),
        Some(bits) if bits % 8 == 0 => format!("{} bytes", bits / 8),
        Some(bits) => format!("{bits} bits"),
        None => "more than 2^63 - 1 elements".into(),
    };
    Err(tensor.error(format!("{given} bytes given, type {kind} and shape {} take {expected}", list(shape))))
}

#[derive(serde::Deserialize)]
struct Index {
    weight_map: Pairs<String>,
}

/// The tensors that an index names, out of the files beside it.
pub(super) fn indexed(path: &Path) -> Result<Vec<StoredTensor>, Error> {
    let (mut file, len) = open(path)?;
    if len > MAX_BYTES {
        return Err(error(path, format!("an index of {len} bytes, at most {MAX_BYTES} expected")));
    }
    let index = read(path, &mut file, "bytes of an index in host memory", len)?;
    let Index { weight_map: Pairs(mut places) } = json(path, "index", index)?;
    if let Some(name) = repeated(&places) {
        return Err(error(path, format!("tensor {} comes twice", quote(name))));
    }
    places.sort_unstable_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    let mut tensors = Vec::with_capacity(places.len());
    for of_file in places.chunk_by(|a, b| a.1 == b.1) {
        let (first, file) = &of_file[0];
        if !is_file_name(file) {
            let problem = format!("tensor {} in file {}, a name beside the index expected", quote(first), quote(file));
            return Err(error(path, problem));
        }
        tensors.extend(named(&path.with_file_name(file), of_file)?);
    }
    Ok(tensors)
}

/// The tensors of a file that an index names, which are in the order of names.
fn named(path: &Path, expected: &[(String, String)]) -> Result<Vec<StoredTensor>, Error> {
    let place = |tensor: &StoredTensor| expected.binary_search_by(|(name, _)| name.cmp(&tensor.name)).ok();
    let mut tensors = tensors(path)?;
    tensors.retain(|tensor| place(tensor).is_some());
    let mut found = vec![false; expected.len()];
    tensors.iter().filter_map(place).for_each(|n| found[n] = true);
    match found.iter().position(|&found| !found) {
        Some(n) => Err(error(path, format!("no tensor {}, which the index says is there", quote(&expected[n].0)))),
        None => Ok(tensors),
    }
}

/// The most bytes of a file's name on any system.
const NAME_BYTES: usize = 255;

/// Whether this is a file's name and no path: an index is not to lead elsewhere.
fn is_file_name(name: &str) -> bool {
    name.len() <= NAME_BYTES
        && !name.contains(['/', '\\'])
        && Path::new(name).file_name().is_some_and(|own| own == name)
}

/// A file and its length. What is none, such as a pipe, would be waited for.
fn open(path: &Path) -> Result<(File, u64), Error> {
    let cannot = |problem: std::io::Error| error(path, problem.to_string());
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(error(path, "no regular file"));
    }
    let file = File::open(path).map_err(cannot)?;
    let len = file.metadata().map_err(cannot)?.len();
    Ok((file, len))
}

/// So many bytes of what is named, which the file has by its length.
fn read(path: &Path, file: &mut File, what: &'static str, len: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = room(what, len)?;
    bytes.resize(len as usize, 0);
    file.read_exact(&mut bytes).map_err(|problem| error(path, problem.to_string()))?;
    Ok(bytes)
}

/// A name that comes twice.
fn repeated<T>(pairs: &[(String, T)]) -> Option<&str> {
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// The value that a text has. What is said of a text may quote it.
fn json<T: de::DeserializeOwned>(path: &Path, what: &str, text: Vec<u8>) -> Result<T, Error> {
    let wrong = |problem: &dyn fmt::Display| error(path, format!("{what}: {}", cut(&problem.to_string())));
    let text = str::from_utf8(&text).map_err(|problem| wrong(&problem))?;
    serde_json::from_str(text).map_err(|problem| wrong(&problem))
}

/// What an object has for each tensor, in the object's order: a map would keep the last of two of one name.
struct Pairs<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<T>, D::Error> {
        deserializer.deserialize_map(PairsVisitor(Pairs(Vec::new())))
    }
}

struct PairsVisitor<T>(Pairs<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a member for each tensor")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Pairs<T>, A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let problem = |problem| de::Error::custom(format!("tensor {}: {problem}", quote(&name)));
            let value = map.next_value().map_err(problem)?;
            self.0.0.push((name, value));
        }
        Ok(self.0)
    }
}
