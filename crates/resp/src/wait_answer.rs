//! What a command that waits for an element does, and what it is answered.

use std::borrow::Cow;

use crate::protocol::{ReplyWriter, parse_double};

/// What is done with the first key that has elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitAction {
    /// Takes one element of a list.
    Pop { is_front: bool },
    /// Takes up to so many.
    PopSome { is_front: bool, count: u64 },
    /// Takes one member of a sorted set.
    PopScored { is_lowest: bool },
    /// Takes up to so many.
    PopSomeScored { is_lowest: bool, count: u64 },
    /// Moves one element to another list.
    Move { from_front: bool, to_front: bool },
}

impl WaitAction {
    pub(crate) fn is_of_lists(self) -> bool {
        !matches!(self, Self::PopScored { .. } | Self::PopSomeScored { .. })
    }
}

/// What a command gets that waited, or would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitAnswer {
    /// What was taken of a key: elements, or members each with its score.
    Taken {
        key: Vec<u8>,
        elements: Vec<Vec<u8>>,
    },
    Refused(Cow<'static, str>),
    TimedOut,
}

impl WaitAnswer {
    /// Writes the reply of a command that does this.
    pub(crate) fn write(&self, action: WaitAction, reply: &mut ReplyWriter<'_>) {
        match (self, action) {
            (Self::Refused(error), _) => reply.error(error),
            (Self::TimedOut, _) => reply.null_array(),
            (Self::Taken { key, elements }, _) => write_taken(key, elements, action, reply),
        }
    }
}

fn write_taken(key: &[u8], elements: &[Vec<u8>], action: WaitAction, reply: &mut ReplyWriter<'_>) {
    let score = |text: &[u8]| parse_double(text).unwrap_or_default();
    match (action, elements) {
        (WaitAction::Move { .. }, [element, ..]) => reply.bulk(element),
        // The key comes first: clients wait for several.
        (WaitAction::Pop { .. }, [element, ..]) => {
            reply.array(2);
            reply.bulk(key);
            reply.bulk(element);
        }
        (WaitAction::PopScored { .. }, [member, text, ..]) => {
            reply.array(3);
            reply.bulk(key);
            reply.bulk(member);
            reply.double(score(text));
        }
        (WaitAction::PopSomeScored { .. }, _) => {
            reply.array(2);
            reply.bulk(key);
            // Members and scores come in turn, and go out in pairs.
            reply.array(elements.len() / 2);
            for pair in elements.chunks_exact(2) {
                reply.array(2);
                reply.bulk(&pair[0]);
                reply.double(score(&pair[1]));
            }
        }
        _ => {
            reply.array(2);
            reply.bulk(key);
            reply.array(elements.len());
            elements.iter().for_each(|element| reply.bulk(element));
        }
    }
}
