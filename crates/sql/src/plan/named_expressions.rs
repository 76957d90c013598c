//! Rewrites of expressions that keep their names.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Rewrites the expressions of a node, so that columns keep the names that they are known by above.
/// Of grouping sets each expression keeps its own: a set under a name is taken for a column.
pub(crate) fn map_named(
    node: LogicalPlan,
    mut rewrite: impl FnMut(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&node);
    let mut rewritten = |expr: Expr| {
        let name = names.save(&expr);
        let expr = rewrite(expr)?;
        Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
    };
    node.map_expressions(|expr| match expr {
        Expr::GroupingSet(_) => expr.map_children(&mut rewritten),
        expr => rewritten(expr),
    })
}
