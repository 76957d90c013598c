//! Reads a source of text in blocks of whole records.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use memchr::{memchr, memchr_iter};
use tonnage_engine::{Error, Result};

use super::block::{Block, Cell};
use super::csv::CsvSplitter;
use super::json::JsonSplitter;
use crate::encoding::Encoding;
use crate::format::BOM;
use crate::input::Input;
use crate::options::ReadOptions;
use crate::source::Source;

/// How much is read before records are looked for: enough to make what is done once per block
/// cheap, and little enough to stay in the cache of a core until it is converted.
const BLOCK_BYTES: usize = 1 << 20;

/// How long the first bytes of a block that come slowly wait for more.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// What is read at once of what comes slowly.
const SLOW_BYTES: usize = 64 << 10;

/// What is kept of a record that is longer than allowed.
const LONG_KEPT_BYTES: usize = 64 << 10;

/// The splitter of a format.
pub(crate) enum Splitter {
    Csv(CsvSplitter),
    Json(JsonSplitter),
}

impl Splitter {
    /// Whether a record that does not end can be skipped with its line.
    fn has_lines(&self) -> bool {
        match self {
            Splitter::Csv(_) => true,
            Splitter::Json(splitter) => splitter.has_lines(),
        }
    }

    /// Why the text is known to end before its time.
    fn short(&self) -> Option<&'static str> {
        match self {
            Splitter::Csv(_) => None,
            Splitter::Json(splitter) => splitter.short(),
        }
    }

    fn split(&mut self, bytes: &[u8], at_end: bool, rows_max: usize, block: &mut Block) -> usize {
        match self {
            Splitter::Csv(splitter) => splitter.split(bytes, at_end, rows_max, block),
            Splitter::Json(splitter) => splitter.split(bytes, at_end, rows_max, block),
        }
    }
}

/// A source of text, read block by block. The memory of a block is bounded by [`BLOCK_BYTES`] and
/// the longest record allowed.
pub(crate) struct BlockReader {
    source: Source,
    input: Box<dyn Read + Send>,
    /// Whether what came is not to wait for more.
    comes_slowly: bool,
    /// Whether the last look got less than it asked for, because no more had come.
    came_early: bool,
    /// What was read and does not belong to a block yet.
    ahead: Vec<u8>,
    /// Nothing more will come.
    at_end: bool,
    /// Why nothing more will come, if it is not the end of the file.
    failure: Option<io::Error>,
    /// The rest of the current line belongs to a record that was rejected for its length.
    inside_refused_line: bool,
    next_record: u64,
    next_line: u64,
    rows_max: usize,
    record_bytes_max: usize,
}

impl BlockReader {
    /// The text of a source as UTF-8, whatever it is written in.
    pub(crate) fn of(source: &Source, input: Input, options: &ReadOptions) -> Result<Self> {
        let encoding = match Encoding::of(options.encoding, &input.head) {
            None if Encoding::is_utf16_without_mark(&input.head) => {
                let message = "is UTF-16 without a mark that says so: give its encoding, utf-16le or utf-16be";
                return Err(Error::invalid(format!("{}: {message}", source.name())));
            }
            encoding => encoding.unwrap_or_default(),
        };
        Ok(Self {
            source: source.clone(),
            comes_slowly: input.comes_slowly,
            came_early: false,
            input: encoding.decoding_reader(input.reader),
            ahead: Vec::new(),
            at_end: false,
            failure: None,
            inside_refused_line: false,
            next_record: 0,
            next_line: 1,
            rows_max: options.batch_rows.max(1),
            record_bytes_max: options.record_bytes_max.clamp(1, Cell::LENGTH_MAX / 2),
        })
    }

    /// The first bytes of the source without taking them: at least `bytes_min`, unless the source
    /// ends before or comes slowly.
    pub(crate) fn look_ahead(&mut self, bytes_min: usize) -> &[u8] {
        let first = self.ahead.is_empty() && self.next_line == 1;
        self.fill(bytes_min);
        if first && self.ahead.starts_with(BOM) {
            self.ahead.drain(..BOM.len());
        }
        &self.ahead
    }

    /// Whether the source gives less at once than it was asked for.
    pub(crate) fn came_early(&self) -> bool {
        self.came_early
    }

    /// Whether what [`look_ahead`](Self::look_ahead) gave is all there is.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at_end && self.failure.is_none()
    }

    /// Whether nothing more will come, for whatever reason.
    pub(crate) fn has_ended(&self) -> bool {
        self.at_end
    }

    /// The failure of the source, if there was one, with the position of the records.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        let place = format!(
            "record {} (line {}) or later cannot be read",
            self.next_record, self.next_line
        );
        self.failure.take().map(|error| self.source.io_error(place, error))
    }

    /// Steps over lines above the header, whatever is in them.
    pub(crate) fn skip_lines(&mut self, lines: u32) {
        let mut left = lines as usize;
        while left > 0 {
            let ahead = self.look_ahead(BLOCK_BYTES);
            let (mut used, mut met) = (ahead.len(), 0);
            for end in memchr_iter(b'\n', ahead).take(left) {
                met += 1;
                if met == left {
                    used = end + 1;
                }
            }
            self.ahead.drain(..used);
            self.next_line += met as u64;
            left -= met;
            if self.at_end {
                return;
            }
        }
    }

    /// Steps over the header: `bytes` bytes with `lines` line ends.
    pub(crate) fn skip_header(&mut self, bytes: usize, lines: u32) {
        self.ahead.drain(..bytes);
        self.next_line += u64::from(lines);
    }

    /// The next block, with `columns` cells per record. A failure of the source comes after the
    /// records before it; the record that it cut in two is dropped, because half a record may look
    /// like a whole one.
    pub(crate) fn next(
        &mut self,
        splitter: &mut Splitter,
        columns: usize,
    ) -> Result<Option<Block>> {
        let mut bytes_wanted = BLOCK_BYTES;
        loop {
            self.look_ahead(bytes_wanted);
            self.finish_refused_line();
            let mut block = Block::new(self.next_record, self.next_line, columns);
            let is_whole = self.is_at_end();
            let mut used = splitter.split(&self.ahead, is_whole, self.rows_max, &mut block);
            // Checked only when nothing was cut: the bytes ahead are one unfinished record then.
            if block.records == 0 && self.ahead.len() - used > self.record_bytes_max {
                if !splitter.has_lines() {
                    return Err(self.endless_element());
                }
                used = self.refuse_long_record(used, &mut block);
            }
            self.next_record += u64::from(block.records);
            self.next_line += u64::from(block.lines);
            if block.records > 0 {
                block.bytes = self.take_ahead(used);
                return Ok(Some(block));
            }
            self.ahead.drain(..used);
            if self.at_end {
                let failure = self
                    .take_failure()
                    .or_else(|| splitter.short().map(|reason| self.cut_short(reason)));
                return failure.map_or(Ok(None), Err);
            }
            // The splitter begins anew each time: doubling keeps the work for a long record linear. No
            // record that is longer than allowed is looked at whole.
            let bytes_max = self.record_bytes_max.max(BLOCK_BYTES) + 1;
            bytes_wanted = (self.ahead.len() * 2).clamp(BLOCK_BYTES, bytes_max);
        }
    }

    fn fill(&mut self, bytes_wanted: usize) {
        if bytes_wanted == 0 {
            return;
        }
        self.came_early = false;
        if self.at_end || self.ahead.len() >= bytes_wanted {
            return;
        }
        if self.comes_slowly {
            return self.fill_as_it_comes(bytes_wanted);
        }
        let missing = bytes_wanted - self.ahead.len();
        self.ahead.reserve_exact(missing);
        match self.input.by_ref().take(missing as u64).read_to_end(&mut self.ahead) {
            Ok(_) => self.at_end = self.ahead.len() < bytes_wanted,
            Err(error) => {
                self.at_end = true;
                self.failure = Some(error);
            }
        }
    }

    /// Reads until there is enough, or until what is there has waited for long.
    fn fill_as_it_comes(&mut self, bytes_wanted: usize) {
        let (started, mut buffer) = (Instant::now(), vec![0; SLOW_BYTES]);
        while self.ahead.len() < bytes_wanted {
            let room = buffer.len().min(bytes_wanted - self.ahead.len());
            match self.input.read(&mut buffer[..room]) {
                Ok(0) => {
                    self.at_end = true;
                    return;
                }
                Ok(bytes) => self.ahead.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    self.at_end = true;
                    self.failure = Some(error);
                    return;
                }
            }
            if !self.ahead.is_empty() && started.elapsed() >= WAIT_MAX {
                self.came_early = self.ahead.len() < bytes_wanted;
                return;
            }
        }
    }

    /// The block's bytes; what follows them is moved to a new buffer.
    fn take_ahead(&mut self, used: usize) -> Vec<u8> {
        let mut rest = Vec::with_capacity((self.ahead.len() - used).max(BLOCK_BYTES));
        rest.extend_from_slice(&self.ahead[used..]);
        let mut bytes = std::mem::replace(&mut self.ahead, rest);
        bytes.truncate(used);
        bytes
    }

    /// Rejects the record at `start`, which is longer than allowed: its first line, as with every
    /// record that does not end.
    fn refuse_long_record(&mut self, start: usize, block: &mut Block) -> usize {
        let reason = format!(
            "the record is longer than {} bytes, or a quote in it is never closed: its beginning is kept",
            self.record_bytes_max
        );
        let line_end = memchr(b'\n', &self.ahead[start..]).map(|length| start + length);
        let end = line_end.unwrap_or(self.ahead.len());
        let kept = end.min(start + LONG_KEPT_BYTES);
        block.refuse(start, kept, block.lines, None, reason);
        self.inside_refused_line = line_end.is_none();
        block.lines += u32::from(line_end.is_some());
        line_end.map_or(end, |end| end + 1)
    }

    /// Only brackets show where an element of an array ends; without them, no later element can be
    /// found.
    fn endless_element(&mut self) -> Error {
        self.at_end = true;
        Error::invalid(format!(
            "{}: record {} (line {} or later) of the array is longer than {} bytes, or a quote or bracket in it is never closed; \
             fix it, or give one object per line (for instance: jq -c '.[]' FILE)",
            self.source.name(),
            self.next_record,
            self.next_line,
            self.record_bytes_max
        ))
    }

    fn cut_short(&self, reason: &str) -> Error {
        Error::corruption(format!(
            "{}: record {} (line {}) cannot be read: {reason}; the file is cut short: get it again",
            self.source.name(),
            self.next_record,
            self.next_line
        ))
    }

    /// Drops the rest of a line whose beginning was rejected, without keeping it.
    fn finish_refused_line(&mut self) {
        while self.inside_refused_line {
            let end = memchr(b'\n', &self.ahead);
            self.ahead.drain(..end.map_or(self.ahead.len(), |end| end + 1));
            self.next_line += u64::from(end.is_some());
            self.inside_refused_line = end.is_none() && !self.at_end;
            self.fill(BLOCK_BYTES);
        }
    }
}
