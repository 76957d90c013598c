//! Sorted sets: ZADD, ZRANGE and their relatives.

use super::hashes::{bytes_max, random, scan};
use super::lists::positive;
use super::part::PartAction;
use super::part_reply::FieldShow;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::room::CommandRoom;
use super::sorted_action::{AddRule, MemberAdd, SortedAction, member_bytes};
use super::sorted_range::{MemberEnd, MemberRange, RangeBy, ScoreEnd};
use super::words::{self, Refusal};
use crate::protocol::{parse_double, parse_integer, parse_nearest_double};
use crate::values::ValueKind;

type Planned = Result<ReplyShape, Refusal>;

/// A command of one part.
fn one(sink: &mut PartSink<'_>, action: SortedAction) -> Planned {
    sink.push(1, PartAction::Sorted(action));
    Ok(ReplyShape::Single)
}

fn integer(arguments: &CommandArguments<'_>, index: usize) -> Result<i64, Refusal> {
    parse_integer(arguments.get(index)).ok_or(words::NOT_AN_INTEGER.into())
}

fn score(arguments: &CommandArguments<'_>, index: usize) -> Result<f64, Refusal> {
    parse_double(arguments.get(index)).ok_or(words::NOT_A_FLOAT.into())
}

pub(crate) fn zscore(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, SortedAction::Score(arguments.argument(2)))
}

pub(crate) fn zmscore(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    for at in 2..arguments.len() {
        sink.push(1, PartAction::Sorted(SortedAction::Score(arguments.argument(at))));
    }
    Ok(ReplyShape::Array)
}

pub(crate) fn zrank(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    rank(arguments, sink, false)
}

pub(crate) fn zrevrank(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    rank(arguments, sink, true)
}

/// The place of a member, and its score if that is asked for.
fn rank(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>, is_reverse: bool) -> Planned {
    let with_score = match arguments.len() {
        3 => false,
        4 if arguments.get(3).eq_ignore_ascii_case(b"withscore") => true,
        4 => return Err(words::SYNTAX.into()),
        _ => {
            let name = String::from_utf8_lossy(arguments.get(0)).to_ascii_lowercase();
            return Err(words::wrong_arity(&name).into());
        }
    };
    let member = arguments.argument(2);
    sink.push(1, PartAction::Sorted(SortedAction::Rank { member, is_reverse }));
    if !with_score {
        return Ok(ReplyShape::Single);
    }
    sink.push(1, PartAction::Sorted(SortedAction::Score(member)));
    Ok(ReplyShape::ArrayOrNull)
}

pub(crate) fn zcard(_: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    one(sink, SortedAction::Count)
}

pub(crate) fn zrem(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    for at in 2..arguments.len() {
        sink.push(1, PartAction::Sorted(SortedAction::Remove(arguments.argument(at))));
    }
    Ok(ReplyShape::Sum)
}

pub(crate) fn zrandmember(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    random(arguments, sink, ValueKind::SortedSet, Some(b"withscores"))
}

pub(crate) fn zscan(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    scan(arguments, sink, ValueKind::SortedSet, FieldShow::Both)
}

pub(crate) fn zpopmin(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    pop(arguments, sink, false)
}

pub(crate) fn zpopmax(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    pop(arguments, sink, true)
}

fn pop(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>, is_highest: bool) -> Planned {
    let count = match arguments.len() {
        2 => None,
        3 => Some(positive(arguments, 2)?),
        _ => return Err(words::SYNTAX.into()),
    };
    one(sink, SortedAction::Pop { count, is_highest })
}

pub(crate) fn zincrby(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let rule = AddRule { is_sum: true, ..AddRule::default() };
    let (score, longest) = (score(arguments, 2)?, arguments.get(3).len());
    let (bytes, bytes_max) = (member_bytes(longest), bytes_max(sink));
    let room = CommandRoom { is_first: true, bytes, longest, bytes_max };
    let add = MemberAdd { member: arguments.argument(3), score, rule, room };
    one(sink, SortedAction::Add(add))
}

pub(crate) fn zadd(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (rule, first) = add_rule(arguments);
    let words_left = arguments.len() - first;
    if words_left == 0 || !words_left.is_multiple_of(2) {
        return Err(words::SYNTAX.into());
    }
    check_rule(rule, words_left / 2)?;
    let scores = || (first..arguments.len()).step_by(2);
    let lens = || scores().map(|at| arguments.get(at + 1).len());
    let (bytes, longest) = (lens().map(member_bytes).sum(), lens().max().unwrap_or(0));
    let bytes_max = bytes_max(sink);
    for at in scores() {
        let room = CommandRoom { is_first: at == first, bytes, longest, bytes_max };
        let (member, score) = (arguments.argument(at + 1), score(arguments, at)?);
        let add = MemberAdd { member, score, rule, room };
        sink.push(1, PartAction::Sorted(SortedAction::Add(add)));
    }
    Ok(if rule.is_sum { ReplyShape::Single } else { ReplyShape::Sum })
}

/// The options, and the position of the first score after them.
fn add_rule(arguments: &CommandArguments<'_>) -> (AddRule, usize) {
    let (mut rule, mut at) = (AddRule::default(), 2);
    while at < arguments.len() {
        match arguments.get(at).to_ascii_lowercase().as_slice() {
            b"nx" => rule.only_new = true,
            b"xx" => rule.only_present = true,
            b"gt" => rule.only_greater = true,
            b"lt" => rule.only_less = true,
            b"ch" => rule.counts_changes = true,
            b"incr" => rule.is_sum = true,
            _ => break,
        }
        at += 1;
    }
    (rule, at)
}

/// Refuses options that contradict each other.
fn check_rule(rule: AddRule, members: usize) -> Result<(), Refusal> {
    let is_one_way = rule.only_greater || rule.only_less;
    if rule.only_new && rule.only_present {
        return Err("ERR XX and NX options at the same time are not compatible".into());
    }
    if (rule.only_new && is_one_way) || (rule.only_greater && rule.only_less) {
        let refusal = "ERR GT, LT, and/or NX options at the same time are not compatible";
        return Err(refusal.into());
    }
    if rule.is_sum && members > 1 {
        return Err("ERR INCR option supports a single increment-element pair".into());
    }
    Ok(())
}

/// What the ends of a range are, as options say it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangeKind {
    Rank,
    Score,
    Member,
}

/// The options of a range.
struct RangeOptions {
    kind: Option<RangeKind>,
    is_reverse: bool,
    limit: (i64, i64),
    with_scores: bool,
}

pub(crate) fn zrange(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    range(arguments, sink, None, false)
}

pub(crate) fn zrevrange(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    range(arguments, sink, Some(RangeKind::Rank), true)
}

pub(crate) fn zrangebyscore(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    range(arguments, sink, Some(RangeKind::Score), false)
}

pub(crate) fn zrevrangebyscore(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
) -> Planned {
    range(arguments, sink, Some(RangeKind::Score), true)
}

pub(crate) fn zrangebylex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    range(arguments, sink, Some(RangeKind::Member), false)
}

pub(crate) fn zrevrangebylex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    range(arguments, sink, Some(RangeKind::Member), true)
}

/// The members between two ends.
fn between(
    arguments: &CommandArguments<'_>,
    kind: RangeKind,
    (low, high): (usize, usize),
) -> Result<RangeBy, Refusal> {
    Ok(match kind {
        RangeKind::Rank => RangeBy::Rank(integer(arguments, low)?, integer(arguments, high)?),
        RangeKind::Score => RangeBy::Score(score_end(arguments, low)?, score_end(arguments, high)?),
        RangeKind::Member => {
            RangeBy::Member(member_end(arguments, low)?, member_end(arguments, high)?)
        }
    })
}

pub(crate) fn zcount(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let range = between(arguments, RangeKind::Score, (2, 3))?;
    one(sink, SortedAction::CountIn(range))
}

pub(crate) fn zlexcount(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let range = between(arguments, RangeKind::Member, (2, 3))?;
    one(sink, SortedAction::CountIn(range))
}

pub(crate) fn zremrangebyrank(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
) -> Planned {
    let range = between(arguments, RangeKind::Rank, (2, 3))?;
    one(sink, SortedAction::RemoveRange(range))
}

pub(crate) fn zremrangebyscore(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
) -> Planned {
    let range = between(arguments, RangeKind::Score, (2, 3))?;
    one(sink, SortedAction::RemoveRange(range))
}

pub(crate) fn zremrangebylex(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let range = between(arguments, RangeKind::Member, (2, 3))?;
    one(sink, SortedAction::RemoveRange(range))
}

fn range(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    kind: Option<RangeKind>,
    is_reverse: bool,
) -> Planned {
    let options = range_options(arguments, kind, is_reverse)?;
    // What does not say otherwise ranges over places.
    let kind = options.kind.unwrap_or(RangeKind::Rank);
    if kind == RangeKind::Rank && options.limit.1 != -1 {
        let refusal = "ERR syntax error, LIMIT is only supported in combination with either \
                       BYSCORE or BYLEX";
        return Err(refusal.into());
    }
    if kind == RangeKind::Member && options.with_scores {
        let refusal = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";
        return Err(refusal.into());
    }
    // In a reverse range the higher end comes first.
    let is_turned = options.is_reverse && kind != RangeKind::Rank;
    let by = between(arguments, kind, if is_turned { (3, 2) } else { (2, 3) })?;
    let RangeOptions { is_reverse, limit: (offset, count), with_scores, .. } = options;
    one(sink, SortedAction::Range(MemberRange { by, is_reverse, offset, count, with_scores }))
}

/// Reads the options. A command that says by its name what it ranges over has no option for that,
/// and none for its direction.
fn range_options(
    arguments: &CommandArguments<'_>,
    kind: Option<RangeKind>,
    is_reverse: bool,
) -> Result<RangeOptions, Refusal> {
    let is_free = kind.is_none();
    let mut options = RangeOptions { kind, is_reverse, limit: (0, -1), with_scores: false };
    let mut at = 4;
    while at < arguments.len() {
        match arguments.get(at).to_ascii_lowercase().as_slice() {
            b"withscores" => options.with_scores = true,
            b"limit" if at + 2 < arguments.len() => {
                options.limit = (integer(arguments, at + 1)?, integer(arguments, at + 2)?);
                at += 2;
            }
            // Each of these is given once at most.
            b"rev" if is_free && !options.is_reverse => options.is_reverse = true,
            b"byscore" if options.kind.is_none() => options.kind = Some(RangeKind::Score),
            b"bylex" if options.kind.is_none() => options.kind = Some(RangeKind::Member),
            _ => return Err(words::SYNTAX.into()),
        }
        at += 1;
    }
    Ok(options)
}

fn score_end(arguments: &CommandArguments<'_>, index: usize) -> Result<ScoreEnd, Refusal> {
    let word = arguments.get(index);
    let (is_open, text) = match word.strip_prefix(b"(") {
        Some(text) => (true, text),
        None => (false, word),
    };
    // As C reads it: no digits at all are 0, and spaces may stand in front.
    let score =
        if text.is_empty() { Some(0.0) } else { parse_nearest_double(text.trim_ascii_start()) };
    let score = score.ok_or("ERR min or max is not a float")?;
    Ok(ScoreEnd { score, is_open })
}

fn member_end(arguments: &CommandArguments<'_>, index: usize) -> Result<MemberEnd, Refusal> {
    // The member follows the first byte.
    let mut member = arguments.argument(index);
    member.span.start += u32::from(!arguments.get(index).is_empty());
    match arguments.get(index) {
        b"-" => Ok(MemberEnd::Lowest),
        b"+" => Ok(MemberEnd::Highest),
        [b'[', ..] => Ok(MemberEnd::With(member)),
        [b'(', ..] => Ok(MemberEnd::Without(member)),
        _ => Err("ERR min or max not valid string range item".into()),
    }
}
