//! MSETEX: several values that are set together, or not at all, and live equally long.

use super::expiry_time::NewExpiry;
use super::immediate::{ImmediateCall, check_right};
use super::keys::{KeyChange, each_value, store};
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::values::would_be_marked;

type Handled = Result<(), Refusal>;

/// The options after the pairs.
struct ManyOptions {
    expiry: NewExpiry,
    /// Whether the keys have to be there, or not to be there.
    are_there: Option<bool>,
}

pub(crate) fn msetex(call: &mut ImmediateCall<'_>) -> Handled {
    let count = call.integer(1).ok().filter(|count| *count > 0);
    let count = count.ok_or("ERR invalid numkeys value")?;
    let words = count.checked_mul(2).ok_or("ERR invalid numkeys value")?;
    // The table of commands cannot know where the keys end, so their rights are checked here.
    let rights = [KeyRight::Insert, KeyRight::Update];
    let pairs = call.keys_after(1, words, &[]);
    let pairs = pairs.map_err(|_| Refusal::from("ERR wrong number of key-value pairs"))?;
    let options = options(call, pairs.end)?;
    let indexes = pairs.step_by(2);
    for index in indexes.clone() {
        for right in rights {
            check_right(call.client, right, call.word(index))?;
        }
        if would_be_marked(b"", 0, call.word(index + 1)) {
            return Err(words::MARKED.into());
        }
    }
    let keys: Vec<&[u8]> = indexes.clone().map(|index| call.word(index)).collect();
    let _turn = call.turn(true);
    let expiries = expiries(call, &keys, &options)?;
    let is_refused = |are_there| expiries.iter().any(|found| found.is_some() != are_there);
    if options.are_there.is_some_and(is_refused) {
        call.reply().integer(0);
        return Ok(());
    }
    let now_ms = call.keyspace.now_ms();
    let change = |(index, before): (usize, &Option<u64>)| {
        let expires_at_ms = match options.expiry {
            NewExpiry::Never => 0,
            NewExpiry::Kept => before.unwrap_or(0),
            NewExpiry::At(at_ms) => at_ms,
        };
        // A time that is over is the end of it.
        let is_over = expires_at_ms > 0 && expires_at_ms <= now_ms;
        (call.word(index), (!is_over).then(|| (call.word(index + 1), expires_at_ms)))
    };
    let changes: Vec<KeyChange<'_>> = indexes.zip(&expiries).map(change).collect();
    call.stored(store(call.keyspace, &changes))?;
    call.reply().integer(1);
    Ok(())
}

/// When each key expires, as far as an option asks for it; none of those that there are not.
fn expiries(
    call: &ImmediateCall<'_>,
    keys: &[&[u8]],
    options: &ManyOptions,
) -> Result<Vec<Option<u64>>, Refusal> {
    let mut found = vec![None; keys.len()];
    if options.are_there.is_some() || options.expiry == NewExpiry::Kept {
        let read = each_value(call.keyspace, keys, |number, _, expires_at_ms| {
            found[number] = Some(expires_at_ms);
            true
        });
        call.stored(read)?;
    }
    Ok(found)
}

fn options(call: &ImmediateCall<'_>, mut at: usize) -> Result<ManyOptions, Refusal> {
    let (mut expiry, mut are_there) = (None, None);
    while at < call.len() {
        let option = call.lower(at);
        match option.as_str() {
            "nx" | "xx" if are_there.is_none() => are_there = Some(option == "xx"),
            "keepttl" if expiry.is_none() => expiry = Some(NewExpiry::Kept),
            "ex" | "px" | "exat" | "pxat" if expiry.is_none() && at + 1 < call.len() => {
                at += 1;
                expiry = Some(time(call, &option, call.integer(at)?)?);
            }
            _ => return Err(words::SYNTAX.into()),
        }
        at += 1;
    }
    Ok(ManyOptions { expiry: expiry.unwrap_or(NewExpiry::Never), are_there })
}

fn time(call: &ImmediateCall<'_>, option: &str, amount: i64) -> Result<NewExpiry, Refusal> {
    let unit_ms = if option.starts_with("ex") { 1_000 } else { 1 };
    let from_ms = if option.ends_with("at") { 0 } else { call.keyspace.now_ms() as i64 };
    let at_ms = Some(amount).filter(|amount| *amount > 0);
    let at_ms = at_ms.and_then(|amount| amount.checked_mul(unit_ms));
    let at_ms = at_ms.and_then(|ms| ms.checked_add(from_ms));
    Ok(NewExpiry::At(at_ms.ok_or_else(|| words::invalid_expiry("msetex"))? as u64))
}
