//! The shape of a tree of joins: what is joined with what.

/// Relations of a tree, a bit each.
pub(super) type RelationSet = u64;

/// The most relations that a tree has.
pub(super) const RELATIONS_MAX: usize = RelationSet::BITS as usize;

/// The order of joins: what is on the left is held in memory.
#[derive(Clone, Debug)]
pub(super) enum JoinShape {
    Relation(usize),
    Join(Box<JoinShape>, Box<JoinShape>),
}

impl JoinShape {
    pub(super) fn join(left: Self, right: Self) -> Self {
        Self::Join(Box::new(left), Box::new(right))
    }

    pub(super) fn relations(&self) -> RelationSet {
        match self {
            Self::Relation(relation) => 1 << relation,
            Self::Join(left, right) => left.relations() | right.relations(),
        }
    }
}

/// Whether all of some relations are among others.
pub(super) fn is_within(some: RelationSet, others: RelationSet) -> bool {
    some & !others == 0
}
