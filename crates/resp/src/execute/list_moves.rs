//! Moves elements from one list to another.

use super::immediate::ImmediateCall;
use super::inner_calls::InnerCaller;
use super::words::{self, Refusal};

type Handled = Result<(), Refusal>;

pub(crate) fn rpoplpush(call: &mut ImmediateCall<'_>) -> Handled {
    move_element(call, false, true)
}

pub(crate) fn lmove(call: &mut ImmediateCall<'_>) -> Handled {
    let is_front = |index| match call.lower(index).as_str() {
        "left" => Ok(true),
        "right" => Ok(false),
        _ => Err(Refusal::from(words::SYNTAX)),
    };
    let (from_front, to_front) = (is_front(3)?, is_front(4)?);
    move_element(call, from_front, to_front)
}

fn move_element(call: &mut ImmediateCall<'_>, from_front: bool, to_front: bool) -> Handled {
    let (from, to) = (call.word(1), call.word(2));
    let _turn = call.turn(true);
    match move_between(&call.inner_caller(), (from, from_front), (to, to_front))? {
        Some(element) => call.reply().bulk(&element),
        None => call.reply().null(),
    }
    Ok(())
}

/// Moves an element from an end of a list to an end of another, and returns it.
pub(super) fn move_between(
    caller: &InnerCaller<'_>,
    (from, from_front): (&[u8], bool),
    (to, to_front): (&[u8], bool),
) -> Result<Option<Vec<u8>>, Refusal> {
    let end: &[u8] = if from_front { b"0" } else { b"-1" };
    let mut found = caller.call(&[&[b"LINDEX", from, end]])?;
    let Some(element) = found.pop().and_then(|reply| reply.into_text()) else { return Ok(None) };
    // What is not a list is refused before the element is taken.
    let elements = caller.call(&[&[b"LLEN", to]])?[0].integer();
    // The only element of a list stays where it is, and so does the expiry.
    if from != to || elements != 1 {
        let pop: &[u8] = if from_front { b"LPOP" } else { b"RPOP" };
        let push: &[u8] = if to_front { b"LPUSH" } else { b"RPUSH" };
        caller.call(&[&[pop, from], &[push, to, &element]])?;
    }
    Ok(Some(element))
}
