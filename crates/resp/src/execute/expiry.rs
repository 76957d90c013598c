//! Expiries as commands give them.

use super::part::NewExpiry;
use super::plan::CommandArguments;
use super::words::{self, Refusal};
use crate::protocol::parse_integer;

/// So many units from now, which must be in the future.
pub(crate) fn relative_expiry(
    amount: i64,
    unit_ms: i64,
    now_ms: u64,
    command: &str,
) -> Result<NewExpiry, Refusal> {
    let at_ms = Some(amount)
        .filter(|amount| *amount > 0)
        .and_then(|amount| amount.checked_mul(unit_ms))
        .and_then(|ms| ms.checked_add(now_ms as i64));
    at_ms.map(|at_ms| NewExpiry::At(at_ms as u64)).ok_or(words::invalid_expiry(command).into())
}

/// An option of SET or GETEX that tells the expiry; `index` stands at its last word behind it.
pub(crate) fn set_expiry(
    arguments: &CommandArguments<'_>,
    index: &mut usize,
    now_ms: u64,
    command: &str,
) -> Result<NewExpiry, Refusal> {
    let word = arguments.get(*index);
    if word.eq_ignore_ascii_case(b"keepttl") {
        return Ok(NewExpiry::Kept);
    }
    // Any other word is no option of these commands.
    let (unit_ms, is_relative) = match word.to_ascii_lowercase().as_slice() {
        b"ex" => (1_000, true),
        b"px" => (1, true),
        b"exat" => (1_000, false),
        b"pxat" => (1, false),
        _ => return Err(words::SYNTAX.into()),
    };
    *index += 1;
    if *index >= arguments.len() {
        return Err(words::SYNTAX.into());
    }
    let amount = parse_integer(arguments.get(*index)).ok_or(words::NOT_AN_INTEGER)?;
    if is_relative {
        return relative_expiry(amount, unit_ms, now_ms, command);
    }
    // A time that is over is allowed here: the value goes at once.
    let at_ms = Some(amount).filter(|amount| *amount > 0);
    let at_ms = at_ms.and_then(|amount| amount.checked_mul(unit_ms));
    at_ms.map(|at_ms| NewExpiry::At(at_ms as u64)).ok_or(words::invalid_expiry(command).into())
}
