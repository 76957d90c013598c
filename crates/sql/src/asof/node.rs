//! The logical plan node of ASOF JOIN.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use datafusion::common::{DFSchemaRef, Result, plan_err};
use datafusion::logical_expr::logical_plan::builder::build_join_schema;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, Operator, UserDefinedLogicalNodeCore};

/// A join with the nearest row of the right side.
#[derive(Clone, Debug)]
pub(crate) struct AsOf {
    pub(super) left: LogicalPlan,
    pub(super) right: LogicalPlan,
    /// Values of both sides that are equal.
    pub(super) keys: Vec<(Expr, Expr)>,
    /// The timestamps of both sides, `left op right`.
    pub(super) moments: (Expr, Expr),
    pub(super) op: Operator,
    /// Whether rows of the left side without a match stay.
    pub(super) is_outer: bool,
    schema: DFSchemaRef,
}

impl AsOf {
    pub(crate) fn new(
        (left, right): (LogicalPlan, LogicalPlan),
        keys: Vec<(Expr, Expr)>,
        (op, moments): (Operator, (Expr, Expr)),
        is_outer: bool,
    ) -> Result<Self> {
        let join_type = if is_outer { JoinType::Left } else { JoinType::Inner };
        let schema = build_join_schema(left.schema(), right.schema(), &join_type)?.into();
        Ok(Self { left, right, keys, moments, op, is_outer, schema })
    }

    fn parts(&self) -> (&LogicalPlan, &LogicalPlan, Vec<Expr>, Operator, bool) {
        (&self.left, &self.right, self.expressions(), self.op, self.is_outer)
    }
}

impl PartialEq for AsOf {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for AsOf {}

impl PartialOrd for AsOf {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let order = self.expressions().partial_cmp(&other.expressions())?;
        if order.is_ne() {
            return Some(order);
        }
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for AsOf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl UserDefinedLogicalNodeCore for AsOf {
    fn name(&self) -> &str {
        "AsOfJoin"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.left, &self.right]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    /// Both sides of each pair in turns, the timestamps last.
    fn expressions(&self) -> Vec<Expr> {
        let pairs = self.keys.iter().chain([&self.moments]);
        pairs.flat_map(|(left, right)| [left.clone(), right.clone()]).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_outer { "Left" } else { "Inner" };
        write!(f, "AsOfJoin: {kind}, {} {} {}", self.moments.0, self.op, self.moments.1)?;
        for (left, right) in &self.keys {
            write!(f, ", {left} = {right}")?;
        }
        Ok(())
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut inputs = inputs.into_iter();
        let (Some(left), Some(right)) = (inputs.next(), inputs.next()) else {
            return plan_err!("an ASOF join has two sides");
        };
        let (mut pairs, mut exprs) = (Vec::new(), exprs.into_iter());
        while let (Some(one), Some(other)) = (exprs.next(), exprs.next()) {
            pairs.push((one, other));
        }
        let Some(moments) = pairs.pop() else {
            return plan_err!("an ASOF join compares timestamps");
        };
        Self::new((left, right), pairs, (self.op, moments), self.is_outer)
    }

    fn necessary_children_exprs(&self, columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let width = self.left.schema().fields().len();
        let (left, right): (Vec<usize>, Vec<usize>) =
            columns.iter().partition(|column| **column < width);
        Some(vec![left, right.into_iter().map(|column| column - width).collect()])
    }
}
