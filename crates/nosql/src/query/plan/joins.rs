//! Further tables of a SELECT: where their rows come from, and which belong together.
//!
//! The row of a further table is an item, as those that FROM makes of a row: it has a position among
//! them, and fields. NULL is there where no row fits.

use tonnage::TableSchema;

use super::names::{JoinedName, Names};
use crate::query::syntax::{
    Comparison, Expr, ExprKind, FromItem, FromPart, JoinedTable, Matching, Place, Side, Step,
    StepKind, TableName,
};
use crate::wire::{Failure, Outcome};

/// What is done for each row of the first table, one after another.
#[derive(Clone, Debug)]
pub(crate) enum JoinStep {
    /// One item at a time of those that an expression gives.
    Items(FromItem),
    /// One row at a time of another table.
    Table(TableJoin),
    /// One branch at a time of the tables below another one.
    Branches(Vec<TableJoin>),
}

/// How the rows of a table are found.
#[derive(Clone, Debug)]
pub(crate) struct TableJoin {
    /// Its position among the further tables of the statement.
    pub(crate) table: usize,
    /// All that its rows must fulfil.
    pub(crate) on: Vec<Expr>,
    /// What leading columns of its key equal, each given by what comes before.
    pub(crate) key: Vec<Expr>,
    /// Whether NULL comes where no row fits.
    pub(crate) is_outer: bool,
    /// In branches the position of the table above, among these.
    pub(crate) parent: Option<usize>,
}

impl JoinStep {
    /// All expressions of it.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            JoinStep::Items(item) => vec![&item.expr],
            JoinStep::Table(join) => join.on.iter().chain(&join.key).collect(),
            JoinStep::Branches(joins) => {
                joins.iter().flat_map(|join| join.on.iter().chain(&join.key)).collect()
            }
        }
    }
}

/// A table that others are joined to.
#[derive(Clone, Copy)]
struct Anchor<'n> {
    schema: &'n TableSchema,
    /// Its position among items; none of the first table.
    slot: Option<usize>,
}

/// Puts the steps together. `schemas` has those of further tables, in the order of the statement.
pub(super) struct JoinPlanner<'p, 'n> {
    pub(super) names: &'p mut Names<'n>,
    pub(super) schemas: &'p [&'n TableSchema],
    steps: Vec<JoinStep>,
    /// How many tables have been taken.
    taken: usize,
    /// The table that LEFT OUTER JOIN and NESTED TABLES begin at.
    target: Anchor<'n>,
    /// The table that the last LEFT OUTER JOIN went to, and whether it is above the target.
    last: Option<(Anchor<'n>, bool)>,
}

impl<'p, 'n> JoinPlanner<'p, 'n> {
    pub(super) fn new(names: &'p mut Names<'n>, schemas: &'p [&'n TableSchema]) -> Self {
        let target = Anchor { schema: names.schema, slot: None };
        Self { names, schemas, steps: Vec::new(), taken: 0, target, last: None }
    }

    /// # Errors
    /// Names that mean nothing, and tables that cannot be joined like that.
    pub(super) fn plan(mut self, from: &'n [FromPart]) -> Outcome<Vec<JoinStep>> {
        for part in from {
            match part {
                FromPart::Items(item) => self.items(item)?,
                FromPart::Inner(table) => self.inner(table)?,
                FromPart::Outer(joined) => self.outer(joined)?,
                FromPart::Nested { ancestors, descendants } => {
                    self.nested(ancestors, descendants)?;
                }
            }
        }
        Ok(self.steps)
    }

    fn items(&mut self, item: &FromItem) -> Outcome<()> {
        let mut item = item.clone();
        if item.is_unnest && !is_unnestable(&item.expr) {
            return Err(refused(
                item.expr.place,
                "UNNEST takes paths that begin with a variable and end with [] or values(), with \
                 steps that have no condition",
            ));
        }
        // Each sees the variables of those before it.
        self.names.find(&mut item.expr)?;
        self.names.unnested.push(item.variable.clone());
        self.steps.push(JoinStep::Items(item));
        Ok(())
    }

    /// Gives a table its position among items.
    fn add(&mut self, table: &'n TableName) -> Outcome<(usize, Anchor<'n>)> {
        let schema = self.schemas.get(self.taken).copied();
        let schema = schema.ok_or_else(|| Failure::argument("a table of FROM is missing"))?;
        let (place, slot) = (self.taken, self.names.unnested.len());
        self.taken += 1;
        if self.names.is_known_table(table.shown()) {
            let (place, name) = (table.place, table.shown());
            return Err(refused(place, &format!("the table alias {name} is given twice")));
        }
        self.names.unnested.push(table.shown().to_owned());
        self.names.joined.push(JoinedName { alias: table.shown(), schema, slot, is_hidden: false });
        Ok((place, Anchor { schema, slot: Some(slot) }))
    }

    fn inner(&mut self, table: &'n TableName) -> Outcome<()> {
        let (place, anchor) = self.add(table)?;
        let join = TableJoin {
            table: place,
            on: Vec::new(),
            key: Vec::new(),
            is_outer: false,
            parent: None,
        };
        self.steps.push(JoinStep::Table(join));
        (self.target, self.last) = (anchor, None);
        Ok(())
    }

    fn outer(&mut self, joined: &'n JoinedTable) -> Outcome<()> {
        let (place, anchor) = self.add(&joined.table)?;
        let (target, last) = (self.target, self.last);
        let is_above = is_below(target.schema, anchor.schema);
        let before = last.map_or(target, |(before, _)| before);
        let is_in_line = match (is_above, last) {
            (true, None) => true,
            // Those above come first, the top one before all.
            (true, Some((before, was_above))) => {
                was_above && is_below(anchor.schema, before.schema)
            }
            (false, Some((_, true))) => is_below(anchor.schema, target.schema),
            (false, _) => is_below(anchor.schema, before.schema),
        };
        if !is_in_line {
            return Err(refused(
                joined.table.place,
                "tables of LEFT OUTER JOIN must lie on one way from an ancestor to a descendant",
            ));
        }
        // After the table itself: its condition may name it.
        let on = self.conditions(joined.on.as_ref())?;
        let upper = if is_above {
            anchor
        } else if last.is_some_and(|(_, above)| above) {
            target
        } else {
            before
        };
        let key = key_of(anchor, &on);
        let shared = upper.schema.key.len().min(anchor.schema.key.len());
        if key.len() < shared {
            return Err(refused(
                joined.table.place,
                "ON must compare all columns of the key that both tables have",
            ));
        }
        self.last = Some((anchor, is_above));
        let join = TableJoin { table: place, on, key, is_outer: true, parent: None };
        self.steps.push(JoinStep::Table(join));
        Ok(())
    }

    fn nested(&mut self, above: &'n [JoinedTable], below: &'n [JoinedTable]) -> Outcome<()> {
        let target = self.target;
        for joined in above {
            let (place, anchor) = self.add(&joined.table)?;
            if !is_below(target.schema, anchor.schema) {
                return Err(no_relative(&joined.table, "an ancestor"));
            }
            let mut on = equal_keys(joined.table.place, anchor, target, anchor);
            on.extend(self.conditions(joined.on.as_ref())?);
            let key = key_of(anchor, &on);
            let join = TableJoin { table: place, on, key, is_outer: true, parent: None };
            self.steps.push(JoinStep::Table(join));
        }
        if below.is_empty() {
            return Ok(());
        }
        let branches = self.branches(below)?;
        self.steps.push(JoinStep::Branches(branches));
        Ok(())
    }

    fn branches(&mut self, below: &'n [JoinedTable]) -> Outcome<Vec<TableJoin>> {
        let target = self.target;
        let first = self.names.joined.len();
        let mut anchors = Vec::with_capacity(below.len());
        for joined in below {
            let (place, anchor) = self.add(&joined.table)?;
            if !is_below(anchor.schema, target.schema) {
                return Err(no_relative(&joined.table, "a descendant"));
            }
            anchors.push((place, anchor));
        }
        let mut branches = Vec::with_capacity(below.len());
        for (at, joined) in below.iter().enumerate() {
            let (place, anchor) = anchors[at];
            let is_above = |other: &usize| is_below(anchor.schema, anchors[*other].1.schema);
            // The nearest has the longest key.
            let parent = (0..anchors.len())
                .filter(is_above)
                .max_by_key(|other| anchors[*other].1.schema.key.len());
            let upper = parent.map_or(target, |parent| anchors[parent].1);
            // A condition may look at the tables above, not at other branches.
            for (other, name) in self.names.joined[first..].iter_mut().enumerate() {
                name.is_hidden = other != at && !is_above(&other);
            }
            let conditions = self.conditions(joined.on.as_ref());
            self.names.joined.iter_mut().for_each(|name| name.is_hidden = false);
            let mut on = equal_keys(joined.table.place, anchor, upper, upper);
            on.extend(conditions?);
            let key = key_of(anchor, &on);
            branches.push(TableJoin { table: place, on, key, is_outer: true, parent });
        }
        Ok(branches)
    }

    /// All that a condition asks for.
    fn conditions(&self, on: Option<&Expr>) -> Outcome<Vec<Expr>> {
        let Some(on) = on else { return Ok(Vec::new()) };
        let mut on = on.clone();
        self.names.find(&mut on)?;
        Ok(match on.kind {
            ExprKind::And(parts) => parts,
            _ => vec![on],
        })
    }
}

/// Notes for tables after commas what their keys equal by the condition of the statement.
pub(super) fn use_filter(steps: &mut [JoinStep], filter: Option<&Expr>, schemas: &[&TableSchema]) {
    let Some(filter) = filter else { return };
    let parts = match &filter.kind {
        ExprKind::And(parts) => &parts[..],
        _ => std::slice::from_ref(filter),
    };
    let mut slot = 0;
    for step in steps {
        let taken = match step {
            JoinStep::Branches(branches) => branches.len(),
            _ => 1,
        };
        if let JoinStep::Table(join) = step
            && !join.is_outer
        {
            join.key = key_of(Anchor { schema: schemas[join.table], slot: Some(slot) }, parts);
        }
        slot += taken;
    }
}

/// Whether a path gives each part of an array or a map, without a condition.
fn is_unnestable(expr: &Expr) -> bool {
    let ExprKind::Path(base, steps) = &expr.kind else { return false };
    let is_each = |step: &Step| {
        matches!(step.kind, StepKind::Filter(None) | StepKind::Members(Side::Values, None))
    };
    let is_plain = |step: &Step| matches!(step.kind, StepKind::Field(_)) || is_each(step);
    let is_variable = matches!(base.kind, ExprKind::Variable(_) | ExprKind::Name(_));
    // A bare name before a field is that of a table.
    let is_variable = is_variable
        && !matches!((&base.kind, steps.first()), (ExprKind::Name(_), Some(first)) if is_each(first));
    is_variable && steps.iter().all(is_plain) && steps.last().is_some_and(is_each)
}

/// Whether a table is below another one.
fn is_below(lower: &TableSchema, upper: &TableSchema) -> bool {
    let (lower, upper) = (&lower.path, &upper.path);
    lower.len() > upper.len()
        && lower.is_char_boundary(upper.len())
        && lower[..upper.len()].eq_ignore_ascii_case(upper)
        && lower[upper.len()..].starts_with('.')
}

/// That two tables agree in the columns of the key of one.
fn equal_keys(place: Place, own: Anchor<'_>, other: Anchor<'_>, keys: Anchor<'_>) -> Vec<Expr> {
    let columns = keys.schema.key_columns();
    columns
        .map(|column| {
            let one = Box::new(own.field(place, &column.name));
            let two = Box::new(other.field(place, &column.name));
            Expr::new(place, ExprKind::Compared(one, Comparison::Equal, Matching::Value, two))
        })
        .collect()
}

/// What leading columns of the key of a table equal by these conditions, given by what comes
/// before.
fn key_of(table: Anchor<'_>, conditions: &[Expr]) -> Vec<Expr> {
    let Some(slot) = table.slot else { return Vec::new() };
    let is_field = |expr: &Expr, name: &str| match &expr.kind {
        ExprKind::Path(base, steps) => {
            base.kind == ExprKind::Unnested(slot)
                && matches!(&steps[..], [Step { kind: StepKind::Field(field), .. }] if field.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    let equal = |name: &str| {
        conditions.iter().find_map(|condition| {
            let ExprKind::Compared(left, Comparison::Equal, Matching::Value, right) =
                &condition.kind
            else {
                return None;
            };
            [(left, right), (right, left)]
                .into_iter()
                .find(|(own, other)| is_field(own, name) && comes_before(other, slot))
                .map(|(_, other)| (**other).clone())
        })
    };
    table.schema.key_columns().map_while(|column| equal(&column.name)).collect()
}

/// Whether an expression looks at no item from a place on.
fn comes_before(expr: &Expr, slot: usize) -> bool {
    let mut is_before = !matches!(expr.kind, ExprKind::Unnested(own) if own >= slot);
    expr.for_each_inner(|inner| is_before &= comes_before(inner, slot));
    is_before
}

impl Anchor<'_> {
    /// A column of the table.
    fn field(&self, place: Place, name: &str) -> Expr {
        let Some(slot) = self.slot else {
            let column = self.schema.column_index(name).unwrap_or_default();
            return Expr::new(place, ExprKind::Column(column));
        };
        let base = Expr::new(place, ExprKind::Unnested(slot));
        let step = Step { place, kind: StepKind::Field(name.to_owned()) };
        Expr::new(place, ExprKind::Path(Box::new(base), vec![step]))
    }
}

#[cold]
fn no_relative(table: &TableName, what: &str) -> Failure {
    refused(table.place, &format!("table {} is not {what} of the target table", table.name))
}

#[cold]
fn refused(place: Place, what: &str) -> Failure {
    Failure::argument(format!("Error: {place} {what}"))
}
