//! What a part answers.

use super::texts::Text;

/// The bytes around a value in a reply, at most.
pub(crate) const REPLY_HEAD_BYTES: usize = 16;

/// What a part answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PartReply {
    Null,
    Ok,
    Integer(i64),
    Double(f64),
    Text(Text),
    Simple(&'static str),
    Error(&'static str),
    /// What the store said, by its number among the failures of the round.
    Failed(u32),
    /// The fields of a hash, as it is stored; none of what is not there.
    Fields {
        hash: Option<Text>,
        show: FieldShow,
    },
    /// Byte strings that were chosen, each after its length in four bytes.
    List {
        texts: Text,
        count: u32,
        shape: ListShape,
    },
}

/// What of its fields a hash shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldShow {
    Names,
    Values,
    Both,
    /// The members of a set.
    Members,
}

impl FieldShow {
    pub(crate) fn has_values(self) -> bool {
        matches!(self, Self::Values | Self::Both)
    }
}

/// How byte strings make a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListShape {
    Array,
    /// An array that is null where it is empty.
    ArrayOrNull,
    /// Numbers of eight bytes.
    Integers,
    Set,
    /// Two and two are a field and its value.
    Map,
    /// Two and two are a pair.
    Pairs,
    /// Members of a sorted set, each with its score.
    Scores,
    /// The same without pairs: one member with its score.
    MemberAndScore,
    /// A page of a scan, and where the next one begins; 0 for nowhere.
    Page(u64),
}
