//! What a workload does.

use crate::generate::Discrete;
use crate::workload::ycsb::Mix;

/// One kind of operation. Its number is its place in [`YcsbOperation::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload::ycsb) enum YcsbOperation {
    Read,
    Update,
    Insert,
    Scan,
    /// Recorded as one operation from the read to the end of the update, unlike YCSB, which counts
    /// its two parts as well: in the sum of all operations nothing is to count twice.
    ReadModifyWrite,
}

impl YcsbOperation {
    const ALL: [YcsbOperation; 5] = [
        YcsbOperation::Read,
        YcsbOperation::Update,
        YcsbOperation::Insert,
        YcsbOperation::Scan,
        YcsbOperation::ReadModifyWrite,
    ];

    /// YCSB's names of all of them.
    pub(in crate::workload::ycsb) const NAMES: [&'static str; 5] =
        ["READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE"];

    /// Draws from a mix give a number, which is one of these.
    pub(super) fn of_number(number: usize) -> YcsbOperation {
        YcsbOperation::ALL[number]
    }
}

impl Mix {
    /// Draws numbers of operations.
    pub(super) fn chooser(&self) -> Discrete {
        Discrete::new(&[self.read, self.update, self.insert, self.scan, self.read_modify_write])
    }
}
