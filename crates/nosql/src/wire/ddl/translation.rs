//! Statements of the dialect in Tonnage's own words.
//!
//! The two are alike. So the text stays as it is, with other words in the places where they differ:
//! errors of the store then name lines that the client knows.

use super::lexer::{DdlToken, DdlTokenKind, tokens};
use crate::wire::failure::{Failure, FailureCode, Outcome};
use crate::wire::table_names::is_default;

/// NUMBER without digits given holds this many, half of them after the point.
const NUMBER: &str = "NUMBER(76, 38)";
/// NUMBER whose values the store gives.
const NUMBER_OF_IDENTITY: &str = "NUMBER(38)";

/// Words that a name follows, not a type.
const BEFORE_NAMES: [&str; 10] =
    ["ADD", "DROP", "MODIFY", "DEFAULT", "TABLE", "EXISTS", "ON", "INDEX", "COLUMN", "TO"];
/// Words that may mean a default: others are symbols of an ENUM.
const DEFAULT_WORDS: [&str; 4] = ["TRUE", "FALSE", "NULL", "CURRENT_TIMESTAMP"];

/// The first word of a statement, in capitals.
pub(crate) fn first_word(statement: &str) -> Outcome<String> {
    let tokens = tokens(statement)?;
    let word = tokens.iter().find_map(DdlToken::word).unwrap_or_default();
    Ok(word.to_ascii_uppercase())
}

/// The statement as the store reads it. Tables without a namespace are in the one given.
///
/// # Errors
/// What the store does not offer, and texts without an end.
pub(crate) fn translate(statement: &str, namespace: Option<&str>) -> Outcome<String> {
    let tokens = tokens(statement)?;
    let words: Vec<&DdlToken<'_>> =
        tokens.iter().filter(|token| token.kind != DdlTokenKind::Comment).collect();
    // Missing things are reported before the store calls them a mistake.
    check_offered(&words)?;
    let mut replaced: Vec<(std::ops::Range<usize>, String)> = tokens
        .iter()
        .filter(|token| token.kind == DdlTokenKind::Comment)
        .map(|token| (token.span.clone(), String::new()))
        .collect();
    let name = table_name_at(&words);
    let collection = collection_at(&words);
    if let Some((key, end)) = collection {
        let column = format!("{} JSON COLLECTION, ", document_name(&words));
        replaced.push((words[key].span.start..words[key].span.start, column));
        replaced.push((words[end].span.start..words[end + 2].span.end, String::new()));
    }
    let mut at = 0;
    while at < words.len() {
        if collection.is_some_and(|(_, end)| end == at) {
            at += 3;
            continue;
        }
        // The name of a table in a namespace has a colon, so that it is quoted.
        if Some(at) == name
            && let Some((count, text)) = table_name(&words[at..], namespace)
        {
            replaced.push((words[at].span.start..words[at + count - 1].span.end, text));
            at += count;
            continue;
        }
        let (count, text) = match replacement(&words, at) {
            Some(replacement) => replacement,
            None => {
                at += 1;
                continue;
            }
        };
        replaced.push((words[at].span.start..words[at + count - 1].span.end, text));
        at += count;
    }
    // Comments and words were found apart from each other.
    replaced.sort_by_key(|(span, _)| span.start);
    let (mut out, mut end) = (String::with_capacity(statement.len()), 0);
    for (span, text) in replaced {
        // A comment between words that were replaced together is gone already.
        if span.start < end {
            continue;
        }
        out.push_str(&statement[end..span.start]);
        out.push_str(&text);
        end = span.end;
    }
    out.push_str(&statement[end..]);
    Ok(out)
}

/// Where the column of the documents of a JSON collection belongs, and where the words are that say
/// that the table is one.
fn collection_at(words: &[&DdlToken<'_>]) -> Option<(usize, usize)> {
    let begins = |at: usize, wanted: &[&str]| {
        let mut places = wanted.iter().zip(at..);
        places.all(|(word, at)| words.get(at).is_some_and(|token| token.is_word(word)))
    };
    let find = |wanted: &[&str]| (0..words.len()).find(|at| begins(*at, wanted));
    Some((find(&["PRIMARY", "KEY"])?, find(&["AS", "JSON", "COLLECTION"])?))
}

/// A name for the column of the documents that no other column has.
fn document_name(words: &[&DdlToken<'_>]) -> String {
    let mut name = "document".to_owned();
    while words.iter().any(|token| token.is_word(&name)) {
        name.push('_');
    }
    name
}

/// A definition of an index on a JSON collection as the store reads it: fields that are not columns
/// are paths in the document.
pub(crate) fn with_document_paths(
    statement: &str,
    document: &str,
    is_column: impl Fn(&str) -> bool,
) -> Outcome<String> {
    let tokens = tokens(statement)?;
    // Names stay as they are: only the column is put before them.
    let (mut out, mut end, mut depth) = (String::with_capacity(statement.len()), 0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let begins = before.is_some_and(|before| before.is_sign('(') || before.is_sign(','));
        let is_call = tokens.get(at + 1).is_some_and(|next| next.is_sign('('));
        if let Some(word) = token.word().filter(|_| depth > 0 && begins && !is_call)
            && !is_column(word)
        {
            out.push_str(&statement[end..token.span.start]);
            out.push_str(&format!("\"{document}\"."));
            end = token.span.start;
        }
        // The columns of the index are in the only parentheses.
        match () {
            () if token.is_sign('(') => depth += 1,
            () if token.is_sign(')') => depth = depth.saturating_sub(1),
            () => {}
        }
    }
    out.push_str(&statement[end..]);
    Ok(out)
}

/// The position of the name of the table.
fn table_name_at(words: &[&DdlToken<'_>]) -> Option<usize> {
    let is = |place: usize, word: &str| words.get(place).is_some_and(|token| token.is_word(word));
    if is(1, "TABLE") {
        return Some(match (is(2, "IF"), is(3, "NOT")) {
            (true, true) => 5,
            (true, false) => 4,
            (false, _) => 2,
        });
    }
    let on = words.iter().position(|token| token.is_word("ON")).filter(|_| is(1, "INDEX"));
    on.map(|on| on + 1)
}

/// The path of a table that is named at the beginning of words: how many these are, and the first
/// part of the path. Nothing where the name stays as it is.
fn table_name(words: &[&DdlToken<'_>], default: Option<&str>) -> Option<(usize, String)> {
    let first = words.first()?.word()?;
    let quoted = |name: String| format!("\"{name}\"");
    if words.get(1).is_some_and(|token| token.is_sign(':')) {
        let name = words.get(2)?.word()?;
        let path = match is_default(first) {
            true => name.to_owned(),
            false => quoted(format!("{first}:{name}")),
        };
        return Some((3, path));
    }
    let namespace = default.filter(|namespace| !is_default(namespace))?;
    // It comes from the request: a quote in it must not end the name.
    Some((1, quoted(format!("{}:{first}", namespace.replace('"', "\"\"")))))
}

/// Other words for those that begin at a position: their number, and the replacement.
fn replacement(words: &[&DdlToken<'_>], at: usize) -> Option<(usize, String)> {
    let is = |place: usize, word: &str| words.get(place).is_some_and(|token| token.is_word(word));
    let before = |word: &str| at > 0 && is(at - 1, word);
    let token = words[at];
    let is_in_index = || {
        let is_created = words.first().is_some_and(|first| first.is_word("CREATE"));
        is_created && words.iter().take(at).any(|token| token.is_word("INDEX"))
    };
    if let DdlTokenKind::Text(text) = &token.kind {
        if is_in_index() && is_name_in_index(words, at) {
            return Some((1, format!("\"{}\"", text.replace('"', "\"\""))));
        }
        return Some((1, format!("'{}'", text.replace('\'', "''"))));
    }
    // What is said of a table or a column is not kept.
    let is_text = |place: usize| {
        words.get(place).is_some_and(|token| matches!(token.kind, DdlTokenKind::Text(_)))
    };
    if token.is_word("COMMENT") && is_text(at + 1) {
        return Some((2, String::new()));
    }
    if before("DEFAULT") && !(at > 1 && is(at - 2, "BY")) {
        let word = token.word()?;
        let is_known = DEFAULT_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word));
        return (!is_known).then(|| (1, format!("'{word}'")));
    }
    // The type of a place in a document is that of its value here.
    if token.is_word("AS") && is_in_index() {
        let has_type = words.get(at + 1).is_some_and(|token| token.word().is_some());
        return has_type.then(|| (2, String::new()));
    }
    // Older names of steps, written like functions of a path.
    let step = match () {
        () if token.is_word("KEYOF") => Some(".keys()"),
        () if token.is_word("ELEMENTOF") => Some(".values()"),
        () => None,
    };
    if let Some(step) =
        step.filter(|_| is_in_index() && words.get(at + 1).is_some_and(|next| next.is_sign('(')))
    {
        let close = (at + 2..words.len()).find(|place| words[*place].is_sign(')'))?;
        let path: String = words[at + 2..close].iter().filter_map(|part| part.shown()).collect();
        return Some((close - at + 1, path + step));
    }
    // An index holds what is NULL, and of equal entries of a row one.
    if token.is_word("WITH") && is_in_index() {
        let follows = |wanted: &[&str]| (at + 1..).zip(wanted).all(|(place, word)| is(place, word));
        return [&["NO", "NULLS"][..], &["UNIQUE", "KEYS", "PER", "ROW"]]
            .into_iter()
            .find(|wanted| follows(wanted))
            .map(|wanted| (1 + wanted.len(), String::new()));
    }
    if !is_type(words, at) {
        return None;
    }
    if token.is_word("STRING") && is(at + 1, "AS") && is(at + 2, "UUID") {
        let is_generated = is(at + 3, "GENERATED") && is(at + 4, "BY") && is(at + 5, "DEFAULT");
        return Some(match is_generated {
            true => (6, "UUID DEFAULT uuid()".to_owned()),
            false => (3, "UUID".to_owned()),
        });
    }
    let has_digits = words.get(at + 1).is_some_and(|token| token.is_sign('('));
    if token.is_word("NUMBER") && !has_digits {
        let number = if is(at + 1, "GENERATED") { NUMBER_OF_IDENTITY } else { NUMBER };
        return Some((1, number.to_owned()));
    }
    if token.is_word("TIMESTAMP") && !has_digits {
        return Some((1, "TIMESTAMP(9)".to_owned()));
    }
    None
}

/// Whether a text in the definition of an index is a name, and not an argument of a function.
fn is_name_in_index(words: &[&DdlToken<'_>], at: usize) -> bool {
    let count = |sign| words[..at].iter().filter(|token| token.is_sign(sign)).count();
    let is_inside = count('(') > count(')') + 1;
    !(is_inside && at > 0 && words[at - 1].is_sign(','))
}

/// Whether a type is there: after the name of a column or a field, or as that of elements.
fn is_type(words: &[&DdlToken<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| words[before]) else { return false };
    if before.is_sign('(') {
        let of = at.checked_sub(2).map(|of| words[of]);
        return of.is_some_and(|of| of.is_word("ARRAY") || of.is_word("MAP"));
    }
    let is_name = |word: &str| !BEFORE_NAMES.iter().any(|known| known.eq_ignore_ascii_case(word));
    before.word().is_some_and(is_name)
}

/// Refuses what the store would only call a mistake.
fn check_offered(words: &[&DdlToken<'_>]) -> Outcome<()> {
    let mut rest = words;
    while let [_, behind @ ..] = rest {
        let begins = |wanted: &[&str]| {
            let mut tokens = rest.iter();
            wanted.iter().all(|word| tokens.next().is_some_and(|token| token.is_word(word)))
        };
        let refused = if begins(&["MR_COUNTER"]) {
            "MR_COUNTER is not offered: there is one region; use a number and UPDATE .. SET"
        } else if begins(&["IN", "REGIONS"]) {
            "regions are not offered: leave IN REGIONS out"
        } else if begins(&["FULLTEXT", "INDEX"]) {
            "full text indexes are not offered"
        } else {
            rest = behind;
            continue;
        };
        return Err(Failure::new(FailureCode::OperationNotSupported, refused));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(statement: &str) -> String {
        translate(statement, None).unwrap()
    }

    #[test]
    fn what_is_the_same_stays_as_it_is() {
        for same in [
            "create table t(id integer, name string, primary key(shard(id), name)) using ttl 3 days",
            "ALTER TABLE t (ADD z DOUBLE, DROP y)",
            "create table a.b(number long, timestamp timestamp(3), primary key(number))",
            "create table t(id integer generated by default as identity(start with 1), primary key(id))",
            "drop index if exists i on t",
            "create table t(a integer default 7, b boolean default true, primary key(a))",
        ] {
            assert_eq!(translated(same), same);
        }
    }

    #[test]
    fn words_that_differ_are_replaced_in_their_places() {
        for (statement, own) in [
            (
                "create table t(s string default \"it's\")",
                "create table t(s string default 'it''s')",
            ),
            ("create table t(e enum(x, y) default y)", "create table t(e enum(x, y) default 'y')"),
            (
                "create table t(n number, m map(number))",
                "create table t(n NUMBER(76, 38), m map(NUMBER(76, 38)))",
            ),
            (
                "create table t(n number generated always as identity, t timestamp)",
                "create table t(n NUMBER(38) generated always as identity, t TIMESTAMP(9))",
            ),
            (
                "create table t(id string as uuid generated by default, v string as uuid)",
                "create table t(id UUID DEFAULT uuid(), v UUID)",
            ),
            ("create table t /* a */ (id long) // b\n", "create table t  (id long) \n"),
            (
                "create table ns /* a */ : t(s string /* b */ as uuid)",
                "create table \"ns:t\"(s UUID)",
            ),
            ("create table t comment \"c\" (id long comment \"d\")", "create table t  (id long )"),
            ("create index i on t(js.a as integer, b)", "create index i on t(js.a , b)"),
            (
                "create index i on t(js.a[].\"@v\" as string, m.keys()) with unique keys per row",
                "create index i on t(js.a[].\"@v\" , m.keys()) ",
            ),
            (
                "create index i on t(\"a b\", replace(js.\"x\" as string, \"A\", 'b')) with no nulls",
                "create index i on t(\"a b\", replace(js.\"x\" , 'A', 'b')) ",
            ),
        ] {
            assert_eq!(translated(statement), own);
        }
    }

    #[test]
    fn a_json_collection_has_a_column_for_its_documents() {
        for (statement, own) in [
            (
                "create table c(id integer, primary key(id)) as json collection using ttl 5 days",
                "create table c(id integer, document JSON COLLECTION, primary key(id))  using ttl 5 days",
            ),
            (
                "create table c(document string, primary key(document)) as json collection",
                "create table c(document string, document_ JSON COLLECTION, primary key(document)) ",
            ),
        ] {
            assert_eq!(translated(statement), own);
        }
        let is_column = |name: &str| name == "id";
        for (statement, own) in [
            ("create index i on c(a.b, id)", "create index i on c(\"document\".a.b, id)"),
            (
                "create index i on c(a[].b[], c.keys())",
                "create index i on c(\"document\".a[].b[], \"document\".c.keys())",
            ),
        ] {
            assert_eq!(with_document_paths(statement, "document", is_column).unwrap(), own);
        }
    }

    #[test]
    fn tables_in_namespaces_have_quoted_names() {
        for (statement, own) in [
            ("create table ns:t(k long)", "create table \"ns:t\"(k long)"),
            ("drop table if exists ns : t.kid", "drop table if exists \"ns:t\".kid"),
            ("create table if not exists t(k long)", "create table if not exists \"d:t\"(k long)"),
            ("alter table sysdefault:t(drop x)", "alter table t(drop x)"),
            ("create index i on t(x)", "create index i on \"d:t\"(x)"),
            ("drop index i on ns:t", "drop index i on \"ns:t\""),
            ("create table d:t(on long)", "create table \"d:t\"(on long)"),
        ] {
            assert_eq!(translate(statement, Some("d")).unwrap(), own);
        }
        let hostile = translate("drop table t", Some("x\" cascade --")).unwrap();
        assert_eq!(hostile, "drop table \"x\"\" cascade --:t\"");
    }

    #[test]
    fn what_is_not_offered_is_told() {
        for (statement, part) in [
            ("create table t(k integer, c integer as mr_counter, primary key(k))", "MR_COUNTER"),
            ("create table t(k integer, primary key(k)) in regions a", "regions"),
        ] {
            let failure = translate(statement, None).unwrap_err();
            assert_eq!(failure.code, FailureCode::OperationNotSupported);
            assert!(failure.message.contains(part), "{failure}");
        }
        let failure = translate("create table t(s string default\n\"x)", None).unwrap_err();
        assert!(failure.message.contains("line 2: the text"), "{failure}");
    }
}
