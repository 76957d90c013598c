//! Standard output, or a file that gets its name when it is complete.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tempfile::{NamedTempFile, TempPath};
use tonnage::Error;

use crate::broken_pipe::noting_broken_pipe;
use crate::exit::{CliResult, Exit, Failure};
use crate::plain::PlainWriter;

/// A complete file on disk that has no name yet. Dropping it deletes the file.
pub(crate) struct CompletedFile {
    partial: TempPath,
    path: PathBuf,
}

impl CompletedFile {
    /// Give the file its name.
    pub(crate) fn publish(self) -> CliResult<()> {
        self.partial.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

const BUFFER_BYTES: usize = 256 << 10;

/// Where bytes go.
pub(super) enum OutputTarget {
    Stdout(BufWriter<Stdout>),
    /// Rows that someone looks at.
    Terminal(PlainWriter<BufWriter<Stdout>>),
    /// A file under another name beside the one that is asked for; it is removed when it is dropped
    /// unfinished.
    File {
        partial: BufWriter<NamedTempFile>,
        path: PathBuf,
        /// The bytes that were written, which those see who gave the target away.
        bytes: Arc<AtomicU64>,
    },
    /// Something that is not a plain file, such as a pipe or `/dev/null`: written in place.
    Special(BufWriter<File>),
    /// Whatever a shell writes to.
    Screen(Box<dyn Write + Send>),
}

impl OutputTarget {
    pub(super) fn stdout() -> Self {
        OutputTarget::Stdout(BufWriter::with_capacity(BUFFER_BYTES, io::stdout()))
    }

    /// Standard output for text, which may be a terminal.
    pub(super) fn stdout_for_text() -> Self {
        let stdout = BufWriter::with_capacity(BUFFER_BYTES, io::stdout());
        if io::stdout().is_terminal() {
            OutputTarget::Terminal(PlainWriter::new(stdout))
        } else {
            OutputTarget::Stdout(stdout)
        }
    }

    pub(super) fn file(path: &Path) -> CliResult<Self> {
        let failed = |error: io::Error| {
            let message =
                format!("{}: cannot be written: {error}: give another --output", path.display());
            Failure::new(Exit::Usage, Error::unavailable(message).with_source(error))
        };
        let is_there = path.metadata();
        if is_there.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            let file = File::options().write(true).open(path).map_err(failed)?;
            return Ok(OutputTarget::Special(BufWriter::with_capacity(BUFFER_BYTES, file)));
        }
        // A link stays, and leads to the file.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            let message = format!(
                "{}: cannot be written: there is no directory {}: make it, or give another --output",
                path.display(),
                directory.display()
            );
            return Err(Failure::new(Exit::Usage, Error::unavailable(message)));
        }
        let mut builder = tempfile::Builder::new();
        // A file of one's own that others may read, as if it had been created in place.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let partial = builder
            .prefix(".tonnage-")
            .suffix(".partial")
            .tempfile_in(directory)
            .map_err(failed)?;
        if let Ok(before) = is_there {
            partial.as_file().set_permissions(before.permissions()).map_err(failed)?;
        }
        Ok(OutputTarget::File {
            partial: BufWriter::with_capacity(BUFFER_BYTES, partial),
            path: path.to_owned(),
            bytes: Arc::default(),
        })
    }

    /// Counts the bytes that are written to a file.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        match self {
            OutputTarget::File { bytes, .. } => bytes.clone(),
            _ => Arc::default(),
        }
    }

    /// Whether it is a file that was asked for by name.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, OutputTarget::File { .. } | OutputTarget::Special(_))
    }

    /// Hands on what is buffered, and gives a file its name.
    pub(super) fn finish(self) -> CliResult<()> {
        self.close()?.map_or(Ok(()), CompletedFile::publish)
    }

    /// Hands on what is buffered. A file gets no name yet, but is on the disk: a name that outlived
    /// a power failure would lead to a file without its content.
    pub(super) fn close(self) -> CliResult<Option<CompletedFile>> {
        match self {
            OutputTarget::Stdout(mut stdout) => noting_broken_pipe(stdout.flush())?,
            OutputTarget::Terminal(mut stdout) => noting_broken_pipe(stdout.flush())?,
            OutputTarget::Special(mut file) => noting_broken_pipe(file.flush())?,
            OutputTarget::Screen(mut screen) => screen.flush()?,
            OutputTarget::File { partial, path, .. } => {
                let partial = partial.into_inner().map_err(io::IntoInnerError::into_error)?;
                partial.as_file().sync_all()?;
                return Ok(Some(CompletedFile { partial: partial.into_temp_path(), path }));
            }
        }
        Ok(None)
    }
}

impl Write for OutputTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputTarget::Stdout(stdout) => noting_broken_pipe(stdout.write(bytes)),
            OutputTarget::Terminal(stdout) => noting_broken_pipe(stdout.write(bytes)),
            OutputTarget::Special(file) => noting_broken_pipe(file.write(bytes)),
            OutputTarget::Screen(screen) => screen.write(bytes),
            OutputTarget::File { partial, bytes: count, .. } => {
                let written = partial.write(bytes)?;
                count.fetch_add(written as u64, Relaxed);
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputTarget::Stdout(stdout) => noting_broken_pipe(stdout.flush()),
            OutputTarget::Terminal(stdout) => noting_broken_pipe(stdout.flush()),
            OutputTarget::Special(file) => noting_broken_pipe(file.flush()),
            OutputTarget::Screen(screen) => screen.flush(),
            OutputTarget::File { partial, .. } => partial.flush(),
        }
    }
}
