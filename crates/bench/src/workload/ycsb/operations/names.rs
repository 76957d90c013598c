//! Keys of records.

use std::fmt::Write;

use crate::generate::ycsb_hash;
use crate::workload::ycsb::{CoreOptions, InsertOrder};

/// Makes keys of records' numbers: `user`, then the number or its hash, with zeros before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordNames {
    order: InsertOrder,
    digits_min: usize,
}

impl RecordNames {
    pub(super) fn new(options: &CoreOptions) -> Self {
        RecordNames { order: options.insert_order, digits_min: options.zero_padding }
    }

    /// Writes the key of a record's number.
    pub(super) fn write(self, number: u64, into: &mut String) {
        let number = match self.order {
            InsertOrder::Hashed => ycsb_hash(number),
            InsertOrder::Ordered => number,
        };
        into.clear();
        // Writing to a string does not fail.
        let _ = write!(into, "user{number:0digits$}", digits = self.digits_min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(order: InsertOrder, zero_padding: usize, number: u64) -> String {
        let options = CoreOptions { insert_order: order, zero_padding, ..CoreOptions::default() };
        let mut name = "before".to_owned();
        RecordNames::new(&options).write(number, &mut name);
        name
    }

    #[test]
    fn a_key_is_the_hash_of_the_number() {
        assert_eq!(name(InsertOrder::Hashed, 1, 0), "user6284781860667377211");
    }

    #[test]
    fn an_ordered_key_is_the_number_with_zeros_before_it() {
        assert_eq!(name(InsertOrder::Ordered, 1, 5), "user5");
        assert_eq!(name(InsertOrder::Ordered, 8, 5), "user00000005");
        assert_eq!(name(InsertOrder::Ordered, 2, 12345), "user12345");
    }
}
