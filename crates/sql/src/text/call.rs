//! Builds and reads calls of functions as the parser has them.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName,
};

/// `name(argument, ...)`
pub(crate) fn call(name: &str, arguments: impl IntoIterator<Item = Expr>) -> Expr {
    let argument = |argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.into_iter().map(argument).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The name of a plain function, in lower case, and its arguments, when all of them are plain as
/// well.
pub(super) fn arguments(expr: &Expr) -> Option<(String, Vec<&Expr>)> {
    let Expr::Function(function) = expr else { return None };
    let [name] = function.name.0.as_slice() else { return None };
    let list = match &function.args {
        FunctionArguments::List(list) => list,
        // `localtime` stands without parentheses.
        FunctionArguments::None => {
            return Some((name.as_ident()?.value.to_ascii_lowercase(), Vec::new()));
        }
        FunctionArguments::Subquery(_) => return None,
    };
    if list.duplicate_treatment.is_some()
        || !list.clauses.is_empty()
        || function.over.is_some()
        || function.filter.is_some()
    {
        return None;
    }
    let plain = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    let arguments = plain.collect::<Option<Vec<_>>>()?;
    Some((name.as_ident()?.value.to_ascii_lowercase(), arguments))
}
