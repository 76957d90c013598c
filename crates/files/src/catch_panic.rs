//! Turns panics of decoders on damaged files into errors.

use std::fmt;

/// What a decoder panicked with.
#[derive(Debug)]
pub(crate) struct DecoderPanic(String);

impl fmt::Display for DecoderPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the decoder gave up: {}", self.0)
    }
}

impl std::error::Error for DecoderPanic {}

/// Makes an error of a panic. What the work had borrowed is not to be used any more.
pub(crate) fn catch_panic<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    as_error: impl FnOnce(DecoderPanic) -> E,
) -> Result<T, E> {
    tonnage_engine::catch_panic(work, |message| as_error(DecoderPanic(message.to_owned())))
}
