//! Paths as PostgreSQL writes them, as lists of texts: `{a,"b,c",0}`.

/// The steps of a path. What is in a document decides whether one is a name or an index.
///
/// # Errors
/// What is wrong with it, and how paths are written.
pub(crate) fn path_steps(path: &str) -> Result<Vec<String>, String> {
    let steps = steps(path).ok_or_else(|| {
        format!(
            "'{path}' is not a path: write its steps in braces, such as '{{a,b}}' or '{{\"a,b\"}}'"
        )
    })?;
    // NULL leads nowhere in PostgreSQL: who writes it bare means a member of that name.
    steps.into_iter().collect::<Option<_>>().ok_or_else(|| {
        format!(
            "a step of '{path}' is NULL: put the name of a member in quotes, as in '{{\"null\"}}'"
        )
    })
}

/// The steps of a path, NULL as none.
fn steps(path: &str) -> Option<Vec<Option<String>>> {
    let braced = path.trim_matches(is_blank);
    let (mut steps, mut rest) = (Vec::new(), braced.strip_prefix('{')?.strip_suffix('}')?);
    if rest.trim_start_matches(is_blank).is_empty() {
        return Some(steps);
    }
    loop {
        rest = rest.trim_start_matches(is_blank);
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (name, after) = quoted_name(quoted)?;
                (Some(name), after)
            }
            None => plain_name(rest)?,
        };
        steps.push(name);
        match after.trim_start_matches(is_blank) {
            "" => return Some(steps),
            after => rest = after.strip_prefix(',')?,
        }
    }
}

/// The blanks that PostgreSQL leaves out around steps. All others are letters of names.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// What precedes the closing quote, and what follows it. A backslash takes the next
/// character as it is.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text.chars());
    loop {
        match rest.next()? {
            '"' => return Some((name, rest.as_str())),
            '\\' => name.push(rest.next()?),
            plain => name.push(plain),
        }
    }
}

/// What precedes the comma or the end, unless it is NULL, and the rest from there on.
fn plain_name(text: &str) -> Option<(Option<String>, &str)> {
    let (mut name, mut rest) = (String::new(), text.chars());
    let (mut kept_len, mut has_escapes) = (0, false);
    let after = loop {
        let after = rest.as_str();
        match rest.next() {
            None | Some(',') => break after,
            // A quote in the middle might hold the comma, and a brace begin a list in the list: a
            // guess might read another member.
            Some('"' | '{' | '}') => return None,
            Some('\\') => {
                name.push(rest.next()?);
                has_escapes = true;
                kept_len = name.len();
            }
            Some(plain) => {
                name.push(plain);
                if !is_blank(plain) {
                    kept_len = name.len();
                }
            }
        }
    };
    // Blanks after the name are none of its letters, unless a backslash says that they are.
    name.truncate(kept_len);
    let is_null = !has_escapes && name.eq_ignore_ascii_case("null");
    (!name.is_empty()).then(|| ((!is_null).then_some(name), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<String> {
        path_steps(path).unwrap()
    }

    #[test]
    fn steps_stand_between_commas() {
        assert_eq!(names("{a, 0 ,b c}"), ["a", "0", "b c"]);
        assert!(names(" { } ").is_empty());
    }

    /// A comma in quotes once ended the step, so `doc #> '{"a,b"}'` read member b of member a.
    #[test]
    fn quotes_and_backslashes_hold_a_step_together() {
        assert_eq!(names(r#"{ "a,b" , c, "}", "" }"#), ["a,b", "c", "}", ""]);
        assert_eq!(names(r#"{"a\"b","c\\d",e\,f}"#), [r#"a"b"#, r"c\d", "e,f"]);
    }

    /// A name lost the blank that a backslash kept, and one of Unicode's that is a letter.
    #[test]
    fn blanks_around_steps_are_left_out_unless_they_are_escaped() {
        assert_eq!(names(r"{a\ , \ b\  ,c d }"), ["a ", " b ", "c d"]);
        assert_eq!(names("\u{b}{\t\u{c}a\r\n,\u{a0}b\u{a0}}\u{b}"), ["a", "\u{a0}b\u{a0}"]);
    }

    /// It was the name of a member, as in no other database.
    #[test]
    fn a_member_called_null_stands_in_quotes() {
        assert_eq!(names(r#"{"NULL",n\ull,nullable}"#), ["NULL", "null", "nullable"]);
        for path in ["{NULL}", "{a, null ,b}", "{a,Null}"] {
            let error = path_steps(path).unwrap_err();
            assert!(error.contains("is NULL") && error.contains("in quotes"), "{error}");
        }
    }

    #[test]
    fn a_path_that_may_be_meant_otherwise_is_refused() {
        let quotes = ["{\"a}", "{\"a\"b}", "{a\"b,c\"}", "{\"a\\\"}"];
        // Such braces were letters of a name.
        let braces = ["a", "{a", "{{a}}", "{{a},b}", "{a}b}", "{a{b}", "{a\\}", "\u{a0}{a}"];
        let commas = ["{a,,b}", "{a,}", "{ ,a}"];
        for path in quotes.iter().chain(&braces).chain(&commas) {
            let error = path_steps(path).unwrap_err();
            assert!(error.contains("is not a path"), "{error}");
        }
    }
}
