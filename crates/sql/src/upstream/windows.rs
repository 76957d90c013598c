//! Named windows, written out where they are used.
//!
//! Upstream: no issue known: docs/upstream/named-windows.md. Gone in: open
//!
//! The planner takes `OVER w` for the window of that name, but of a window that builds on another
//! (`OVER (w ORDER BY x)`, `WINDOW v AS (w ORDER BY x)`) it forgets the other. So each window is
//! written out whole before planning.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, VisitMut, WindowSpec, WindowType,
};
use tonnage::{Error, Result};

use crate::errors::invalid_at;
use crate::text::{Rewriter, walk_mut};

/// The windows of one SELECT, each written out whole.
pub(crate) struct NamedWindows(Vec<(Ident, WindowSpec)>);

impl NamedWindows {
    /// Writes the definitions of a WINDOW clause out; each may build on those before it.
    pub(crate) fn new(definitions: &[NamedWindowDefinition]) -> Result<Self> {
        let mut windows = Self(Vec::with_capacity(definitions.len()));
        for NamedWindowDefinition(name, definition) in definitions {
            if windows.find(name).is_ok() {
                return Err(invalid_at(
                    name.span.start,
                    format_args!("window {name} is defined twice"),
                ));
            }
            let spec = match definition {
                NamedWindowExpr::NamedWindow(other) => windows.find(other)?.clone(),
                NamedWindowExpr::WindowSpec(spec) => windows.whole(spec)?,
            };
            windows.0.push((name.clone(), spec));
        }
        Ok(windows)
    }

    /// Writes out every window that is named somewhere in a part of the statement.
    pub(crate) fn write_into(&self, part: &mut impl VisitMut) -> Result<()> {
        walk_mut(part, &mut WindowWriter(self))
    }

    fn find(&self, name: &Ident) -> Result<&WindowSpec> {
        let found = self.0.iter().find(|(known, _)| known.value.eq_ignore_ascii_case(&name.value));
        found.map(|(_, spec)| spec).ok_or_else(|| {
            let place = name.span.start;
            invalid_at(
                place,
                format_args!(
                    "there is no window {name}: WINDOW defines it, before those that build on it"
                ),
            )
        })
    }

    /// A window with all that the one it builds on says.
    fn whole(&self, spec: &WindowSpec) -> Result<WindowSpec> {
        let Some(name) = &spec.window_name else { return Ok(spec.clone()) };
        let base = self.find(name)?;
        let refused = |what: &str| {
            Err(invalid_at(name.span.start, format_args!("a window that builds on {name} {what}")))
        };
        if !spec.partition_by.is_empty() {
            return refused("keeps its PARTITION BY: it cannot have one of its own");
        }
        if !spec.order_by.is_empty() && !base.order_by.is_empty() {
            return refused("keeps its ORDER BY: it cannot have another");
        }
        if base.window_frame.is_some() {
            return refused(&format!(
                "cannot take over its frame: write OVER {name}, without parentheses"
            ));
        }
        let order_by = if spec.order_by.is_empty() { &base.order_by } else { &spec.order_by };
        Ok(WindowSpec {
            window_name: None,
            partition_by: base.partition_by.clone(),
            order_by: order_by.clone(),
            window_frame: spec.window_frame.clone(),
        })
    }
}

struct WindowWriter<'a>(&'a NamedWindows);

impl Rewriter for WindowWriter<'_> {
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let written = match &function.over {
            Some(WindowType::NamedWindow(name)) => self.0.find(name).cloned(),
            Some(WindowType::WindowSpec(spec)) if spec.window_name.is_some() => self.0.whole(spec),
            _ => return ControlFlow::Continue(()),
        };
        match written {
            Ok(spec) => {
                function.over = Some(WindowType::WindowSpec(spec));
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}
