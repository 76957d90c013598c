//! Members of sorted sets with their scores, as commands of several keys read and store them.

use super::immediate::ImmediateCall;
use super::words::{self, Refusal};
use crate::protocol::{parse_nearest_double, write_double};

/// A member and its score.
pub(super) type ScoredMember = (Vec<u8>, f64);

/// The most members that one of the inner commands adds or looks up.
const MEMBERS_MAX: usize = 10_000;

/// What kind of members a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberSource {
    Nothing,
    Set,
    SortedSet,
}

impl ImmediateCall<'_> {
    /// What each of some keys has. Keys of other kinds are refused.
    pub(super) fn member_sources(&self, keys: &[&[u8]]) -> Result<Vec<MemberSource>, Refusal> {
        let commands: Vec<[&[u8]; 2]> = keys.iter().map(|key| [&b"TYPE"[..], key]).collect();
        let commands: Vec<&[&[u8]]> = commands.iter().map(|command| &command[..]).collect();
        let kinds = self.inner(&commands)?.into_iter().map(|kind| {
            match kind.into_text().unwrap_or_default().as_slice() {
                b"none" => Ok(MemberSource::Nothing),
                b"set" => Ok(MemberSource::Set),
                b"zset" => Ok(MemberSource::SortedSet),
                _ => Err(words::WRONG_TYPE.into()),
            }
        });
        kinds.collect()
    }

    /// All members of a key. Those of a set have the score 1.
    pub(super) fn scored_members(
        &self,
        key: &[u8],
        source: MemberSource,
    ) -> Result<Vec<ScoredMember>, Refusal> {
        match source {
            MemberSource::Nothing => Ok(Vec::new()),
            MemberSource::Set => {
                let members = self.inner_list(&[b"SMEMBERS", key])?;
                Ok(members.into_iter().map(|member| (member, 1.0)).collect())
            }
            MemberSource::SortedSet => {
                Ok(paired(self.inner_list(&[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"])?))
            }
        }
    }

    /// The list that one simple command answers.
    pub(super) fn inner_list(&self, command: &[&[u8]]) -> Result<Vec<Vec<u8>>, Refusal> {
        let reply = self.inner(&[command])?.pop();
        Ok(reply.map(|reply| reply.into_list()).unwrap_or_default())
    }

    /// The scores of members that a sorted set has.
    pub(super) fn with_scores(
        &self,
        key: &[u8],
        members: Vec<Vec<u8>>,
    ) -> Result<Vec<ScoredMember>, Refusal> {
        let mut scores = Vec::with_capacity(members.len());
        for some in members.chunks(MEMBERS_MAX) {
            let names: Vec<&[u8]> = some.iter().map(Vec::as_slice).collect();
            let found = self.inner_list(&[&[&b"ZMSCORE"[..], key], &names[..]].concat())?;
            scores.extend(found.iter().map(|score| score_in(score)));
        }
        Ok(members.into_iter().zip(scores).collect())
    }

    /// A sorted set of these members takes the place of what a key has.
    pub(super) fn store_sorted(
        &self,
        target: &[u8],
        members: &[ScoredMember],
    ) -> Result<(), Refusal> {
        let scores: Vec<String> = members.iter().map(|(_, score)| write_double(*score)).collect();
        let words: Vec<&[u8]> = members
            .iter()
            .zip(&scores)
            .flat_map(|((member, _), score)| [score.as_bytes(), member])
            .collect();
        let mut commands: Vec<Vec<&[u8]>> = vec![vec![b"DEL", target]];
        for some in words.chunks(2 * MEMBERS_MAX) {
            commands.push([&[&b"ZADD"[..], target], some].concat());
        }
        let commands: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
        self.inner(&commands).map(drop)
    }
}

/// Members with the scores that follow them.
pub(super) fn paired(list: Vec<Vec<u8>>) -> Vec<ScoredMember> {
    let (mut members, mut list) = (Vec::with_capacity(list.len() / 2), list.into_iter());
    while let (Some(member), Some(score)) = (list.next(), list.next()) {
        members.push((member, score_in(&score)));
    }
    members
}

/// A score as an inner command wrote it.
fn score_in(text: &[u8]) -> f64 {
    parse_nearest_double(text).unwrap_or(0.0)
}
