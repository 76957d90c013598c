//! Sets: SADD, SREM and their relatives on one key. A set is a hash whose values are empty.

use super::field_set::FieldSet;
use super::hash_action::HashAction;
use super::hashes::{bytes_max, random, scan};
use super::lists::positive;
use super::part::PartAction;
use super::part_reply::FieldShow;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::room::CommandRoom;
use super::words::{self, Refusal};
use crate::values::{ValueKind, entry_bytes};

type Planned = Result<ReplyShape, Refusal>;

fn push(sink: &mut PartSink<'_>, action: HashAction) {
    sink.push(1, PartAction::Members(ValueKind::Set, action));
}

/// A command of one part.
fn one(sink: &mut PartSink<'_>, action: HashAction) -> Planned {
    push(sink, action);
    Ok(ReplyShape::Single)
}

pub(crate) fn sadd(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let lens = || (2..arguments.len()).map(|at| arguments.get(at).len());
    let bytes = lens().map(|member| entry_bytes(member, 0)).sum();
    let (longest, bytes_max) = (lens().max().unwrap_or(0), bytes_max(sink));
    for at in 2..arguments.len() {
        let field = arguments.argument(at);
        // Nothing, in what the client sent.
        let mut value = field;
        value.span.end = value.span.start;
        let room = CommandRoom { is_first: at == 2, bytes, longest, bytes_max };
        push(sink, HashAction::Set(FieldSet { field, value, only_if_new: false, room }));
    }
    Ok(ReplyShape::Sum)
}

pub(crate) fn srem(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    for at in 2..arguments.len() {
        push(sink, HashAction::Delete(arguments.argument(at)));
    }
    Ok(ReplyShape::Sum)
}

pub(crate) fn sismember(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Exists(arguments.argument(2)))
}

pub(crate) fn smismember(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    for at in 2..arguments.len() {
        push(sink, HashAction::Exists(arguments.argument(at)));
    }
    Ok(ReplyShape::Array)
}

pub(crate) fn scard(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Length)
}

pub(crate) fn smembers(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Show(FieldShow::Members))
}

pub(crate) fn srandmember(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    random(arguments, sink, ValueKind::Set, None)
}

pub(crate) fn spop(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    match arguments.len() {
        2 => one(sink, HashAction::Pop),
        3 => {
            let count = positive(arguments, 2)?;
            one(sink, HashAction::PopMany(count))
        }
        _ => Err(words::SYNTAX.into()),
    }
}

pub(crate) fn sscan(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    scan(arguments, sink, ValueKind::Set, FieldShow::Names)
}
