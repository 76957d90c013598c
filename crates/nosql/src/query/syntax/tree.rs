//! Expressions as trees.

use super::place::Place;
use super::type_def::TypeDef;
use crate::query::item::Item;

/// An expression and its position. Two are equal that mean the same, at any positions.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) place: Place,
    pub(crate) kind: ExprKind,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    /// A value written out.
    Constant(Item),
    /// A name: of a column, or of a table.
    Name(String),
    /// `$name`, before it is known what it names. The empty name is the item of a step.
    Variable(String),
    /// A value that the client binds, by its position among these.
    Bound(usize),
    /// A column of the row.
    Column(usize),
    /// The row itself.
    Row,
    /// An item that FROM makes of the row.
    Unnested(usize),
    /// What rows are grouped by.
    GroupKey(usize),
    /// What an aggregate says of the group.
    Aggregated(usize),
    /// A path: where it begins, and its steps.
    Path(Box<Expr>, Vec<Step>),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `{"a" : b}`.
    Map(Vec<(Expr, Expr)>),
    /// A function by its name in small letters.
    Call(String, Vec<Expr>),
    /// `count(*)`.
    CountRows,
    /// `count(distinct x)`.
    CountDistinct(Box<Expr>),
    /// `array_collect(x)`, perhaps of distinct items.
    Collect(Box<Expr>, bool),
    /// `seq_transform(input, mapper)`.
    Transform(Box<Expr>, Box<Expr>),
    /// `CASE`: conditions with their results, and what holds otherwise.
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// `CAST(x AS type)`.
    Cast(Box<Expr>, TypeDef),
    /// `EXTRACT(unit FROM x)`.
    Extract(String, Box<Expr>),
    /// Operands with the operator before each, of one precedence.
    Arithmetic(Box<Expr>, Vec<(ArithmeticOp, Expr)>),
    /// `-x`.
    Negated(Box<Expr>),
    /// `a || b`.
    Concatenated(Vec<Expr>),
    /// A comparison of two values, or of any two of sequences.
    Compared(Box<Expr>, Comparison, Matching, Box<Expr>),
    /// `x BETWEEN a AND b`.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x IN ..`.
    In(Vec<Expr>, InList),
    /// `EXISTS x`.
    Exists(Box<Expr>),
    /// `x IS NULL`, perhaps with NOT.
    IsNull(Box<Expr>, bool),
    /// `x IS OF TYPE (..)`, perhaps with NOT.
    IsOfType(Box<Expr>, Vec<TypeDef>, bool),
    /// `NOT x`.
    Not(Box<Expr>),
    /// All of these.
    And(Vec<Expr>),
    /// Any of these.
    Or(Vec<Expr>),
}

/// What IN looks into.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InList {
    /// Tuples written out.
    Tuples(Vec<Vec<Expr>>),
    /// The items of a sequence.
    Sequence(Box<Expr>),
}

/// A step of a path.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) place: Place,
    pub(crate) kind: StepKind,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// What a step of a path does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StepKind {
    /// `.name`.
    Field(String),
    /// `.(expression)`.
    ComputedField(Box<Expr>),
    /// `.keys(condition)` and `.values(condition)`.
    Members(Side, Option<Box<Expr>>),
    /// `[condition]`, or all elements.
    Filter(Option<Box<Expr>>),
    /// `[from:to]`.
    Slice(Option<Box<Expr>>, Option<Box<Expr>>),
}

/// Which part of the members of a map is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Keys,
    Values,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// `div`: of whole numbers, too, with a fraction.
    RealDivide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The same with the operands the other way round.
    pub(crate) fn turned(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

/// Whether operands are single items or sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    Value,
    Any,
}

impl Expr {
    pub(crate) fn new(place: Place, kind: ExprKind) -> Self {
        Self { place, kind }
    }

    /// Calls a function with each expression right inside this one.
    pub(crate) fn for_each_inner<'e>(&'e self, mut visit: impl FnMut(&'e Expr)) {
        // One closure for all arms, so that each reads as a list of its parts.
        let mut boxed = |inner: &'e Expr| visit(inner);
        match &self.kind {
            ExprKind::Path(base, steps) => {
                boxed(base);
                steps.iter().flat_map(|step| step.kind.inner()).for_each(boxed);
            }
            ExprKind::Array(items)
            | ExprKind::Call(_, items)
            | ExprKind::Concatenated(items)
            | ExprKind::And(items)
            | ExprKind::Or(items) => items.iter().for_each(boxed),
            ExprKind::Map(members) => {
                members.iter().flat_map(|(key, value)| [key, value]).for_each(boxed);
            }
            ExprKind::CountDistinct(of)
            | ExprKind::Collect(of, _)
            | ExprKind::Cast(of, _)
            | ExprKind::Extract(_, of)
            | ExprKind::Negated(of)
            | ExprKind::Exists(of)
            | ExprKind::IsNull(of, _)
            | ExprKind::IsOfType(of, _, _)
            | ExprKind::Not(of) => {
                boxed(of);
            }
            ExprKind::Transform(one, other) | ExprKind::Compared(one, _, _, other) => {
                [one, other].into_iter().for_each(|expr| boxed(expr));
            }
            ExprKind::Case(branches, otherwise) => {
                branches.iter().flat_map(|(when, then)| [when, then]).for_each(&mut boxed);
                otherwise.iter().for_each(|expr| boxed(expr));
            }
            ExprKind::Arithmetic(first, rest) => {
                boxed(first);
                rest.iter().for_each(|(_, expr)| boxed(expr));
            }
            ExprKind::Between(value, low, high) => {
                [value, low, high].into_iter().for_each(|expr| boxed(expr));
            }
            ExprKind::In(values, list) => {
                values.iter().for_each(&mut boxed);
                match list {
                    InList::Tuples(tuples) => tuples.iter().flatten().for_each(boxed),
                    InList::Sequence(sequence) => boxed(sequence),
                }
            }
            // They have nothing inside.
            ExprKind::Constant(_)
            | ExprKind::Name(_)
            | ExprKind::Variable(_)
            | ExprKind::Bound(_)
            | ExprKind::Column(_)
            | ExprKind::Row
            | ExprKind::Unnested(_)
            | ExprKind::GroupKey(_)
            | ExprKind::Aggregated(_)
            | ExprKind::CountRows => {}
        }
    }

    /// Replaces each expression right inside this one, as long as that does not fail.
    pub(crate) fn map_inner<E>(
        &mut self,
        change: &mut dyn FnMut(&mut Expr) -> Result<(), E>,
    ) -> Result<(), E> {
        // The same arms as above, for what changes trees.
        let mut each = |items: &mut Vec<Expr>| items.iter_mut().try_for_each(&mut *change);
        match &mut self.kind {
            // Inside a step, too: its condition may name columns.
            ExprKind::Path(base, steps) => {
                change(base)?;
                steps.iter_mut().try_for_each(|step| step.kind.map_inner(change))
            }
            ExprKind::Array(items)
            | ExprKind::Call(_, items)
            | ExprKind::Concatenated(items)
            | ExprKind::And(items)
            | ExprKind::Or(items) => each(items),
            ExprKind::Map(members) => members.iter_mut().try_for_each(|(key, value)| {
                change(key)?;
                change(value)
            }),
            ExprKind::CountDistinct(of)
            | ExprKind::Collect(of, _)
            | ExprKind::Cast(of, _)
            | ExprKind::Extract(_, of)
            | ExprKind::Negated(of)
            | ExprKind::Exists(of)
            | ExprKind::IsNull(of, _)
            | ExprKind::IsOfType(of, _, _)
            | ExprKind::Not(of) => change(of),
            ExprKind::Transform(one, other) | ExprKind::Compared(one, _, _, other) => {
                change(one)?;
                change(other)
            }
            ExprKind::Case(branches, otherwise) => {
                for (when, then) in branches {
                    change(when)?;
                    change(then)?;
                }
                otherwise.as_deref_mut().map_or(Ok(()), change)
            }
            ExprKind::Arithmetic(first, rest) => {
                change(first)?;
                rest.iter_mut().try_for_each(|(_, expr)| change(expr))
            }
            ExprKind::Between(value, low, high) => {
                change(value)?;
                change(low)?;
                change(high)
            }
            ExprKind::In(values, list) => {
                each(values)?;
                match list {
                    InList::Tuples(tuples) => tuples.iter_mut().try_for_each(each),
                    InList::Sequence(sequence) => change(sequence),
                }
            }
            ExprKind::Constant(_)
            | ExprKind::Name(_)
            | ExprKind::Variable(_)
            | ExprKind::Bound(_)
            | ExprKind::Column(_)
            | ExprKind::Row
            | ExprKind::Unnested(_)
            | ExprKind::GroupKey(_)
            | ExprKind::Aggregated(_)
            | ExprKind::CountRows => Ok(()),
        }
    }
}

impl StepKind {
    fn inner(&self) -> Vec<&Expr> {
        match self {
            StepKind::Field(_) => Vec::new(),
            StepKind::ComputedField(expr) => vec![&**expr],
            StepKind::Members(_, condition) | StepKind::Filter(condition) => {
                condition.iter().map(|expr| &**expr).collect()
            }
            StepKind::Slice(from, to) => from.iter().chain(to).map(|expr| &**expr).collect(),
        }
    }

    pub(crate) fn map_inner<E>(
        &mut self,
        change: &mut dyn FnMut(&mut Expr) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            StepKind::Field(_) => Ok(()),
            StepKind::ComputedField(expr) => change(expr),
            StepKind::Members(_, condition) | StepKind::Filter(condition) => {
                condition.as_deref_mut().map_or(Ok(()), change)
            }
            StepKind::Slice(from, to) => {
                from.as_deref_mut().map_or(Ok(()), &mut *change)?;
                to.as_deref_mut().map_or(Ok(()), change)
            }
        }
    }
}
