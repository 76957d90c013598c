//! Documents as arguments: what `->` takes out of one is handed on as JSON, to functions of texts as
//! its text.

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

/// Functions that give one of their arguments, of one row or of several.
const CHOOSING: [&str; 14] = [
    "any_value",
    "array_agg",
    "coalesce",
    "first",
    "first_value",
    "greatest",
    "ifnull",
    "lag",
    "last",
    "last_value",
    "lead",
    "least",
    "list",
    "nvl",
];

/// Functions of texts that the planner would refuse for the type that `->` has.
const OF_TEXTS: [&str; 42] = [
    "ascii",
    "bit_length",
    "btrim",
    "char_length",
    "character_length",
    "concat",
    "concat_ws",
    "contains",
    "ends_with",
    "find_in_set",
    "initcap",
    "instr",
    "left",
    "length",
    "levenshtein",
    "lower",
    "lpad",
    "ltrim",
    "md5",
    "octet_length",
    "regexp_count",
    "regexp_extract",
    "regexp_instr",
    "regexp_like",
    "regexp_match",
    "regexp_replace",
    "regexp_substr",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "split_part",
    "starts_with",
    "string_agg",
    "strpos",
    "substr",
    "substring",
    "translate",
    "trim",
    "upper",
];

/// Hands parts of documents on as JSON or as texts, and spells the functions that make documents.
pub(super) fn respell(expr: &mut Expr) {
    match expr {
        Expr::Function(function) => {
            let name = function.name.to_string().to_ascii_lowercase();
            let known = |names: &[&str]| names.contains(&name.as_str());
            let hand_on: fn(&mut Expr) = if known(&ON_DOCUMENTS) || known(&CHOOSING) {
                as_json
            } else if known(&OF_TEXTS) {
                as_text
            } else {
                return;
            };
            let FunctionArguments::List(list) = &mut function.args else { return };
            // Pairs are written out first: the loop below sees unnamed arguments alone.
            list.args = std::mem::take(&mut list.args).into_iter().flat_map(flat).collect();
            // Parts alone have one type already, and GROUP BY may name each of them as it is.
            if known(&CHOOSING) && list.args.iter().all(is_part) {
                return;
            }
            for argument in &mut list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                    hand_on(expr);
                }
            }
        }
        Expr::Trim { expr, .. } | Expr::Substring { expr, .. } | Expr::Overlay { expr, .. } => {
            as_text(expr);
        }
        Expr::Position { expr, r#in } => {
            as_text(expr);
            as_text(r#in);
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

/// Whether an argument is `doc->'a'`.
fn is_part(argument: &FunctionArg) -> bool {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(mut expr)) = argument.clone() else {
        return false;
    };
    let arrows = [BinaryOperator::Arrow, BinaryOperator::HashArrow];
    matches!(unnested(&mut expr), Expr::BinaryOp { op, .. } if arrows.contains(op))
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

/// `doc->'a'` as its text.
fn as_text(expr: &mut Expr) {
    if let Expr::BinaryOp { op, .. } = unnested(expr) {
        match op {
            BinaryOperator::Arrow => *op = BinaryOperator::LongArrow,
            BinaryOperator::HashArrow => *op = BinaryOperator::HashLongArrow,
            _ => {}
        }
    }
}

fn unnested(expr: &mut Expr) -> &mut Expr {
    match expr {
        Expr::Nested(inner) => unnested(inner),
        other => other,
    }
}

/// `doc->'a'` as a call that gives JSON.
pub(super) fn as_json(expr: &mut Expr) {
    let place = unnested(expr);
    if matches!(place, Expr::BinaryOp { op: BinaryOperator::HashArrow, .. })
        && let Ok(Some(stepwise)) = json_path::stepwise(place)
    {
        *place = stepwise;
    }
    let Expr::BinaryOp { left, op: BinaryOperator::Arrow, right } = place else { return };
    let taken = |part: &mut Box<Expr>| std::mem::replace(part.as_mut(), Expr::value(Value::Null));
    *place = call("json_get_json", [taken(left), taken(right)]);
}
