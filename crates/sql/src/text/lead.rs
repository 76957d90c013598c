//! `lead(x, 2) IGNORE NULLS`.
//!
//! The planner's function loses count over several NULLs (DataFusion 55). So from the second row on
//! it is the value at that place among all rows that follow.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    NullTreatment, Value, ValueWithSpan, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowSpec, WindowType,
};
use tonnage::Result;

use super::pattern::{fill, parsed};

/// Writes a call of `lead` that passes NULL by in functions that the planner carries out rightly.
pub(super) fn respell(expr: &mut Expr) -> Result<()> {
    let Expr::Function(function) = expr else { return Ok(()) };
    if !function.name.to_string().eq_ignore_ascii_case("lead") {
        return Ok(());
    }
    let (Some(given), Some(window)) = (passing_by(function), &function.over) else {
        return Ok(());
    };
    let (Some(value), Some(offset)) = (given.first(), given.get(1)) else { return Ok(()) };
    if !is_far(offset) {
        return Ok(());
    }
    let mut found = parsed("nth_value($1, $2)")?;
    fill(&mut found, &[*value, *offset]);
    if let Expr::Function(found) = &mut found {
        found.null_treatment = Some(NullTreatment::IgnoreNulls);
        found.over = Some(WindowType::WindowSpec(following(window)));
    }
    if let Some(default) = given.get(2) {
        let mut or_default = parsed("coalesce($1, $2)")?;
        fill(&mut or_default, &[&found, *default]);
        found = or_default;
    }
    *expr = found;
    Ok(())
}

/// The arguments of a call that says IGNORE NULLS, behind them or among them.
fn passing_by(function: &Function) -> Option<Vec<&Expr>> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let among = FunctionArgumentClause::IgnoreOrRespectNulls(NullTreatment::IgnoreNulls);
    let is_said = function.null_treatment == Some(NullTreatment::IgnoreNulls)
        || list.clauses.contains(&among);
    let plain = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    plain.collect::<Option<Vec<_>>>().filter(|_| is_said)
}

/// Whether an offset is the second row or one behind it.
fn is_far(offset: &Expr) -> bool {
    match offset {
        Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) => {
            digits.parse::<u64>().is_ok_and(|rows| rows > 1)
        }
        _ => false,
    }
}

/// The window of all rows that follow.
fn following(window: &WindowType) -> WindowSpec {
    let spec = match window {
        WindowType::WindowSpec(spec) => spec.clone(),
        WindowType::NamedWindow(name) => WindowSpec {
            window_name: Some(name.clone()),
            partition_by: Vec::new(),
            order_by: Vec::new(),
            window_frame: None,
        },
    };
    let one = Expr::value(Value::Number("1".to_owned(), false));
    let frame = WindowFrame {
        units: WindowFrameUnits::Rows,
        start_bound: WindowFrameBound::Following(Some(Box::new(one))),
        end_bound: Some(WindowFrameBound::Following(None)),
    };
    WindowSpec { window_frame: Some(frame), ..spec }
}
