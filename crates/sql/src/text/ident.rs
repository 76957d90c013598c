//! Names as plans have them: in lower case, unless they are quoted.

use datafusion::sql::sqlparser::ast::Ident;

/// A name in small letters, or unchanged between quotes.
pub(crate) fn folded(name: &Ident) -> String {
    match name.quote_style {
        None => name.value.to_ascii_lowercase(),
        Some(_) => name.value.clone(),
    }
}
