//! Consistency levels: how many copies a request must reach, and in which data centres.

use scylla::statement::Consistency;
use tonnage_engine::Acks;

/// Whose majority decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuorumScope {
    /// That of all copies.
    Everywhere,
    /// That of the copies in one data centre.
    Home,
}

impl QuorumScope {
    pub(crate) fn one(self) -> Consistency {
        match self {
            QuorumScope::Everywhere => Consistency::One,
            QuorumScope::Home => Consistency::LocalOne,
        }
    }

    pub(crate) fn majority(self) -> Consistency {
        match self {
            QuorumScope::Everywhere => Consistency::Quorum,
            QuorumScope::Home => Consistency::LocalQuorum,
        }
    }

    /// That of a read that ends whatever is under way.
    pub(crate) fn serial(self) -> Consistency {
        match self {
            QuorumScope::Everywhere => Consistency::Serial,
            QuorumScope::Home => Consistency::LocalSerial,
        }
    }

    /// That of a plain write. There is no such level as all copies of one data centre.
    pub(crate) fn of(self, acks: Acks) -> Consistency {
        match acks {
            Acks::None => self.one(),
            Acks::Majority => self.majority(),
            Acks::All => Consistency::All,
        }
    }
}

/// A level as CQL names it.
pub(crate) fn name(level: Consistency) -> &'static str {
    match level {
        Consistency::One => "ONE",
        Consistency::LocalOne => "LOCAL_ONE",
        Consistency::Quorum => "QUORUM",
        Consistency::LocalQuorum => "LOCAL_QUORUM",
        Consistency::All => "ALL",
        Consistency::Serial => "SERIAL",
        Consistency::LocalSerial => "LOCAL_SERIAL",
        _ => "of another name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_copies_mean_other_data_centres_too() {
        let names = |quorum_scope: QuorumScope| {
            [
                quorum_scope.of(Acks::None),
                quorum_scope.of(Acks::Majority),
                quorum_scope.of(Acks::All),
                quorum_scope.serial(),
            ]
            .map(name)
        };
        assert_eq!(names(QuorumScope::Everywhere), ["ONE", "QUORUM", "ALL", "SERIAL"]);
        assert_eq!(names(QuorumScope::Home), ["LOCAL_ONE", "LOCAL_QUORUM", "ALL", "LOCAL_SERIAL"]);
    }
}
