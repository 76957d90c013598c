//! Lists: LPUSH, LPOP and their relatives.

use super::hashes::bytes_max;
use super::list_action::{ElementSearch, ListAction};
use super::part::PartAction;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::room::CommandRoom;
use super::words::{self, Refusal};
use crate::protocol::parse_integer;
use crate::values::entry_bytes;

type Planned = Result<ReplyShape, Refusal>;

/// A command of one part.
fn one(sink: &mut PartSink<'_>, action: ListAction) -> Planned {
    sink.push(1, PartAction::List(action));
    Ok(ReplyShape::Single)
}

fn integer(arguments: &CommandArguments<'_>, index: usize) -> Result<i64, Refusal> {
    parse_integer(arguments.get(index)).ok_or(words::NOT_AN_INTEGER.into())
}

/// An index. One that is none is refused where there is a list alone, as in Redis.
fn index(arguments: &CommandArguments<'_>, at: usize) -> Result<i64, &'static str> {
    parse_integer(arguments.get(at)).ok_or(words::NOT_AN_INTEGER)
}

/// What one element takes.
fn room_of(arguments: &CommandArguments<'_>, index: usize, sink: &PartSink<'_>) -> CommandRoom {
    let bytes = entry_bytes(arguments.get(index).len(), 0);
    CommandRoom { is_first: true, bytes, longest: 0, bytes_max: bytes_max(sink) }
}

/// A part for each element; the last one says how many there are.
fn push(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    is_front: bool,
    only_present: bool,
) -> Planned {
    let bytes = (2..arguments.len()).map(|at| entry_bytes(arguments.get(at).len(), 0)).sum();
    for at in 2..arguments.len() {
        let room = CommandRoom { is_first: at == 2, bytes, longest: 0, bytes_max: bytes_max(sink) };
        let element = arguments.argument(at);
        let action = ListAction::Push { element, is_front, only_present, room };
        sink.push(1, PartAction::List(action));
    }
    Ok(ReplyShape::Last)
}

pub(crate) fn lpush(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    push(arguments, sink, true, false)
}

pub(crate) fn rpush(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    push(arguments, sink, false, false)
}

pub(crate) fn lpushx(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    push(arguments, sink, true, true)
}

pub(crate) fn rpushx(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    push(arguments, sink, false, true)
}

pub(crate) fn lpop(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    pop(arguments, sink, "lpop", true)
}

pub(crate) fn rpop(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    pop(arguments, sink, "rpop", false)
}

fn pop(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    name: &str,
    is_front: bool,
) -> Planned {
    let count = match arguments.len() {
        2 => None,
        3 => Some(positive(arguments, 2)?),
        _ => return Err(words::wrong_arity(name).into()),
    };
    one(sink, ListAction::Pop { is_front, count })
}

/// A number that is not negative.
pub(super) fn positive(arguments: &CommandArguments<'_>, index: usize) -> Result<u64, Refusal> {
    let number = parse_integer(arguments.get(index)).and_then(|number| u64::try_from(number).ok());
    number.ok_or(words::NOT_POSITIVE.into())
}

pub(crate) fn llen(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, ListAction::Length)
}

pub(crate) fn lindex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, ListAction::Get(index(arguments, 2)))
}

pub(crate) fn lrange(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let action = ListAction::Range(integer(arguments, 2)?, integer(arguments, 3)?);
    one(sink, action)
}

pub(crate) fn ltrim(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let action = ListAction::Trim(integer(arguments, 2)?, integer(arguments, 3)?);
    one(sink, action)
}

pub(crate) fn lset(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (index, element) = (index(arguments, 2), arguments.argument(3));
    let room = room_of(arguments, 3, sink);
    one(sink, ListAction::Set { index, element, room })
}

pub(crate) fn lrem(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (count, element) = (integer(arguments, 2)?, arguments.argument(3));
    one(sink, ListAction::Remove { count, element })
}

pub(crate) fn linsert(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let is_behind = match arguments.get(2).to_ascii_lowercase().as_slice() {
        b"before" => false,
        b"after" => true,
        _ => return Err(words::SYNTAX.into()),
    };
    let (pivot, element) = (arguments.argument(3), arguments.argument(4));
    let room = room_of(arguments, 4, sink);
    one(sink, ListAction::Insert { is_behind, pivot, element, room })
}

pub(crate) fn lpos(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let element = arguments.argument(2);
    let mut search = ElementSearch { element, rank: 1, count: None, compared_max: 0 };
    // Each option is followed by a number.
    for at in (3..arguments.len()).step_by(2) {
        if at + 1 == arguments.len() {
            return Err(words::SYNTAX.into());
        }
        let number = |refusal| {
            let number = parse_integer(arguments.get(at + 1));
            number.and_then(|number| u64::try_from(number).ok()).ok_or(refusal)
        };
        match arguments.get(at).to_ascii_lowercase().as_slice() {
            b"rank" => {
                // Its magnitude has to be a number, too.
                search.rank = integer(arguments, at + 1)?;
                if search.rank == i64::MIN {
                    let most = i64::MAX;
                    let refusal =
                        format!("ERR value is out of range, value must between -{most} and {most}");
                    return Err(refusal.into());
                }
                if search.rank == 0 {
                    return Err("ERR RANK can't be zero: use 1 to start from the first match, 2 \
                                from the second ... or use negative to start from the end of the \
                                list"
                        .into());
                }
            }
            b"count" => search.count = Some(number("ERR COUNT can't be negative")?),
            b"maxlen" => search.compared_max = number("ERR MAXLEN can't be negative")?,
            _ => return Err(words::SYNTAX.into()),
        }
    }
    one(sink, ListAction::Find(search))
}
