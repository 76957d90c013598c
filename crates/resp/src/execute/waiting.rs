//! Commands that wait for an element: BLPOP, BLMOVE, BZPOPMIN and their relatives.
//!
//! Such a command first does what the one that does not wait does. Where it finds nothing, its client
//! rests until another one pushes ([`crate::waits`]), until its time is over, or until it is unblocked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::immediate::{CarryOut, ImmediateCall, check_right};
use super::inner_calls::{InnerCaller, InnerReply};
use super::list_moves::move_between;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::client::WaitingCall;
use crate::keyspace::Keyspace;
use crate::mail::Letter;
use crate::protocol::{parse_double, parse_integer};
use crate::wait_answer::{WaitAction, WaitAnswer};
use crate::waits::Waiter;

type Handled = Result<(), Refusal>;

/// What takes elements needs for each key.
const DRAIN: [KeyRight; 3] = [KeyRight::Read, KeyRight::Update, KeyRight::Delete];
/// What moves them needs for both keys.
const MOVE: [KeyRight; 4] = [KeyRight::Read, KeyRight::Insert, KeyRight::Update, KeyRight::Delete];

pub(crate) fn blpop(call: &mut ImmediateCall<'_>) -> Handled {
    wait_for_one(call, WaitAction::Pop { is_front: true })
}

pub(crate) fn brpop(call: &mut ImmediateCall<'_>) -> Handled {
    wait_for_one(call, WaitAction::Pop { is_front: false })
}

pub(crate) fn bzpopmin(call: &mut ImmediateCall<'_>) -> Handled {
    wait_for_one(call, WaitAction::PopScored { is_lowest: true })
}

pub(crate) fn bzpopmax(call: &mut ImmediateCall<'_>) -> Handled {
    wait_for_one(call, WaitAction::PopScored { is_lowest: false })
}

pub(crate) fn brpoplpush(call: &mut ImmediateCall<'_>) -> Handled {
    let timeout_ms = timeout_ms(call.word(3), call.keyspace)?;
    let action = WaitAction::Move { from_front: false, to_front: true };
    wait(call, 1..2, Some(2), action, timeout_ms)
}

pub(crate) fn blmove(call: &mut ImmediateCall<'_>) -> Handled {
    let is_front = |index| match call.lower(index).as_str() {
        "left" => Ok(true),
        "right" => Ok(false),
        _ => Err(Refusal::from(words::SYNTAX)),
    };
    let action = WaitAction::Move { from_front: is_front(3)?, to_front: is_front(4)? };
    let timeout_ms = timeout_ms(call.word(5), call.keyspace)?;
    wait(call, 1..2, Some(2), action, timeout_ms)
}

fn wait_for_one(call: &mut ImmediateCall<'_>, action: WaitAction) -> Handled {
    let last = call.len() - 1;
    let timeout_ms = timeout_ms(call.word(last), call.keyspace)?;
    wait(call, 1..last, None, action, timeout_ms)
}

pub(crate) fn blmpop(call: &mut ImmediateCall<'_>) -> Handled {
    wait_for_some(call, ["left", "right"], |is_front, count| WaitAction::PopSome {
        is_front,
        count,
    })
}

pub(crate) fn bzmpop(call: &mut ImmediateCall<'_>) -> Handled {
    wait_for_some(call, ["min", "max"], |is_lowest, count| WaitAction::PopSomeScored {
        is_lowest,
        count,
    })
}

/// `timeout number key ... end [COUNT count]`
fn wait_for_some(
    call: &mut ImmediateCall<'_>,
    [first_end, last_end]: [&str; 2],
    action: fn(bool, u64) -> WaitAction,
) -> Handled {
    let timeout_ms = timeout_ms(call.word(1), call.keyspace)?;
    let positive = |index: usize| parse_integer(call.word(index)).filter(|number| *number > 0);
    let number = positive(2).ok_or("ERR numkeys should be greater than 0")?;
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let end = number.saturating_add(3);
    if end >= call.len() {
        return Err(words::SYNTAX.into());
    }
    // After the keys comes the end to take from, and then the count, if there is one.
    let is_first = match call.lower(end) {
        word if word == first_end => true,
        word if word == last_end => false,
        _ => return Err(words::SYNTAX.into()),
    };
    let count = match call.len() - end {
        1 => 1,
        3 if call.lower(end + 1) == "count" => {
            positive(end + 2).ok_or("ERR count should be greater than 0")?
        }
        _ => return Err(words::SYNTAX.into()),
    };
    // A number says where its keys end, so the table of commands does not know.
    for index in 3..end {
        DRAIN.iter().try_for_each(|right| check_right(call.client, *right, call.word(index)))?;
    }
    wait(call, 3..end, None, action(is_first, count as u64), timeout_ms)
}

/// When a wait ends, by the clock of the store; none for 0, which is for ever.
fn timeout_ms(word: &[u8], keyspace: &Keyspace) -> Result<Option<u64>, Refusal> {
    let seconds = parse_double(word).filter(|seconds| seconds.is_finite());
    let seconds = seconds.ok_or("ERR timeout is not a float or out of range")?;
    if seconds < 0.0 {
        return Err("ERR timeout is negative".into());
    }
    let ms = (seconds * 1_000.0).ceil();
    if ms > i64::MAX as f64 || keyspace.now_ms().checked_add(ms as u64).is_none_or(is_too_late) {
        return Err("ERR timeout is out of range".into());
    }
    Ok((ms > 0.0).then(|| keyspace.now_ms() + ms as u64))
}

fn is_too_late(at_ms: u64) -> bool {
    i64::try_from(at_ms).is_err()
}

fn wait(
    call: &mut ImmediateCall<'_>,
    keys: std::ops::Range<usize>,
    target: Option<usize>,
    action: WaitAction,
    deadline_ms: Option<u64>,
) -> Handled {
    let moves = matches!(action, WaitAction::Move { .. });
    let waiter = Waiter {
        card: call.client.card.clone(),
        limits: call.client.limits,
        keys: keys.map(|index| call.word(index).into()).collect(),
        target: target.map(|index| call.word(index).into()),
        action,
        rights: if moves { &MOVE } else { &DRAIN },
    };
    let (keyspace, carry_out) = (call.keyspace, call.carry_out);
    let turn = call.turn(true);
    // Those who came before are served first.
    if !call.is_held {
        serve(keyspace, carry_out);
    }
    for key in &waiter.keys {
        if let Some(answer) = take(keyspace, carry_out, &waiter, key)? {
            answer.write(action, &mut call.reply());
            return Ok(());
        }
    }
    // In a transaction its time is over at once.
    if call.is_held {
        match moves {
            true => call.reply().null(),
            false => call.reply().null_array(),
        }
        return Ok(());
    }
    let waiter = Arc::new(waiter);
    keyspace.waits.add(waiter.clone());
    drop(turn);
    call.client.card.is_waiting.store(true, Ordering::Relaxed);
    call.client.waiting = Some(WaitingCall { waiter, deadline_ms });
    Ok(())
}

/// Serves the clients whose keys are ready. The caller has its turn alone.
pub(super) fn serve(keyspace: &Arc<Keyspace>, carry_out: CarryOut) {
    // What is moved to a list may serve others: then its key is ready, too.
    while let Some(key) = keyspace.waits.next_ready() {
        let mut behind = 0;
        while let Some((ticket, waiter)) = keyspace.waits.next_of(&key, behind) {
            behind = ticket;
            match has_elements(keyspace, carry_out, &waiter, &key) {
                Ok(true) => serve_one(keyspace, carry_out, &waiter, &key),
                Ok(false) => break,
                // It waits for a value of another kind.
                Err(refusal) if refusal == words::WRONG_TYPE => {}
                Err(refusal) => answer(keyspace, &waiter, WaitAnswer::Refused(refusal)),
            }
        }
    }
}

fn serve_one(keyspace: &Arc<Keyspace>, carry_out: CarryOut, waiter: &Arc<Waiter>, key: &[u8]) {
    // Whose time is over meanwhile gets no element.
    let Some(removed) = keyspace.waits.remove(waiter.card.id) else { return };
    let answer = match take(keyspace, carry_out, waiter, key) {
        Ok(Some(answer)) => answer,
        // A writer of another listener was faster.
        Ok(None) => return keyspace.waits.add_again(removed),
        Err(refusal) => WaitAnswer::Refused(refusal),
    };
    waiter.card.mailbox.leave(Letter::Answer(answer));
}

fn answer(keyspace: &Keyspace, waiter: &Waiter, answer: WaitAnswer) {
    if keyspace.waits.remove(waiter.card.id).is_some() {
        waiter.card.mailbox.leave(Letter::Answer(answer));
    }
}

fn caller<'c>(
    keyspace: &'c Arc<Keyspace>,
    carry_out: CarryOut,
    waiter: &Waiter,
) -> InnerCaller<'c> {
    InnerCaller { keyspace, carry_out, card: waiter.card.clone(), limits: waiter.limits }
}

fn has_elements(
    keyspace: &Arc<Keyspace>,
    carry_out: CarryOut,
    waiter: &Waiter,
    key: &[u8],
) -> Result<bool, Refusal> {
    let count: &[u8] = if waiter.action.is_of_lists() { b"LLEN" } else { b"ZCARD" };
    let replies = caller(keyspace, carry_out, waiter).call(&[&[count, key]])?;
    Ok(replies[0].integer() > 0)
}

/// Takes what a client asks for of a key; nothing where there is nothing.
fn take(
    keyspace: &Arc<Keyspace>,
    carry_out: CarryOut,
    waiter: &Waiter,
    key: &[u8],
) -> Result<Option<WaitAnswer>, Refusal> {
    let caller = caller(keyspace, carry_out, waiter);
    let one = |name: &[u8]| Ok::<_, Refusal>(caller.call(&[&[name, key]])?.pop());
    let some = |name: &[u8], count: u64| {
        let count = count.to_string();
        Ok::<_, Refusal>(caller.call(&[&[name, key, count.as_bytes()]])?.pop())
    };
    // The commands that do not wait do the work, with the rights of the client that waits.
    let found = match waiter.action {
        WaitAction::Pop { is_front: true } => one(b"LPOP")?,
        WaitAction::Pop { is_front: false } => one(b"RPOP")?,
        WaitAction::PopSome { is_front: true, count } => some(b"LPOP", count)?,
        WaitAction::PopSome { is_front: false, count } => some(b"RPOP", count)?,
        WaitAction::PopScored { is_lowest: true } => one(b"ZPOPMIN")?,
        WaitAction::PopScored { is_lowest: false } => one(b"ZPOPMAX")?,
        WaitAction::PopSomeScored { is_lowest: true, count } => some(b"ZPOPMIN", count)?,
        WaitAction::PopSomeScored { is_lowest: false, count } => some(b"ZPOPMAX", count)?,
        WaitAction::Move { from_front, to_front } => {
            let target = waiter.target.as_deref().unwrap_or_default();
            let moved = move_between(&caller, (key, from_front), (target, to_front))?;
            Some(InnerReply::Text(moved))
        }
    };
    // Without an element the client waits on.
    let elements = match found {
        Some(InnerReply::Text(Some(element))) => vec![element],
        Some(InnerReply::List(elements)) => elements,
        _ => Vec::new(),
    };
    Ok((!elements.is_empty()).then(|| WaitAnswer::Taken { key: key.to_vec(), elements }))
}

/// CLIENT UNBLOCK
pub(super) fn unblock(call: &mut ImmediateCall<'_>) -> Handled {
    let is_error = match (call.len(), call.lower(3).as_str()) {
        (3, _) | (4, "timeout") => false,
        (4, "error") => true,
        (4, _) => {
            return Err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR".into());
        }
        _ => return Err(words::wrong_arity("client|unblock").into()),
    };
    let id = call.integer(2)?;
    if id != call.client.card.id as i64 {
        call.check_operator("unblock clients")?;
    }
    let removed = u64::try_from(id).ok().and_then(|id| call.keyspace.waits.remove(id));
    let is_unblocked = removed.is_some();
    if let Some((_, waiter)) = removed {
        let refusal = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
        let answer =
            if is_error { WaitAnswer::Refused(refusal.into()) } else { WaitAnswer::TimedOut };
        waiter.card.mailbox.leave(Letter::Answer(answer));
    }
    call.reply().integer(is_unblocked.into());
    Ok(())
}
