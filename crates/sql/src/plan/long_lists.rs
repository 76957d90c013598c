//! Long lists of plain values, found among the tokens of a statement. To parse each value as an
//! expression takes longer than to read the row that it names.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::text::IsWord;

/// Lists shorter than this stay as they are.
pub(super) const VALUES_MIN: usize = 64;

/// The placeholder of a list. No text has such a token: blanks end a name.
pub(super) fn placeholder(number: usize) -> String {
    format!("$list {number}")
}

/// The tokens with a placeholder for the values of each long list after IN, and the values of
/// these lists.
pub(super) fn extract_long_lists(tokens: &[TokenWithSpan]) -> (Vec<TokenWithSpan>, Vec<ArrayRef>) {
    let (mut shorter, mut lists) = (Vec::new(), Vec::new());
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        shorter.push(token.clone());
        rest = after;
        if token.token == Token::LParen
            && shorter.iter().rev().nth(1).is_word("IN")
            && let Some((values, taken)) = plain_values(after)
        {
            shorter.push(TokenWithSpan {
                token: Token::Placeholder(placeholder(lists.len())),
                span: after[0].span,
            });
            lists.push(values);
            rest = &after[taken..];
        }
    }
    (shorter, lists)
}

/// The values of a long list that holds whole numbers only, or texts only, and how many tokens they
/// take, the closing bracket left out.
fn plain_values(tokens: &[TokenWithSpan]) -> Option<(ArrayRef, usize)> {
    match &tokens.first()?.token {
        Token::SingleQuotedString(_) => {
            let (texts, taken) = values(tokens, |tokens| match &tokens.first()?.token {
                Token::SingleQuotedString(text) => Some((text.as_str(), 1)),
                _ => None,
            })?;
            Some((Arc::new(StringArray::from(texts)), taken))
        }
        Token::Number(..) | Token::Minus => {
            let (numbers, taken) =
                values(tokens, |tokens| match (&tokens.first()?.token, &tokens.get(1)?.token) {
                    (Token::Number(digits, false), _) => Some((digits.parse::<i64>().ok()?, 1)),
                    (Token::Minus, Token::Number(digits, false)) => {
                        Some((digits.parse::<i64>().ok()?.checked_neg()?, 2))
                    }
                    _ => None,
                })?;
            Some((Arc::new(Int64Array::from(numbers)), taken))
        }
        _ => None,
    }
}

/// Values with commas between them up to a closing bracket; `value` gives one with the tokens that
/// it takes.
fn values<'t, T>(
    tokens: &'t [TokenWithSpan],
    value: impl Fn(&'t [TokenWithSpan]) -> Option<(T, usize)>,
) -> Option<(Vec<T>, usize)> {
    let (mut values, mut taken) = (Vec::new(), 0);
    loop {
        let (found, tokens_of_value) = value(&tokens[taken..])?;
        values.push(found);
        taken += tokens_of_value;
        match tokens.get(taken)?.token {
            Token::Comma => taken += 1,
            Token::RParen => return (values.len() >= VALUES_MIN).then_some((values, taken)),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Array;

    use super::*;

    fn lists_of(text: &str) -> (String, Vec<usize>) {
        let piece = crate::text::single(text).unwrap();
        let (tokens, lists) = extract_long_lists(&piece.tokens);
        let text = tokens.iter().map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ");
        (text, lists.iter().map(|list| list.len()).collect())
    }

    fn list(value: impl Fn(i64) -> String) -> String {
        (0..100).map(value).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn long_lists_of_numbers_and_of_texts_are_taken_out() {
        let (numbers, texts) = (list(|n| (n - 50).to_string()), list(|n| format!("'name {n}'")));
        let (text, lists) =
            lists_of(&format!("SELECT 1 WHERE a IN ({numbers}) AND b NOT IN ({texts}) AND c"));
        assert_eq!(text, "SELECT 1 WHERE a IN ( $list 0 ) AND b NOT IN ( $list 1 ) AND c");
        assert_eq!(lists, [100, 100]);
    }

    #[test]
    fn everything_else_stays() {
        let numbers = list(|n| n.to_string());
        for kept in [
            format!("SELECT f({numbers})"),
            format!("SELECT 1 WHERE a IN ({numbers}, 'text')"),
            format!("SELECT 1 WHERE a IN ({numbers}, 1 + 1)"),
            format!("SELECT 1 WHERE a IN ({numbers}, 1.5)"),
            format!("SELECT 1 WHERE a IN ({numbers}"),
            "SELECT 1 WHERE a IN (1, 2, 3)".to_owned(),
        ] {
            assert_eq!(lists_of(&kept).1, Vec::<usize>::new(), "{kept}");
        }
    }
}
