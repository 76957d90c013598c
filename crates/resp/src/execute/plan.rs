//! Commands become parts.

use super::part::PartAction;
use super::part_reply::PartReply;
use super::texts::ClientArgument;
use crate::protocol::ArgumentSpan;

/// The words of a command.
pub(crate) struct CommandArguments<'a> {
    pub(crate) input: &'a [u8],
    pub(crate) spans: &'a [ArgumentSpan],
    pub(crate) client: u32,
}

impl<'a> CommandArguments<'a> {
    /// How many there are, with the name of the command.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The word at an index; the name of the command is at 0.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        self.spans[index].of(self.input)
    }

    /// The same, as it is kept.
    pub(crate) fn argument(&self, index: usize) -> ClientArgument {
        ClientArgument { client: self.client, span: self.spans[index] }
    }
}

/// What is to be done with a key, and its answer once it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPart {
    pub(crate) key: ClientArgument,
    pub(crate) action: PartAction,
    pub(crate) reply: PartReply,
}

impl KeyPart {
    /// Whether its answer is an error.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.reply, PartReply::Failed(_) | PartReply::Error(_))
    }
}

/// How the answers of parts make a reply.
#[derive(Clone, Debug)]
pub(crate) enum ReplyShape {
    /// That of the only part.
    Single,
    /// All of them.
    Array,
    /// All of them; no list where the first is nothing.
    ArrayOrNull,
    /// None of them: an empty list.
    EmptyArray,
    /// Their sum.
    Sum,
    /// That of the last one.
    Last,
    /// OK, unless one failed. Several keys change together.
    Ok,
    /// The same for parts of one key.
    Done,
    /// There are no parts: an error.
    Refused(Box<str>),
}

/// Takes the parts of a command.
pub(crate) struct PartSink<'p> {
    pub(crate) parts: &'p mut Vec<KeyPart>,
    pub(crate) arguments: &'p CommandArguments<'p>,
    pub(crate) now_ms: u64,
    pub(crate) value_bytes_max: usize,
    pub(crate) reply_bytes_max: usize,
}

impl PartSink<'_> {
    /// Something to do with the key at an index.
    pub(crate) fn push(&mut self, key: usize, action: PartAction) {
        let key = self.arguments.argument(key);
        self.parts.push(KeyPart { key, action, reply: PartReply::Null });
    }
}
