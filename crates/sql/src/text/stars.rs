//! `* REPLACE (a + 1 AS "A")`: columns are found without regard to case, as everywhere.

use datafusion::sql::sqlparser::ast::{Select, SelectItem, WildcardAdditionalOptions};

/// Brings the names of columns that a star replaces to lower case, as the planner knows them.
pub(super) fn fold_replaced(select: &mut Select) {
    for item in &mut select.projection {
        if let SelectItem::Wildcard(WildcardAdditionalOptions {
            opt_replace: Some(replace), ..
        })
        | SelectItem::QualifiedWildcard(
            _,
            WildcardAdditionalOptions { opt_replace: Some(replace), .. },
        ) = item
        {
            for element in &mut replace.items {
                element.column_name.value.make_ascii_lowercase();
            }
        }
    }
}
