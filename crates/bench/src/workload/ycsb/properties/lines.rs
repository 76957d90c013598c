//! The format of Java's property files.
//!
//! 1. Lines end with a line feed, a carriage return, or both. Empty ones, and those that begin with
//!    `#` or `!`, are left out.
//! 2. A line with an odd number of backslashes at its end goes on with the next one, whose leading
//!    white space is left out. A line that goes on is never a comment.
//! 3. The name ends at the first `=`, `:` or white space without a backslash before it; white space
//!    and one `=` or `:` after it are left out, the rest is the value.
//! 4. In both, `\t`, `\n`, `\r`, `\f` and `\uXXXX` stand for characters, and any other character
//!    after a backslash for itself.

/// A line with those that it goes on with.
pub(super) struct LogicalLine {
    /// Where it begins, counted from 1.
    pub(super) number: usize,
    /// Its text without line ends, escapes as they are.
    pub(super) text: String,
}

/// Step 1 and 2.
pub(super) fn logical_lines(text: &str) -> Vec<LogicalLine> {
    let mut lines: Vec<LogicalLine> = Vec::new();
    let mut goes_on = false;
    for (index, natural) in natural_lines(text).enumerate() {
        let natural = natural.trim_start_matches(is_white);
        if goes_on {
            if let Some(line) = lines.last_mut() {
                line.text.push_str(natural);
            }
        } else if natural.is_empty() || natural.starts_with(['#', '!']) {
            continue;
        } else {
            lines.push(LogicalLine { number: index + 1, text: natural.to_owned() });
        }
        let backslashes = natural.bytes().rev().take_while(|&byte| byte == b'\\').count();
        goes_on = backslashes % 2 == 1;
        if goes_on && let Some(line) = lines.last_mut() {
            line.text.pop();
        }
    }
    lines
}

/// Steps 3 and 4: the name and the value.
pub(super) fn split(line: &str) -> Result<(String, String), String> {
    let mut escaped = false;
    let name_end = line.find(|character| {
        let ends = !escaped && (is_separator(character) || is_white(character));
        escaped = !escaped && character == '\\';
        ends
    });
    let (name, rest) = line.split_at(name_end.unwrap_or(line.len()));
    let rest = rest.trim_start_matches(is_white);
    let value = rest.strip_prefix(is_separator).unwrap_or(rest).trim_start_matches(is_white);
    Ok((unescape(name)?, unescape(value)?))
}

/// Lines by all three line ends, so that their numbers are those of an editor.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').flat_map(|line| {
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line).split('\r')
    })
}

fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match rest.next() {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('f') => plain.push('\u{c}'),
            Some('u') => plain.push(unicode(&mut rest)?),
            Some(other) => plain.push(other),
            None => {}
        }
    }
    Ok(plain)
}

/// The character of `\uXXXX`. Characters of two such escapes mean nothing in a benchmark's
/// properties and are refused.
fn unicode(rest: &mut std::str::Chars<'_>) -> Result<char, String> {
    let digits: String = rest.take(4).collect();
    let number = u32::from_str_radix(&digits, 16)
        .ok()
        .filter(|_| digits.len() == 4 && !digits.starts_with('+'));
    number.and_then(char::from_u32).ok_or_else(|| {
        format!(
            "\\u{digits} is no character: give four hexadecimal digits, or two backslashes for one"
        )
    })
}

fn is_separator(character: char) -> bool {
    matches!(character, '=' | ':')
}

fn is_white(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\u{c}')
}
