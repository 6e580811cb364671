//! One tensor's bytes of a file.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Reads one tensor's bytes: a file of which there is nothing but the tensor. It keeps no bytes.
#[derive(Debug)]
pub struct TensorReader {
    file: File,
    /// The tensor's bytes in the file.
    range: Range<u64>,
    /// The next byte of the tensor.
    at: u64,
}

impl TensorReader {
    pub(super) fn open(path: &Path, range: Range<u64>) -> io::Result<TensorReader> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(range.start))?;
        Ok(TensorReader { file, range, at: 0 })
    }

    /// The tensor's bytes.
    #[allow(clippy::len_without_is_empty)] // a size, not a collection
    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }
}

impl Read for TensorReader {
    /// [`ErrorKind::UnexpectedEof`] if the file has become shorter than the tensor.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.len().saturating_sub(self.at).min(buffer.len() as u64) as usize;
        let read = self.file.read(&mut buffer[..most])?;
        if read == 0 && most > 0 {
            let problem = format!("the file ends at byte {} of the tensor's {}", self.at, self.len());
            return Err(io::Error::new(ErrorKind::UnexpectedEof, problem));
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for TensorReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.len().checked_add_signed(by),
        };
        let place = at.and_then(|at| self.range.start.checked_add(at));
        let place = place.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, format!("{to:?} is no place")))?;
        self.file.seek(SeekFrom::Start(place))?;
        self.at = place - self.range.start;
        Ok(self.at)
    }
}
