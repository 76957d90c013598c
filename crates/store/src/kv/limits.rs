//! The error of a pair that is too large for the engine.

use tonnage_engine::{Capability, Error};

pub(crate) fn over_limits(key_bytes: usize, value_bytes: usize, capability: &Capability) -> Error {
    Error::invalid(format!(
        "a key of {key_bytes} and a value of {value_bytes} bytes: this store takes keys up to {} and values up to {} bytes",
        capability.key_bytes_max, capability.value_bytes_max
    ))
}
