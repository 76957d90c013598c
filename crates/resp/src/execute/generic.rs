//! Keys whatever their values are: DEL, EXISTS, EXPIRE, TTL and their relatives.

use super::expiry_time::ExpiryRule;
use super::part::PartAction;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::words::{self, Refusal};
use crate::protocol::parse_integer;

type Planned = Result<ReplyShape, Refusal>;

fn one(sink: &mut PartSink<'_>, action: PartAction) -> Planned {
    sink.push(1, action);
    Ok(ReplyShape::Single)
}

/// The same for each key; the answers are added up.
fn sum(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>, action: PartAction) -> Planned {
    (1..arguments.len()).for_each(|key| sink.push(key, action));
    Ok(ReplyShape::Sum)
}

pub(crate) fn del(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    sum(arguments, sink, PartAction::Delete)
}

/// DELEX: deletes a key whose value is the given one, or another one.
pub(crate) fn delex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let is_equal = match arguments.len() {
        2 => return one(sink, PartAction::Delete),
        4 if arguments.get(2).eq_ignore_ascii_case(b"ifeq") => true,
        4 if arguments.get(2).eq_ignore_ascii_case(b"ifne") => false,
        _ => return Err(words::SYNTAX.into()),
    };
    one(sink, PartAction::DeleteIf { value: arguments.argument(3), is_equal })
}

pub(crate) fn exists(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    sum(arguments, sink, PartAction::Exists)
}

pub(crate) fn type_of(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Type)
}

pub(crate) fn persist(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::Persist)
}

pub(crate) fn ttl(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::TimeToLive(1_000))
}

pub(crate) fn pttl(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::TimeToLive(1))
}

pub(crate) fn expiretime(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::ExpiryTime(1_000))
}

pub(crate) fn pexpiretime(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, PartAction::ExpiryTime(1))
}

pub(crate) fn expire(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let now_ms = sink.now_ms as i64;
    expire_at(arguments, sink, 1_000, now_ms, "expire")
}

pub(crate) fn pexpire(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let now_ms = sink.now_ms as i64;
    expire_at(arguments, sink, 1, now_ms, "pexpire")
}

pub(crate) fn expireat(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    expire_at(arguments, sink, 1_000, 0, "expireat")
}

pub(crate) fn pexpireat(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    expire_at(arguments, sink, 1, 0, "pexpireat")
}

fn expire_at(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    unit_ms: i64,
    from_ms: i64,
    command: &str,
) -> Planned {
    let rule = expiry_rule(arguments)?;
    let amount = parse_integer(arguments.get(2)).ok_or(words::NOT_AN_INTEGER)?;
    let at_ms = amount.checked_mul(unit_ms).and_then(|ms| ms.checked_add(from_ms));
    let at_ms = at_ms.ok_or_else(|| words::invalid_expiry(command))?;
    one(sink, PartAction::Expire { at_ms, rule })
}

fn expiry_rule(arguments: &CommandArguments<'_>) -> Result<ExpiryRule, Refusal> {
    let mut rule = ExpiryRule::default();
    for index in 3..arguments.len() {
        match arguments.get(index).to_ascii_lowercase().as_slice() {
            b"nx" => rule.if_none = true,
            b"xx" => rule.if_any = true,
            b"gt" => rule.if_later = true,
            b"lt" => rule.if_earlier = true,
            _ => {
                let option = String::from_utf8_lossy(arguments.get(index)).into_owned();
                return Err(format!("ERR Unsupported option {option}").into());
            }
        }
    }
    if rule.if_none && (rule.if_any || rule.if_later || rule.if_earlier) {
        return Err("ERR NX and XX, GT or LT options at the same time are not compatible".into());
    }
    if rule.if_later && rule.if_earlier {
        return Err("ERR GT and LT options at the same time are not compatible".into());
    }
    Ok(rule)
}
