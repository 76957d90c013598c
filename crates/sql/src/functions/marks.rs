//! Functions that return their argument. One marks a value for a later rule, one checks it.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::Expr;
use tonnage::ColumnType;

use super::scalar::{Arguments, Gives, Scalar, ScalarWork, texts};
use crate::text::{MARK, TEXT_MARK, is_path};

const VALUE: Scalar = as_it_is(MARK, "VALUES (value)", |arguments| Ok(arguments.arrays[0].clone()));
/// Without a type, so that it is beside values of any.
const SPELLED: Scalar = Scalar {
    name: TEXT_MARK,
    form: "VALUES (text)",
    count: (1, 1),
    gives: Gives::Type(|| DataType::Null),
    work: |arguments| exec_err!("{} is outside of VALUES", arguments.name),
};
const JSON_KEY: Scalar = as_it_is("_json_key", "document -> name", names);

const SIXTEEN_BYTES: Scalar = Scalar {
    name: "_binary_16",
    form: "BINARY(16)",
    count: (1, 1),
    gives: Gives::Column(|| ColumnType::FixedBinary(16)),
    work: |arguments| Ok(arguments.arrays[0].clone()),
};

pub(super) const ALL: [Scalar; 4] = [VALUE, SPELLED, JSON_KEY, SIXTEEN_BYTES];

const fn as_it_is(name: &'static str, form: &'static str, work: ScalarWork) -> Scalar {
    Scalar { name, form, count: (1, 1), gives: Gives::First, work }
}

/// The name of a member that is computed.
pub(crate) fn json_key(name: Expr) -> Expr {
    JSON_KEY.call(vec![name])
}

/// 16 bytes that are not a UUID.
pub(crate) fn sixteen_bytes(bytes: Expr) -> Expr {
    SIXTEEN_BYTES.call(vec![bytes])
}

/// Names of members, or lists of them. A path among them is an error.
fn names(arguments: &Arguments) -> Result<ArrayRef> {
    let given = &arguments.arrays[0];
    let names = match given.as_list_opt::<i32>() {
        Some(lists) => lists.values(),
        None => given,
    };
    if let Ok(names) = texts(names)
        && let Some(path) = names.iter().flatten().find(|name| is_path(name))
    {
        return exec_err!(
            "'{path}' is a path, and stands where names of members are computed: write it as a \
             literal, or give names and places one by one"
        );
    }
    Ok(given.clone())
}
