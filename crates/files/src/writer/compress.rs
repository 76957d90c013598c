//! Compresses the output, or only buffers it.

use std::io::{self, BufWriter, Write};

use flate2::write::GzEncoder;

use crate::format::Compression;

/// What is gathered before it is handed on.
const BUFFER_BYTES: usize = 256 << 10;

/// A target that a compressor writes to.
pub(super) enum Compressor<W: Write> {
    Plain(BufWriter<W>),
    Gzip(BufWriter<GzEncoder<W>>),
    Zstd(BufWriter<zstd::stream::write::Encoder<'static, W>>),
}

impl<W: Write> Compressor<W> {
    pub(super) fn new(target: W, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Compressor::Plain(BufWriter::with_capacity(BUFFER_BYTES, target)),
            Compression::Gzip => {
                let encoder = GzEncoder::new(target, flate2::Compression::default());
                Compressor::Gzip(BufWriter::with_capacity(BUFFER_BYTES, encoder))
            }
            Compression::Zstd => {
                let encoder =
                    zstd::stream::write::Encoder::new(target, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                Compressor::Zstd(BufWriter::with_capacity(BUFFER_BYTES, encoder))
            }
            Compression::Xz | Compression::Zip => {
                let message = "xz and zip are read, not written: name a file .gz or .zst";
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        })
    }

    /// Ends the compressed data, flushes, and gives the target back.
    pub(super) fn finish(self) -> io::Result<W> {
        let mut target = match self {
            Compressor::Plain(buffer) => buffer.into_inner().map_err(|error| error.into_error())?,
            Compressor::Gzip(buffer) => {
                buffer.into_inner().map_err(|error| error.into_error())?.finish()?
            }
            Compressor::Zstd(buffer) => {
                buffer.into_inner().map_err(|error| error.into_error())?.finish()?
            }
        };
        target.flush()?;
        Ok(target)
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressor::Plain(buffer) => buffer.write(bytes),
            Compressor::Gzip(buffer) => buffer.write(bytes),
            Compressor::Zstd(buffer) => buffer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::Plain(buffer) => buffer.flush(),
            Compressor::Gzip(buffer) => buffer.flush(),
            Compressor::Zstd(buffer) => buffer.flush(),
        }
    }
}
