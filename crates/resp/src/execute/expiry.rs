//! Expiries as commands give them.

use super::expiry_time::{ExpiryRefusal, NewExpiry};
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

/// An option of SET or GETEX that tells the expiry. Its number is judged once all options are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpiryOption {
    unit_ms: i64,
    is_relative: bool,
    /// The position of its number; none for KEEPTTL.
    amount: Option<usize>,
}

impl ExpiryOption {
    /// Reads the option at `index`, which is at its last word after it.
    pub(crate) fn read(
        arguments: &CommandArguments<'_>,
        index: &mut usize,
    ) -> Result<Self, Refusal> {
        let (unit_ms, is_relative) = match arguments.get(*index).to_ascii_lowercase().as_slice() {
            b"keepttl" => return Ok(Self { unit_ms: 1, is_relative: false, amount: None }),
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
        Ok(Self { unit_ms, is_relative, amount: Some(*index) })
    }

    /// When a value expires by it.
    pub(crate) fn resolve(
        self,
        arguments: &CommandArguments<'_>,
        now_ms: u64,
    ) -> Result<NewExpiry, ExpiryRefusal> {
        let Some(amount) = self.amount else { return Ok(NewExpiry::Kept) };
        let amount = parse_integer(arguments.get(amount)).ok_or(ExpiryRefusal::NotAnInteger)?;
        let from_ms = if self.is_relative { now_ms as i64 } else { 0 };
        // A time that is over is allowed: the value is deleted at once.
        let at_ms = Some(amount).filter(|amount| *amount > 0);
        let at_ms = at_ms.and_then(|amount| amount.checked_mul(self.unit_ms));
        let at_ms = at_ms.and_then(|ms| ms.checked_add(from_ms));
        at_ms.map(|at_ms| NewExpiry::At(at_ms as u64)).ok_or(ExpiryRefusal::Invalid)
    }
}
