//! The dialect of SQL that statements are read in: PostgreSQL's, whose operators on JSON bind as
//! tightly as they should, with what users of DuckDB write beside it.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;

use datafusion::sql::sqlparser::ast::{
    Expr, LambdaFunction, LambdaFunctionParameter, LambdaSyntax, OneOrManyWithParens,
};
use datafusion::sql::sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use super::IsWord;
use super::call::call;
use super::parse_budget::ParseBudget;
use super::spelling::INTEGER_DIVISION;

/// The function that marks the first end of BETWEEN SYMMETRIC.
pub(super) const SYMMETRIC: &str = "_symmetric";

const POSTGRES: PostgreSqlDialect = PostgreSqlDialect {};

/// What the beginning of an expression was read as, and the position of the token after it.
type ReadCall = Result<(Expr, usize), ParserError>;

/// The dialect of one parser.
///
/// sqlparser tries readings one after another: an argument first as one with a name, a word that is
/// reserved first as what it means, then as a function. Each try reads what is inside anew, so each
/// call around others multiplied the time. So what begins as a call is read once
/// ([`Dialect::parse_prefix`]), and kept by the position of its first token.
///
/// The word after a point is tried as an expression, then taken as a name. Where that failed at
/// the last point, it was tried anew for each point before, which doubled the time. A word between
/// two points is a name, and is not tried ([`is_inner_name`]).
#[derive(Debug, Default)]
pub(crate) struct OwnDialect {
    readings: ParseBudget,
    calls: RefCell<HashMap<usize, ReadCall>>,
    /// The position that the parser itself is reading.
    under_way: RefCell<Option<usize>>,
}

impl OwnDialect {
    /// The dialect of a statement of so many tokens. It bounds what the parser tries.
    pub(super) fn of_tokens(count: usize) -> Self {
        Self { readings: ParseBudget::of_tokens(count), ..Self::default() }
    }

    fn call_once(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let is_call = matches!(parser.peek_token_ref().token, Token::Word(_))
            && matches!(parser.peek_nth_token_ref(1).token, Token::LParen | Token::LBracket);
        if !is_call {
            return None;
        }
        let place = parser.index();
        if self.under_way.borrow_mut().take_if(|under_way| *under_way == place).is_some() {
            return None;
        }
        let known = self.calls.borrow().get(&place).cloned();
        if let Some(known) = known {
            return Some(known.map(|(expr, end)| {
                while parser.index() < end {
                    parser.advance_token();
                }
                expr
            }));
        }
        *self.under_way.borrow_mut() = Some(place);
        let read = parser.parse_prefix();
        let kept = read.clone().map(|expr| (expr, parser.index()));
        self.calls.borrow_mut().insert(place, kept);
        Some(read)
    }
}

macro_rules! as_postgres {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            self.readings.count();
            POSTGRES.$name()
        })*
    };
}

macro_rules! taken {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            self.readings.count();
            true
        })*
    };
}

impl Dialect for OwnDialect {
    fn dialect(&self) -> TypeId {
        POSTGRES.dialect()
    }

    fn identifier_quote_style(&self, name: &str) -> Option<char> {
        POSTGRES.identifier_quote_style(name)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        POSTGRES.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        POSTGRES.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        POSTGRES.is_identifier_part(letter)
    }

    fn is_custom_operator_part(&self, letter: char) -> bool {
        POSTGRES.is_custom_operator_part(letter)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        POSTGRES.is_reserved_for_identifier(keyword)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        POSTGRES.prec_value(precedence)
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        self.readings.count();
        match &parser.peek_token_ref().token {
            Token::CustomBinaryOperator(name) if name == INTEGER_DIVISION => {
                Some(Ok(self.prec_value(Precedence::MulDivModOp)))
            }
            _ => POSTGRES.get_next_precedence(parser),
        }
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        self.readings.count();
        if parser.peek_token_ref().token.is_word("SYMMETRIC")
            && parser.get_current_token().token.is_word("BETWEEN")
        {
            return Some(symmetric(parser, self.prec_value(Precedence::Between)));
        }
        if parser.peek_token_ref().token.is_word("LAMBDA")
            && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_))
        {
            return Some(lambda(parser));
        }
        if is_inner_name(parser) {
            return Some(Err(ParserError::ParserError("a name between two points".to_owned())));
        }
        self.call_once(parser)
    }

    as_postgres!(
        supports_unicode_string_literal,
        supports_filter_during_aggregation,
        supports_group_by_expr,
        allow_extract_custom,
        allow_extract_single_quotes,
        supports_create_index_with_clause,
        supports_explain_with_utility_options,
        supports_listen_notify,
        supports_factorial_operator,
        supports_bitwise_shift_operators,
        supports_comment_on,
        supports_load_extension,
        supports_named_fn_args_with_colon_operator,
        supports_named_fn_args_with_expr_name,
        supports_empty_projections,
        supports_nested_comments,
        supports_string_escape_constant,
        supports_numeric_literal_underscores,
        supports_array_typedef_with_brackets,
        supports_geometric_types,
        supports_set_names,
        supports_alter_column_type_using,
        supports_notnull_operator,
        supports_interval_options,
        supports_insert_table_alias,
        supports_create_table_like_parenthesized,
        supports_select_wildcard_with_alias,
        supports_comma_separated_trim,
        supports_xml_expressions,
        supports_comment_optimizer_hint,
    );

    taken!(
        supports_select_wildcard_exclude,
        supports_select_wildcard_except,
        supports_select_wildcard_replace,
        supports_dictionary_syntax,
        support_map_literal_syntax,
        supports_order_by_all,
    );
}

/// The first end after BETWEEN SYMMETRIC, marked.
fn symmetric(parser: &mut Parser, precedence: u8) -> Result<Expr, ParserError> {
    parser.next_token();
    Ok(call(SYMMETRIC, [parser.parse_subexpr(precedence)?]))
}

/// Whether the next token is a word between two points. The parser continues with names then.
fn is_inner_name(parser: &Parser) -> bool {
    parser.get_current_token().token == Token::Period
        && matches!(parser.peek_token_ref().token, Token::Word(_))
        && parser.peek_nth_token_ref(1).token == Token::Period
}

/// `LAMBDA x, y : body`
fn lambda(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.next_token();
    let names = parser.parse_comma_separated(Parser::parse_identifier)?;
    parser.expect_token(&Token::Colon)?;
    let body = Box::new(parser.parse_expr()?);
    let parameter = |name| LambdaFunctionParameter { name, data_type: None };
    let params = OneOrManyWithParens::Many(names.into_iter().map(parameter).collect());
    Ok(Expr::Lambda(LambdaFunction { params, body, syntax: LambdaSyntax::LambdaKeyword }))
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::super::parse_budget::QUESTIONS_PER_TOKEN;
    use super::*;

    /// How often the parser asks for each token of a statement, and whether it reads it.
    fn questions(text: &str) -> (u64, bool) {
        let tokens = Tokenizer::new(&OwnDialect::default(), text).tokenize().unwrap();
        let count = tokens.len() as u64;
        let dialect = OwnDialect::of_tokens(tokens.len());
        let before = dialect.readings.left();
        let mut parser = Parser::new(&dialect).with_recursion_limit(200).with_tokens(tokens);
        let is_read = parser.parse_statement().is_ok();
        ((before - dialect.readings.left()) / count, is_read)
    }

    #[test]
    fn statements_that_can_be_read_ask_far_less_than_they_may() {
        let nested =
            |begin: &str, end: &str| format!("SELECT {}1{}", begin.repeat(10), end.repeat(10));
        let statements = [
            "SELECT 1".to_owned(),
            format!("INSERT INTO t VALUES {}(1, 'a')", "(1, 'a', -2.5, NULL), ".repeat(1000)),
            format!("SELECT * FROM t WHERE k IN ({}1)", "1, ".repeat(1000)),
            format!("SELECT {}1", "a + b * ".repeat(1000)),
            nested("(", ")"),
            nested("coalesce(1, ", ")"),
            nested("CASE WHEN a THEN ", " ELSE 1 END"),
            nested("(SELECT * FROM (SELECT ", ") AS t)"),
            format!("SELECT * FROM a {}", "JOIN b ON a.b.c = d.e.f ".repeat(100)),
        ];
        for text in statements {
            let (asked, is_read) = questions(&text);
            assert!(is_read && asked < QUESTIONS_PER_TOKEN / 10, "{asked}: {:.60}", text);
        }
    }

    #[test]
    fn calls_and_names_that_cannot_be_read_are_tried_once() {
        let calls = ["CAST(", "FLOOR(", "NOT(", "CASE(", "EXTRACT("];
        let calls = calls.map(|call| format!("SELECT {}1 1", call.repeat(8)));
        let names = ["(", "b.", "(b"].map(|end| format!("SELECT 1 + {}{end}", "a.".repeat(12)));
        for text in calls.iter().chain(&names) {
            let (asked, is_read) = questions(text);
            assert!(!is_read && asked < QUESTIONS_PER_TOKEN / 10, "{asked}: {text}");
        }
    }
}
