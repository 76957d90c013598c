//! Hashes: HSET, HGET and their relatives.

use super::field_set::FieldSet;
use super::hash_action::{FieldScan, HashAction, ScanOptions};
use super::part::PartAction;
use super::part_reply::FieldShow;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::room::CommandRoom;
use super::words::{self, Refusal};
use crate::protocol::{Decimal, parse_integer};
use crate::values::{ValueKind, entry_bytes};

type Planned = Result<ReplyShape, Refusal>;

/// Where members are not entries of their own, a collection is one value, and each change of it
/// writes all of it.
const FIELDS_BYTES_MAX: usize = 8 << 20;

pub(super) fn bytes_max(sink: &PartSink<'_>) -> usize {
    sink.value_bytes_max.min(FIELDS_BYTES_MAX)
}

/// A command of one part.
fn one(sink: &mut PartSink<'_>, action: HashAction) -> Planned {
    sink.push(1, PartAction::Members(ValueKind::Hash, action));
    Ok(ReplyShape::Single)
}

fn integer(arguments: &CommandArguments<'_>, index: usize) -> Result<i64, Refusal> {
    parse_integer(arguments.get(index)).ok_or(words::NOT_AN_INTEGER.into())
}

/// A part for each field and its value.
fn set_fields(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    only_if_new: bool,
    shape: ReplyShape,
) -> Planned {
    let lens = |at: usize| (arguments.get(at).len(), arguments.get(at + 1).len());
    let fields = || (2..arguments.len()).step_by(2);
    let bytes = fields().map(lens).map(|(field, value)| entry_bytes(field, value)).sum();
    let longest = fields().map(|at| lens(at).0).max().unwrap_or(0);
    let bytes_max = bytes_max(sink);
    for at in fields() {
        let room = CommandRoom { is_first: at == 2, bytes, longest, bytes_max };
        let (field, value) = (arguments.argument(at), arguments.argument(at + 1));
        let set = FieldSet { field, value, only_if_new, room };
        sink.push(1, PartAction::Members(ValueKind::Hash, HashAction::Set(set)));
    }
    Ok(shape)
}

pub(crate) fn hset(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    if !arguments.len().is_multiple_of(2) {
        return Err(words::wrong_arity("hset").into());
    }
    set_fields(arguments, sink, false, ReplyShape::Sum)
}

pub(crate) fn hmset(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    if !arguments.len().is_multiple_of(2) {
        return Err(words::wrong_arity("hmset").into());
    }
    set_fields(arguments, sink, false, ReplyShape::Done)
}

pub(crate) fn hsetnx(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    set_fields(arguments, sink, true, ReplyShape::Sum)
}

pub(crate) fn hget(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Get(arguments.argument(2)))
}

pub(crate) fn hmget(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    for at in 2..arguments.len() {
        sink.push(1, PartAction::Members(ValueKind::Hash, HashAction::Get(arguments.argument(at))));
    }
    Ok(ReplyShape::Array)
}

pub(crate) fn hgetall(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Show(FieldShow::Both))
}

pub(crate) fn hkeys(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Show(FieldShow::Names))
}

pub(crate) fn hvals(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Show(FieldShow::Values))
}

pub(crate) fn hlen(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Length)
}

pub(crate) fn hexists(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::Exists(arguments.argument(2)))
}

pub(crate) fn hstrlen(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, HashAction::ValueLength(arguments.argument(2)))
}

pub(crate) fn hdel(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    for at in 2..arguments.len() {
        sink.push(
            1,
            PartAction::Members(ValueKind::Hash, HashAction::Delete(arguments.argument(at))),
        );
    }
    Ok(ReplyShape::Sum)
}

pub(crate) fn hincrby(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (field, delta) = (arguments.argument(2), integer(arguments, 3)?);
    let bytes_max = bytes_max(sink);
    one(sink, HashAction::Add { field, delta, bytes_max })
}

pub(crate) fn hincrbyfloat(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    // Before the hash is looked at, as in Redis.
    let number = Decimal::parse(arguments.get(3)).ok_or(words::NOT_A_FLOAT)?;
    if !number.is_finite() {
        return Err("ERR value is NaN or Infinity".into());
    }
    let (field, delta) = (arguments.argument(2), arguments.argument(3));
    let bytes_max = bytes_max(sink);
    one(sink, HashAction::AddDecimal { field, delta, bytes_max })
}

pub(crate) fn hrandfield(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    random(arguments, sink, ValueKind::Hash, Some(b"withvalues"))
}

/// Members by chance: one, or so many, of which an option also shows the values.
pub(super) fn random(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    kind: ValueKind,
    option: Option<&[u8]>,
) -> Planned {
    // One by itself is not a list.
    if arguments.len() == 2 {
        sink.push(1, PartAction::Members(kind, HashAction::Random));
        return Ok(ReplyShape::Single);
    }
    let count = integer(arguments, 2)?;
    if count == i64::MIN {
        let most = i64::MAX;
        return Err(
            format!("ERR value is out of range, value must between -{most} and {most}").into()
        );
    }
    let is_option = |option: &[u8]| arguments.get(3).eq_ignore_ascii_case(option);
    let with_values = arguments.len() == 4 && option.is_some_and(is_option);
    if arguments.len() > 4 || (arguments.len() == 4 && !with_values) {
        return Err(words::SYNTAX.into());
    }
    // The reply would have twice as many words.
    if with_values && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err("ERR value is out of range".into());
    }
    let bytes_max = sink.reply_bytes_max;
    sink.push(
        1,
        PartAction::Members(kind, HashAction::RandomMany { count, with_values, bytes_max }),
    );
    Ok(ReplyShape::Single)
}

pub(crate) fn hscan(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    scan(arguments, sink, ValueKind::Hash, FieldShow::Both)
}

/// A page of a scan over members.
pub(super) fn scan(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    kind: ValueKind,
    show: FieldShow,
) -> Planned {
    let cursor = std::str::from_utf8(arguments.get(2)).ok().map(str::parse::<u64>);
    let Some(Ok(cursor)) = cursor else { return Err("ERR invalid cursor".into()) };
    let options = scan_options(arguments, show);
    let action = HashAction::Scan(FieldScan { cursor, options });
    sink.push(1, PartAction::Members(kind, action));
    Ok(ReplyShape::Single)
}

fn scan_options(
    arguments: &CommandArguments<'_>,
    show: FieldShow,
) -> Result<ScanOptions, &'static str> {
    let mut options = ScanOptions { pattern: None, count: 10, show };
    for at in (3..arguments.len()).step_by(2) {
        if at + 1 == arguments.len() {
            return Err(words::SYNTAX);
        }
        match arguments.get(at).to_ascii_lowercase().as_slice() {
            b"match" => options.pattern = Some(arguments.argument(at + 1)),
            b"count" => {
                let count = parse_integer(arguments.get(at + 1)).ok_or(words::NOT_AN_INTEGER)?;
                options.count = usize::try_from(count).unwrap_or(0);
                if options.count == 0 {
                    return Err(words::SYNTAX);
                }
            }
            _ => return Err(words::SYNTAX),
        }
    }
    Ok(options)
}
