//! Where the outputs of streams go.

use std::io::Write;

use crate::Error;
use crate::tensor::ANSWER;

/// Where the finished part of an output goes.
#[derive(Default)]
pub(super) struct Sink<'a> {
    /// Bytes of the whole output.
    pub output_bytes: u64,
    /// Bytes that were written elsewhere.
    pub written: u64,
    pub collected: Vec<u8>,
    pub writer: Option<&'a mut dyn Write>,
}

impl Sink<'_> {
    /// Of the output's first bytes those written elsewhere, how many they are, and those that were not. A writer may have taken more.
    pub fn first(&self, bytes: u64) -> (u64, Vec<u8>) {
        let written = self.written.min(bytes);
        let collected = self.collected.len().min((bytes - written) as usize);
        (written, self.collected[..collected].to_vec())
    }

    pub fn take(&mut self, output: usize, bytes: &[u8]) -> Result<(), Error> {
        match &mut self.writer {
            None => {
                let limit = self.collected.len() as u64;
                let given = limit + bytes.len() as u64;
                self.collected.try_reserve(bytes.len()).map_err(|_| Error::TooLarge { what: ANSWER, given, limit })?;
                self.collected.extend_from_slice(bytes);
            }
            Some(writer) => {
                writer.write_all(bytes).map_err(|error| sink_error(output, self.written, &error))?;
                self.written += bytes.len() as u64;
            }
        }
        Ok(())
    }
}

/// What a writer says, that has taken so many bytes of an output.
pub(super) fn sink_error(output: usize, at: u64, error: &std::io::Error) -> Error {
    Error::Write { output, at, message: error.to_string() }
}
