use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn parse(text: &str) -> Properties {
    super::parse(text.as_bytes(), Path::new("workload")).unwrap()
}

fn pairs(text: &str) -> Vec<(String, String)> {
    parse(text).into_values().map(|property| (property.name, property.value)).collect()
}

fn pair(name: &str, value: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), value.to_owned())]
}

#[rstest]
#[case::a_name_ends_at_an_equals_sign("a=b c", &[("a", "b c")])]
#[case::or_at_a_colon("a:b c", &[("a", "b c")])]
#[case::or_at_white_space("a b c", &[("a", "b c")])]
#[case::white_space_around_them_is_left_out("  a = b c", &[("a", "b c")])]
#[case::and_between_them("a\t:\tb c", &[("a", "b c")])]
#[case::only_one_separator_is_left_out("a==b", &[("a", "=b")])]
#[case::or_one_behind_white_space("a = : b", &[("a", ": b")])]
#[case::a_name_alone_has_an_empty_value("a", &[("a", "")])]
#[case::so_has_one_with_a_separator("a=", &[("a", "")])]
#[case::comments_and_empty_lines_are_left_out("# one\n\n  ! two\r\n   \na=b", &[("a", "b")])]
#[case::a_line_goes_on_after_a_backslash("a=b,\\\n    c,\\\r\n\td", &[("a", "b,c,d")])]
#[case::what_it_goes_on_with_is_no_comment("a=b\\\n#c", &[("a", "b#c")])]
#[case::the_end_ends_it("a=b\\", &[("a", "b")])]
#[case::two_backslashes_are_one("a=b\\\\\nc=d", &[("a", "b\\"), ("c", "d")])]
#[case::a_comment_never_goes_on("# one\\\na=b", &[("a", "b")])]
#[case::escapes_are_characters(r"a\ b\=c=\t\n\r\f\u0041\q\\", &[("a b=c", "\t\n\r\u{c}Aq\\")])]
fn names_and_values_are_read_as_java_does(#[case] text: &str, #[case] expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().flat_map(|(name, value)| pair(name, value)).collect();
    assert_eq!(pairs(text), expected);
}

#[test]
fn the_three_line_ends_count_alike() {
    let properties = parse("a=1\r\nb=2\rc=3\nd=4");
    let lines: Vec<_> = properties.values().map(|property| property.origin.as_str()).collect();
    assert_eq!(lines, [1, 2, 3, 4].map(|line| format!("workload, line {line}")));
}

#[test]
fn bytes_are_latin_1() {
    let properties = super::parse(b"a=\xe9", Path::new("workload")).unwrap();
    assert_eq!(properties["a"].value, "\u{e9}");
}

#[test]
fn a_broken_escape_is_named_with_its_line() {
    for text in ["x=1\na=\\u00g1", "x=1\na=\\u12", "x=1\na=\\ud800", "x=1\na=\\u+123"] {
        let error = super::parse(text.as_bytes(), Path::new("workload")).unwrap_err().to_string();
        assert!(
            error.contains("workload, line 2") && error.contains("four hexadecimal digits"),
            "{error}"
        );
    }
}

#[test]
fn what_is_given_later_wins() {
    let mut properties = parse("a=1\na=2");
    assert_eq!(properties["a"].value, "2");
    let argument = Property::from_argument("a=3").unwrap();
    properties.insert(argument.name.clone(), argument);
    assert_eq!(properties["a"].value, "3");
    properties.extend(parse("a=4"));
    assert_eq!(properties["a"].value, "4");
}

#[test]
fn an_argument_without_name_or_equals_sign_is_refused() {
    for argument in ["recordcount", "=5", ""] {
        let error = Property::from_argument(argument).unwrap_err().to_string();
        assert!(error.contains("NAME=VALUE"), "{error}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = super::parse(&bytes, Path::new("workload"));
    }

    #[test]
    fn what_is_escaped_comes_back(name in "[ -~]{1,20}", value in "[ -~]{0,20}") {
        // The letters after a backslash that mean something else stand for themselves without one.
        let escaped = |letter| match letter {
            't' | 'n' | 'r' | 'f' | 'u' => vec![letter],
            _ => vec!['\\', letter],
        };
        let escape = |text: &str| text.chars().flat_map(escaped).collect::<String>();
        let read = pairs(&format!("{}={}", escape(&name), escape(&value)));
        prop_assert_eq!(read, pair(&name, &value));
    }
}
