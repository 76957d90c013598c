//! The trait that a shell reads its lines from.

use crate::exit::CliResult;

/// A terminal, or a substitute for one.
pub(super) trait LineReader {
    /// The next line. `before` are the lines of the same statement that came already.
    fn next(&mut self, prompt: &str, before: &str) -> CliResult<InputLine>;

    /// Keeps what was typed for later. The error tells why that was not possible.
    fn remember(&mut self, text: &str) -> Result<(), String>;

    /// How many columns the terminal has.
    fn width(&mut self) -> Option<usize>;
}

/// What was typed.
#[derive(Debug)]
pub(super) enum InputLine {
    Typed(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D.
    End,
}
