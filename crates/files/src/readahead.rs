//! Reads ahead on a thread, so that decompressing and parsing overlap.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::catch_panic::catch_panic;
use crate::stop_token::StopToken;

/// What the thread reads at once.
const CHUNK_BYTES: usize = 256 << 10;

/// How many chunks may lie ready; with the one being filled and the one being read, the memory is
/// six times [`CHUNK_BYTES`].
const CHUNKS_AHEAD: usize = 4;

/// How often a waiting reader checks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A reader whose bytes another thread has read already.
///
/// The thread ends by itself: at the end of the input, after an error, or when no reader is left
/// for its chunks.
pub(crate) struct ReadAhead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    position: usize,
    ended: bool,
    stop: StopToken,
    /// Whether a waiting read returns `WouldBlock` now and then.
    reports_waits: bool,
}

impl ReadAhead {
    /// Moves `reader` to a new thread and starts reading.
    pub(crate) fn start(reader: impl Read + Send + 'static) -> io::Result<Self> {
        Self::spawn(StopToken::default(), false, move |sender| read_chunks(reader, sender))
    }

    /// The same for a reader that may wait for ever: chunks are handed on as they come, and the
    /// wait for them can be stopped. A read that got nothing for [`LOOK_EVERY`] answers
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), and may be tried again. The thread of a reader that
    /// never answers stays until the process ends.
    pub(crate) fn start_stoppable(
        reader: impl Read + Send + 'static,
        stop: StopToken,
    ) -> io::Result<Self> {
        Self::spawn(stop, true, move |sender| read_as_it_comes(reader, sender))
    }

    /// Starts a thread that writes what is to be read.
    pub(crate) fn start_writing(
        work: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        Self::spawn(StopToken::default(), false, move |chunks| {
            let mut writer = ChunkWriter { chunk: Vec::with_capacity(CHUNK_BYTES), chunks };
            let damaged = |panic| io::Error::new(io::ErrorKind::InvalidData, panic);
            let written = catch_panic(|| work(&mut writer), damaged);
            let flushed = writer.flush();
            // A failed send only means that the reader was dropped.
            let _ = chunks.send(written.and(flushed).map(|()| Vec::new()));
        })
    }

    fn spawn(
        stop: StopToken,
        reports_waits: bool,
        work: impl FnOnce(&SyncSender<io::Result<Vec<u8>>>) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
        thread::Builder::new().name("tonnage-read-ahead".into()).spawn(move || work(&sender))?;
        let chunk = Vec::new();
        Ok(Self { chunks, chunk, position: 0, ended: false, stop, reports_waits })
    }

    /// Waits for the next chunk. An empty one marks the end; a thread that stops without it has
    /// panicked, which must not look like the end of the file.
    fn refill(&mut self) -> io::Result<()> {
        let chunk = match self.wait() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            chunk => chunk,
        };
        self.ended = !matches!(&chunk, Ok(chunk) if !chunk.is_empty());
        self.chunk = chunk?;
        self.position = 0;
        Ok(())
    }

    fn wait(&self) -> io::Result<Vec<u8>> {
        loop {
            match self.chunks.recv_timeout(LOOK_EVERY) {
                Ok(chunk) => return chunk,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the reading thread stopped unexpectedly"));
                }
                Err(RecvTimeoutError::Timeout) if self.stop.is_asked() => {
                    return Err(io::Error::other("the wait for more was stopped"));
                }
                Err(RecvTimeoutError::Timeout) if self.reports_waits => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.chunk.len() && !self.ended {
            self.refill()?;
        }
        let ready = &self.chunk[self.position..];
        let bytes = ready.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&ready[..bytes]);
        self.position += bytes;
        Ok(bytes)
    }
}

/// Sends what is written to it in chunks.
struct ChunkWriter<'a> {
    chunk: Vec<u8>,
    chunks: &'a SyncSender<io::Result<Vec<u8>>>,
}

impl Write for ChunkWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        self.chunks.send(Ok(chunk)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// A reader that waits where another says that nothing came.
pub(crate) struct BlockingReader<R>(pub(crate) R);

impl<R: Read> Read for BlockingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Sends chunks until the input ends. What was read before an error is sent before the error is.
fn read_chunks(mut reader: impl Read, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let error = reader.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk).err();
        let last = chunk.is_empty() && error.is_none();
        if (last || !chunk.is_empty()) && chunks.send(Ok(chunk)).is_err() {
            return;
        }
        if let Some(error) = error {
            // A failed send only means that the reader was dropped.
            let _ = chunks.send(Err(error));
            return;
        }
        if last {
            return;
        }
    }
}

/// Sends what each read gives, until the input ends.
fn read_as_it_comes(mut reader: impl Read, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let chunk = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map(|bytes| buffer[..bytes].to_vec()),
        };
        let last = !matches!(&chunk, Ok(chunk) if !chunk.is_empty());
        // A failed send only means that the reader was dropped.
        if chunks.send(chunk).is_err() || last {
            return;
        }
    }
}
