//! LMPOP and ZMPOP: elements or members of the first of some keys that has any.

use super::immediate::ImmediateCall;
use super::scored_members::paired;
use super::words::{self, Refusal};
use crate::access::KeyRight;

type Handled = Result<(), Refusal>;

/// What taking elements away needs.
const RIGHTS: &[KeyRight] = &[KeyRight::Read, KeyRight::Update, KeyRight::Delete];

/// The first key that there is, and what was taken from it.
type Taken<'k> = Option<(&'k [u8], Vec<Vec<u8>>)>;

pub(crate) fn lmpop(call: &mut ImmediateCall<'_>) -> Handled {
    let taken = take(call, b"list", [("left", b"LPOP"), ("right", b"RPOP")])?;
    let mut reply = call.reply();
    let Some((key, elements)) = taken else {
        reply.null_array();
        return Ok(());
    };
    reply.array(2);
    reply.bulk(key);
    reply.array(elements.len());
    elements.iter().for_each(|element| reply.bulk(element));
    Ok(())
}

pub(crate) fn zmpop(call: &mut ImmediateCall<'_>) -> Handled {
    let taken = take(call, b"zset", [("min", b"ZPOPMIN"), ("max", b"ZPOPMAX")])?;
    let mut reply = call.reply();
    let Some((key, members)) = taken else {
        reply.null_array();
        return Ok(());
    };
    let members = paired(members);
    reply.array(2);
    reply.bulk(key);
    reply.array(members.len());
    for (member, score) in members {
        // A pair in both versions of the protocol.
        reply.array(2);
        reply.bulk(&member);
        reply.double(score);
    }
    Ok(())
}

/// Takes from the first key that there is. Each end has a simple command.
fn take<'c>(
    call: &ImmediateCall<'c>,
    kind: &[u8],
    ends: [(&str, &'static [u8]); 2],
) -> Result<Taken<'c>, Refusal> {
    let keys = call.keys_after(1, call.at_least_one(1, "numkeys")?, RIGHTS)?;
    let end = call.lower(keys.end);
    // The end comes after the keys.
    let command = ends.into_iter().find(|(name, _)| *name == end);
    let (_, command) = command.ok_or(words::SYNTAX)?;
    let count: &[u8] = match call.len() - keys.end {
        1 => b"1",
        3 if call.lower(keys.end + 1) == "count" => {
            call.at_least_one(keys.end + 2, "count")?;
            call.word(keys.end + 2)
        }
        _ => return Err(words::SYNTAX.into()),
    };
    // No client changes one of them meanwhile; keys after the first one are not looked at.
    let _turn = call.turn(true);
    for key in keys.map(|index| call.word(index)) {
        let found = call.inner(&[&[b"TYPE", key]])?.pop().and_then(|reply| reply.into_text());
        match found.unwrap_or_default() {
            none if none == b"none" => {}
            other if other == kind => {
                return Ok(Some((key, call.inner_list(&[command, key, count])?)));
            }
            _ => return Err(words::WRONG_TYPE.into()),
        }
    }
    Ok(None)
}
