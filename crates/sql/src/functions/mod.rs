//! Functions of rows that the library lacks.

mod buckets;
mod calendar;
mod format;
mod intervals;
mod kinds;
mod moments;
mod names;
mod scalar;
mod text;
mod uuid;

use datafusion::logical_expr::ScalarUDF;

pub(crate) use intervals::{length_of, longest_of, over, times, whole_interval};
pub(crate) use scalar::{Arguments, Gives, Scalar, int, text_of};
pub(crate) use uuid::{UUID, uuid_text};

/// The functions as sessions have them.
pub(crate) fn scalars() -> Vec<ScalarUDF> {
    let all =
        [kinds::ALL.as_slice(), &names::ALL, &moments::ALL, &text::ALL, &format::ALL, &uuid::ALL];
    all.into_iter().flatten().map(Scalar::function).chain(buckets::functions()).collect()
}
