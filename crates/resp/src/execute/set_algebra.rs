//! What several sets have in common, together, or one beyond the others.

use std::collections::HashSet;

use super::immediate::{ImmediateCall, check_right};
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::protocol::parse_integer;

type Handled = Result<(), Refusal>;
type Members = HashSet<Vec<u8>>;

/// How sets and sorted sets are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    Intersection,
    Union,
    Difference,
}

/// The most members that one of its inner commands adds.
const ADDED_MAX: usize = 10_000;

impl Combination {
    /// By the letter after the first one.
    pub(super) fn of(command: &str) -> Self {
        match command.as_bytes().get(1) {
            Some(b'i') => Self::Intersection,
            Some(b'u') => Self::Union,
            _ => Self::Difference,
        }
    }

    fn add(self, all: &mut Members, next: Vec<Vec<u8>>) {
        match self {
            Self::Union => all.extend(next),
            Self::Difference => next.iter().for_each(|member| {
                all.remove(member);
            }),
            Self::Intersection => {
                let next: Members = next.into_iter().collect();
                all.retain(|member| next.contains(member));
            }
        }
    }
}

/// Combines the sets of some keys. All of them are looked at: each has to be a set.
fn combined(
    call: &ImmediateCall<'_>,
    combination: Combination,
    keys: std::ops::Range<usize>,
) -> Result<Members, Refusal> {
    let (mut all, mut bytes) = (Members::new(), 0_usize);
    for (number, index) in keys.enumerate() {
        let mut replies = call.inner(&[&[b"SMEMBERS", call.word(index)]])?;
        let members = replies.pop().map(|reply| reply.into_list()).unwrap_or_default();
        if number == 0 || combination == Combination::Union {
            bytes +=
                members.iter().map(|member| member.len() + size_of::<Vec<u8>>()).sum::<usize>();
        }
        if bytes > call.client.limits.output_bytes_max {
            return Err(words::REPLY_TOO_LARGE.into());
        }
        match number {
            0 => all = members.into_iter().collect(),
            _ => combination.add(&mut all, members),
        }
    }
    Ok(all)
}

pub(crate) fn combine(call: &mut ImmediateCall<'_>) -> Handled {
    let members = {
        let _turn = call.turn(true);
        combined(call, Combination::of(&call.lower(0)), 1..call.len())?
    };
    let mut reply = call.reply();
    reply.set(members.len());
    members.iter().for_each(|member| reply.bulk(member));
    Ok(())
}

pub(crate) fn combine_and_store(call: &mut ImmediateCall<'_>) -> Handled {
    let _turn = call.turn(true);
    let target = call.word(1);
    let members = combined(call, Combination::of(&call.lower(0)), 2..call.len())?;
    let members: Vec<&[u8]> = members.iter().map(Vec::as_slice).collect();
    let mut commands: Vec<Vec<&[u8]>> = vec![vec![b"DEL", target]];
    for some in members.chunks(ADDED_MAX) {
        commands.push([&[&b"SADD"[..], target], some].concat());
    }
    let commands: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
    call.inner(&commands)?;
    call.reply().integer(members.len() as i64);
    Ok(())
}

pub(crate) fn sintercard(call: &mut ImmediateCall<'_>) -> Handled {
    let count = parse_integer(call.word(1)).filter(|count| *count > 0);
    let count = count.ok_or("ERR numkeys should be greater than 0")?;
    let end = usize::try_from(count).ok().and_then(|count| count.checked_add(2));
    let end = end.filter(|end| *end <= call.len());
    let end = end.ok_or("ERR Number of keys can't be greater than number of args")?;
    // Where its keys end a number says, so the table of commands cannot tell.
    for index in 2..end {
        check_right(call.client, KeyRight::Read, call.word(index))?;
    }
    let (mut limit, mut index) = (0, end);
    while index < call.len() {
        if call.lower(index) != "limit" || index + 1 == call.len() {
            return Err(words::SYNTAX.into());
        }
        let number = parse_integer(call.word(index + 1)).filter(|number| *number >= 0);
        limit = number.ok_or("ERR LIMIT can't be negative")?;
        index += 2;
    }
    // No client changes one of them meanwhile.
    let members = {
        let _turn = call.turn(true);
        combined(call, Combination::Intersection, 2..end)?
    };
    let counted = members.len() as i64;
    call.reply().integer(if limit > 0 { counted.min(limit) } else { counted });
    Ok(())
}

pub(crate) fn smove(call: &mut ImmediateCall<'_>) -> Handled {
    let (from, to, member) = (call.word(1), call.word(2), call.word(3));
    let _turn = call.turn(true);
    let exists = call.inner(&[&[b"EXISTS", from]])?[0].integer() == 1;
    let moved = exists && {
        let found = call.inner(&[&[b"SISMEMBER", from, member], &[b"SCARD", to]])?;
        found[0].integer() == 1
    };
    if moved && from != to {
        call.inner(&[&[b"SREM", from, member], &[b"SADD", to, member]])?;
    }
    call.reply().integer(moved.into());
    Ok(())
}
