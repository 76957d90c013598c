//! ZUNION, ZINTER, ZDIFF and their relatives: what several sorted sets have in common, together, or
//! one beyond the others.

use std::collections::HashMap;

use super::immediate::ImmediateCall;
use super::scored_members::{MemberSource, ScoredMember, paired};
use super::set_algebra::Combination;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::protocol::{parse_double, parse_integer};

type Handled = Result<(), Refusal>;
type Scores = HashMap<Vec<u8>, f64>;

/// What becomes of the scores that a member has in several sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScoreAggregate {
    Sum,
    Least,
    Greatest,
}

/// What becomes of the combined members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CombineOutcome {
    Shown,
    Stored,
    Counted,
}

/// One of the sets.
struct WeightedSource<'k> {
    key: &'k [u8],
    kind: MemberSource,
    weight: f64,
}

/// The options after the keys.
struct CombineOptions {
    weights: Option<Vec<f64>>,
    aggregate: ScoreAggregate,
    with_scores: bool,
    /// How many are counted at most; 0 for all.
    limit: i64,
}

impl ScoreAggregate {
    fn of(self, one: f64, other: f64) -> f64 {
        match self {
            // Infinities of both signs together are 0.
            Self::Sum => number_or_zero(one + other),
            Self::Least => one.min(other),
            Self::Greatest => one.max(other),
        }
    }
}

fn number_or_zero(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

pub(crate) fn combine(call: &mut ImmediateCall<'_>) -> Handled {
    carry_out(call, CombineOutcome::Shown)
}

pub(crate) fn combine_and_store(call: &mut ImmediateCall<'_>) -> Handled {
    carry_out(call, CombineOutcome::Stored)
}

pub(crate) fn count(call: &mut ImmediateCall<'_>) -> Handled {
    carry_out(call, CombineOutcome::Counted)
}

fn carry_out(call: &mut ImmediateCall<'_>, outcome: CombineOutcome) -> Handled {
    let command = call.lower(0);
    let combination = Combination::of(&command);
    let number_at = if outcome == CombineOutcome::Stored { 2 } else { 1 };
    let count = call.integer(number_at)?;
    if count < 1 {
        return Err(format!("ERR at least 1 input key is needed for '{command}' command").into());
    }
    let range = call.keys_after(number_at, count, &[KeyRight::Read])?;
    let keys: Vec<&[u8]> = range.clone().map(|index| call.word(index)).collect();
    // No client changes one of them meanwhile.
    let turn = call.turn(true);
    // Keys of other kinds are refused before the options are, as in Redis.
    let kinds = call.member_sources(&keys)?;
    let options = options(call, range.end, keys.len(), combination, outcome)?;
    let weight = |number: usize| options.weights.as_ref().map_or(1.0, |weights| weights[number]);
    let sources = keys.iter().zip(kinds).enumerate();
    let sources: Vec<WeightedSource<'_>> = sources
        .map(|(number, (key, kind))| WeightedSource { key, kind, weight: weight(number) })
        .collect();
    let members = combined(call, combination, &sources, options.aggregate)?;
    if outcome == CombineOutcome::Stored {
        call.store_sorted(call.word(1), &members)?;
    }
    drop(turn);
    let counted = members.len() as i64;
    match outcome {
        CombineOutcome::Shown => show(call, &members, options.with_scores),
        CombineOutcome::Stored => call.reply().integer(counted),
        CombineOutcome::Counted => call.reply().integer(if options.limit > 0 {
            counted.min(options.limit)
        } else {
            counted
        }),
    }
    Ok(())
}

fn options(
    call: &ImmediateCall<'_>,
    mut at: usize,
    keys: usize,
    combination: Combination,
    outcome: CombineOutcome,
) -> Result<CombineOptions, Refusal> {
    let mut options = CombineOptions {
        weights: None,
        aggregate: ScoreAggregate::Sum,
        with_scores: false,
        limit: 0,
    };
    let has_scores = combination != Combination::Difference && outcome != CombineOutcome::Counted;
    while at < call.len() {
        // An option without its words is not an option.
        let words_left = call.len() - at - 1;
        match call.lower(at).as_str() {
            // A weight for each key.
            "weights" if has_scores && words_left >= keys => {
                let weight = |index| parse_double(call.word(index));
                let weights: Option<Vec<f64>> = (at + 1..=at + keys).map(weight).collect();
                options.weights = Some(weights.ok_or("ERR weight value is not a float")?);
                at += keys;
            }
            "aggregate" if has_scores && words_left >= 1 => {
                at += 1;
                options.aggregate = match call.lower(at).as_str() {
                    "sum" => ScoreAggregate::Sum,
                    "min" => ScoreAggregate::Least,
                    "max" => ScoreAggregate::Greatest,
                    _ => return Err(words::SYNTAX.into()),
                };
            }
            "withscores" if outcome == CombineOutcome::Shown => options.with_scores = true,
            "limit" if outcome == CombineOutcome::Counted && words_left >= 1 => {
                at += 1;
                let limit = parse_integer(call.word(at)).filter(|limit| *limit >= 0);
                options.limit = limit.ok_or("ERR LIMIT can't be negative")?;
            }
            _ => return Err(words::SYNTAX.into()),
        }
        at += 1;
    }
    Ok(options)
}

/// The combined members, by their scores and then by their names.
fn combined(
    call: &ImmediateCall<'_>,
    combination: Combination,
    sources: &[WeightedSource<'_>],
    aggregate: ScoreAggregate,
) -> Result<Vec<ScoredMember>, Refusal> {
    let mut bytes = 0_usize;
    let mut sets = Vec::with_capacity(sources.len());
    for source in sources {
        let members = call.scored_members(source.key, source.kind)?;
        bytes += members
            .iter()
            .map(|(member, _)| member.len() + size_of::<ScoredMember>())
            .sum::<usize>();
        if bytes > call.client.limits.output_bytes_max {
            return Err(words::REPLY_TOO_LARGE.into());
        }
        sets.push((members, source.weight));
    }
    // The smallest first, as Redis does it: the order decides how sums are rounded.
    if combination != Combination::Difference {
        sets.sort_by_key(|(members, _)| members.len());
    }
    let mut sets = sets.into_iter().map(|(members, weight)| {
        let weighted =
            move |(member, score): ScoredMember| (member, number_or_zero(score * weight));
        members.into_iter().map(weighted)
    });
    let mut all: Scores = sets.next().into_iter().flatten().collect();
    for next in sets {
        match combination {
            Combination::Union => next.for_each(|(member, score)| {
                let known = all.entry(member);
                known.and_modify(|sum| *sum = aggregate.of(*sum, score)).or_insert(score);
            }),
            Combination::Difference => next.for_each(|(member, _)| {
                all.remove(&member);
            }),
            Combination::Intersection => {
                let both = next.filter_map(|(member, score)| {
                    let (member, sum) = all.remove_entry(&member)?;
                    Some((member, aggregate.of(sum, score)))
                });
                all = both.collect();
            }
        }
    }
    let mut members: Vec<ScoredMember> = all.into_iter().collect();
    // No score is NaN.
    members.sort_unstable_by(|(one, score), (other, next)| {
        score.partial_cmp(next).unwrap_or(std::cmp::Ordering::Equal).then_with(|| one.cmp(other))
    });
    Ok(members)
}

fn show(call: &mut ImmediateCall<'_>, members: &[ScoredMember], with_scores: bool) {
    let mut reply = call.reply();
    match with_scores {
        true => reply.pair_list(members.len()),
        false => reply.array(members.len()),
    }
    for (member, score) in members {
        if with_scores {
            reply.pair();
        }
        reply.bulk(member);
        if with_scores {
            reply.double(*score);
        }
    }
}

/// ZRANGESTORE: a range of a sorted set becomes a sorted set.
pub(crate) fn store_range(call: &mut ImmediateCall<'_>) -> Handled {
    let (mut by_names, mut at) = (false, 5);
    while at < call.len() {
        match call.lower(at).as_str() {
            "limit" if at + 2 < call.len() => at += 2,
            "limit" | "withscores" => return Err(words::SYNTAX.into()),
            "bylex" => by_names = true,
            _ => {}
        }
        at += 1;
    }
    let (target, source) = (call.word(1), call.word(2));
    let mut range: Vec<&[u8]> = vec![b"ZRANGE"];
    range.extend((2..call.len()).map(|index| call.word(index)));
    let _turn = call.turn(true);
    let members = match by_names {
        true => call.with_scores(source, call.inner_list(&range)?)?,
        false => {
            range.push(b"WITHSCORES");
            paired(call.inner_list(&range)?)
        }
    };
    call.store_sorted(target, &members)?;
    call.reply().integer(members.len() as i64);
    Ok(())
}
