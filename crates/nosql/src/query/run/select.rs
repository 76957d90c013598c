//! SELECT.

use std::collections::HashSet;
use std::sync::Arc;

use tonnage::Direction;

use super::budget::MemoryBudget;
use super::columns::RowColumns;
use super::continuation::Continuation;
use super::groups::Groups;
use super::part::{Output, QueryCall};
use super::rows::FoundRows;
use super::sorting::SortedRows;
use crate::query::evaluate::{Evaluator, Scope};
use crate::query::item::{GroupForm, Item, Sequence};
use crate::query::plan::{AccessPath, SelectPlan, choose_access, is_constant};
use crate::query::syntax::{Expr, ExprKind};
use crate::wire::{Failure, Outcome};

/// How many bytes of rows a part has at most.
const PART_BYTES_MAX: usize = 2 << 20;

/// Answers a SELECT, from the client's position on.
///
/// # Errors
/// What cannot be computed, and what the store says.
pub(crate) fn run_select(call: &QueryCall<'_>, plan: &SelectPlan) -> Outcome<Output> {
    let limits = &plan.limits;
    let names: Arc<[Arc<str>]> = plan.output.names.clone().into();
    let continuation = call.continuation.map(Continuation::read).transpose()?;
    if let Some(Continuation::Kept { cursor, row }) = continuation {
        return kept_part(call, cursor, row);
    }
    let limit = bound(&call.evaluator, limits.limit.as_ref(), "Limit")?;
    let offset = bound(&call.evaluator, limits.offset.as_ref(), "Offset")?.unwrap_or(0);
    if limit == Some(0) {
        return Ok(Output { names, ..Output::default() });
    }
    // Chosen anew for each part: variables are those of the first.
    let path = choose_access(call.table, plan.filter.as_ref(), &call.evaluator)?;
    let direction = key_direction(call, plan, &path);
    // Everything else has to see all rows before it can give the first.
    let is_streamed = direction.is_some() && !matches!(path, AccessPath::Index { .. });
    if is_streamed && !plan.is_grouped && !plan.is_distinct && plan.from.is_empty() {
        let (token, offset, limit) = match continuation {
            Some(Continuation::Behind { token, offset, left }) => (Some(token), offset, left),
            _ => (None, offset, limit),
        };
        let direction = direction.unwrap_or(Direction::Forward);
        let streamed = StreamedRows { token, offset, limit, direction };
        return streamed.part(call, plan, &path, names);
    }
    let rows = all_rows(call, plan, &path, limit, offset)?;
    first_part(call, names, rows)
}

/// The direction in which keys give the order that is wanted, if they do.
fn key_direction(call: &QueryCall<'_>, plan: &SelectPlan, path: &AccessPath) -> Option<Direction> {
    let Some(first) = plan.order.first() else { return Some(Direction::Forward) };
    let AccessPath::Prefix(key, _) = path else {
        return matches!(path, AccessPath::Key(_)).then_some(Direction::Forward);
    };
    let schema = call.table.schema();
    // Columns of the key with one value each change no order.
    let mut rest = schema.key.iter().skip(key.len());
    for sorted in &plan.order {
        let ExprKind::Column(column) = sorted.expr.kind else { return None };
        let is_fixed = schema.key.iter().take(key.len()).any(|fixed| *fixed == column);
        if sorted.is_descending != first.is_descending {
            return None;
        }
        if !is_fixed && rest.next() != Some(&column) {
            return None;
        }
    }
    Some(if first.is_descending { Direction::Reverse } else { Direction::Forward })
}

/// LIMIT or OFFSET.
fn bound(evaluator: &Evaluator, expr: Option<&Expr>, name: &str) -> Outcome<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    if !is_constant(expr) {
        return Err(Failure::argument(format!("Error: {name} expression is not constant")));
    }
    let given = evaluator.evaluate(expr, &Scope::default())?;
    let number = match &given {
        Sequence::One(item) if item.is_number() => item.whole(),
        Sequence::One(item) => {
            let (place, kind) = (expr.place, item.kind_name());
            let shown = crate::query::item::item_text(item);
            return Err(Failure::argument(format!(
                "Error: {place} Cannot promote item {shown}\nof type :\n{kind}\nto type :\nLong"
            )));
        }
        _ => None,
    };
    let negative = || {
        Failure::argument(format!(
            "Error: {name} can not be a negative number: {}:{}",
            expr.place.line, expr.place.column
        ))
    };
    number.and_then(|number| u64::try_from(number).ok()).ok_or_else(negative).map(Some)
}

/// Rows in the order of their keys.
struct StreamedRows {
    token: Option<Vec<u8>>,
    offset: u64,
    limit: Option<u64>,
    direction: Direction,
}

impl StreamedRows {
    /// Reads until the part is full, and says where to continue unless nothing is left.
    fn part(
        mut self,
        call: &QueryCall<'_>,
        plan: &SelectPlan,
        path: &AccessPath,
        names: Arc<[Arc<str>]>,
    ) -> Outcome<Output> {
        let mut columns = RowColumns::new(call.table, &plan.used);
        let wanted = columns.wanted();
        let token = self.token.as_deref();
        let mut found =
            FoundRows::open(call.call, call.table, path, wanted, token, self.direction)?;
        let (mut rows, mut bytes, mut read_kb) = (Vec::new(), 0, 0);
        while let Some(row) = found.next_row()? {
            columns.load(&row);
            let scope = columns.scope(&[]);
            // Rows that are left out were read, too.
            read_kb += columns.kilobytes();
            let is_wanted = match &plan.filter {
                Some(filter) => call.evaluator.truth(filter, &scope)? == Some(true),
                None => true,
            };
            if is_wanted && self.offset > 0 {
                self.offset -= 1;
            } else if is_wanted {
                let row = output_row(call, &plan.output.exprs, &scope)?;
                bytes += row.iter().map(Item::bytes).sum::<usize>();
                rows.push(row);
                self.limit = self.limit.map(|left| left.saturating_sub(1));
                if self.limit == Some(0) {
                    return Ok(Output { names, rows, continuation: None });
                }
            }
            let is_full = call.limits.rows.is_some_and(|most| rows.len() >= most)
                || call.limits.read_kb.is_some_and(|most| read_kb >= most)
                || bytes >= PART_BYTES_MAX;
            if is_full && let Some(token) = found.position() {
                // A client that continues after the last row gets an empty part.
                let continuation = match found.next_row()? {
                    None => None,
                    Some(_) => {
                        let (offset, left) = (self.offset, self.limit);
                        Some(Continuation::Behind { token, offset, left }.to_bytes())
                    }
                };
                return Ok(Output { names, rows, continuation });
            }
        }
        Ok(Output { names, rows, continuation: None })
    }
}

fn output_row(call: &QueryCall<'_>, exprs: &[Expr], scope: &Scope<'_>) -> Outcome<Arc<[Item]>> {
    let items = exprs.iter().map(|expr| Ok(call.evaluator.evaluate(expr, scope)?.into_field()));
    items.collect::<Outcome<Vec<Item>>>().map(Arc::from)
}

/// Everything that a statement gives, sorted and limited.
fn all_rows(
    call: &QueryCall<'_>,
    plan: &SelectPlan,
    path: &AccessPath,
    limit: Option<u64>,
    offset: u64,
) -> Outcome<Vec<Arc<[Item]>>> {
    let most = limit.and_then(|limit| usize::try_from(limit.saturating_add(offset)).ok());
    // Distinct rows are known as such only when all were seen.
    let first = most.filter(|_| !plan.order.is_empty());
    let mut sorted = SortedRows::new(&plan.order, first);
    let mut groups = Groups::new(&plan.keys, &plan.aggregates);
    let mut budget = MemoryBudget::default();
    let mut seen = HashSet::new();
    let mut count = 0;
    let evaluator = &call.evaluator;
    let mut emit = |scope: &Scope<'_>, budget: &mut MemoryBudget| -> Outcome<bool> {
        let row = output_row(call, &plan.output.exprs, scope)?;
        if plan.is_distinct {
            let mut form = GroupForm::default();
            row.iter().for_each(|item| form.push(item));
            budget.take(form.len())?;
            if !seen.insert(form) {
                return Ok(true);
            }
        }
        sorted.add(row, evaluator, scope, budget)?;
        count += 1;
        // Without an order the first rows are as good as others.
        Ok(!plan.order.is_empty() || most.is_none_or(|most| count < most))
    };
    let mut columns = RowColumns::new(call.table, &plan.used);
    let wanted = columns.wanted();
    let mut found = FoundRows::open(call.call, call.table, path, wanted, None, Direction::Forward)?;
    'rows: while let Some(row) = found.next_row()? {
        columns.load(&row);
        let mut combinations = Vec::new();
        unnest(call, plan, &columns, &mut Vec::new(), &mut combinations)?;
        for unnested in &combinations {
            let scope = columns.scope(unnested);
            let is_wanted = match &plan.filter {
                Some(filter) => evaluator.truth(filter, &scope)? == Some(true),
                None => true,
            };
            if is_wanted && plan.is_grouped {
                groups.add(evaluator, &scope, &mut budget)?;
            } else if is_wanted && !emit(&scope, &mut budget)? {
                break 'rows;
            }
        }
    }
    if plan.is_grouped {
        for group in groups.into_groups() {
            let aggregated = group.aggregated(&plan.aggregates, &evaluator.numbers)?;
            let scope = Scope { groups: &group.keys, aggregated: &aggregated, ..Scope::default() };
            if !emit(&scope, &mut budget)? {
                break;
            }
        }
    }
    let rows = sorted.into_rows().into_iter();
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    Ok(rows.skip(offset).take(limit).collect())
}

/// All combinations of the items that FROM makes of a row.
fn unnest(
    call: &QueryCall<'_>,
    plan: &SelectPlan,
    columns: &RowColumns,
    taken: &mut Vec<Item>,
    out: &mut Vec<Vec<Item>>,
) -> Outcome<()> {
    let Some(from) = plan.from.get(taken.len()) else {
        out.push(taken.clone());
        return Ok(());
    };
    let given = call.evaluator.evaluate(&from.expr, &columns.scope(taken))?;
    let items = match given {
        // A row without items is kept with NULL.
        Sequence::Empty if from.is_unnest => vec![Item::Null],
        given => given.into_vec(),
    };
    for item in items {
        taken.push(item);
        unnest(call, plan, columns, taken, out)?;
        taken.pop();
    }
    Ok(())
}

/// The first part of an answer; the rest is kept if there is one.
fn first_part(
    call: &QueryCall<'_>,
    names: Arc<[Arc<str>]>,
    rows: Vec<Arc<[Item]>>,
) -> Outcome<Output> {
    let taken = part_len(call, &rows);
    if taken == rows.len() {
        return Ok(Output { names, rows, continuation: None });
    }
    let rows: Arc<[Arc<[Item]>]> = rows.into();
    let now_ms = call.evaluator.now_ms;
    let cursor = call.cursors.keep(&call.identity, names.clone(), rows.clone(), now_ms);
    let continuation = Continuation::Kept { cursor, row: taken as u64 };
    Ok(Output { names, rows: rows[..taken].to_vec(), continuation: Some(continuation.to_bytes()) })
}

/// A further part of an answer that is kept.
fn kept_part(call: &QueryCall<'_>, cursor: u64, row: u64) -> Outcome<Output> {
    let kept = call.cursors.get(cursor, &call.identity, call.evaluator.now_ms)?;
    let from = usize::try_from(row).unwrap_or(usize::MAX).min(kept.rows.len());
    let taken = part_len(call, &kept.rows[from..]);
    let rows = kept.rows[from..from + taken].to_vec();
    let continuation = match from + taken < kept.rows.len() {
        true => Some(Continuation::Kept { cursor, row: (from + taken) as u64 }.to_bytes()),
        false => {
            call.cursors.remove(cursor);
            None
        }
    };
    Ok(Output { names: kept.names, rows, continuation })
}

/// How many rows a part takes of these.
fn part_len(call: &QueryCall<'_>, rows: &[Arc<[Item]>]) -> usize {
    let most = call.limits.rows.unwrap_or(usize::MAX);
    let mut bytes = 0;
    let fits = rows.iter().take(most).take_while(|row| {
        let is_open = bytes < PART_BYTES_MAX;
        bytes += row.iter().map(Item::bytes).sum::<usize>();
        is_open
    });
    fits.count()
}
