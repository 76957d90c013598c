//! Reads commands from bytes, however these are cut.
//!
//! 1. A command is `*N` and then N times `$LENGTH`, a line each, followed by the bytes; or it is a
//!    line of words ([`inline`](super::inline)).
//! 2. Arguments are spans of the buffer: nothing is copied. What is known of a command that is not
//!    whole yet is kept, so that no byte is looked at twice for coming in pieces.
//! 3. Lengths that are announced allocate nothing. Memory grows with the bytes that came.

use super::inline::split_line;
use super::limits::ClientLimits;
use super::number::parse_integer;

/// The position of an argument in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentSpan {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
}

impl ArgumentSpan {
    /// Its bytes.
    pub fn of<'b>(&self, buffer: &'b [u8]) -> &'b [u8] {
        &buffer[self.start as usize..self.end as usize]
    }

    fn new(start: usize, end: usize) -> Self {
        // Buffers are bounded far below 4 GiB.
        Self { start: start as u32, end: end as u32 }
    }
}

/// What a look at the buffer found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// A whole command, whose arguments are known now. It may have none.
    Command,
    /// The command continues after the end of the buffer.
    Incomplete,
}

/// Bytes that are not a command. The client gets an error and is closed: the start of the next one
/// is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError(pub String);

/// Reads the commands of one client.
#[derive(Debug, Default)]
pub struct CommandReader {
    /// The arguments of the command that was read last, or is being read.
    arguments: Vec<ArgumentSpan>,
    /// Where the command continues.
    position: usize,
    /// How many arguments are still to come.
    missing: usize,
    /// The length of the argument that is being read.
    length: Option<usize>,
    /// Whether the head of the command was read.
    is_begun: bool,
    /// How far the line that is being read was searched for its end.
    searched: usize,
    /// Where the command begins that was read last, or is being read.
    begun_at: usize,
}

impl CommandReader {
    /// The arguments of the command that was read.
    pub fn arguments(&self) -> &[ArgumentSpan] {
        &self.arguments
    }

    /// Where the buffer continues after the commands that were read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The first byte that is still needed.
    pub fn needed_from(&self) -> usize {
        match self.is_begun {
            // A command under way needs its first argument on.
            true => self.arguments.first().map_or(self.position, |first| first.start as usize),
            false => self.position,
        }
    }

    /// Where the command begins that was read last, or is being read.
    pub(crate) fn begun_at(&self) -> usize {
        self.begun_at
    }

    /// Reads the command at this place next, though it was read before.
    pub(crate) fn go_back(&mut self, position: usize) {
        *self = Self { position, begun_at: position, ..Self::default() };
    }

    /// The first bytes of the buffer were taken away: those before [`CommandReader::needed_from`].
    pub fn shift(&mut self, bytes: usize) {
        self.position -= bytes;
        self.begun_at = self.begun_at.saturating_sub(bytes);
        self.searched = self.searched.saturating_sub(bytes);
        if self.is_begun {
            for argument in &mut self.arguments {
                argument.start -= bytes as u32;
                argument.end -= bytes as u32;
            }
        }
    }

    /// Reads the next command. The buffer holds what it held before, and more after it; the bytes
    /// of a line of words may be changed.
    ///
    /// # Errors
    /// A [`ProtocolError`] for bytes that are not a command, or more than the limits allow.
    pub fn next(
        &mut self,
        buffer: &mut [u8],
        limits: &ClientLimits,
        is_authenticated: bool,
    ) -> Result<ReadStep, ProtocolError> {
        if !self.is_begun {
            self.arguments.clear();
            self.begun_at = self.position;
            match buffer.get(self.position) {
                None => return Ok(ReadStep::Incomplete),
                // Programs send this form.
                Some(b'*') => {
                    let Some(count) = self.read_count(buffer, limits, is_authenticated)? else {
                        return Ok(ReadStep::Incomplete);
                    };
                    self.missing = count;
                    self.is_begun = true;
                }
                // Everything else is a line of words, as people type it.
                Some(_) => return self.read_inline(buffer, limits),
            }
        }
        while self.missing > 0 {
            if !self.read_argument(buffer, limits, is_authenticated)? {
                return Ok(ReadStep::Incomplete);
            }
        }
        self.is_begun = false;
        Ok(ReadStep::Command)
    }

    fn read_count(
        &mut self,
        buffer: &[u8],
        limits: &ClientLimits,
        is_authenticated: bool,
    ) -> Result<Option<usize>, ProtocolError> {
        let Some(line) = self.read_line(buffer, limits, "too big mbulk count string")? else {
            return Ok(None);
        };
        let count = parse_integer(&line.of(buffer)[1..]);
        let count = count.filter(|count| *count <= limits.arguments_max as i64);
        let count = count.ok_or_else(|| error("invalid multibulk length"))?;
        if !is_authenticated && count > limits.unauthenticated_arguments_max as i64 {
            return Err(error("unauthenticated multibulk length"));
        }
        // Nothing and less is a command without arguments, which is passed over.
        Ok(Some(usize::try_from(count).unwrap_or(0)))
    }

    /// Whether the argument was whole.
    fn read_argument(
        &mut self,
        buffer: &[u8],
        limits: &ClientLimits,
        is_authenticated: bool,
    ) -> Result<bool, ProtocolError> {
        let length = match self.length {
            Some(length) => length,
            None => {
                // Reported before its line is whole, as Redis does it.
                match buffer.get(self.position) {
                    Some(b'$') | None => {}
                    Some(other) => {
                        let other = char::from(*other).escape_default();
                        return Err(error(&format!("expected '$', got '{other}'")));
                    }
                }
                let line = self.read_line(buffer, limits, "too big bulk count string")?;
                let Some(line) = line else { return Ok(false) };
                let length = parse_integer(&line.of(buffer)[1..])
                    .and_then(|length| usize::try_from(length).ok())
                    .filter(|length| *length <= limits.argument_bytes_max)
                    .ok_or_else(|| error("invalid bulk length"))?;
                if !is_authenticated && length > limits.unauthenticated_argument_bytes_max {
                    return Err(error("unauthenticated bulk length"));
                }
                *self.length.insert(length)
            }
        };
        let end = self.position + length;
        if buffer.len() < end + 2 {
            return Ok(false);
        }
        // The two bytes after it are passed over unread, as Redis does.
        self.arguments.push(ArgumentSpan::new(self.position, end));
        self.position = end + 2;
        self.missing -= 1;
        self.length = None;
        Ok(true)
    }

    /// A line that ends with CR LF, without them.
    fn read_line(
        &mut self,
        buffer: &[u8],
        limits: &ClientLimits,
        too_long: &str,
    ) -> Result<Option<ArgumentSpan>, ProtocolError> {
        let from = self.searched.max(self.position);
        let Some(found) = memchr::memchr(b'\r', &buffer[from..]) else {
            if buffer.len() - self.position > limits.line_bytes_max {
                return Err(error(too_long));
            }
            self.searched = buffer.len();
            return Ok(None);
        };
        let end = from + found;
        if buffer.len() < end + 2 {
            self.searched = end;
            return Ok(None);
        }
        let line = ArgumentSpan::new(self.position, end);
        self.position = end + 2;
        self.searched = 0;
        Ok(Some(line))
    }

    fn read_inline(
        &mut self,
        buffer: &mut [u8],
        limits: &ClientLimits,
    ) -> Result<ReadStep, ProtocolError> {
        let from = self.searched.max(self.position);
        let Some(found) = memchr::memchr(b'\n', &buffer[from..]) else {
            if buffer.len() - self.position > limits.line_bytes_max {
                return Err(error("too big inline request"));
            }
            self.searched = buffer.len();
            return Ok(ReadStep::Incomplete);
        };
        let (start, end) = (self.position, from + found);
        let line = &mut buffer[start..end];
        let len = line.strip_suffix(b"\r").map_or(line.len(), <[u8]>::len);
        let is_balanced = split_line(&mut line[..len], |word| {
            self.arguments.push(ArgumentSpan::new(start + word.start, start + word.end));
        });
        if !is_balanced {
            return Err(error("unbalanced quotes in request"));
        }
        self.position = end + 1;
        self.searched = 0;
        Ok(ReadStep::Command)
    }
}

fn error(what: &str) -> ProtocolError {
    ProtocolError(format!("ERR Protocol error: {what}"))
}
