//! Documents as arguments: what `->` takes out of one is handed on as JSON.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value,
};

use super::call::call;
use super::json_path;

/// Functions that take documents, and do not know the type that `->` has.
const ON_DOCUMENTS: [&str; 22] = [
    "json_typeof",
    "json_type",
    "to_json",
    "jsonb_set",
    "json_build_object",
    "json_build_array",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "jsonb_object_agg",
    "json_array_elements",
    "jsonb_array_elements",
    "json_array_elements_text",
    "jsonb_array_elements_text",
    "jsonb_typeof",
    "to_jsonb",
    "jsonb_build_object",
    "jsonb_build_array",
    "json_object",
    "json_array",
    "typeof",
    "pg_typeof",
];

/// Hands parts of documents on as JSON, and spells the functions that make documents.
pub(super) fn respell(expr: &mut Expr) {
    match expr {
        Expr::Function(function) => {
            let name = function.name.to_string().to_ascii_lowercase();
            if !ON_DOCUMENTS.contains(&name.as_str()) {
                return;
            }
            let FunctionArguments::List(list) = &mut function.args else { return };
            // Pairs are written out first: the loop below sees unnamed arguments alone.
            list.args = std::mem::take(&mut list.args).into_iter().flat_map(flat).collect();
            for argument in &mut list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                    as_json(expr);
                }
            }
        }
        Expr::BinaryOp {
            left,
            op:
                BinaryOperator::AtArrow
                | BinaryOperator::ArrowAt
                | BinaryOperator::StringConcat
                | BinaryOperator::HashMinus
                | BinaryOperator::Question
                | BinaryOperator::QuestionAnd
                | BinaryOperator::QuestionPipe,
            right,
        } => {
            // Each side alone may be a part, and have the type that these operators do not know.
            as_json(left);
            as_json(right);
        }
        _ => {}
    }
}

/// `json_object('a': 1)` and `json_object('a' VALUE 1)` as `json_object('a', 1)`.
fn flat(argument: FunctionArg) -> Vec<FunctionArg> {
    match argument {
        FunctionArg::ExprNamed { name, arg, .. } => {
            vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(name)), FunctionArg::Unnamed(arg)]
        }
        other => vec![other],
    }
}

/// `doc->'a'` as a call that gives JSON.
pub(super) fn as_json(expr: &mut Expr) {
    let mut place = expr;
    while let Expr::Nested(inner) = place {
        place = inner.as_mut();
    }
    if matches!(place, Expr::BinaryOp { op: BinaryOperator::HashArrow, .. })
        && let Ok(Some(stepwise)) = json_path::stepwise(place)
    {
        *place = stepwise;
    }
    let Expr::BinaryOp { left, op: BinaryOperator::Arrow, right } = place else { return };
    let taken = |part: &mut Box<Expr>| std::mem::replace(part.as_mut(), Expr::value(Value::Null));
    *place = call("json_get_json", [taken(left), taken(right)]);
}
