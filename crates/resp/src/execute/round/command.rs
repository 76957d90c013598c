//! A command of a round, and its position in what its client sent.

use super::super::plan::ReplyShape;
use crate::client::encode_command;
use crate::protocol::ArgumentSpan;

/// A command of a round.
#[derive(Debug)]
pub(in crate::execute) struct RoundCommand {
    pub(in crate::execute) client: u32,
    /// The end of its parts; they begin where those of the command before end.
    pub(in crate::execute) parts_end: u32,
    pub(in crate::execute) shape: ReplyShape,
    /// Its position in the input of its client.
    pub(in crate::execute) place: CommandPlace,
}

/// The position of a command in the input of its client.
#[derive(Clone, Debug, Default)]
pub(in crate::execute) struct CommandPlace {
    pub(in crate::execute) start: usize,
    pub(in crate::execute) end: usize,
    /// The words of one that came as a line: reading has changed its bytes.
    pub(in crate::execute) line: Option<Box<[ArgumentSpan]>>,
}

impl CommandPlace {
    /// The command as programs send it, if it came as a line.
    pub(super) fn restored(&self, input: &[u8]) -> Option<(usize, usize, Vec<u8>)> {
        let words = self.line.as_ref()?;
        Some((self.start, self.end, encode_command(words, input)))
    }
}
