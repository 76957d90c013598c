//! Scalar functions that the library lacks, or answers wrongly.

mod buckets;
mod cast_text;
mod choosing;
mod domains;
mod format;
mod geo;
mod given_columns;
mod intervals;
mod length_limits;
mod list_lengths;
mod lists;
mod marks;
mod moment_series;
mod replacements;
mod scalar;
mod session_info;
mod text;
mod time_zones;
mod timestamps;
mod type_names;
mod uuid;
mod wrapped;

use datafusion::logical_expr::ScalarUDF;

pub(crate) use self::geo::{SPHEROID_SHARE, read_wkb};
pub(crate) use cast_text::{
    HEXADECIMAL, decimal_text, interval_text, is_leap, is_number, text_bytes, time_text,
};
pub(crate) use intervals::{
    interval_in_days, length_of, longest_of, microseconds_of, milliseconds_of, over, seconds_of,
    times, whole_interval,
};
pub(crate) use lists::{comparison, extreme_of, holds_null, without_null};
pub(crate) use marks::{json_key, sixteen_bytes};
pub(crate) use moment_series::register_series;
pub(crate) use scalar::{Arguments, Gives, Scalar, int, text_of};
pub(crate) use uuid::{UUID, uuid_text};
pub(crate) use wrapped::wrapped;

use crate::upstream::{array_positions, round_digits};

/// The functions as sessions have them whose statements may take so much memory.
pub(crate) fn scalars(memory_bytes_max: usize) -> Vec<ScalarUDF> {
    let all = [
        type_names::ALL.as_slice(),
        &session_info::ALL,
        &timestamps::ALL,
        &time_zones::ALL,
        &text::ALL,
        &format::ALL,
        &uuid::ALL,
        &lists::ALL,
        &marks::ALL,
    ];
    let own = all.into_iter().flatten().map(Scalar::function);
    own.chain(buckets::functions())
        .chain(length_limits::functions(memory_bytes_max))
        .chain(array_positions::functions())
        .chain(choosing::functions())
        .chain(domains::functions())
        .chain(geo::functions())
        .chain(std::iter::once(round_digits::function()))
        .collect()
}
