//! The columns that a SELECT list gives.

use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, ObjectName, RenameSelectItem, Select, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};

use super::visible::{ColumnNames, VisibleColumns};
use crate::text::folded;

/// The names of the columns of a SELECT over these.
pub(super) fn outputs(select: &Select, from: &VisibleColumns) -> ColumnNames {
    let mut all = ColumnNames::whole(Vec::new());
    for item in &select.projection {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => all.names.push(folded(alias)),
            SelectItem::ExprWithAliases { .. } => all.is_whole = false,
            SelectItem::UnnamedExpr(expr) => match name_of(expr) {
                Some(name) => all.names.push(name),
                // A computed value has no name that a statement writes. A path or subquery has one,
                // which is not known here.
                None => all.is_whole &= !is_path(expr),
            },
            SelectItem::Wildcard(options) => {
                let names = from.columns.iter().map(|column| column.name.clone()).collect();
                all.names.extend(optional(names, options));
                all.is_whole &= from.is_whole && options.opt_ilike.is_none();
            }
            SelectItem::QualifiedWildcard(kind, options) => {
                let names = match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(table) => last(table),
                    SelectItemQualifiedWildcardKind::Expr(_) => None,
                };
                // A column of USING is one of both tables.
                let is_plain = from.columns.iter().all(|column| column.shared.is_none());
                let names = names.map(|table| {
                    from.columns
                        .iter()
                        .filter(|column| column.is_of(&table))
                        .map(|column| column.name.clone())
                        .collect::<Vec<_>>()
                });
                let names = names.unwrap_or_default();
                all.is_whole &= from.is_whole && is_plain && !names.is_empty();
                all.names.extend(optional(names, options));
            }
        }
    }
    all
}

/// The name that a column gets by what is written; none for what is never written as a name.
pub(super) fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(folded(name)),
        Expr::CompoundIdentifier(parts) => parts.last().map(folded),
        Expr::Nested(expr) | Expr::Cast { expr, .. } => name_of(expr),
        _ => None,
    }
}

fn is_path(expr: &Expr) -> bool {
    matches!(expr, Expr::CompoundFieldAccess { .. } | Expr::Subquery(_))
}

pub(super) fn last(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(|part| part.as_ident()).map(folded)
}

fn optional(mut names: Vec<String>, options: &WildcardAdditionalOptions) -> Vec<String> {
    let excluded = excluded(options);
    names.retain(|name| !excluded.contains(name));
    let renamed = match &options.opt_rename {
        Some(RenameSelectItem::Single(one)) => std::slice::from_ref(one),
        Some(RenameSelectItem::Multiple(all)) => all.as_slice(),
        None => &[],
    };
    for pair in renamed {
        let given = folded(&pair.ident);
        if let Some(name) = names.iter_mut().find(|name| **name == given) {
            *name = folded(&pair.alias);
        }
    }
    names
}

/// The names after EXCLUDE or EXCEPT.
pub(super) fn excluded(options: &WildcardAdditionalOptions) -> Vec<String> {
    let mut names: Vec<String> = match &options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => last(name).into_iter().collect(),
        Some(ExcludeSelectItem::Multiple(names)) => names.iter().filter_map(last).collect(),
        None => Vec::new(),
    };
    if let Some(except) = &options.opt_except {
        names.push(folded(&except.first_element));
        names.extend(except.additional_elements.iter().map(folded));
    }
    names
}
