//! Writes the replies of commands out of the answers of their parts.

use super::super::part_reply::{FieldShow, ListShape, PartReply};
use super::super::plan::{KeyPart, ReplyShape};
use super::super::texts::Texts;
use crate::protocol::ReplyWriter;
use crate::values::{EncodedHash, ValueKind, score_of};

/// Writes the reply of a command.
pub(super) fn write_reply(
    shape: &ReplyShape,
    parts: &[KeyPart],
    texts: &Texts<'_>,
    failures: &[String],
    reply: &mut ReplyWriter<'_>,
) {
    // One part that failed fails the whole command: its reply has one form.
    let failed = || parts.iter().find(|part| part.is_failed());
    match shape {
        ReplyShape::Refused(error) => reply.error(error),
        // An error of the only part is its answer already.
        ReplyShape::Single => parts.iter().for_each(|part| write(part, texts, failures, reply)),
        ReplyShape::Array
        | ReplyShape::ArrayOrNull
        | ReplyShape::EmptyArray
        | ReplyShape::Sum
        | ReplyShape::Last
        | ReplyShape::Ok
        | ReplyShape::Done
            if failed().is_some() =>
        {
            failed().into_iter().for_each(|part| write(part, texts, failures, reply));
        }
        ReplyShape::ArrayOrNull
            if parts.first().is_none_or(|part| matches!(part.reply, PartReply::Null)) =>
        {
            reply.null_array();
        }
        ReplyShape::Array | ReplyShape::ArrayOrNull => {
            reply.array(parts.len());
            parts.iter().for_each(|part| write(part, texts, failures, reply));
        }
        ReplyShape::EmptyArray => reply.array(0),
        ReplyShape::Sum => {
            let number = |part: &KeyPart| match part.reply {
                PartReply::Integer(number) => number,
                _ => 0,
            };
            reply.integer(parts.iter().map(number).sum());
        }
        ReplyShape::Last => {
            parts.last().into_iter().for_each(|part| write(part, texts, failures, reply));
        }
        ReplyShape::Ok | ReplyShape::Done => reply.ok(),
    }
}

fn write(part: &KeyPart, texts: &Texts<'_>, failures: &[String], reply: &mut ReplyWriter<'_>) {
    match part.reply {
        PartReply::Null => reply.null(),
        PartReply::Ok => reply.ok(),
        PartReply::Integer(number) => reply.integer(number),
        PartReply::Double(number) => reply.double(number),
        PartReply::Text(text) => reply.bulk(texts.get(text)),
        PartReply::Simple(text) => reply.simple(text),
        PartReply::Error(error) => reply.error(error),
        PartReply::Failed(index) => reply.error(&failures[index as usize]),
        PartReply::Fields { hash, show } => {
            let hash = hash.map(|hash| texts.get(hash)).unwrap_or_default();
            write_fields(hash, show, reply);
        }
        PartReply::List { texts: list, count, shape } => {
            write_list(texts.get(list), count as usize, shape, reply);
        }
    }
}

/// Writes the fields of a hash that was opened before: it is whole, or there is none.
fn write_fields(bytes: &[u8], show: FieldShow, reply: &mut ReplyWriter<'_>) {
    let hash = EncodedHash::open(bytes, ValueKind::of(bytes));
    let count = hash.map_or(0, EncodedHash::len);
    match show {
        FieldShow::Both => reply.map(count),
        FieldShow::Names | FieldShow::Values => reply.array(count),
        FieldShow::Members => reply.set(count),
    }
    for entry in hash.map(EncodedHash::entries).into_iter().flatten() {
        let Ok(entry) = entry else { return };
        if show != FieldShow::Values {
            reply.bulk(&bytes[entry.field]);
        }
        if show.has_values() {
            reply.bulk(&bytes[entry.value]);
        }
    }
}

/// Writes byte strings, each of which follows its length.
fn write_list(mut list: &[u8], count: usize, shape: ListShape, reply: &mut ReplyWriter<'_>) {
    // The head says how many follow, each version of the protocol in its own way.
    match shape {
        ListShape::ArrayOrNull if count == 0 => return reply.null_array(),
        ListShape::Array
        | ListShape::ArrayOrNull
        | ListShape::Integers
        | ListShape::MemberAndScore => reply.array(count),
        ListShape::Set => reply.set(count),
        ListShape::Map => reply.map(count / 2),
        ListShape::Pairs | ListShape::Scores => reply.pair_list(count / 2),
        ListShape::Page(next) => {
            reply.array(2);
            reply.bulk(next.to_string().as_bytes());
            reply.array(count);
        }
    }
    for number in 0..count {
        let Some((len, rest)) = list.split_first_chunk() else { return };
        let (text, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
        let is_pair = matches!(shape, ListShape::Pairs | ListShape::Scores);
        if is_pair && number.is_multiple_of(2) {
            reply.pair();
        }
        // The second of a pair is the score.
        let has_scores = matches!(shape, ListShape::Scores | ListShape::MemberAndScore);
        match shape {
            ListShape::Integers => {
                reply.integer(text.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes)));
            }
            _ if has_scores && !number.is_multiple_of(2) => reply.double(score_of(text)),
            _ => reply.bulk(text),
        }
        list = rest;
    }
}
