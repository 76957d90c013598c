//! Functions of rows that the library lacks.

mod buckets;
mod calendar;
mod format;
mod intervals;
mod kinds;
mod lengthened;
mod moments;
mod names;
mod scalar;
mod text;
mod uuid;

use datafusion::logical_expr::ScalarUDF;

pub(crate) use intervals::{
    interval_in_days, length_of, longest_of, microseconds_of, milliseconds_of, over, seconds_of,
    times, whole_interval,
};
pub(crate) use scalar::{Arguments, Gives, Scalar, int, text_of};
pub(crate) use uuid::{UUID, uuid_text};

/// The functions as sessions have them.
pub(crate) fn scalars() -> Vec<ScalarUDF> {
    let all =
        [kinds::ALL.as_slice(), &names::ALL, &moments::ALL, &text::ALL, &format::ALL, &uuid::ALL];
    let own = all.into_iter().flatten().map(Scalar::function);
    own.chain(buckets::functions()).chain(lengthened::functions()).collect()
}
