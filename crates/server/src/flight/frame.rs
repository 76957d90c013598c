//! Frames of an action with many parts: `u32 length, JSON | u32 length, Arrow IPC stream`, lengths
//! little-endian, repeated.

use arrow::array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use tonnage::{Error, Result};
use tonnage_files::read_ipc_stream;

use super::decode::UNPACKED_BYTES_MAX;

/// One frame: its header, and its batches.
#[derive(Debug, PartialEq)]
pub(crate) struct RequestFrame {
    pub(crate) header: Vec<u8>,
    pub(crate) batches: Vec<RecordBatch>,
}

/// Frames that one action may have.
const FRAMES_MAX: usize = 10_000;

/// One frame as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawFrame<'a> {
    pub(crate) header: &'a [u8],
    /// An Arrow IPC stream, unless the header says otherwise. Empty where there is none.
    pub(crate) data: &'a [u8],
}

impl RawFrame<'_> {
    /// The batches of its Arrow IPC stream.
    ///
    /// # Errors
    /// `Invalid` for data that is no such stream.
    pub(crate) fn batches(self) -> Result<Vec<RecordBatch>> {
        match self.data.is_empty() {
            true => Ok(Vec::new()),
            false => read_ipc_stream(self.data.to_vec(), UNPACKED_BYTES_MAX)
                .map_err(|error| Error::invalid(format!("no Arrow IPC stream: {error}"))),
        }
    }
}

/// Cuts a body into its frames.
///
/// # Errors
/// `Invalid`, with the number of the frame.
pub(crate) fn split(mut body: &[u8]) -> Result<Vec<RawFrame<'_>>> {
    let mut frames = Vec::new();
    while !body.is_empty() {
        let number = frames.len();
        if number == FRAMES_MAX {
            return Err(Error::invalid(format!("more than {FRAMES_MAX} frames")));
        }
        let at = |error: Error| error.at(format!("frame {number}"));
        let header = take(&mut body).map_err(at)?;
        let data = take(&mut body).map_err(at)?;
        frames.push(RawFrame { header, data });
    }
    Ok(frames)
}

/// The frames of a body, with their batches.
///
/// # Errors
/// `Invalid`, with the number of the frame.
pub(crate) fn read(body: &[u8]) -> Result<Vec<RequestFrame>> {
    let frames = split(body)?.into_iter().enumerate().map(|(number, frame)| {
        let batches = frame.batches().map_err(|error| error.at(format!("frame {number}")))?;
        Ok(RequestFrame { header: frame.header.to_vec(), batches })
    });
    frames.collect()
}

fn take<'a>(body: &mut &'a [u8]) -> Result<&'a [u8]> {
    let cut = || Error::invalid("it is cut short");
    let (length, rest) = body.split_first_chunk::<4>().ok_or_else(cut)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (part, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
    *body = rest;
    Ok(part)
}

/// Writes a frame.
///
/// # Errors
/// `Exhausted` for more than 4 GiB, `Internal` for what Arrow cannot write.
pub(crate) fn write(header: &[u8], batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    if let Some(first) = batches.first() {
        let written =
            StreamWriter::try_new(&mut data, first.schema_ref()).and_then(|mut writer| {
                batches.iter().try_for_each(|batch| writer.write(batch))?;
                writer.finish()
            });
        written
            .map_err(|error| Error::internal(format!("an answer cannot be written: {error}")))?;
    }
    write_data(header, &data)
}

/// Writes a frame whose data is not Arrow.
///
/// # Errors
/// `Exhausted` for more than 4 GiB.
pub(crate) fn write_data(header: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let mut frame = Vec::with_capacity(8 + header.len() + data.len());
    for part in [header, data] {
        let length = u32::try_from(part.len())
            .map_err(|_| Error::exhausted("an answer has more than 4 GiB: ask for less at once"))?;
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(part);
    }
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};

    use super::*;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        RecordBatch::try_from_iter([("n", numbers)]).unwrap()
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let mut body = write(b"{}", &[batch(), batch()]).unwrap();
        body.extend(write(b"alone", &[]).unwrap());
        let frames = read(&body).unwrap();
        assert_eq!(
            frames[0],
            RequestFrame { header: b"{}".to_vec(), batches: vec![batch(), batch()] }
        );
        assert_eq!(frames[1], RequestFrame { header: b"alone".to_vec(), batches: vec![] });
    }

    #[test]
    fn a_message_that_says_that_it_has_more_than_there_is_is_an_error() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let mut body = write(b"{}", &[batch]).unwrap();
        let told = 8_000_u64.to_le_bytes();
        let places = (0..body.len() - 8).filter(|at| body[*at..at + 8] == told);
        let places: Vec<usize> = places.collect();
        assert!(!places.is_empty());
        for at in places {
            body[at..at + 8].copy_from_slice(&16_000_u64.to_le_bytes());
        }
        let error = read(&body).unwrap_err();
        assert!(error.message().contains("no Arrow IPC stream"), "{error}");
    }

    #[test]
    fn a_body_that_is_cut_anywhere_is_an_error_and_never_a_panic() {
        let body = write(b"{\"table\": \"t\"}", &[batch()]).unwrap();
        for end in 1..body.len() {
            let error = read(&body[..end]).unwrap_err();
            assert!(error.message().contains("frame 0"), "{end}: {error}");
        }
    }
}
