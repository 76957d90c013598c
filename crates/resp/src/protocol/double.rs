//! Doubles as Redis reads and writes them.

/// Reads a double: perhaps with an exponent; infinity too, not NaN. What is too large or too small
/// for one is none.
pub(crate) fn parse_double(text: &[u8]) -> Option<f64> {
    let number = parse_nearest_double(text)?;
    let text = std::str::from_utf8(text).ok()?;
    let names_infinity = text.contains(['i', 'I']);
    let has_digits = text
        .split(['e', 'E'])
        .next()
        .is_some_and(|mantissa| mantissa.contains(|digit: char| ('1'..='9').contains(&digit)));
    let is_lost = (number.is_infinite() && !names_infinity) || (number == 0.0 && has_digits);
    (!is_lost).then_some(number)
}

/// The same, where what is too large is infinity, and what is too small is 0.
pub(crate) fn parse_nearest_double(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok().filter(|number: &f64| !number.is_nan())
}

/// Writes a double with up to 17 digits, as `%.17g` of C does.
pub(crate) fn write_double(number: f64) -> String {
    const DIGITS: i32 = 17;
    if number.is_infinite() {
        return if number > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let scientific = format!("{number:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        return without_zeros(&format!("{number:.*}", (DIGITS - 1 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_in_c() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.1, "1.1000000000000001"),
            (-2.5, "-2.5"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (1.5e300, "1.5000000000000001e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (1e-100, "1e-100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (9_007_199_254_740_993.0, "9007199254740992"),
        ];
        for (number, expected) in cases {
            assert_eq!(write_double(number), expected);
        }
    }

    #[test]
    fn doubles_are_read_and_what_is_none_is_refused() {
        for (text, number) in
            [("1", 1.0), ("-1.5e3", -1_500.0), ("+inf", f64::INFINITY), (".5", 0.5)]
        {
            assert_eq!(parse_double(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["", "x", "nan", " 1", "1 ", "1e999", "1e-999", "1e", "--1"] {
            assert_eq!(parse_double(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_nearest_double(b"-1e999"), Some(f64::NEG_INFINITY));
    }
}
