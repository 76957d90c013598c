//! Checks the sizes that Arrow IPC messages declare against the bytes that they have.
//!
//! Arrow's decoder allocates what a message declares: the unpacked length of each packed buffer,
//! and columns of NULLs of any length. A damaged message declares more than any memory holds, so
//! both are checked first.

use arrow::error::ArrowError;
use arrow_ipc::{
    Buffer, CompressionType, Message, MessageHeader, RecordBatch, Schema, root_as_message,
};

/// The mark that leads each message.
const MARK: [u8; 4] = [0xff; 4];
/// What precedes the bytes of a packed buffer: its unpacked length.
const PREFIX_BYTES: usize = 8;
/// What a message may tell of the length of its columns, whatever it has.
const ROWS_MAX: u64 = 1 << 24;
/// A byte of LZ4 unpacks to at most so many.
const LZ4_RATIO: u64 = 255;
/// Four bytes of Zstandard unpack to at most a block of 128 KiB.
const ZSTD_RATIO: u64 = 32 << 10;
/// What the smallest packed buffer may be once unpacked.
const UNPACKED_BYTES_MIN: u64 = 128 << 10;

/// Checks a message whose body is there.
///
/// # Errors
/// `IpcError` for a message that claims more than it can hold, or that unpacks to more bytes than
/// `unpacked_bytes_max`.
pub fn check_ipc_message(
    message: Message<'_>,
    body: &[u8],
    unpacked_bytes_max: u64,
) -> Result<(), ArrowError> {
    let mut expected = ExpectedBytes::of(message, unpacked_bytes_max)?;
    while let Some(at) = expected.next_prefix() {
        let prefix = usize::try_from(at).ok().and_then(|at| body.get(at..)?.first_chunk());
        // A buffer that is not there is an error of the decoder.
        expected.unpack(*prefix.unwrap_or(&[0; PREFIX_BYTES]))?;
    }
    expected.check_rows(body.len() as u64)
}

/// What the body of a message must have.
#[derive(Debug, Default)]
struct ExpectedBytes {
    /// Places and lengths of packed buffers, the next one last.
    packed: Vec<(u64, u64)>,
    ratio: u64,
    /// The longest column.
    rows: u64,
    unpacked: u64,
    unpacked_max: u64,
}

impl ExpectedBytes {
    fn of(message: Message<'_>, unpacked_max: u64) -> Result<ExpectedBytes, ArrowError> {
        check_order(message)?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data())
            }
            _ => None,
        };
        let Some(batch) = batch else { return Ok(ExpectedBytes::default()) };
        let mut expected = ExpectedBytes { unpacked_max, rows: rows_of(batch)?, ..Self::default() };
        let Some(compression) = batch.compression() else { return Ok(expected) };
        expected.ratio = match compression.codec() {
            CompressionType::LZ4_FRAME => LZ4_RATIO,
            _ => ZSTD_RATIO,
        };
        let buffers = batch.buffers().into_iter().flatten().map(place_of);
        expected.packed = buffers.collect::<Result<Vec<_>, _>>()?;
        // One without bytes is not packed.
        expected.packed.retain(|(_, length)| *length > 0);
        expected.packed.sort_unstable_by(|one, two| two.cmp(one));
        Ok(expected)
    }

    /// The position of the length of the next packed buffer.
    fn next_prefix(&self) -> Option<u64> {
        self.packed.last().map(|(at, _)| *at)
    }

    /// Takes the length of the next packed buffer.
    fn unpack(&mut self, prefix: [u8; PREFIX_BYTES]) -> Result<(), ArrowError> {
        let Some((_, length)) = self.packed.pop() else { return Ok(()) };
        // A negative one says that the buffer is not packed after all.
        let told = u64::try_from(i64::from_le_bytes(prefix)).unwrap_or(length);
        if told > length.saturating_mul(self.ratio).max(UNPACKED_BYTES_MIN) {
            return Err(wrong(format!(
                "a buffer of {length} bytes says that it unpacks to {told}"
            )));
        }
        self.unpacked = self.unpacked.saturating_add(told);
        if self.unpacked > self.unpacked_max {
            return Err(wrong(format!(
                "a batch unpacks to more than {} bytes: write smaller batches",
                self.unpacked_max
            )));
        }
        Ok(())
    }

    /// Holds the longest column against the bytes that there are: eight values have one at least.
    fn check_rows(&self, body_bytes: u64) -> Result<(), ArrowError> {
        let bytes = body_bytes.saturating_add(self.unpacked);
        match self.rows > bytes.saturating_mul(8).max(ROWS_MAX) {
            true => Err(wrong(format!("{bytes} bytes say that they are {} rows", self.rows))),
            false => Ok(()),
        }
    }
}

fn check_order(message: Message<'_>) -> Result<(), ArrowError> {
    message.header_as_schema().map_or(Ok(()), check_endianness)
}

/// Refuses what another kind of machine wrote: Arrow's decoder takes its bytes as they are, and 1 for
/// 2^56.
pub(crate) fn check_endianness(schema: Schema<'_>) -> Result<(), ArrowError> {
    match schema.endianness().equals_to_target_endianness() {
        true => Ok(()),
        false => Err(wrong(
            "its numbers have their bytes in the order of another machine: write it in \
             little-endian order"
                .to_owned(),
        )),
    }
}

fn place_of(buffer: &Buffer) -> Result<(u64, u64), ArrowError> {
    let place = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()));
    match place {
        (Ok(offset), Ok(length)) => Ok((offset, length)),
        _ => Err(wrong("a buffer has a negative place".to_owned())),
    }
}

fn rows_of(batch: RecordBatch<'_>) -> Result<u64, ArrowError> {
    let columns = batch.nodes().into_iter().flatten().map(|node| node.length());
    let rows = columns.chain([batch.length()]).map(u64::try_from);
    let rows = rows.collect::<Result<Vec<_>, _>>();
    let rows = rows.map_err(|_| wrong("it has a negative number of rows".to_owned()))?;
    Ok(rows.into_iter().max().unwrap_or(0))
}

fn wrong(what: String) -> ArrowError {
    ArrowError::IpcError(what)
}

/// Looks at the bytes of a stream as they come, ahead of the decoder.
#[derive(Debug)]
pub(crate) struct IpcGuard {
    state: IpcState,
    /// What has come of the part that is read.
    part: Vec<u8>,
    unpacked_bytes_max: u64,
}

#[derive(Debug)]
enum IpcState {
    /// The length of the next message, perhaps after a mark.
    Length { is_marked: bool },
    /// The head of a message, which has so many bytes.
    Head(usize),
    /// The body of a message, which has `length` bytes.
    Body { expected: ExpectedBytes, length: u64, passed: u64 },
    /// Nothing that follows is a message.
    Over,
}

impl IpcGuard {
    pub(crate) fn new(unpacked_bytes_max: u64) -> Self {
        Self { state: IpcState::Length { is_marked: false }, part: Vec::new(), unpacked_bytes_max }
    }

    /// Looks at the next bytes.
    ///
    /// # Errors
    /// As [`check_ipc_message`].
    pub(crate) fn inspect(&mut self, mut bytes: &[u8]) -> Result<(), ArrowError> {
        while !bytes.is_empty() {
            match &mut self.state {
                IpcState::Length { is_marked } => {
                    let Some(word) = fill(&mut self.part, &mut bytes, MARK.len()) else { break };
                    if word == MARK && !*is_marked {
                        *is_marked = true;
                        continue;
                    }
                    self.state = match word.try_into().map_or(0, u32::from_le_bytes) {
                        0 => IpcState::Over,
                        length => IpcState::Head(length as usize),
                    };
                }
                IpcState::Head(length) => {
                    let Some(head) = fill(&mut self.part, &mut bytes, *length) else { break };
                    self.state = match root_as_message(&head) {
                        Ok(message) => IpcState::Body {
                            expected: ExpectedBytes::of(message, self.unpacked_bytes_max)?,
                            length: u64::try_from(message.bodyLength()).unwrap_or(0),
                            passed: 0,
                        },
                        // The decoder says what is wrong.
                        Err(_) => IpcState::Over,
                    };
                    self.end_body()?;
                }
                IpcState::Body { expected, length, passed } => {
                    let had = bytes.len();
                    let prefix = expected.next_prefix();
                    // A prefix beyond the body never comes: the decoder refuses such a buffer.
                    let prefix = prefix.filter(|at| at + PREFIX_BYTES as u64 <= *length);
                    let next = prefix.map_or(*length, |at| at + self.part.len() as u64);
                    let ahead = next.checked_sub(*passed).ok_or_else(overlapping)?;
                    bytes = &bytes[usize::try_from(ahead).map_or(had, |ahead| ahead.min(had))..];
                    let taken = prefix.and_then(|_| fill(&mut self.part, &mut bytes, PREFIX_BYTES));
                    *passed += (had - bytes.len()) as u64;
                    if let Some(taken) = taken {
                        expected.unpack(taken.try_into().unwrap_or_default())?;
                    }
                    self.end_body()?;
                }
                IpcState::Over => break,
            }
        }
        Ok(())
    }

    /// Continues with the next message after the body.
    fn end_body(&mut self) -> Result<(), ArrowError> {
        if let IpcState::Body { expected, length, passed } = &self.state
            && passed == length
        {
            expected.check_rows(*length)?;
            self.state = IpcState::Length { is_marked: false };
        }
        Ok(())
    }
}

/// Takes bytes to a part that has so many of them, and gives it once it is whole.
fn fill(part: &mut Vec<u8>, bytes: &mut &[u8], length: usize) -> Option<Vec<u8>> {
    let (taken, rest) = bytes.split_at(bytes.len().min(length - part.len()));
    part.extend_from_slice(taken);
    *bytes = rest;
    (part.len() == length).then(|| std::mem::take(part))
}

fn overlapping() -> ArrowError {
    wrong("its packed buffers overlap".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, NullArray, RecordBatch, StringArray};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    const MANY: u64 = 1 << 30;

    /// Numbers that pack to a few bytes: no buffer of them can unpack to as much as 4 MiB.
    fn zeros() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![0; 12_345]));
        RecordBatch::try_from_iter([("n", numbers)]).unwrap()
    }

    fn batch(rows: i64) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
        let words: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(|_| "word")));
        RecordBatch::try_from_iter([("n", numbers), ("w", words)]).unwrap()
    }

    fn stream(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut bytes = Vec::new();
        let schema = batch.schema_ref();
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, schema, options).unwrap();
        writer.write(batch).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    fn look(bytes: &[u8], at_once: usize, unpacked_max: u64) -> Result<(), ArrowError> {
        let mut guard = IpcGuard::new(unpacked_max);
        bytes.chunks(at_once).try_for_each(|chunk| guard.inspect(chunk))?;
        assert!(matches!(guard.state, IpcState::Over), "{:?}", guard.state);
        Ok(())
    }

    #[test]
    fn what_writers_write_passes_however_it_comes() {
        for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
            let bytes = stream(&batch(10_000), compression);
            for at_once in [1, 7, 64, 1 << 20] {
                look(&bytes, at_once, MANY).unwrap();
            }
        }
    }

    #[test]
    fn a_batch_unpacks_to_no_more_than_it_may() {
        let bytes = stream(&batch(10_000), Some(CompressionType::ZSTD));
        let error = look(&bytes, 64, 100_000).unwrap_err().to_string();
        assert!(error.contains("more than 100000 bytes"), "{error}");
    }

    #[test]
    fn a_length_that_no_packed_buffer_can_have_is_refused() {
        for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let mut bytes = stream(&zeros(), Some(compression));
            let told = (zeros().num_rows() as u64 * 8).to_le_bytes();
            let at = bytes.windows(8).position(|word| word == told).unwrap();
            bytes[at..at + 8].copy_from_slice(&(4_u64 << 20).to_le_bytes());
            for at_once in [1, 1 << 20] {
                let error = look(&bytes, at_once, u64::MAX).unwrap_err().to_string();
                assert!(error.contains("unpacks to 4194304"), "{error}");
            }
        }
    }

    /// A stream with one column of whole numbers, `k`, begins so on a big-endian machine.
    const OF_ANOTHER_ORDER: [u8; 136] = [
        255, 255, 255, 255, 128, 0, 0, 0, 16, 0, 0, 0, 0, 0, 10, 0, 12, 0, 10, 0, 9, 0, 4, 0, 10,
        0, 0, 0, 16, 0, 0, 0, 0, 1, 4, 0, 8, 0, 12, 0, 10, 0, 4, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0, 0,
        1, 0, 1, 0, 0, 0, 20, 0, 0, 0, 16, 0, 20, 0, 16, 0, 15, 0, 14, 0, 8, 0, 0, 0, 4, 0, 16, 0,
        0, 0, 16, 0, 0, 0, 24, 0, 0, 0, 0, 0, 2, 1, 28, 0, 0, 0, 0, 0, 0, 0, 8, 0, 12, 0, 8, 0, 7,
        0, 8, 0, 0, 0, 0, 0, 0, 1, 64, 0, 0, 0, 1, 0, 0, 0, 107, 0, 0, 0, 0, 0, 0, 0,
    ];

    #[test]
    fn bytes_in_the_order_of_another_machine_are_refused() {
        let mut guard = IpcGuard::new(MANY);
        let error = guard.inspect(&OF_ANOTHER_ORDER).unwrap_err().to_string();
        assert!(error.contains("little-endian"), "{error}");
    }

    /// Columns of NULLs have no bytes, and may say that they are as long as they like.
    #[test]
    fn rows_that_have_no_bytes_are_refused() {
        let nulls = |rows: usize| -> RecordBatch {
            let nulls: ArrayRef = Arc::new(NullArray::new(rows));
            RecordBatch::try_from_iter([("n", nulls)]).unwrap()
        };
        let most = ROWS_MAX as usize;
        look(&stream(&nulls(most), None), 64, MANY).unwrap();
        let error = look(&stream(&nulls(most + 1), None), 64, MANY).unwrap_err().to_string();
        assert!(error.contains("16777217 rows"), "{error}");
    }
}
