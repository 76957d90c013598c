//! `$n` as parameters.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::Result;

use crate::errors::invalid_at;

/// The greatest number that a parameter may have in a short statement. In a long one it is the
/// number of the statement's tokens: numbers without gaps never meet the bound.
const NUMBER_MAX: usize = 65_535;

/// # Errors
/// `Invalid` where a parameter has a number that no caller gives values up to. Memory is reserved
/// for as many as the greatest number says.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let number_max = NUMBER_MAX.max(tokens.len());
    for token in tokens {
        let Token::Placeholder(name) = &token.token else { continue };
        let Some(number) = name.strip_prefix('$').filter(|name| is_number(name)) else { continue };
        if number.parse::<usize>().is_ok_and(|number| number <= number_max) {
            continue;
        }
        return Err(invalid_at(
            token.span.start,
            format!(
                "the number of the parameter {name} is too great: count from $1 without gaps, or up to ${number_max}"
            ),
        ));
    }
    Ok(())
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::text::pieces;

    #[test]
    fn a_statement_has_no_more_parameters_than_its_length_allows() {
        for number in ["65536", "99999999999999999999999"] {
            let error = pieces(&format!("SELECT 1;\nPREPARE p AS SELECT ${number}")).unwrap_err();
            let expected =
                format!("line 2, column 21: the number of the parameter ${number} is too great");
            assert!(error.message().starts_with(&expected), "{error}");
        }
        for text in ["SELECT $65535, $1", "SELECT $name, '$65536', $$65536$$"] {
            assert!(pieces(text).is_ok(), "{text}");
        }
        let many: Vec<_> = (1..=70_000).map(|number| format!("${number}")).collect();
        assert!(pieces(&format!("SELECT {}", many.join(","))).is_ok());
    }
}
