//! Functions of rows that the library lacks.

mod format;
mod kinds;
mod moments;
mod names;
mod scalar;
mod text;

use datafusion::logical_expr::ScalarUDF;

pub(crate) use scalar::{Arguments, Gives, Scalar, int, text_of};

/// The functions as sessions have them.
pub(crate) fn scalars() -> Vec<ScalarUDF> {
    let all = [kinds::ALL.as_slice(), &names::ALL, &moments::ALL, &text::ALL, &format::ALL];
    all.into_iter().flatten().map(Scalar::function).collect()
}
