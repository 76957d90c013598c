//! HEXPIRE, HTTL, HGETEX, HSETEX and their relatives: fields of a hash that expire by themselves.

use super::expiry_time::{ExpiryRule, NewExpiry};
use super::field_time::FieldTimeAction;
use super::hash_action::HashAction;
use super::hashes::bytes_max;
use super::part::PartAction;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::room::CommandRoom;
use super::words::{self, Refusal};
use crate::protocol::parse_integer;
use crate::values::{EXPIRY_BYTES, ValueKind, entry_bytes};

type Planned = Result<ReplyShape, Refusal>;

/// The last time that a field may expire at, as in Redis.
const LAST_MS: i64 = ((1 << 48) - 2) >> 2;

const NO_FIELDS: &str = "ERR Mandatory argument FIELDS is missing or not at the right position";
const NOT_POSITIVE: &str = "ERR Number of fields must be a positive integer";
const TOO_MANY: &str = "ERR The `numfields` parameter must match the number of arguments";

fn push(sink: &mut PartSink<'_>, action: FieldTimeAction) {
    sink.push(1, PartAction::Members(ValueKind::Hash, HashAction::Time(action)));
}

/// The fields after FIELDS, which is at an index, and their number.
fn fields_at(
    arguments: &CommandArguments<'_>,
    at: usize,
    not_positive: &'static str,
) -> Result<std::ops::Range<usize>, Refusal> {
    if at + 1 >= arguments.len() || !arguments.get(at).eq_ignore_ascii_case(b"fields") {
        return Err(NO_FIELDS.into());
    }
    let count = parse_integer(arguments.get(at + 1)).filter(|count| *count > 0);
    let count = count.ok_or(not_positive)?;
    let first = at + 2;
    if count != (arguments.len() - first) as i64 {
        return Err(TOO_MANY.into());
    }
    Ok(first..arguments.len())
}

/// A part for each field, and a list of answers.
fn each(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    at: usize,
    action: impl Fn(super::texts::ClientArgument) -> FieldTimeAction,
) -> Planned {
    for index in fields_at(arguments, at, NOT_POSITIVE)? {
        push(sink, action(arguments.argument(index)));
    }
    Ok(ReplyShape::Array)
}

pub(crate) fn hexpire(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    expire(arguments, sink, 1_000, true)
}

pub(crate) fn hpexpire(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    expire(arguments, sink, 1, true)
}

pub(crate) fn hexpireat(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    expire(arguments, sink, 1_000, false)
}

pub(crate) fn hpexpireat(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    expire(arguments, sink, 1, false)
}

fn expire(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    unit_ms: i64,
    is_relative: bool,
) -> Planned {
    let at_ms = time_at(arguments, 2, (unit_ms, is_relative), sink.now_ms)?;
    let mut rule = ExpiryRule::default();
    match arguments.get(3).to_ascii_lowercase().as_slice() {
        b"nx" => rule.if_none = true,
        b"xx" => rule.if_any = true,
        // What has no time lives for ever: nothing is later.
        b"gt" => rule.if_later = true,
        b"lt" => rule.if_earlier = true,
        _ => {}
    }
    let has_rule = rule != ExpiryRule::default();
    let not_positive = "ERR Parameter `numFields` should be greater than 0";
    let bytes_max = bytes_max(sink);
    for index in fields_at(arguments, 3 + usize::from(has_rule), not_positive)? {
        let field = arguments.argument(index);
        push(sink, FieldTimeAction::Expire { field, at_ms, rule, bytes_max });
    }
    Ok(ReplyShape::Array)
}

/// The time at an index, in so many milliseconds and from now where it is relative.
fn time_at(
    arguments: &CommandArguments<'_>,
    index: usize,
    (unit_ms, is_relative): (i64, bool),
    now_ms: u64,
) -> Result<u64, Refusal> {
    let amount = parse_integer(arguments.get(index)).ok_or(words::NOT_AN_INTEGER)?;
    if amount < 0 {
        return Err("ERR invalid expire time, must be >= 0".into());
    }
    let from_ms = if is_relative { now_ms as i64 } else { 0 };
    let at_ms = amount.checked_mul(unit_ms).and_then(|ms| ms.checked_add(from_ms));
    let at_ms = at_ms.filter(|at_ms| *at_ms <= LAST_MS);
    let name = || String::from_utf8_lossy(arguments.get(0)).to_ascii_lowercase();
    Ok(at_ms.ok_or_else(|| words::invalid_expiry(&name()))? as u64)
}

pub(crate) fn hpersist(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    each(arguments, sink, 2, FieldTimeAction::Persist)
}

pub(crate) fn httl(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    each(arguments, sink, 2, |field| FieldTimeAction::TimeToLive(field, 1_000))
}

pub(crate) fn hpttl(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    each(arguments, sink, 2, |field| FieldTimeAction::TimeToLive(field, 1))
}

pub(crate) fn hexpiretime(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    each(arguments, sink, 2, |field| FieldTimeAction::ExpiryTime(field, 1_000))
}

pub(crate) fn hpexpiretime(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    each(arguments, sink, 2, |field| FieldTimeAction::ExpiryTime(field, 1))
}

pub(crate) fn hgetdel(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    each(arguments, sink, 2, FieldTimeAction::GetAndDelete)
}

/// The unit of an option that gives a time, and whether that is from now on.
fn time_option(word: &[u8]) -> Option<(i64, bool)> {
    match word.to_ascii_lowercase().as_slice() {
        b"ex" => Some((1_000, true)),
        b"px" => Some((1, true)),
        b"exat" => Some((1_000, false)),
        b"pxat" => Some((1, false)),
        _ => None,
    }
}

pub(crate) fn hgetex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (expiry, at) = match time_option(arguments.get(2)) {
        Some(unit) => (NewExpiry::At(time_at(arguments, 3, unit, sink.now_ms)?), 4),
        None if arguments.get(2).eq_ignore_ascii_case(b"persist") => (NewExpiry::Never, 3),
        None => (NewExpiry::Kept, 2),
    };
    let bytes_max = bytes_max(sink);
    each(arguments, sink, at, |field| FieldTimeAction::GetAndExpire { field, expiry, bytes_max })
}

pub(crate) fn hsetex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (mut expiry, mut is_there, mut at) = (None, None, 2);
    // The options come in any order, up to FIELDS.
    while at < arguments.len() && !arguments.get(at).eq_ignore_ascii_case(b"fields") {
        let word = arguments.get(at).to_ascii_lowercase();
        match word.as_slice() {
            b"fnx" | b"fxx" if is_there.is_some() => {
                return Err("ERR Only one of FXX or FNX arguments can be specified".into());
            }
            b"fnx" | b"fxx" => is_there = Some(word == b"fxx"),
            b"keepttl" | b"ex" | b"px" | b"exat" | b"pxat" if expiry.is_some() => {
                let refusal = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be \
                               specified";
                return Err(refusal.into());
            }
            b"keepttl" => expiry = Some(NewExpiry::Kept),
            option => {
                let unit = time_option(option).ok_or_else(|| {
                    let shown = String::from_utf8_lossy(arguments.get(at)).into_owned();
                    Refusal::from(format!("ERR unknown argument: {shown}"))
                })?;
                at += 1;
                if at == arguments.len() {
                    return Err(words::SYNTAX.into());
                }
                expiry = Some(NewExpiry::At(time_at(arguments, at, unit, sink.now_ms)?));
            }
        }
        at += 1;
    }
    if at + 1 >= arguments.len() {
        return Err(NO_FIELDS.into());
    }
    let count = parse_integer(arguments.get(at + 1)).filter(|count| *count > 0);
    let count = count.ok_or("ERR invalid number of fields")?;
    // Fields and values come in pairs.
    let first = at + 2;
    if count.checked_mul(2) != Some((arguments.len() - first) as i64) {
        return Err(words::wrong_arity("hsetex").into());
    }
    set_fields(arguments, sink, first, (expiry.unwrap_or(NewExpiry::Never), is_there));
    Ok(ReplyShape::Last)
}

/// What the fields require comes before all of them, and so does their room: they are set together or
/// not at all.
fn set_fields(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    first: usize,
    (expiry, is_there): (NewExpiry, Option<bool>),
) {
    let indexes = || (first..arguments.len()).step_by(2);
    if let Some(is_there) = is_there {
        for at in indexes() {
            let (field, is_first) = (arguments.argument(at), at == first);
            push(sink, FieldTimeAction::Require { field, is_there, is_first });
        }
    }
    let lens = |at: usize| (arguments.get(at).len(), arguments.get(at + 1).len());
    let bytes = |(field, value)| entry_bytes(field, value) + EXPIRY_BYTES;
    let bytes = indexes().map(lens).map(bytes).sum();
    let longest = indexes().map(|at| lens(at).0).max().unwrap_or(0);
    let (bytes_max, is_conditional) = (bytes_max(sink), is_there.is_some());
    let room = CommandRoom { is_first: true, bytes, longest, bytes_max };
    let has_times = matches!(expiry, NewExpiry::At(at_ms) if at_ms > sink.now_ms);
    let field = arguments.argument(first);
    push(sink, FieldTimeAction::Reserve { field, room, has_times, is_conditional });
    for at in indexes() {
        let (field, value) = (arguments.argument(at), arguments.argument(at + 1));
        push(sink, FieldTimeAction::Set { field, value, expiry, is_conditional });
    }
}
