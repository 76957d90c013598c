//! The outputs of a shell: standard output and standard error, or a buffer in tests.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, Mutex};

use crate::plain::{self, PlainWriter};
use tonnage::internal::sync::lock;

/// Rows go to one output, messages about them to the other.
#[derive(Clone)]
pub(super) struct Screen {
    rows: SharedWriter,
    messages: SharedWriter,
    is_terminal: bool,
    /// The columns of the terminal.
    pub(super) width: Option<usize>,
}

type SharedWriter = Arc<Mutex<dyn Write + Send>>;

/// A reader of output wants blocks, not cells.
const BUFFER_BYTES: usize = 64 << 10;

impl Screen {
    pub(super) fn standard() -> Self {
        Self {
            rows: Arc::new(Mutex::new(io::stdout())),
            messages: Arc::new(Mutex::new(io::stderr())),
            is_terminal: io::stdout().is_terminal(),
            width: None,
        }
    }

    /// A terminal whose whole text is kept.
    #[cfg(test)]
    pub(super) fn capturing(kept: Arc<Mutex<Vec<u8>>>) -> Self {
        Self { rows: kept.clone(), messages: kept, is_terminal: true, width: Some(80) }
    }

    /// Whether someone looks at the rows.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A way to write rows.
    pub(super) fn rows(&self) -> Box<dyn Write + Send> {
        let rows = BufWriter::with_capacity(BUFFER_BYTES, ScreenWriter(self.rows.clone()));
        if self.is_terminal { Box::new(PlainWriter::new(rows)) } else { Box::new(rows) }
    }

    /// Writes a line. One who no longer listens misses nothing.
    pub(super) fn info(&self, text: impl Display) {
        let _ =
            writeln!(ScreenWriter(self.messages.clone()), "{}", plain::lines(&text.to_string()));
    }
}

/// One of the two, written to a block at a time.
struct ScreenWriter(SharedWriter);

impl Write for ScreenWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(&self.0).flush()
    }
}
