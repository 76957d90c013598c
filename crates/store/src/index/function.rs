//! Functions whose results an index holds.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::json::JsonScalar;

/// A function of a place, with further arguments that are the same for all rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexFunction {
    /// Which.
    pub name: IndexFunctionName,
    /// What follows the place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<IndexArgument>,
}

/// An argument of a function that is the same for all rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IndexArgument {
    /// A whole number.
    Number(i64),
    /// Text.
    Text(String),
}

/// The functions that there are. They give NULL of a value that is not of their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is the function of its name")]
pub enum IndexFunctionName {
    Abs,
    Acos,
    Asin,
    Atan,
    Atan2,
    Ceil,
    Cos,
    Degrees,
    Exp,
    Floor,
    Ln,
    Log10,
    Power,
    Radians,
    Round,
    Sign,
    Sin,
    Sqrt,
    Tan,
    Trunc,
    Length,
    Lower,
    Ltrim,
    Replace,
    Reverse,
    Rtrim,
    Substring,
    Trim,
    Upper,
}

use IndexFunctionName as Name;

/// Each with the least and the most further arguments.
const FUNCTIONS: [(&str, Name, usize, usize); 29] = [
    ("abs", Name::Abs, 0, 0),
    ("acos", Name::Acos, 0, 0),
    ("asin", Name::Asin, 0, 0),
    ("atan", Name::Atan, 0, 0),
    ("atan2", Name::Atan2, 1, 1),
    ("ceil", Name::Ceil, 0, 0),
    ("cos", Name::Cos, 0, 0),
    ("degrees", Name::Degrees, 0, 0),
    ("exp", Name::Exp, 0, 0),
    ("floor", Name::Floor, 0, 0),
    ("ln", Name::Ln, 0, 0),
    ("log10", Name::Log10, 0, 0),
    ("power", Name::Power, 1, 1),
    ("radians", Name::Radians, 0, 0),
    ("round", Name::Round, 0, 1),
    ("sign", Name::Sign, 0, 0),
    ("sin", Name::Sin, 0, 0),
    ("sqrt", Name::Sqrt, 0, 0),
    ("tan", Name::Tan, 0, 0),
    ("trunc", Name::Trunc, 0, 1),
    ("length", Name::Length, 0, 0),
    ("lower", Name::Lower, 0, 0),
    ("ltrim", Name::Ltrim, 0, 0),
    ("replace", Name::Replace, 1, 2),
    ("reverse", Name::Reverse, 0, 0),
    ("rtrim", Name::Rtrim, 0, 0),
    ("substring", Name::Substring, 1, 2),
    ("trim", Name::Trim, 0, 2),
    ("upper", Name::Upper, 0, 0),
];

impl IndexFunctionName {
    /// The function of that name, in small or capital letters.
    pub fn find(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|known| known.0.eq_ignore_ascii_case(name)).map(|known| known.1)
    }

    /// The names of all.
    pub(crate) fn all() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|known| known.0)
    }

    fn arguments(self) -> std::ops::RangeInclusive<usize> {
        let known = FUNCTIONS.iter().find(|known| known.1 == self);
        known.map_or(0..=0, |known| known.2..=known.3)
    }

    fn takes_text(self) -> bool {
        use IndexFunctionName::{
            Length, Lower, Ltrim, Replace, Reverse, Rtrim, Substring, Trim, Upper,
        };
        matches!(
            self,
            Length | Lower | Ltrim | Replace | Reverse | Rtrim | Substring | Trim | Upper
        )
    }
}

impl fmt::Display for IndexFunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = FUNCTIONS.iter().find(|known| known.1 == *self);
        f.write_str(known.map_or("", |known| known.0))
    }
}

impl fmt::Display for IndexArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexArgument::Number(number) => write!(f, "{number}"),
            IndexArgument::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

impl IndexFunction {
    /// What is wrong with its arguments.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let (name, most) = (self.name, self.name.arguments());
        if !most.contains(&self.arguments.len()) {
            return Err(format!(
                "gives {name} {} further arguments: it takes {} to {}",
                self.arguments.len(),
                most.start(),
                most.end()
            ));
        }
        let takes_text = matches!(name, Name::Replace | Name::Trim);
        let is_right = |argument: &IndexArgument| match argument {
            IndexArgument::Number(_) => !takes_text,
            IndexArgument::Text(_) => takes_text,
        };
        let has_side = match (name, self.text(0)) {
            (Name::Trim, Some(side)) => side_of(side).is_some(),
            _ => true,
        };
        match self.arguments.iter().all(is_right) && has_side {
            true => Ok(()),
            false => Err(format!("gives {name} an argument that it does not take")),
        }
    }

    /// The call, for a place that is shown like this.
    pub(super) fn shown(&self, place: &str) -> String {
        let arguments = self.arguments.iter().map(|argument| format!(", {argument}"));
        format!("{}({place}{})", self.name, arguments.collect::<String>())
    }

    /// The function of a value.
    pub(super) fn of<'v>(&self, value: &JsonScalar<'v>) -> JsonScalar<'v> {
        match value {
            JsonScalar::Number(number) if !self.name.takes_text() => {
                JsonScalar::Number(self.of_number(*number))
            }
            JsonScalar::Text(text) if self.name == Name::Length => {
                JsonScalar::Number(text.chars().count() as f64)
            }
            JsonScalar::Text(text) if self.name.takes_text() => {
                JsonScalar::Text(Cow::Owned(self.of_text(text)))
            }
            _ => JsonScalar::Null,
        }
    }

    fn of_number(&self, x: f64) -> f64 {
        match self.name {
            Name::Abs => x.abs(),
            Name::Acos => x.acos(),
            Name::Asin => x.asin(),
            Name::Atan => x.atan(),
            Name::Atan2 => x.atan2(self.number(0).unwrap_or(0) as f64),
            Name::Ceil => x.ceil(),
            Name::Cos => x.cos(),
            Name::Degrees => x.to_degrees(),
            Name::Exp => x.exp(),
            Name::Floor => x.floor(),
            Name::Ln => x.ln(),
            Name::Log10 => x.log10(),
            Name::Power => x.powf(self.number(0).unwrap_or(1) as f64),
            Name::Radians => x.to_radians(),
            Name::Round => self.at_digits(x, |x| (x + 0.5).floor()),
            Name::Sign => f64::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
            Name::Sin => x.sin(),
            Name::Sqrt => x.sqrt(),
            Name::Tan => x.tan(),
            _ => self.at_digits(x, f64::trunc),
        }
    }

    /// Rounds after, or before, so many digits.
    fn at_digits(&self, x: f64, round: impl Fn(f64) -> f64) -> f64 {
        let digits = self.number(0).unwrap_or(0).clamp(-300, 300) as i32;
        let scaled = x * 10_f64.powi(digits);
        // What is too large to have such digits stays.
        if scaled.is_finite() { round(scaled) / 10_f64.powi(digits) } else { x }
    }

    fn of_text(&self, text: &str) -> String {
        let (first, second) = (self.text(0), self.text(1));
        match self.name {
            Name::Lower => text.to_lowercase(),
            Name::Upper => text.to_uppercase(),
            Name::Reverse => text.chars().rev().collect(),
            Name::Ltrim => text.trim_start_matches(' ').to_owned(),
            Name::Rtrim => text.trim_end_matches(' ').to_owned(),
            Name::Replace => text.replace(first.unwrap_or_default(), second.unwrap_or_default()),
            Name::Trim => {
                let (starts, ends) = first.and_then(side_of).unwrap_or((true, true));
                let unwanted = second.and_then(|second| second.chars().next()).unwrap_or(' ');
                let text = if starts { text.trim_start_matches(unwanted) } else { text };
                let text = if ends { text.trim_end_matches(unwanted) } else { text };
                text.to_owned()
            }
            _ => {
                let at = |place| self.number(place).map(|at| usize::try_from(at).unwrap_or(0));
                let rest = text.chars().skip(at(0).unwrap_or(0));
                rest.take(at(1).unwrap_or(usize::MAX)).collect()
            }
        }
    }

    fn number(&self, place: usize) -> Option<i64> {
        match self.arguments.get(place) {
            Some(IndexArgument::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn text(&self, place: usize) -> Option<&str> {
        match self.arguments.get(place) {
            Some(IndexArgument::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Whether what is at the beginning is taken away, and at the end.
fn side_of(side: &str) -> Option<(bool, bool)> {
    match side.to_ascii_lowercase().as_str() {
        "leading" => Some((true, false)),
        "trailing" => Some((false, true)),
        "both" => Some((true, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, arguments: &[IndexArgument], value: &JsonScalar<'_>) -> String {
        let name = IndexFunctionName::find(name).unwrap();
        let function = IndexFunction { name, arguments: arguments.to_vec() };
        function.check().unwrap();
        match function.of(value) {
            JsonScalar::Text(text) => text.into_owned(),
            JsonScalar::Number(number) => number.to_string(),
            other => format!("{other:?}"),
        }
    }

    fn number(number: i64) -> IndexArgument {
        IndexArgument::Number(number)
    }

    fn text(text: &str) -> IndexArgument {
        IndexArgument::Text(text.to_owned())
    }

    #[test]
    fn functions_of_text_give_what_they_say() {
        for (name, arguments, given, wanted) in [
            ("UPPER", vec![], "aé", "AÉ"),
            ("length", vec![], "a€😀", "3"),
            ("reverse", vec![], "ab€", "€ba"),
            ("ltrim", vec![], "  a ", "a "),
            ("rtrim", vec![], "  a ", "  a"),
            ("trim", vec![], "  a ", "a"),
            ("trim", vec![text("leading"), text("x")], "xxaxx", "axx"),
            ("trim", vec![text("TRAILING")], " a ", " a"),
            ("replace", vec![text("A"), text("XXX")], "ABA", "XXXBXXX"),
            ("replace", vec![text("A")], "ABA", "B"),
            ("substring", vec![number(1), number(2)], "a€cd", "€c"),
            ("substring", vec![number(9)], "abc", ""),
        ] {
            let given = JsonScalar::Text(given.into());
            assert_eq!(of(name, &arguments, &given), wanted, "{name} {arguments:?}");
        }
    }

    #[test]
    fn functions_of_numbers_give_what_they_say() {
        for (name, arguments, given, wanted) in [
            ("ceil", vec![], 1.2, "2"),
            ("floor", vec![], -1.2, "-2"),
            ("round", vec![], -1.5, "-1"),
            ("round", vec![number(1)], 1.25, "1.3"),
            ("trunc", vec![number(-1)], 129.0, "120"),
            ("round", vec![number(300)], 1e300, &1e300.to_string()),
            ("power", vec![number(2)], 3.0, "9"),
            ("sqrt", vec![], -1.0, "NaN"),
            ("sign", vec![], -3.0, "-1"),
        ] {
            let given = JsonScalar::Number(given);
            assert_eq!(of(name, &arguments, &given), wanted, "{name} {arguments:?}");
        }
    }

    #[test]
    fn a_value_of_another_kind_has_none() {
        assert_eq!(of("upper", &[], &JsonScalar::Number(1.0)), "Null");
        assert_eq!(of("sqrt", &[], &JsonScalar::Text("4".into())), "Null");
        assert_eq!(of("sqrt", &[], &JsonScalar::Nested), "Null");
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused() {
        for (name, arguments) in [
            ("power", vec![]),
            ("upper", vec![text("a")]),
            ("substring", vec![text("a")]),
            ("trim", vec![text("above")]),
            ("replace", vec![number(1)]),
        ] {
            let name = IndexFunctionName::find(name).unwrap();
            assert!(IndexFunction { name, arguments }.check().is_err(), "{name}");
        }
    }

    #[test]
    fn each_function_is_found_by_the_name_it_shows() {
        for name in IndexFunctionName::all() {
            assert_eq!(IndexFunctionName::find(name).unwrap().to_string(), name);
        }
    }
}
