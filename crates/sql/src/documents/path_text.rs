//! Paths as PostgreSQL writes them, as lists of texts: `{a,"b,c",0}`.

/// A step of a path.
pub(crate) struct PathStep {
    pub(crate) name: String,
    /// In quotes a number is a key too.
    pub(crate) is_quoted: bool,
}

/// The steps of a path.
///
/// # Errors
/// What is wrong with it, and how paths are written.
pub(crate) fn path_steps(path: &str) -> Result<Vec<PathStep>, String> {
    steps(path).ok_or_else(|| {
        format!(
            "'{path}' is no path: write its steps in braces, such as '{{a,b}}' or '{{\"a,b\"}}'"
        )
    })
}

fn steps(path: &str) -> Option<Vec<PathStep>> {
    let (mut steps, mut rest) = (Vec::new(), path.trim().strip_prefix('{')?.strip_suffix('}')?);
    if rest.trim().is_empty() {
        return Some(steps);
    }
    loop {
        rest = rest.trim_start();
        let quoted = rest.strip_prefix('"');
        let (name, after) = match quoted {
            Some(quoted) => quoted_name(quoted)?,
            None => plain_name(rest)?,
        };
        steps.push(PathStep { name, is_quoted: quoted.is_some() });
        match after.trim_start() {
            "" => return Some(steps),
            after => rest = after.strip_prefix(',')?,
        }
    }
}

/// What stands before the closing quote, and what stands behind it. A backslash takes the next
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

/// What stands before the comma or the end, and what stands from there on.
fn plain_name(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text.chars());
    loop {
        let after = rest.as_str();
        match rest.next() {
            None | Some(',') => {
                let name = name.trim_end();
                return (!name.is_empty()).then(|| (name.to_owned(), after));
            }
            // A quote in the middle might hold the comma: a guess might read another member.
            Some('"') => return None,
            Some('\\') => name.push(rest.next()?),
            Some(plain) => name.push(plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<String> {
        path_steps(path).unwrap().into_iter().map(|step| step.name).collect()
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
        let is_quoted = path_steps("{1,\"1\"}").unwrap().into_iter().map(|step| step.is_quoted);
        assert!(is_quoted.eq([false, true]));
    }

    #[test]
    fn a_path_that_may_be_meant_otherwise_is_refused() {
        for path in ["a", "{a", "{\"a}", "{\"a\"b}", "{a\"b,c\"}", "{\"a\\\"}", "{a,,b}", "{a,}"] {
            let error = path_steps(path).err().unwrap();
            assert!(error.contains("is no path"), "{error}");
        }
    }
}
