//! Writes out `*` and columns of the same name where the planner would misread them.
//!
//! Upstream: apache/datafusion#21232. Gone in: open

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, Select, SelectItem, SelectItemQualifiedWildcardKind,
    WildcardAdditionalOptions,
};

use tonnage::Result;

use super::outputs::{excluded, last, name_of};
use super::visible::{ColumnMatch, VisibleColumn, VisibleColumns};
use crate::errors::invalid_at;
use crate::text::{distinct_names, folded};

/// Refuses `* REPLACE (1 AS k)` where there is no `k`: the planner would leave it out.
pub(super) fn refuse_unknown_replaced(select: &Select, from: &VisibleColumns) -> Result<()> {
    for item in &select.projection {
        let SelectItem::Wildcard(options) = item else { continue };
        let replaced = options.opt_replace.iter().flat_map(|replace| &replace.items);
        for element in replaced {
            let name = folded(&element.column_name);
            if from.is_whole && !from.has(&name) {
                return Err(invalid_at(
                    element.column_name.span.start,
                    format_args!(
                        "* REPLACE puts values in the place of columns, and {name} is none of them: write *, and the value as a column of its own"
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// `* EXCLUDE (k)` as the columns that are left, where several columns are called `k`: the planner
/// calls the name ambiguous.
pub(super) fn spell_out_stars(select: &mut Select, from: &VisibleColumns) {
    // To the planner a column of USING is there once for each side, so a single match may be hard,
    // too.
    let is_hard = |name: &String| match from.find(name) {
        ColumnMatch::Several => true,
        ColumnMatch::One(column) => column.shared.is_some(),
        ColumnMatch::Nothing => false,
    };
    let mut items = Vec::with_capacity(select.projection.len());
    for item in std::mem::take(&mut select.projection) {
        let SelectItem::Wildcard(options) = &item else {
            items.push(item);
            continue;
        };
        let excluded = excluded(options);
        let is_there = excluded.iter().all(|name| from.has(name));
        let kept = from.columns.iter().filter(|column| !excluded.contains(&column.name));
        let kept: Vec<SelectItem> =
            kept.map(|column| SelectItem::UnnamedExpr(column.to_expr())).collect();
        // A star stays where the planner understands it, and where not all columns are known here.
        match is_plain(options)
            && is_there
            && from.is_whole
            && excluded.iter().any(is_hard)
            && !kept.is_empty()
        {
            true => items.extend(kept),
            false => items.push(item),
        }
    }
    select.projection = items;
}

/// Whether no more than EXCLUDE follows a star.
fn is_plain(options: &WildcardAdditionalOptions) -> bool {
    options.opt_replace.is_none() && options.opt_rename.is_none() && options.opt_ilike.is_none()
}

/// Gives the later ones of columns that are called alike names of their own, each star among them
/// written out. Readers of the SELECT know its columns by their names alone. Returns whether
/// there were any.
pub(super) fn name_twins(select: &mut Select, from: &VisibleColumns) -> bool {
    let mut items = Vec::new();
    for item in &select.projection {
        match written_out(item, from) {
            Some(columns) => items.extend(columns),
            None => return false,
        }
    }
    // What has no name is distinguished by its text.
    let names: Vec<String> = items.iter().map(|item| item_name(item).unwrap_or_default()).collect();
    let mut is_changed = false;
    for (item, distinct) in items.iter_mut().zip(distinct_names(&names, str::to_owned)) {
        // The planner would put the table before the name of a cast.
        let is_cast = matches!(&*item, SelectItem::UnnamedExpr(Expr::Cast { .. }));
        if let Some(name) = item_name(item)
            && let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = &*item
            && (distinct != name || is_cast)
        {
            is_changed |= distinct != name;
            let alias = Ident::with_quote('"', distinct);
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
    if is_changed {
        select.projection = items;
    }
    is_changed
}

/// The columns of an item, where they are known.
fn written_out(item: &SelectItem, from: &VisibleColumns) -> Option<Vec<SelectItem>> {
    let listed = |columns: Vec<&VisibleColumn>| -> Option<Vec<SelectItem>> {
        let listed = columns.iter().map(|column| SelectItem::UnnamedExpr(column.to_expr()));
        (from.is_whole && !columns.is_empty()).then(|| listed.collect())
    };
    match item {
        SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => Some(vec![item.clone()]),
        SelectItem::ExprWithAliases { .. } => None,
        SelectItem::Wildcard(options) if is_plain(options) => {
            let excluded = excluded(options);
            listed(from.columns.iter().filter(|c| !excluded.contains(&c.name)).collect())
        }
        SelectItem::QualifiedWildcard(
            SelectItemQualifiedWildcardKind::ObjectName(table),
            options,
        ) if is_plain(options) && from.columns.iter().all(|column| column.shared.is_none()) => {
            let excluded = excluded(options);
            let columns = of_table(table, from).into_iter();
            listed(columns.filter(|column| !excluded.contains(&column.name)).collect())
        }
        _ => None,
    }
}

fn of_table<'a>(table: &ObjectName, from: &'a VisibleColumns) -> Vec<&'a VisibleColumn> {
    let is_own = |column: &&VisibleColumn| last(table).is_some_and(|table| column.is_of(&table));
    from.columns.iter().filter(is_own).collect()
}

/// The name of a column as it is written.
fn item_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
        SelectItem::UnnamedExpr(expr) => name_of(expr),
        _ => None,
    }
}
