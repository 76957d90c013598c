//! Strings: GET, SET and their relatives.

use super::expiry::{ExpiryOption, relative_expiry};
use super::expiry_time::{ExpiryRefusal, NewExpiry};
use super::part::{PartAction, SetAnswer, SetOnly};
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::texts::ClientArgument;
use super::words::{self, Refusal};
use crate::protocol::parse_integer;
use crate::values::would_be_marked;

type Planned = Result<ReplyShape, Refusal>;

/// A command of one part, on the first key.
fn one(sink: &mut PartSink<'_>, action: PartAction) -> Planned {
    sink.push(1, action);
    Ok(ReplyShape::Single)
}

fn integer(arguments: &CommandArguments<'_>, index: usize) -> Result<i64, Refusal> {
    parse_integer(arguments.get(index)).ok_or(words::NOT_AN_INTEGER.into())
}

pub(crate) fn get(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Get)
}

pub(crate) fn strlen(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Length)
}

pub(crate) fn getdel(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::GetAndDelete)
}

pub(crate) fn incr(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Add { delta: 1 })
}

pub(crate) fn decr(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Add { delta: -1 })
}

pub(crate) fn incrby(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Add { delta: integer(arguments, 2)? })
}

pub(crate) fn decrby(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let delta = integer(arguments, 2)?.checked_neg();
    one(sink, PartAction::Add { delta: delta.ok_or(words::DECREMENT_OVERFLOW)? })
}

pub(crate) fn incrbyfloat(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::AddDecimal { delta: arguments.argument(2) })
}

pub(crate) fn append(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let bytes_max = sink.value_bytes_max;
    one(sink, PartAction::Append { value: arguments.argument(2), bytes_max })
}

pub(crate) fn getrange(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (start, end) = (integer(arguments, 2)?, integer(arguments, 3)?);
    one(sink, PartAction::Range { start, end })
}

pub(crate) fn setrange(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let offset = usize::try_from(integer(arguments, 2)?).map_err(|_| words::OFFSET)?;
    let (value, bytes_max) = (arguments.argument(3), sink.value_bytes_max);
    one(sink, PartAction::SetRange { offset, value, bytes_max })
}

/// A value that is to be a string.
fn string(arguments: &CommandArguments<'_>, index: usize) -> Result<ClientArgument, Refusal> {
    match would_be_marked(b"", 0, arguments.get(index)) {
        true => Err(words::MARKED.into()),
        false => Ok(arguments.argument(index)),
    }
}

fn plain_set(
    arguments: &CommandArguments<'_>,
    index: usize,
    expiry: NewExpiry,
) -> Result<PartAction, Refusal> {
    let (value, only) = (string(arguments, index)?, SetOnly::Always);
    Ok(PartAction::Set { value, expiry, only, answer: SetAnswer::Ok })
}

pub(crate) fn setnx(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (value, expiry) = (string(arguments, 2)?, NewExpiry::Never);
    let (only, answer) = (SetOnly::IfAbsent, SetAnswer::Flag);
    one(sink, PartAction::Set { value, expiry, only, answer })
}

pub(crate) fn getset(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (value, expiry) = (string(arguments, 2)?, NewExpiry::Never);
    let (only, answer) = (SetOnly::Always, SetAnswer::Previous);
    one(sink, PartAction::Set { value, expiry, only, answer })
}

pub(crate) fn setex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let expiry = relative_expiry(integer(arguments, 2)?, 1_000, sink.now_ms, "setex")?;
    one(sink, plain_set(arguments, 3, expiry)?)
}

pub(crate) fn psetex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let expiry = relative_expiry(integer(arguments, 2)?, 1, sink.now_ms, "psetex")?;
    one(sink, plain_set(arguments, 3, expiry)?)
}

pub(crate) fn mget(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    (1..arguments.len()).for_each(|key| sink.push(key, PartAction::GetIfString));
    Ok(ReplyShape::Array)
}

pub(crate) fn mset(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    if arguments.len().is_multiple_of(2) {
        return Err(words::wrong_arity("mset").into());
    }
    for key in (1..arguments.len()).step_by(2) {
        sink.push(key, plain_set(arguments, key + 1, NewExpiry::Never)?);
    }
    Ok(ReplyShape::Ok)
}

/// The options of SET, each given once at most.
#[derive(Default)]
struct SetOptions {
    only: Option<SetOnly>,
    expiry: Option<ExpiryOption>,
    answers_previous: bool,
}

pub(crate) fn set(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let mut options = SetOptions::default();
    let mut index = 3;
    while index < arguments.len() {
        let only = match arguments.get(index) {
            word if word.eq_ignore_ascii_case(b"nx") => Some(SetOnly::IfAbsent),
            word if word.eq_ignore_ascii_case(b"xx") => Some(SetOnly::IfPresent),
            _ => None,
        };
        // Any two of NX and XX, and any two expiries, contradict each other.
        let is_first = if only.is_some() {
            options
                .only
                .replace(only.unwrap_or(SetOnly::Always))
                .is_none_or(|was| Some(was) == only)
        } else if arguments.get(index).eq_ignore_ascii_case(b"get") {
            options.answers_previous = true;
            true
        } else {
            let expiry = ExpiryOption::read(arguments, &mut index)?;
            options.expiry.replace(expiry).is_none()
        };
        if !is_first {
            return Err(words::SYNTAX.into());
        }
        index += 1;
    }
    // What was not asked for is what SET alone does.
    let SetOptions { only, expiry, answers_previous } = options;
    let expiry = expiry.map(|expiry| expiry.resolve(arguments, sink.now_ms)).transpose();
    let expiry = expiry.map_err(|refusal| match refusal {
        ExpiryRefusal::NotAnInteger => words::NOT_AN_INTEGER.into(),
        ExpiryRefusal::Invalid => words::invalid_expiry("set"),
    })?;
    one(
        sink,
        PartAction::Set {
            value: string(arguments, 2)?,
            expiry: expiry.unwrap_or(NewExpiry::Never),
            only: only.unwrap_or(SetOnly::Always),
            answer: if answers_previous { SetAnswer::Previous } else { SetAnswer::Ok },
        },
    )
}

pub(crate) fn getex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let expiry = match arguments.len() {
        2 => Ok(NewExpiry::Kept),
        3 if arguments.get(2).eq_ignore_ascii_case(b"persist") => Ok(NewExpiry::Never),
        _ => {
            let mut index = 2;
            let option = ExpiryOption::read(arguments, &mut index)?;
            let expiry = option.resolve(arguments, sink.now_ms);
            // KEEPTTL is SET's alone, and two options contradict each other.
            if expiry == Ok(NewExpiry::Kept) || index + 1 != arguments.len() {
                return Err(words::SYNTAX.into());
            }
            expiry
        }
    };
    // Without a value, the number is not needed.
    one(sink, PartAction::GetAndExpire(expiry))
}
